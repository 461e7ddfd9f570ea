"""Transcripts of vectors: one beside each, complete, and kept by the generator."""

from collections.abc import Iterator
from pathlib import Path
from re import escape, search
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert
from msgspec.json import decode, encode
from tests.conformance.commands import Captured

from kraft_reference.effects import Timer
from kraft_reference.messages import Error
from kraft_reference.roles import Role
from kraft_traces.state_types import ChangePhase
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.files import files_of, transcript_name
from kraft_vectors.format import Expected
from kraft_vectors.generate import write, write_or_check
from kraft_vectors.manifest import vector_folder
from kraft_vectors.transcript import transcript

Place: TypeAlias = tuple[str | int, ...]

CATALOGUE = Catalogue()
IDS = tuple(CATALOGUE)


def committed(vector_id: str) -> str:
    return (vector_folder() / transcript_name(vector_id)).read_text(encoding="utf-8")


def leaves(value: Any, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """The values of a document that have no parts, each with its path."""
    if isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(inner, (*path, name))
    elif value is not None:
        yield path, value


def expected_leaves(document: dict[str, Any]) -> list[tuple[Place, Any]]:
    """Those of the outcomes of the steps and of the allowed alternatives, without the order of the outputs."""
    steps = [*leaves(document["steps"], ("steps",)), *leaves(document.get("courses", []), ("courses",))]
    outcomes = [(path, value) for path, value in steps if path[0] == "courses" or path[2] in Expected.__struct_fields__]
    return [(path, value) for path, value in outcomes if "before" not in path or "state" in path]


LEFT_OUT = frozenset(
    [(name, -1) for name in ("diverging_epoch", "diverging_end_offset", "snapshot_end_offset", "snapshot_epoch")]
    + [("cluster_id", "kraft-spec")]
)
"""Fields of expected messages with the values that a transcript leaves out, beside those of null and empty lists."""


@pytest.mark.slow
def test_each_vector_has_a_transcript_beside_it_with_every_expected_value() -> None:
    there = {path.relative_to(vector_folder()).as_posix() for path in vector_folder().rglob("*.txt")}
    assert there == set(map(transcript_name, IDS))
    bodies: dict[str, Any] = {}
    for vector_id in IDS:
        vector, text = CATALOGUE.vector(vector_id), committed(vector_id)
        assert transcript(vector) == text, vector_id
        assert max(map(len, text.splitlines())) <= 100, vector_id
        document, words = decode(encode(vector)), " ".join(text.split())
        values = {
            str(value)
            for path, value in expected_leaves(document)
            if not isinstance(value, bool) and (path[-1], value) not in LEFT_OUT and not {"details", "path"} & {*path}
        }
        assert [value for value in values if not occurs(value, words)] == [], vector_id
        for step in document["steps"]:
            step.pop("draw", None)
        # Vectors of two observability levels may be about the same steps.
        body = [document[name] for name in ("cluster", "before", "steps")]
        assert bodies.setdefault(text[text.index("\nGiven") :], body) == body, vector_id
    assert len({committed(vector_id) for vector_id in IDS}) == len(IDS)


def occurs(value: str, words: str) -> bool:
    return search(rf"(?<![\w.]){escape(value)}(?!\w)", words) is not None


ENUMS: dict[str, list[str]] = {
    "role": [*Role],
    "timer": [*Timer],
    "phase": [*ChangePhase],
    "error": [Error.NONE, Error.INVALID_REQUEST],
}
IDENTIFYING = ("source", "name", "any_order")
"""The replica itself, the partition that changes, and the kind of an alternative."""
FREE_TEXTS = ("directory_id", "endpoint", "leader_endpoint", "moved_to", "decision", "answer", "reason")


def other_value(name: str, value: Any) -> Any:
    """Return another value of a field that fits its type; None if the name is part of what identifies the field."""
    if name in IDENTIFYING:
        return None
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 1 - value if name.endswith("version") and value in (0, 1) else value + 1
    if name in ENUMS:
        return next(other for other in ENUMS[name] if other != value)
    return f"{value}x" if name in FREE_TEXTS else None


@given(st.sampled_from(IDS), st.data())
def test_a_vector_that_expects_another_value_has_another_transcript(vector_id: str, data: st.DataObject) -> None:
    vector = CATALOGUE.vector(vector_id)
    document = decode(encode(vector))
    path, value = data.draw(st.sampled_from(expected_leaves(document)))
    assert_shown(document, type(vector), path, value)


def assert_shown(document: dict[str, Any], kind: type[AnyVector], path: Place, value: Any) -> None:
    part: Any = document
    for name in path[:-1]:
        part = part[name]
    other = other_value(next(name for name in reversed(path) if isinstance(name, str)), value)
    if other is not None:
        before = transcript(convert(document, kind))
        part[path[-1]] = other
        assert transcript(convert(document, kind)) != before, (document["id"], path, value, other)
        part[path[-1]] = value


def test_the_generator_notices_a_transcript_edited_by_hand(tmp_path: Path, capsys: Captured) -> None:
    made = files_of([CATALOGUE.vector("vote.granted"), CATALOGUE.vector("partition.list.all")])
    write(made, tmp_path)
    assert write_or_check(["--check"], made, tmp_path, "vectors") == 0
    edited = tmp_path / "vote" / "granted.txt"
    edited.write_text(edited.read_text().replace("granted true", "granted false"))
    (tmp_path / "vote" / "stray.txt").write_text("vote.stray\n")
    assert write_or_check(["--check"], made, tmp_path, "vectors") == 1
    differences = capsys.readouterr().out.splitlines()
    assert differences == [f"{path}: not what the generator makes" for path in (edited, tmp_path / "vote/stray.txt")]
    write(made, tmp_path)
    assert write_or_check(["--check"], made, tmp_path, "vectors") == 0
