"""Checkpoint lines: to a line and back, and every way in which one can be wrong."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import islice
from pathlib import Path as File
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.checkpointed import CHECKPOINT, Checkpointed, alternatives, as_line, edited, followed, simulated
from tests.traces.places import Document, fields_there, value_at, with_value
from tests.traces.strategies import cluster, random_run
from tests.traces.test_json_schema import accepts

from kraft_cli.cli import main
from kraft_simulation.workload import WORKLOADS
from kraft_spec.mapping_checkpoint import checkpoint_from_model, checkpoint_to_model
from kraft_traces import errors
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_line, checkpoint_of
from kraft_traces.encode import encode_line
from kraft_traces.errors import FieldError, TraceError
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.own import own_generator
from kraft_traces.parsing import parse_line
from kraft_traces.reader import trace_of_bytes
from kraft_traces.writer import line_maker, trace_bytes

Path = tuple[str | int, ...]

workloads = st.sampled_from(sorted(WORKLOADS))


def assert_there_and_back(run: Checkpointed, every: int = 1) -> None:
    """Each checkpoint is the same after a way through bytes, and after one through the model."""
    cluster_id = run.configuration.cluster_id
    for sequence, state in islice(enumerate(run.states), 0, None, every):
        line = parse_line(run.checkpoint(sequence), "x.jsonl", 2)
        assert isinstance(line, CheckpointLine)
        assert checkpoint_of(line) == state
        assert encode_line(checkpoint_line(checkpoint_of(line))) == run.checkpoint(sequence)
        variables: Any = checkpoint_to_model(state)
        assert checkpoint_from_model(variables, cluster_id, sequence, state.time_ms) == state


@given(st.integers(0, 2**32), st.integers(1, 80))
def test_random_moves_there_and_back(seed: int, steps: int) -> None:
    assert_there_and_back(followed(cluster(2), random_run(cluster(2), seed, steps)))


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_runs_of_every_workload_there_and_back_and_their_schema(workload: str) -> None:
    run = simulated(workload, 5, 150)
    assert_there_and_back(run, every=9)
    assert all(accepts(json.loads(run.checkpoint(sequence))) for sequence in range(0, len(run.states), 29))


def test_a_run_begins_with_empty_disks() -> None:
    run = simulated("calm", 1, 60)
    start = run.states[0]
    assert (start.sequence, start.time_ms, start.network, start.cuts) == (0, 0, {}, frozenset())
    assert {state.role.value for state in start.replicas.values()} == {"Unattached"}
    assert start.recollection.committed.end_offset == 0


def test_the_writer_puts_a_checkpoint_after_every_so_many_events() -> None:
    occurrences = random_run(cluster(), 3, 50)
    raw = list(trace_bytes(occurrences, cluster(), own_generator(), checkpoint_every=7))
    lines = [json.loads(line) for line in raw]
    assert [line["sequence"] for line in lines if line["kind"] == "checkpoint"] == [7, 14, 21, 28, 35, 42, 49]
    assert raw == followed(cluster(), occurrences).lines([7, 14, 21, 28, 35, 42, 49], generator=own_generator())
    plain = list(trace_bytes(occurrences, cluster(), own_generator()))
    assert plain == [line for line, document in zip(raw, lines, strict=True) if document["kind"] != "checkpoint"]
    assert [type(line) for line in line_maker(cluster(), 1)(occurrences[0])] == [EventLine, CheckpointLine]


# ---------------------------------------------------------------------------------------------------------
# Where checkpoints stand: a trace with them is the trace without them.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "after", [(0,), (0, 0, 0), (60,), (60, 60), (30, 30), tuple(range(61))], ids=lambda after: f"{after[:3]}"
)
def test_checkpoints_anywhere_do_not_change_what_is_read(after: tuple[int, ...]) -> None:
    run = followed(cluster(), random_run(cluster(), 4, 60))
    with trace_of_bytes(b"".join(run.lines(after)), "x.jsonl") as trace:
        assert tuple(trace) == run.events
        assert (trace.events, trace.line_number, trace.complete) == (60, 62 + len(after), True)
    with trace_of_bytes(b"".join(run.lines(after)), "x.jsonl") as trace:
        read = [line for line in iter(trace.next_line, None) if isinstance(line, CheckpointLine)]
    assert [line.sequence for line in read] == list(after)


def test_a_header_and_checkpoints_are_an_empty_trace() -> None:
    run = simulated("calm", 1, 60)
    for end in (b"", encode_line(EndLine(0, complete=True))):
        refused(b"".join([run.header(), run.checkpoint(0), run.checkpoint(0), end]), errors.EmptyTraceError)


def test_the_first_line_cannot_be_a_checkpoint() -> None:
    run = simulated("calm", 1, 60)
    error = refused(run.checkpoint(0), errors.MissingHeaderError)
    assert str(error).startswith('x.jsonl:1: $.kind: the first line is of kind "checkpoint", expected a header')


def test_nothing_follows_the_end_line_and_a_cut_line_is_named() -> None:
    run = simulated("calm", 1, 60)
    lines = run.lines([])
    refused(b"".join([*lines, run.checkpoint(len(run.events))]), errors.LinesAfterEndError)
    error = refused(b"".join(run.lines([9])[:11])[:-40], errors.TruncatedFileError)
    assert error.line_number == 11


@pytest.mark.parametrize("after", [(0,), (20, 40, 40)])
def test_commands_take_a_trace_with_checkpoints_for_the_one_without(
    after: tuple[int, ...], tmp_path: File, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = simulated("elections", 1, 60)
    monkeypatch.chdir(tmp_path)
    results: list[list[tuple[int, str]]] = []
    for places in ((), after):
        File("trace.jsonl").write_bytes(b"".join(run.lines(places)))
        results.append([])
        for words in (
            ("validate", "trace.jsonl"),
            # Which way the verdict came about is not the same: a checkpoint is for TLC.
            ("validate", "trace.jsonl", "--json", "--interpreted"),
        ):
            results[-1].append((main(words), capsys.readouterr().out))
    assert results[0] == results[1]
    assert [code for code, _ in results[0]] == [0, 0]


# ---------------------------------------------------------------------------------------------------------
# What is wrong with a checkpoint by itself, or after the lines before it.
# ---------------------------------------------------------------------------------------------------------

AT = 62
"""The line on which the checkpoint stands that is spoiled."""


@cache
def _snapshots() -> Checkpointed:
    return simulated("snapshots", 3, 100)


def good() -> Document:
    """A checkpoint with messages on their way and records of a voter set, after the sixtieth event."""
    return deepcopy(_good())


@cache
def _good() -> Document:
    document: Document = json.loads(_snapshots().checkpoint(AT - 2))
    assert document["network"]
    assert document["history"]["epochs"]
    assert document["replicas"][0]["records"][2]["kind"] == "Voters"
    return document


def trace_with(*checkpoints: bytes) -> bytes:
    """The trace with these on the line `AT` and after it."""
    lines = _snapshots().lines([])
    return b"".join([*lines[: AT - 1], *checkpoints, *lines[AT - 1 :]])


def refused(content: bytes, kind: type[TraceError]) -> TraceError:
    """The error, which is of this kind."""
    with pytest.raises(TraceError) as caught, trace_of_bytes(content, "x.jsonl") as trace:
        list(trace)
    assert type(caught.value) is kind
    return caught.value


def test_the_good_checkpoint_is_good() -> None:
    with trace_of_bytes(trace_with(as_line(good())), "x.jsonl") as trace:
        assert len(list(trace)) == len(_snapshots().events)


def put(value: object, *path: str | int) -> Callable[[Document], object]:
    """Put a value in a place."""
    return lambda document: value_at(document, path[:-1]).__setitem__(path[-1], value)


def twice(*path: str | int) -> Callable[[Document], object]:
    """Repeat the first of a list."""
    return lambda document: value_at(document, path).append(value_at(document, path)[0])


def gone(*path: str | int) -> Callable[[Document], object]:
    """Leave out a field, or the last of a list."""
    return lambda document: value_at(document, path[:-1]).pop(path[-1])


STATE = ("replicas", 0, "state")
MESSAGE = ("network", 0, "message")
RECORD = ("replicas", 0, "records", 2)
A_CHANGE = {
    "kind": "adds",
    "phase": "commit",
    "voter": None,
    "endpoint": None,
    "min_version": 0,
    "max_version": 1,
    "offset": -1,
    "requester": None,
    "request": 1,
    "when_committed": True,
}
NOT_FOLLOWING = "the snapshot and the records give"


class Spoiled(NamedTuple):
    """Change of a checkpoint, with the resulting error."""

    spoil: Callable[[Document], object]
    problem: str
    place: Path
    text: str

    @property
    def field(self) -> str:
        """The place as an error names it."""
        return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.place)


def lacks(*place: str | int, text: str = "a checkpoint must have every field") -> Spoiled:
    return Spoiled(gone(*place), "missing", place, text)


def has_wrong(value: object, *place: str | int, text: str, below: Path = ()) -> Spoiled:
    return Spoiled(put(value, *place), "wrong-value", (*place, *below), text)


def has_twice(spoil: Callable[[Document], object], *place: str | int) -> Spoiled:
    return Spoiled(spoil, "inconsistent", place, "appears twice")


def contradicts(value: object, *place: str | int, text: str, below: Path = ()) -> Spoiled:
    return Spoiled(put(value, *place), "inconsistent", (*place, *below), text)


def has_unknown(*place: str | int) -> Spoiled:
    return Spoiled(put(1, *place, "mood"), "unknown", (*place, "mood"), "unknown field 'mood'")


A_VOTER = {"id": 1, "directory_id": "A1"}
WITHOUT_TARGET = {"epoch": 1, "kind": "VoterAssignment", "value": 0, "voters": [], "details": []}
COMMITTED = ("history", "committed")

SPOILED = {
    "no role": lacks(*STATE, "role", text="missing field 'role', a checkpoint must have every field"),
    "no target": lacks(*STATE, "voters", "target"),
    "no records": lacks("replicas", 0, "records", text="missing field 'records'"),
    "no details": lacks(*RECORD, "details"),
    "no id": lacks(*MESSAGE, "id"),
    "no epoch": lacks(*MESSAGE, "epoch"),
    "no details in a message": lacks(*MESSAGE, "records", 2, "details"),
    "a target left out": lacks(*COMMITTED, "records", 0, "target")._replace(
        spoil=put([WITHOUT_TARGET], *COMMITTED, "records")
    ),
    "no history": lacks("history", text="missing field 'history'"),
    "a replica lacking": lacks("replicas", text="replica 4 is missing, expected each replica of the header")._replace(
        spoil=gone("replicas", -1)
    ),
    "votes lacking": lacks("history", "votes", text="replica 1 is missing, expected each")._replace(
        spoil=gone("history", "votes", 0)
    ),
    "a replica twice": has_twice(twice("replicas"), "replicas", 4, "state", "replica_key", "id"),
    "votes twice": has_twice(put(2, "history", "votes", 0, "replica"), "history", "votes", 1, "replica"),
    "an epoch twice": has_twice(twice("history", "epochs"), "history", "epochs", 1, "epoch"),
    "a leader twice": has_twice(twice("history", "epochs", 0, "leaders"), "history", "epochs", 0, "leaders", 1),
    "a candidate twice": has_twice(twice("history", "votes", 0, "candidates"), "history", "votes", 0, "candidates", 1),
    "a message twice": has_twice(twice("network"), "network", 3, "message", "id"),
    "a cut twice": has_twice(put([[1, 2], [2, 1], [1, 2]], "cuts"), "cuts", 2),
    "granted twice": has_twice(put([1, 1], *STATE, "granted"), *STATE, "granted", 1),
    "awaited twice": has_twice(put([[1, 1], [1, 2]], *STATE, "awaiting"), *STATE, "awaiting", 1),
    "a voter twice": has_twice(twice(*RECORD, "voters"), *RECORD, "voters", 3),
    "committed voters twice": has_twice(put([A_VOTER] * 2, *COMMITTED, "voters"), *COMMITTED, "voters", 1),
    "a log end": contradicts(5, *STATE, "log_end_offset", text=f"{NOT_FOLLOWING} 4, got 5"),
    "a log start": contradicts(1, *STATE, "log_start_offset", text=f"{NOT_FOLLOWING} 0, got 1"),
    "a last epoch": contradicts(9, *STATE, "last_epoch", text=f"{NOT_FOLLOWING} 1, got 9"),
    "a level": contradicts(0, *STATE, "kraft_version", text=f"{NOT_FOLLOWING} 1, got 0"),
    "a newest set": contradicts(
        {"offset": 2, "voters": [], "target": None},
        *(*STATE, "voters"),
        text=f'{NOT_FOLLOWING} {{"offset":2,"voters":[{{"id":1,',
    ),
    "a message of a later event": contradicts(
        "61.2", *MESSAGE, "id", text="expected the id of a message that an event up to 60 sent"
    ),
    "another receiver": contradicts("55.3", *MESSAGE, "id", text="expected '55.2' (sequence and receiver), got '55.3'"),
    "an answer to a change": contradicts("55.2.change", *MESSAGE, "id", text="expected '55.2'"),
    "a record without voters": lacks(*RECORD, "voters", text="a Voters record has voters")._replace(
        problem="inconsistent"
    ),
    "less than no copies": has_wrong(-1, "network", 0, "copies", text="expected int >= 0"),
    "no such id": has_wrong("x", *MESSAGE, "id", text="expected str matching regex"),
    "a text for a number": has_wrong("3", *STATE, "epoch", text='expected int, got str: "3"'),
    "no list": has_wrong(None, "network", text="expected array, got null"),
    "three ends of a link": has_wrong([[1, 2, 3]], "cuts", below=(0,), text="expected array of length 2"),
    "no such role": has_wrong("Ledaer", *STATE, "role", text='unknown value "Ledaer", did you mean Leader?'),
    "no such change": has_wrong(
        A_CHANGE, *STATE, "pending_change", below=("kind",), text='unknown value "adds", did you mean add?'
    ),
    "an addition of nobody": contradicts(
        {**A_CHANGE, "kind": "add"}, *STATE, "pending_change", below=("voter",), text="expected that of the new voter"
    ),
    "a removal that catches up": contradicts(
        {**A_CHANGE, "kind": "remove", "phase": "catch-up"},
        *(*STATE, "pending_change"),
        below=("phase",),
        text="expected commit, which a change of kind remove has then",
    ),
    "no such message": has_wrong("Vote", *MESSAGE, "type", text='unknown value "Vote"'),
    "more than 64 bits": has_wrong(2**63, *STATE, "high_watermark", text=f"expected int <= {2**63 - 1}"),
    "an unknown field": has_unknown(),
    "an unknown field of a state": has_unknown(*STATE),
    "an unknown field of the history": has_unknown(*COMMITTED),
}

UNSAYABLE = (
    "no history",
    "a replica lacking",
    "votes lacking",
    "awaited twice",
    "a log end",
    "a log start",
    "a last epoch",
    "a level",
    "a newest set",
    "a message of a later event",
    "another receiver",
    "an answer to a change",
)
"""A schema cannot say which replicas there are or are observed, nor keys of a mapping, nor what follows elsewhere."""


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_checkpoint_has_an_error_of_its_own_and_is_refused_by_the_schema(name: str) -> None:
    spoiled, document = SPOILED[name], good()
    spoiled.spoil(document)
    error = refused(trace_with(as_line(document)), FieldError)
    assert isinstance(error, FieldError)
    assert (error.problem, error.line_number, error.field) == (spoiled.problem, AT, spoiled.field)
    assert str(error).startswith(f"x.jsonl:{AT}: {spoiled.field}: ")
    assert spoiled.text in str(error)
    assert accepts(document) == (name in UNSAYABLE)


@pytest.mark.parametrize(
    ("spoil", "kind", "text"),
    [
        (put(61, "sequence"), errors.SequenceGapError, "$.sequence: sequence 61 leaves a gap, expected 60"),
        (
            put(59, "sequence"),
            errors.DuplicateSequenceError,
            "$.sequence: an earlier line has sequence 59 already, expected",
        ),
        (put(0, "time_ms"), errors.TimeGoesBackError, "$.time_ms: time 0 ms is before 1272 ms, the time of an earlier"),
        (
            put(9, *STATE, "replica_key", "id"),
            errors.UnknownReplicaError,
            "$.replicas[0].state.replica_key.id: replica 9 is not in the header, which lists 1, 2, 3, 4",
        ),
        (put([[1, 2], [3, 9]], "cuts"), errors.UnknownReplicaError, "$.cuts[1]: replica 9 is not in the header"),
        (
            put(9, *MESSAGE, "source"),
            errors.UnknownReplicaError,
            "$.network[0].message.source: replica 9 is not in the header",
        ),
        (
            put(9, "history", "votes", 2, "replica"),
            errors.UnknownReplicaError,
            "$.history.votes[2].replica: replica 9 is not in the header",
        ),
    ],
)
def test_a_checkpoint_follows_on_from_the_lines_before(
    spoil: Callable[[Document], object], kind: type[TraceError], text: str
) -> None:
    document = good()
    spoil(document)
    assert str(refused(trace_with(as_line(document)), kind)).startswith(f"x.jsonl:{AT}: {text}")


def test_lines_after_a_checkpoint_follow_on_from_it() -> None:
    later = edited(as_line(good()), time_ms=10**9)
    error = refused(trace_with(later), errors.TimeGoesBackError)
    assert error.line_number == AT + 1
    lines = _snapshots().lines([AT - 2])
    error = refused(b"".join([*lines[:AT], lines[AT - 2], *lines[AT:]]), errors.DuplicateSequenceError)
    assert str(error).startswith(f"x.jsonl:{AT + 1}: $.sequence: an earlier line has sequence 60 already, expected 61")


def test_one_field_twice_in_a_checkpoint() -> None:
    raw = as_line(good()).replace(b'"role":"Leader"', b'"role":"Leader","role":"Leader"', 1)
    error = refused(trace_with(raw), FieldError)
    assert isinstance(error, FieldError)
    assert (error.problem, error.line_number, error.field) == ("duplicate", AT, "role")


def test_the_order_of_a_list_that_is_a_set_says_nothing() -> None:
    document = good()
    value_at(document, (*MESSAGE, "records", 2, "details")).reverse()
    value_at(document, (*RECORD, "voters")).reverse()
    for path in (("replicas",), ("network",), ("history", "votes"), ("history", "epochs")):
        value_at(document, path).reverse()
    line = parse_line(as_line(document), "x.jsonl", AT)
    assert isinstance(line, CheckpointLine)
    assert checkpoint_of(line) == _snapshots().states[AT - 2]


# ---------------------------------------------------------------------------------------------------------
# The JSON Schema.
# ---------------------------------------------------------------------------------------------------------


WHAT_A_SCHEMA_CANNOT_SAY = (NOT_FOLLOWING, "(sequence and receiver)", "that an event up to", "appears twice")


@given(workloads, st.integers(0, 5), st.integers(0, 2**32))
def test_schema_and_reader_agree_on_altered_checkpoints(workload: str, seed: int, choices: int) -> None:
    run, chance = simulated(workload, seed, 60), Random(choices)
    document: Document = json.loads(run.checkpoint(chance.randint(1, len(run.events))))
    for place in chance.sample(list(fields_there(document, CHECKPOINT)), 3):
        value = value_at(document, place.path)
        for other in islice(alternatives(place, value), 1):
            altered = with_value(document, place.path, other)
            try:
                parse_line(as_line(altered), "x.jsonl", 2)
                read = True
            except TraceError as error:
                read = any(words in str(error) for words in WHAT_A_SCHEMA_CANNOT_SAY) and accepts(altered)
            assert read == accepts(altered), place.path
