"""Reading partition traces: whatever is wrong is named by file, line and field, and the JSON Schema says the same."""

import json
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests.traces.strategies import altered_anywhere

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_dev.schemas.partition_trace import PARTITION_TRACE_SCHEMA
from kraft_partitions.events import Event
from kraft_spec.fingerprint import partition_spec_hash
from kraft_traces.errors import (
    DuplicateHeaderError,
    DuplicateSequenceError,
    EmptyTraceError,
    FieldError,
    InvalidUtf8Error,
    LineTooLongError,
    MalformedJsonError,
    MissingHeaderError,
    SequenceGapError,
    TraceError,
    TruncatedFileError,
    UnknownEventError,
    UnknownProfileError,
    UnknownSchemaError,
)
from kraft_traces.partitions.encode import encode_trace, event_of, header_of, line_of
from kraft_traces.partitions.parsing import parse_partition_header, parse_partition_line
from kraft_traces.partitions.reader import (
    PartitionTraceReader,
    is_partition_trace,
    open_partition_trace,
    partition_trace_of_bytes,
)
from kraft_traces.reader import trace_of_bytes


@cache
def lines(seed: int = 0, events: int = 40) -> tuple[bytes, ...]:
    configuration = random_configuration(seed)
    run = random_run(configuration, seed, events)
    return tuple(encode_trace(configuration, run, seed, spec_hash=partition_spec_hash()))


def read(content: bytes) -> PartitionTraceReader:
    reader = partition_trace_of_bytes(content, "run.jsonl")
    list(reader)
    return reader


def test_lines_are_read_as_they_were_written(tmp_path: Path) -> None:
    configuration = random_configuration(1)
    run = random_run(configuration, 1, 60)
    file = tmp_path / "run.jsonl"
    file.write_bytes(b"".join(encode_trace(configuration, run, 1)))
    with open_partition_trace(file) as reader:
        assert reader.header == header_of(configuration, 1)
        assert list(reader) == [(number, line_of(occurrence)) for number, occurrence in enumerate(run, 2)]
    assert is_partition_trace(file, "x")


def test_every_kind_of_event_comes_back() -> None:
    configuration = random_configuration(1)
    run = random_run(configuration, 1, 600)
    reader = partition_trace_of_bytes(b"".join(encode_trace(configuration, run)))
    events = [event_of(line.event) for _, line in reader]
    assert events == [occurrence.event for occurrence in run]
    assert {type(event) for event in events} == set(Event.__args__)


HEADER_ERRORS: list[tuple[bytes, bytes, type[TraceError], str, str | None]] = [
    (
        b'"profile":"kip"',
        b'"profile":"kit"',
        UnknownProfileError,
        "unknown profile 'kit', expected one of kip, kafka-4",
        "$.profile",
    ),
    (b"trace/1", b"trace/2", UnknownSchemaError, "unknown schema", "$.schema"),
    (b'"schema":"kraft-partition-trace/1",', b"", MissingHeaderError, "has no schema", None),
    (b'"controllers":[1,2,3]', b'"controllers":[]', FieldError, "first controller, got an empty list", "$.controllers"),
    (b'"controllers":[1,2,3]', b'"controllers":[1,2,1]', FieldError, "1 appears twice", "$.controllers"),
    (b'"brokers":[1,2,3,4,5,6]', b'"brokers":[]', FieldError, "expected brokers", "$.assignments[0][1]"),
    (b'"brokers":[1,', b'"brokers":[-1,1,', FieldError, ">= 0: -1", "$.brokers[0]"),
    (b'["A",1]', b'["A",0]', FieldError, "A-0 appears twice", "$.assignments"),
    (b'"seed":0', b'"seeds":0', FieldError, "unknown field 'seeds'", "$.seeds"),
    (b'"seed":0,', b"", FieldError, "missing field 'seed'", "$.seed"),
    (b'"seed":0', b'"seed":0,"seed":1', FieldError, "'seed' appears twice", "seed"),
    (b'"seed":0', b'"seed":zero', MalformedJsonError, "not JSON: expecting value", None),
    (b'"A"', b'"\xff"', InvalidUtf8Error, "byte 0xff is not UTF-8", None),
]

