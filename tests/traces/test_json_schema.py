"""The JSON Schema in the package is that of the types, and says of a line what the reader says."""

import json
from functools import cache

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.traces.strategies import GENERATOR, altered_anywhere, cluster, occurrences, random_run

from kraft_dev.schemas.trace import TRACE_SCHEMA
from kraft_simulation.occurrence import Occurrence
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EndLine
from kraft_traces.parsing import parse_line
from kraft_traces.writer import trace_bytes


@cache
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(TRACE_SCHEMA.committed())
    return Draft202012Validator(TRACE_SCHEMA.committed())


def accepts(line: object) -> bool:
    return bool(validator().is_valid(line))


def test_our_own_traces_are_valid() -> None:
    for raw in trace_bytes(random_run(cluster(2), seed=5, steps=250), cluster(2), GENERATOR):
        validator().validate(json.loads(raw))


@given(occurrences())
def test_any_line_of_ours_is_valid(occurrence: Occurrence) -> None:
    validator().validate(json.loads(encode_line(event_line(occurrence))))


def test_header_and_end() -> None:
    header = msgspec.to_builtins(header_line(cluster(), GENERATOR, spec_hash="a" * 64))
    header = json.loads(json.dumps(header))
    assert accepts(header)
    assert accepts(msgspec.to_builtins(EndLine(3, complete=True)))
    for field, wrong in {
        "schema": "kraft-trace/2",
        "spec_hash": "a",
        "kraft_version": 2,
        "switched_off": ["a", "a"],
        "extra": 1,
    }.items():
        assert not accepts({**header, field: wrong})


ODD: tuple[object, ...] = (None, True, -1, 3, 2**70, "", "Poll", "election", [], {})


@given(occurrences(sequence=7), st.data())
def test_schema_and_reader_agree_on_altered_lines(occurrence: Occurrence, data: st.DataObject) -> None:
    altered = altered_anywhere(json.loads(encode_line(event_line(occurrence))), ODD, data)
    try:
        parse_line(json.dumps(altered).encode(), "x.jsonl", 8)
        read = True
    except TraceError as error:
        # That ids and replicas agree within a line, and keys of a mapping differ, cannot be said in the schema.
        read = any(text in str(error) for text in ("expected '7.", "second message", "appears twice, expected"))
        read = read or str(error.field).endswith((".source", ".destination", "$.message.id"))
        read = read and accepts(altered)
    assert read == accepts(altered)


def test_a_field_has_its_docstring_as_description() -> None:
    definitions = TRACE_SCHEMA.committed()["$defs"]
    assert definitions["CheckpointLine"]["properties"]["cuts"]["description"] == "Cut links: source and destination."
    assert "description" not in definitions["CheckpointLine"]["properties"]["kind"]
