"""Every way in which a trace can be wrong has its own error, which names file, line, field and what was expected."""

import gzip
import json
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.traces.strategies import GENERATOR, cluster, random_run
from tests.traces.test_json_schema import accepts

from kraft_traces import errors
from kraft_traces.errors import FieldError, TraceError
from kraft_traces.reader import open_trace, trace_of_bytes
from kraft_traces.streams import trace_paths
from kraft_traces.writer import trace_bytes

Lines = list[dict[str, Any]]


@cache
def _good() -> bytes:
    return b"".join(trace_bytes(random_run(cluster(2), seed=1, steps=400), cluster(2), GENERATOR))


def good() -> Lines:
    """The lines of a good trace, to be spoiled."""
    return [json.loads(line) for line in _good().splitlines()]


def joined(lines: Lines) -> bytes:
    return b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)


def refusal(content: bytes) -> TraceError:
    """The error with which this content is refused."""
    with pytest.raises(TraceError) as caught, trace_of_bytes(content, "x.jsonl") as trace:
        list(trace)
    error = caught.value
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.__dict__) == (type(error), str(error), error.__dict__)
    return error


def spoiled(change: Callable[[Lines], object]) -> TraceError:
    lines = good()
    change(lines)
    return refusal(joined(lines))


def first(lines: Lines, *, at: int = 0, **wanted: object) -> dict[str, Any]:
    """The first event line that has these fields."""
    for line in lines[at:]:
        if all(line.get(field) == value for field, value in wanted.items()):
            return line
    raise AssertionError(f"no line with {wanted}")


def with_send(lines: Lines) -> dict[str, Any]:
    return next(line for line in lines if any(effect["kind"] == "Send" for effect in line.get("effects", ())))


def handled(lines: Lines) -> dict[str, Any]:
    return next(line for line in lines if "message" in line)


def test_the_good_trace_is_good() -> None:
    with trace_of_bytes(joined(good())) as trace:
        assert sum(1 for _ in trace) == 400
        assert trace.complete
        assert trace.line_number == 402


def test_each_error_has_a_code_of_its_own() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TraceError)]
    assert len({kind.code for kind in kinds}) == len(kinds) > 20


@pytest.mark.parametrize(
    ("content", "kind", "text"),
    [
        (b"", errors.EmptyTraceError, "x.jsonl: the file is empty, expected a header"),
        (
            b'{"kind":"end","events":0,"complete":true}\n',
            errors.MissingHeaderError,
            'x.jsonl:1: $.kind: the first line is of kind "end", expected a header',
        ),
        (b"[]\n", errors.MissingHeaderError, "x.jsonl:1: the first line is not a JSON object, expected a header"),
        (b"{}\n", errors.MissingHeaderError, "x.jsonl:1: $.kind: the first line has no kind"),
        (
            b'{"kind":"header","schema":"kraft-trace/2","new":1}\n',
            errors.UnknownSchemaError,
            'x.jsonl:1: $.schema: unknown schema "kraft-trace/2", this program reads kraft-trace/1',
        ),
        (b'{"schema":"other"}\n', errors.UnknownSchemaError, 'x.jsonl:1: $.schema: unknown schema "other"'),
        (b'{"schema":7}\n', errors.UnknownSchemaError, "x.jsonl:1: $.schema: unknown schema 7"),
        (b'{"kind":"header"}\n', FieldError, "x.jsonl:1: $.schema: missing field 'schema'"),
        (b"no JSON\n", errors.MalformedJsonError, "x.jsonl:1:1: not JSON: expecting value"),
        (b'{"kind":', errors.TruncatedFileError, "x.jsonl:1:9: the file stops in the middle of a line"),
        (b"\xef\xbb\xbf{}\n", errors.MalformedJsonError, "x.jsonl:1:1: a byte order mark"),
        (b"[" * 100_000 + b"\n", errors.MalformedJsonError, "x.jsonl:1: nested too deeply"),
    ],
)
def test_files_without_a_proper_first_line(content: bytes, kind: type[TraceError], text: str) -> None:
    error = refusal(content)
    assert type(error) is kind
    assert str(error).startswith(text)


