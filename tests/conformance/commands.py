"""Commands and their results."""

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kraft_cli.cli import main

Captured = pytest.CaptureFixture[str]
REFERENCE = f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference"
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
VERSION = "4.1.2"
"""Release of Kafka that tests run."""


def newest_by_day(versions: Iterable[str]) -> list[Any]:
    """Return the parameters of a test for each release, oldest first; a push runs only the newest, the night all."""
    *older, newest = versions
    return [*(pytest.param(version, marks=pytest.mark.nightly) for version in older), newest]


def altered(*modes: str) -> str:
    """Return the command line of an `altered_adapter`."""
    result = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    return shlex.join(
        ["env", f"PYTHONPATH={result}", sys.executable, "-m", "tests.conformance.altered_adapter", *modes]
    )


def without_rule(rule: str) -> str:
    """Return the command line of the reference with the mutant that omits a rule."""
    return f"{shlex.quote(sys.executable)} -m kraft_conformance.adapters.reference --mutant {rule}"


def output(capsys: Captured, *words: str) -> tuple[int, str]:
    """Return exit code and standard output of `kraft-spec`."""
    capsys.readouterr()
    code = main([*words])
    return code, capsys.readouterr().out


def error(capsys: Captured, *words: str) -> tuple[int, str]:
    """Return exit code and standard error of `kraft-spec`, as one line."""
    capsys.readouterr()
    code = main([*words])
    return code, " ".join(capsys.readouterr().err.split())


def prove(*words: str) -> int:
    """Return the exit code of `kraft-spec prove`."""
    return main(["prove", *words])


def assert_said(capsys: Captured, code: int, text: str, *words: str) -> None:
    """Check the exit code and the standard error of `kraft-spec`."""
    result, printed = error(capsys, *words)
    assert (result, text in printed) == (code, True), printed


def document(capsys: Captured, *words: str) -> tuple[int, Any]:
    """Return exit code and JSON document of `kraft-spec ... --json`."""
    code, text = output(capsys, *words, "--json")
    return code, json.loads(text)


def lines(capsys: Captured, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Return exit code and JSON lines of `kraft-spec ... --json`."""
    code, text = output(capsys, *words, "--json")
    return code, [json.loads(line) for line in text.splitlines()]


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page of the documentation, each with language and text."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def block(page: str, beginning: str) -> str:
    """Return the text of the fenced block with this beginning."""
    (result,) = [text for _, text in blocks(page) if text.startswith(beginning)]
    return result


def ends(pid: int) -> bool:
    """True if a process ends soon; a zombie, for which its parent does not wait, has ended."""
    for _ in range(500):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except FileNotFoundError:
            return True
        time.sleep(0.02)
    return False
