"""Voter changes in a trace: written, read and run again; what the reader refuses; and traces from before."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.traces.check.recorded import recorded

from kraft_traces.encode import encode_line
from kraft_traces.errors import FieldError, IncompleteLineError
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.own import is_own
from kraft_traces.reader import TraceReader, trace_of_bytes
from kraft_traces.restore import event_of

Lines = list[dict[str, Any]]
CHANGES = "impatient-changes"

ADDED_TO_THE_STATE = (
    "log_start_offset",
    "pending_change",
    "reports",
    "wanted_snapshot",
    "quorum_state_version",
    "moved_to",
)


def documents(workload: str) -> Lines:
    """The lines of a run, to be changed."""
    trace = recorded(workload, 3)
    return [json.loads(raw) for raw in (trace.header(), *trace.raw, encode_line(EndLine(len(trace.lines), True)))]


def read(lines: Lines) -> tuple[TraceReader, list[EventLine]]:
    """The reader, at its end, and the event lines."""
    reader = trace_of_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines), "x.jsonl")
    return reader, list(reader)


def refused(name: str, change: Callable[[Lines], object]) -> FieldError:
    """The error of a run that was changed."""
    lines = documents(name)
    change(lines)
    with pytest.raises(FieldError) as caught:
        read(lines)
    return caught.value


def test_a_line_may_send_a_message_and_an_answer_to_a_change_to_one_replica() -> None:
    def sends(line: dict[str, Any]) -> list[dict[str, Any]]:
        return [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]

    line = next(
        line
        for line in documents("auto-join")
        if len({message["destination"] for message in sends(line)}) < len(sends(line))
    )
    by_type = {message["type"]: message["id"] for message in sends(line)}
    assert by_type["AddVoterResponse"] == f"{by_type['FetchResponse']}.change"


_TWICE: list[dict[str, Any]] = [{"id": 1, "directory_id": "U1"}] * 2


def _first(lines: Lines, event: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("event") == event)


def _record(lines: Lines, kind: str) -> dict[str, Any]:
    effects = (effect for line in lines for effect in line.get("effects", ()) if effect["kind"] == "AppendRecords")
    record: dict[str, Any] = next(
        candidate for effect in effects for candidate in effect["records"] if candidate["kind"] == kind
    )
    return record


def _snapshot(lines: Lines) -> dict[str, Any]:
    effects = (effect for line in lines for effect in line.get("effects", ()))
    snapshot: dict[str, Any] = next(effect["snapshot"] for effect in effects if effect["kind"] == "WriteSnapshot")
    return snapshot


def _answered_change(lines: Lines) -> dict[str, Any]:
    effects = (effect for line in lines for effect in line.get("effects", ()) if effect["kind"] == "Send")
    response: dict[str, Any] = next(e["message"] for e in effects if e["message"]["type"] == "AddVoterResponse")
    return response


@pytest.mark.parametrize(
    ("name", "change", "field", "text"),
    [
        (
            CHANGES,
            lambda lines: _record(lines, "LeaderChange").update(details=[]),
            "details",
            "a LeaderChange record has no details",
        ),
        (
            CHANGES,
            lambda lines: _repeat(_record(lines, "Voters")["details"]),
            "details[1]",
            "appears twice",
        ),
        ("snapshots", lambda lines: _repeat(_snapshot(lines)["details"]), "details[1]", "appears twice"),
        ("snapshots", lambda lines: _repeat(_snapshot(lines)["voters"]), "voters[1]", "appears twice"),
        (
            CHANGES,
            lambda lines: lines[0]["replicas"][0].update(initial_voters=_TWICE),
            "[1]",
            "appears twice",
        ),
        ("upgrade", lambda lines: _repeat(_reports(lines)), "reports[1]", "appears twice"),
        (
            "auto-join",
            lambda lines: _answered_change(lines).update(id=_answered_change(lines)["id"].removesuffix(".change")),
            "message.id",
            "(sequence and receiver)",
        ),
        (
            CHANGES,
            lambda lines: _first(lines, "AddVoter")["input"].update(value=1),
            "$.input.value",
            "AddVoter has no input 'value'",
        ),
        (
            CHANGES,
            lambda lines: _first(lines, "AddVoter").update(cause={"source": "operator"}),
            "$.cause",
            "the cause of AddVoter is source client",
        ),
        (
            CHANGES,
            lambda lines: _first(lines, "VoterChangeTimeout").update(cause={"timer": "election"}),
            "$.cause",
            "the cause of VoterChangeTimeout is timer voter-change",
        ),
        (
            CHANGES,
            lambda lines: _change(lines).update(kind="replace"),
            "$.state.pending_change.kind",
            'unknown value "replace", expected one of add, remove, update, upgrade',
        ),
        (
            CHANGES,
            lambda lines: _change(lines).update(phase="done"),
            "$.state.pending_change.phase",
            "learn-versions",
        ),
        (
            CHANGES,
            lambda lines: _first(lines, "Poll")["state"].update(quorum_state_version=2),
            "$.state.quorum_state_version",
            "expected one of 0, 1",
        ),
    ],
)
def test_what_the_reader_refuses(name: str, change: Callable[[Lines], object], field: str, text: str) -> None:
    error = refused(name, change)
    assert str(error.field).endswith(field)
    assert text in str(error)


def _repeat(members: list[Any]) -> None:
    members.insert(1, members[0])


def _reports(lines: Lines) -> list[Any]:
    return next(line["state"]["reports"] for line in lines if line.get("state", {}).get("reports"))


def _change(lines: Lines) -> dict[str, Any]:
    return next(line["state"]["pending_change"] for line in lines if line.get("state", {}).get("pending_change"))


def from_before(lines: Lines) -> Lines:
    """The same trace as it was written before voter changes were known."""
    for replica in lines[0]["replicas"]:
        for field in ("min_version", "max_version", "initial_voters", "auto_join"):
            replica.pop(field, None)
    lines[0]["timeouts"].pop("voter_change_timeout_ms")
    for line in lines[1:-1]:
        for field in ADDED_TO_THE_STATE:
            line.get("state", {}).pop(field, None)
        if line["event"] == "Restart":
            del line["input"]
        effects = line.get("effects", [])
        for part in (
            *effects,
            *[effect["message"] for effect in effects if "message" in effect],
            line.get("message", {}),
        ):
            for field in ("version", "snapshot_end_offset", "snapshot_epoch"):
                part.pop(field, None)
            for record in part.get("records", ()):
                record.pop("details", None)
    return lines


def test_a_trace_from_before_is_read_as_one_that_leaves_fields_out() -> None:
    lines = [*documents("crashes")[:40], {"kind": "end", "events": 39, "complete": True}]
    reader, events = read(from_before(lines))
    assert len(events) == 39
    assert not is_own(reader.header)
    configuration = reader.configuration
    assert {(replica.min_version, replica.max_version) for replica in configuration.replicas.values()} == {(0, 1)}
    assert all(replica.initial_voters is None and not replica.auto_join for replica in configuration.replicas.values())
    assert configuration == recorded("crashes", 3).configuration


def test_what_a_trace_from_before_leaves_out_cannot_be_run_again() -> None:
    line = next(line for line in read(documents("auto-join"))[1] if line.event == "Restart")
    assert event_of(line) is not None
    (before,) = [line for line in read(from_before(documents("auto-join")))[1] if line.event == "Restart"]
    with pytest.raises(IncompleteLineError):
        event_of(before)