def event(name: str = "Poll", **fields: object) -> bytes:
    """The second line of a trace; a None is left out."""
    line = {"kind": "event", "sequence": 1, "event": name} | fields
    return json.dumps({field: value for field, value in line.items() if value is not None}).encode()


_VOTERS = {"kind": "AppendRecords", "base_offset": 0, "records": [{"epoch": 1, "kind": "Voters", "value": 0}]}
_UNSUPPORTED = "AnswerUnsupportedVersion"


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (b"", errors.MalformedJsonError, "1: an empty line, expected a JSON object"),
        (b'{"kind":"event" "x"}', errors.MalformedJsonError, "17: not JSON: expecting ',' delimiter"),
        # What is no JSON at all goes before what has the wrong fields, and columns count characters.
        ('{"ü":1,}'.encode(), errors.MalformedJsonError, "8: "),
        (b'{"kind":NaN}', errors.MalformedJsonError, "9: NaN is not JSON"),
        (b'{"kind":"end"} {}', errors.MalformedJsonError, "16: not JSON: extra data"),
        (b'{"kind":"\\ud800"}', errors.MalformedJsonError, "10: \\ud800 is half of a surrogate pair"),
        (b'{"kind":' + b"9" * 5000 + b"}", errors.MalformedJsonError, " a number with too many digits"),
        (b'{"kind":"event","event":"\xff"}', errors.InvalidUtf8Error, "26: byte 0xff is not UTF-8"),
        (
            b'{"kind":"event","sequence":1,"sequence":1,"event":"Poll","replica":1}',
            FieldError,
            " sequence: field 'sequence' appears twice in one object",
        ),
        (event(sequence=1.0), FieldError, " $.sequence: expected int, got float: 1.0"),
        (event(replica=9), errors.UnknownReplicaError, " $.replica: replica 9 is not in the header, which lists 1, 2"),
        (
            event("HealLink", input={"source": 1, "destination": 8}),
            errors.UnknownReplicaError,
            " $.input.destination: replica 8 is not in the header",
        ),
        (
            event("HandleVoteRequest", replica=1, message={"type": "VoteRequest", "destination": 2}),
            FieldError,
            " $.message.destination: a message for replica 2 cannot arrive at replica 1",
        ),
        (
            event("DropMessage", input={"message_id": "1.1"}),
            errors.UnknownMessageError,
            " $.input.message_id: message 1.1 is not in flight",
        ),
    ],
)
def test_wrong_second_lines(line: bytes, kind: type[TraceError], text: str) -> None:
    error = refusal(joined(good()[:1]) + line + b"\n")
    assert type(error) is kind
    assert str(error).startswith(f"x.jsonl:2:{text}")
    assert error.source == "x.jsonl"
    assert error.line_number == 2


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"[1]", "$: expected object, got array"),
        (b'{"sequence":1}', "$.kind: missing field 'kind'"),
        (b'{"kind":"evnt"}', '$.kind: unknown value "evnt", did you mean event?'),
        (b'{"kind":"end","events":-1,"complete":true}', "$.events: expected int >= 0: -1"),
        (b'{"kind":"end","events":1}', "$.complete: missing field 'complete'"),
        (b'{"kind":"event","sequence":1}', "$.event: missing field 'event'"),
        (event("HandleVoteReqest"), '$.event: unknown event "HandleVoteReqest", did you mean HandleVoteRequest'),
        (event("qqq"), '$.event: unknown event "qqq", expected one of ElectionTimeout, '),
        (event(sequence=0), "$.sequence: expected int >= 1: 0"),
        (event(), "$.replica: missing field 'replica', which Poll requires"),
        (event("CutLink", replica=1), "$.replica: CutLink is an event of the network and has no field 'replica'"),
        (
            event("FetchTimeout", replica=1, input={"value": 8}),
            "$.input.value: FetchTimeout has no input 'value', expected no input",
        ),
        (event("RequestTimeout", replica=1, input={"value": 2}), "$.input.value: RequestTimeout has no input 'value'"),
        (event("DropMessage", input={"message_id": "0.3.1"}), "$.input.message_id: expected str matching regex"),
        (
            event("ElectionTimeout", replica=1, cause={"timer": "fetch"}),
            "$.cause: the cause of ElectionTimeout is timer election, got timer fetch",
        ),
        (
            event("HandleVoteRequest", replica=1, cause={"source": "poll"}),
            "$.cause: the cause of HandleVoteRequest is a message_id, got source poll",
        ),
        (event(replica=1, answer={"type": "VoteResponse"}), "$.answer: an event Poll has no field 'answer'"),
        (event(_UNSUPPORTED, answer={}), "$.answer.type: missing field 'type'"),
        (event(_UNSUPPORTED, answer={"type": "FetchResponse"}), "$.answer.type: expected VoteResponse, got Fet"),
        (event(replica=1, state={"role": "Leder"}), '$.state.role: unknown value "Leder", did you mean Leader?'),
        (event(replica=1, state={"granted": [2, 3, 2]}), "$.state.granted[2]: appears twice, expected each value once"),
        (event(replica=1, effects=[_VOTERS]), "$.effects[0].records[0].voters: a Voters record has voters"),
        (event(replica=1, effects=[{"kind": "Send"}]), "$.effects[0].message: missing field 'message'"),
        (
            event(replica=1, effects=[{"kind": "Send", "message": {"type": "Vote"}}]),
            '$.effects[0].message.type: unknown value "Vote"',
        ),
        (
            event("HandleVoteRequest", replica=1, message={"type": "FetchRequest"}),
            "$.message.type: HandleVoteRequest delivers VoteRequest, got FetchRequest",
        ),
        (event(replica=1, message={"type": "FetchRequest"}), "$.message: Poll delivers no message"),
    ],
)
def test_a_line_that_is_wrong_by_itself_is_refused_by_the_schema_too(line: bytes, text: str) -> None:
    error = refusal(joined(good()[:1]) + line + b"\n")
    assert error.line_number == 2
    assert str(error).startswith(f"x.jsonl:2: {text}")
    assert not accepts(json.loads(line))