LINE_ERRORS: list[tuple[bytes, bytes, type[TraceError], str, str | None]] = [
    (b'"name":"AlterPartition"', b'"name":"AlterPartitions"', UnknownEventError, "AlterPartition", "$.event.name"),
    (b'"name":', b'"nam":', FieldError, "missing field 'name'", "$.event.name"),
    (b'"state"', b'"stat"', FieldError, "unknown field 'stat'", "$.stat"),
    (b'"refusal":null', b'"refusal":"NO"', FieldError, "expected one of REQUEST_REFUSED", "$.refusal"),
    (b'"error":"NONE"', b'"error":"NON"', FieldError, "did you mean NONE?", ".error"),
    (b'"leader":', b'"leader":-', FieldError, ">= 0", ".leader"),
    (b'"alive":[', b'"alive":["1",', FieldError, 'expected int, got str: "1"', "$.state.alive[0]"),
    (b'{"sequence":', b'{"schema":"kraft-partition-trace/1","sequence":', DuplicateHeaderError, "second header", None),
    (b'"sequence":', b'"sequence":1', SequenceGapError, "leaves a gap", "$.sequence"),
    (b'"controller":', b'"controller":2,"controller":', FieldError, "appears twice", "controller"),
    (b"{", b"", MalformedJsonError, "extra data", None),
    (b"{", b"\n{", MalformedJsonError, "an empty line", None),
]


@pytest.mark.parametrize(
    ("before", "old", "new", "kind", "detail", "field"),
    [*((0, *error) for error in HEADER_ERRORS), *((2, *error) for error in LINE_ERRORS)],
)
def test_a_malformed_line_is_refused_by_line_and_field(
    before: int, old: bytes, new: bytes, kind: type[TraceError], detail: str, field: str | None
) -> None:
    """The first line that has `old`, after the first `before` of the file, has `new` in its place."""
    texts = list(lines())
    at = next(number for number, text in enumerate(texts) if number >= before and old in text)
    assert (at == 0) == (before == 0)
    texts[at] = texts[at].replace(old, new, 1)
    with pytest.raises(kind) as caught:
        read(b"".join(texts))
    error = caught.value
    assert (error.source, error.line_number) == ("run.jsonl", at + 1)
    assert error.field is None if field is None else (error.field or "").endswith(field)
    assert detail in str(error)


def test_lines_out_of_order_and_files_that_stop() -> None:
    header, first, second, *_ = lines()
    with pytest.raises(DuplicateSequenceError, match=r"^run.jsonl:3: \$.sequence: line 2 has sequence 1 already"):
        read(header + first + first)
    for nothing in (b"", header):
        with pytest.raises(EmptyTraceError):
            read(nothing)
    with pytest.raises(TruncatedFileError, match=r"^run.jsonl:3:94: the file stops in the middle of a line"):
        read(header + first + second[:99])
    with pytest.raises(TruncatedFileError, match=r"^run.jsonl:1:"):
        read(header[:30])
    with pytest.raises(LineTooLongError, match=r"^-:1: the line is longer than 10 bytes"):
        PartitionTraceReader(BytesIO(header), "-", line_bytes_max=10)


def test_another_reader_says_who_reads_it() -> None:
    with pytest.raises(
        UnknownSchemaError, match="this command does not read kraft-partition-trace/1, expected kraft-trace/1"
    ):
        trace_of_bytes(b"".join(lines()))


# ---------------------------------------------------------------------------------------------------------
# The JSON Schema.
# ---------------------------------------------------------------------------------------------------------


@cache
def validator() -> Draft202012Validator:
    schema = PARTITION_TRACE_SCHEMA.committed()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_our_own_lines_are_valid() -> None:
    for seed in range(3):
        for text in lines(seed, 150):
            validator().validate(json.loads(text))


ODD: tuple[Any, ...] = (None, True, -1, 3, 2**70, "", "AlterPartition", "NONE", [], [1, 1], {}, ["A", 0])


@given(st.integers(0, 40), st.data())
def test_schema_and_reader_agree_on_altered_lines(number: int, data: st.DataObject) -> None:
    altered = altered_anywhere(json.loads(lines()[number]), ODD, data)
    text = json.dumps(altered).encode()
    try:
        if number:
            parse_partition_line(text, "run.jsonl", number + 1)
        else:
            parse_partition_header(text, "run.jsonl")
        accepted = True
    except TraceError as error:
        # What the header's fields say of each other, and which profiles there are, cannot be said in the schema.
        together = isinstance(error, UnknownProfileError) or getattr(error, "problem", "") == "inconsistent"
        accepted = together and validator().is_valid(altered)
    assert accepted == validator().is_valid(altered)
