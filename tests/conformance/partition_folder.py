"""Clusters with topics for the tests of `kraft-spec admin topics` and `reassign`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kraft_conformance.cli import main

TRACE = Path("partitions.jsonl")
Captured = pytest.CaptureFixture[str]
Rows = Sequence[tuple[str, int, Sequence[int]]]


def topics(*words: str) -> int:
    """`kraft-spec admin topics`."""
    return main(["admin", "topics", *words])


def reassign(*words: str) -> int:
    """`kraft-spec admin reassign`."""
    return main(["admin", "reassign", *words])


def six_brokers(*words: str) -> None:
    """Brokers 1 to 6 with topic A, whose partitions are at 1,2,3 and 2,3,4."""
    given = ("--topic", "A", "--replica-assignment", "1:2:3,2:3:4", "--brokers", "1-6", *words)
    assert topics("create", *given) == 0


def asked(rows: Rows, name: str = "asked.json") -> tuple[str, str]:
    """Write a file; the option that names it."""
    partitions = [{"topic": topic, "partition": number, "replicas": list(ids)} for topic, number, ids in rows]
    Path(name).write_text(json.dumps({"version": 1, "partitions": partitions}))
    return "--reassignment-json-file", name


def said(capsys: Captured, *words: str, code: int = 0) -> str:
    """What a command prints on standard output; its exit code is `code`."""
    capsys.readouterr()
    assert main(list(words)) == code
    return capsys.readouterr().out


def refused(capsys: Captured, *words: str, code: int) -> str:
    """What a command prints on standard error, and it prints nothing else; its exit code is `code`."""
    capsys.readouterr()
    assert main(list(words)) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def document(capsys: Captured, *words: str, code: int = 0) -> Any:
    """The JSON document that a command prints; its exit code is `code`."""
    return json.loads(said(capsys, *words, "--json", code=code))


def partitions(capsys: Captured) -> dict[str, str]:
    """Each partition with R, I, AR, RR and its leader, as `1,4,3,2 1,2,3 4 1 1`; `-` for an empty list."""
    return {
        f"{row['topic']}-{row['partition']}": _lists(row) for row in document(capsys, "admin", "topics", "describe")
    }


def rows_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The steps of a document, as `1 A-0 4 in sync: 1,4,3,2 1,2,3,4 4 1 1`."""
    return [f"{row['round']} {row['topic']}-{row['partition']} {row['step']}: {_lists(row)}" for row in rows]


def _lists(row: dict[str, Any]) -> str:
    lists = (row["replicas"], row["in_sync"], row["adding"], row["removing"])
    return " ".join([*[",".join(map(str, one)) or "-" for one in lists], str(row["leader"])])