def set_in(line: dict[str, Any], path: str, value: object) -> None:
    *way, last = path.split(".")
    for step in way:
        line = line[step]
    line[last] = value


@pytest.mark.parametrize(
    ("path", "value", "field", "problem"),
    [
        ("state.epoch", "5", "$.state.epoch", "wrong-value"),
        ("state.epoch", 2**31, "$.state.epoch", "wrong-value"),
        ("state.epoch", None, "$.state.epoch", "wrong-value"),
        ("state.term", 5, "$.state.term", "unknown"),
        ("state.voted_key", {"id": 1}, "$.state.voted_key.directory_id", "missing"),
        ("state.voters.voters", [{"id": 1, "directory_id": None}, 2], "$.state.voters.voters[1]", "wrong-value"),
        ("effects", [{"kind": "FlushLog"}], "$.effects[0].end_offset", "missing"),
        ("effects", [{"kind": "FlushLogs", "end_offset": 1}], "$.effects[0].kind", "wrong-value"),
        ("refusal", "BECAUSE", "$.refusal", "wrong-value"),
        ("crash", None, "$.crash", "wrong-value"),
        ("surprise", 1, "$.surprise", "unknown"),
    ],
)
def test_wrong_fields_are_named(path: str, value: object, field: str, problem: str) -> None:
    lines = good()
    line = next(line for line in lines[50:] if "state" in line)
    set_in(line, path, value)
    error = refusal(joined(lines))
    assert isinstance(error, FieldError)
    number = line["sequence"] + 1
    assert (error.line_number, error.field, error.problem) == (number, field, problem)
    assert str(error).startswith(f"x.jsonl:{number}: {field}: ")
    assert not accepts(line)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rejected", [1, 1]),
        ("acknowledged", [2, 2]),
        ("fetchers", [3, 3]),
        ("awaiting", [[1, 5], [1, 6]]),
        ("fetch_offsets", [[{"id": 1, "directory_id": "A"}, 5], [{"id": 1, "directory_id": "A"}, 6]]),
    ],
)
def test_sets_and_mappings_name_each_key_once(field: str, value: object) -> None:
    lines = good()
    next(line for line in lines if "state" in line)["state"][field] = value
    assert refusal(joined(lines)).field == f"$.state.{field}[1]"


def test_the_header_names_replicas_once_and_knows_its_voters() -> None:
    error = spoiled(lambda lines: lines[0]["voters"].append({"id": 4, "directory_id": None}))
    assert type(error) is errors.UnknownReplicaError
    assert str(error) == "x.jsonl:1: $.voters[3].id: replica 4 is not listed in $.replicas"
    error = spoiled(lambda lines: lines[0]["voters"].append({"id": 1, "directory_id": "another"}))
    assert str(error) == "x.jsonl:1: $.voters[3]: appears twice, expected each value once"
    error = spoiled(lambda lines: lines[0]["replicas"].append(lines[0]["replicas"][0]))
    assert str(error) == "x.jsonl:1: $.replicas[3]: appears twice, expected each value once"
    for field, value in (("spec_hash", "abc"), ("fetch_max_records", 2**40)):
        lines = good()
        lines[0][field] = value
        assert refusal(joined(lines)).field == f"$.{field}"


def test_a_header_without_its_kind() -> None:
    error = spoiled(lambda lines: lines[0].pop("kind"))
    assert type(error) is errors.MissingHeaderError


def test_sequence_and_time() -> None:
    error = spoiled(lambda lines: lines[40].update(sequence=39))
    assert type(error) is errors.DuplicateSequenceError
    assert str(error) == "x.jsonl:41: $.sequence: line 40 has sequence 39 already, expected 40"
    error = spoiled(lambda lines: lines.pop(40))
    assert type(error) is errors.SequenceGapError
    assert str(error) == "x.jsonl:41: $.sequence: sequence 41 leaves a gap, expected 40"
    error = spoiled(lambda lines: lines[40].update(time_ms=0))
    assert type(error) is errors.TimeGoesBackError
    assert (error.line_number, error.field) == (41, "$.time_ms")


def test_a_second_header() -> None:
    error = spoiled(lambda lines: lines.insert(30, lines[0]))
    assert type(error) is errors.DuplicateHeaderError
    assert str(error) == "x.jsonl:31: a second header, expected one trace per file"


def test_the_end() -> None:
    error = spoiled(lambda lines: lines[-1].update(events=399))
    assert type(error) is errors.EventCountError
    assert str(error) == "x.jsonl:402: $.events: the end line counts 399 events, the trace has 400"
    error = spoiled(lambda lines: lines.append(lines[-1]))
    assert type(error) is errors.LinesAfterEndError
    assert str(error) == "x.jsonl:403: expected nothing after the end line"
    assert type(refusal(joined(good()[:1]))) is errors.EmptyTraceError
    empty = [good()[0], {"kind": "end", "events": 0, "complete": True}]
    assert type(refusal(joined(empty))) is errors.EmptyTraceError


def test_a_file_cut_anywhere_is_truncated_or_incomplete() -> None:
    content = _good()
    for size in range(1, len(content), 997):
        if b"\n" in content[size - 1 : size + 1]:
            continue
        error = refusal(content[:size])
        assert type(error) is errors.TruncatedFileError
        number = content[:size].count(b"\n") + 1
        assert str(error).startswith(f"x.jsonl:{number}:")
    # Only the last newline is missing: nothing is lost.
    with trace_of_bytes(content[:-1]) as trace:
        assert len(list(trace)) == 400
        assert trace.complete


def test_messages_must_be_on_their_way() -> None:
    def never_sent(lines: Lines) -> None:
        line = handled(lines)
        line["message"]["id"] = line["cause"]["message_id"] = f"999999.{line['replica']}"

    error = spoiled(never_sent)
    assert type(error) is errors.UnknownMessageError
    assert error.field == "$.message.id"
    assert "message 999999." in str(error)

    lines = good()
    arrived = handled(lines)
    dropped = {"kind": "event", "sequence": 401, "event": "DropMessage", "input": dict(arrived["cause"])}
    error = refusal(joined([*lines[:-1], dropped]))
    assert type(error) is errors.UnknownMessageError
    assert str(error).startswith(
        f"x.jsonl:402: $.input.message_id: message {arrived['message']['id']} is not in flight"
    )

    error = spoiled(lambda lines: handled(lines)["message"].update(id="1.1"))
    assert type(error) is FieldError
    assert error.field == "$.message.id"


def test_ids_of_sent_messages() -> None:
    def sent(lines: Lines, **fields: object) -> None:
        next(effect for effect in with_send(lines)["effects"] if effect["kind"] == "Send")["message"].update(fields)

    error = spoiled(lambda lines: sent(lines, id="1.3"))
    assert type(error) is FieldError
    assert "(sequence and receiver), got '1.3'" in str(error)
    error = spoiled(lambda lines: sent(lines, source=9))
    assert error.field is not None
    assert error.field.endswith(".message.source")


def test_a_foreign_trace_may_leave_sends_out() -> None:
    lines = good()
    for line in lines[1:-1]:
        for field in ("time_ms", "effects", "state", "refusal", "crash", "answer"):
            line.pop(field, None)
        if line["event"] in ("RequestTimeout", "DuplicateMessage"):
            line.pop("input")
        if "message" in line:
            line["message"] = {"type": line["message"]["type"]}
    with trace_of_bytes(joined(lines)) as trace:
        assert len(list(trace)) == 400
        assert trace.complete


def test_lines_are_bounded(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    file.write_bytes(_good())
    with pytest.raises(errors.LineTooLongError, match=r"long\.jsonl:1: the line is longer than 100 bytes"):
        open_trace(file, line_bytes_max=100)


def read_all(path: Path) -> None:
    with open_trace(path) as trace:
        list(trace)


def test_compressed_files(tmp_path: Path) -> None:
    whole = gzip.compress(_good(), mtime=0)
    file = tmp_path / "t.jsonl.gz"
    file.write_bytes(whole)
    read_all(file)
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(errors.TruncatedGzipError, match=r"t\.jsonl\.gz:\d+: the gzip data is truncated"):
        read_all(file)
    file.write_bytes(whole[:-8] + b"\0" * 8)
    with pytest.raises(errors.CorruptGzipError, match=r"t\.jsonl\.gz:\d+: the gzip data is damaged"):
        read_all(file)
    file.write_bytes(_good())
    with pytest.raises(errors.CorruptGzipError, match=r"the file name ends with \.gz, but the content is not gzip"):
        read_all(file)
    file.write_bytes(whole[:1])
    with pytest.raises(TraceError):
        read_all(file)
    plain_name = tmp_path / "t.jsonl"
    plain_name.write_bytes(whole)
    read_all(plain_name)


def test_files_and_folders_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFileError, match=r"absent\.jsonl: No such file"):
        open_trace(tmp_path / "absent.jsonl")
    with pytest.raises(errors.UnreadableFileError, match=r"absent: no such file or folder"):
        trace_paths(tmp_path / "absent")
    with pytest.raises(errors.NoTracesError, match=r"no file in this folder ends with \.jsonl or \.jsonl\.gz"):
        trace_paths(tmp_path)
    with pytest.raises(errors.UnreadableFileError, match="directory"):
        open_trace(tmp_path)


def test_the_documentation_names_every_code() -> None:
    page = (Path(__file__).parents[2] / "docs" / "trace-format.md").read_text(encoding="utf-8")
    codes = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, TraceError)}
    for code in codes - {TraceError.code}:
        assert f"`{code}`" in page
