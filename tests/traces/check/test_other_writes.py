"""Writes in portions, repeated, synced earlier, messages in another order: right in a trace, with deaths between."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.traces.check.recorded import Recorded, recorded, verdict_on, verdict_on_every_way
from tests.traces.checkpointed import FOREIGN

from kraft_traces.alternatives.ordering import happens_before, in_one_order
from kraft_traces.alternatives.writes import NEW_DISK, Disk, counted, disk_of
from kraft_traces.check import Verdict, VerdictKind
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
)
from kraft_traces.encode import encode_line
from kraft_traces.lines import EventLine, TracedCrash
from kraft_traces.message_types import TracedVoteResponse

Other = Callable[[tuple[TracedEffect, ...], Disk], Iterable[TracedEffect]]
"""Other effects for those of a step, with what was on the disk before."""


def in_portions(effects: tuple[TracedEffect, ...], disk: Disk) -> Iterator[TracedEffect]:
    """A new epoch first, then the vote, then the leader; records one by one; everything a second time."""
    yield disk.file
    for effect in effects:
        if isinstance(effect, TracedPersistQuorumState) and effect.epoch != disk.file.epoch:
            yield replace(effect, voted_key=None, leader_id=None)
            yield replace(effect, leader_id=None)
        if isinstance(effect, TracedAppendRecords):
            for place, record in enumerate(effect.records):
                yield TracedAppendRecords(effect.base_offset + place, (record,))
        else:
            yield effect
        if isinstance(effect, TracedPersistQuorumState | TracedFlushLog):
            yield effect


def reversed_messages(effects: tuple[TracedEffect, ...], _: Disk) -> Iterator[TracedEffect]:
    writes = [write for write in in_one_order(effects) if not hasattr(write, "message")]
    yield from writes
    yield from reversed([effect for effect in effects if hasattr(effect, "message")])


def synced_at_once(effects: tuple[TracedEffect, ...], disk: Disk) -> Iterator[TracedEffect]:
    for effect in effects:
        if isinstance(effect, TracedFlushLog) and effect.end_offset <= disk.synced:
            continue
        yield effect
        disk = disk.after((effect,))
        if isinstance(effect, TracedAppendRecords):
            yield TracedFlushLog(effect.base_offset + len(effect.records))


def otherwise(trace: Recorded, other: Other) -> list[EventLine]:
    """The lines of a run whose replicas write otherwise."""
    disks: dict[int, Disk] = {}
    lines = []
    for line in trace.lines:
        if line.replica is UNSET or line.effects is UNSET:
            lines.append(line)
            continue
        replica, state = line.replica, line.state
        assert state is not UNSET, "it is a trace of the reference"
        disk = disks.get(replica, NEW_DISK)
        idle = line.event in ("Crash", "ReplaceDisk", "Shutdown")
        effects = line.effects if idle else tuple(other(line.effects, disk))
        if line.crash is not UNSET:
            line = replace(line, crash=replace(line.crash, completed=counted(effects)))
        disk = disk.after(effects)
        if idle or line.crash is not UNSET:
            disk = disk_of(state)
        disks[replica] = disk
        synced = min(disk.synced, end_of_log(line))
        lines.append(replace(line, effects=effects, state=replace(state, flushed_offset=synced)))
    return lines


def verdict(trace: Recorded, lines: Iterable[EventLine]) -> Verdict:
    return verdict_on(trace.header(FOREIGN), map(encode_line, lines))


@pytest.mark.parametrize(
    ("other", "workload"),
    [
        pytest.param(in_portions, "crashes", marks=pytest.mark.nightly),
        (reversed_messages, "crashes"),
        (synced_at_once, "elections"),
    ],
)
def test_it_is_right(other: Other, workload: str) -> None:
    trace = recorded(workload, 1, 200)
    lines = otherwise(trace, other)
    assert lines != list(trace.lines)
    actual = verdict(trace, lines)
    assert actual.kind is VerdictKind.ACCEPTED, actual


def without_directory(file: TracedPersistQuorumState) -> TracedPersistQuorumState:
    return file if file.voted_key is None else replace(file, voted_key=replace(file.voted_key, directory_id=None))


def test_a_file_of_version_0_needs_no_write_to_lose_a_directory_id() -> None:
    trace = recorded("static-voters", 1, 180)
    left_out: list[TracedEffect] = []

    def unwritten(effects: tuple[TracedEffect, ...], disk: Disk) -> Iterator[TracedEffect]:
        for effect in effects:
            if isinstance(effect, TracedPersistQuorumState) and effect == without_directory(disk.file) != disk.file:
                left_out.append(effect)
            else:
                yield effect

    actual = verdict(trace, otherwise(trace, unwritten))
    assert left_out
    assert actual.kind is VerdictKind.ACCEPTED, actual

    def without_votes(effects: tuple[TracedEffect, ...], _: Disk) -> Iterator[TracedEffect]:
        for effect in effects:
            if not isinstance(effect, TracedPersistQuorumState) or effect.voted_key is None:
                yield effect

    assert verdict(trace, otherwise(trace, without_votes)).kind is VerdictKind.REJECTED


def with_epoch_first(effects: tuple[TracedEffect, ...], disk: Disk) -> Iterator[TracedEffect]:
    for effect in synced_at_once(effects, disk):
        if isinstance(effect, TracedPersistQuorumState) and effect.epoch != disk.file.epoch and effect.voted_key:
            yield replace(effect, voted_key=None, leader_id=None)
        yield effect


def without_own_vote(line: EventLine) -> EventLine:
    """The line without the vote of a leader for itself."""

    def without(traced: Any) -> Any:
        return replace(traced, voted_key=None) if traced.leader_id == line.replica else traced

    assert line.effects is not UNSET, "it is a trace of the reference"
    writes = [without(it) if isinstance(it, TracedPersistQuorumState) else it for it in line.effects]
    return replace(line, state=without(line.state), effects=tuple(writes))


@pytest.mark.parametrize("steps", [20, pytest.param(60, marks=pytest.mark.nightly)])
def test_the_compiled_model_takes_lines_in_the_form_of_kafka(steps: int) -> None:
    trace = recorded("elections", 1, steps)
    lines = [line if line.replica is UNSET else without_own_vote(line) for line in otherwise(trace, with_epoch_first)]
    raw = list(map(encode_line, lines))
    assert verdict_on_every_way(trace.header(FOREIGN), raw).kind is VerdictKind.ACCEPTED
    actual = verdict_on(trace.header(FOREIGN), raw)
    assert actual.compiled == actual.events
    writes, modelled = [[line.effects for line in them] for them in (lines, trace.lines)]
    assert sum(written != expected for written, expected in zip(writes, modelled, strict=True)) > 5


def syncs_too_far(effects: tuple[TracedEffect, ...], disk: Disk) -> Iterator[TracedEffect]:
    yield from effects
    yield TracedFlushLog(disk.synced + 100)


def test_more_than_there_is_cannot_be_synced() -> None:
    trace = recorded("elections", 1, 100)
    actual = verdict(trace, otherwise(trace, syncs_too_far))
    assert actual.rejection is not None
    assert {difference.field.partition("[")[0] for difference in actual.rejection.differences} <= {
        "effects",
        "state.flushed_offset",
    }


def test_the_order_of_effects_is_that_of_the_vectors() -> None:
    """Every order of the effects of each kind of step is right or wrong, as `happens_before` says."""
    trace = recorded("snapshots", 1, 250)
    kinds: set[tuple[str, ...]] = set()
    judged: Counter[tuple[bool, VerdictKind]] = Counter()
    for place, line in enumerate(trace.lines):
        effects = [effect for effect in line.effects or () if not isinstance(effect, TracedStartTimer)]
        kind = (line.event, *[type(effect).__name__ for effect in effects])
        if line.crash is not UNSET or len(effects) < 2 or kind in kinds:
            continue
        kinds.add(kind)
        pairs = happens_before(effects)
        for order in permutations(range(len(effects))):
            altered = replace(line, effects=tuple([effects[number] for number in order]))
            is_right = all(order.index(first) < order.index(second) for first, second in pairs)
            judged[is_right, verdict(trace, (*trace.lines[:place], altered)).kind] += 1
    assert set(judged) == {(True, VerdictKind.ACCEPTED), (False, VerdictKind.REJECTED)}, judged


def test_records_are_synced_after_they_are_appended() -> None:
    trace = recorded("elections", 1, 100)
    # Who is elected appends; the rules of a vote response say nothing of the disk.
    elected = (line for line in enumerate(trace.lines) if line[1].event == "HandleVoteResponse")
    place, line = next((place, line) for place, line in elected if appends_and_syncs(line))
    assert line.effects, "it appends"
    syncs = [effect for effect in line.effects if isinstance(effect, TracedFlushLog)]
    other_effects = [effect for effect in line.effects if not isinstance(effect, TracedFlushLog)]
    append = next(number for number, effect in enumerate(other_effects) if isinstance(effect, TracedAppendRecords))
    effects = (*other_effects[:append], *syncs, *other_effects[append:])
    verdict = verdict_on_every_way(
        trace.header(FOREIGN), map(encode_line, (*trace.lines[:place], replace(line, effects=effects)))
    )
    assert verdict.rejection is not None
    (difference,) = verdict.rejection.differences
    assert (difference.field, difference.expected) == (f"effects[{append}]", "at most 0, where the log ends")
    assert verdict.rejection.rules[0] == "durable.flush-before-fetch"


def appends_and_syncs(line: EventLine) -> bool:
    kinds = {type(effect) for effect in line.effects or ()}
    return {TracedAppendRecords, TracedFlushLog} <= kinds


def test_nothing_is_synced_that_no_effect_syncs() -> None:
    trace = recorded("elections", 1, 100)
    place, line = next((place, line) for place, line in enumerate(trace.lines) if has_more_than_it_synced(line))
    assert line.state is not UNSET, "it is a trace of the reference"
    altered = replace(line, state=replace(line.state, flushed_offset=end_of_log(line)))
    raw = list(map(encode_line, (*trace.lines[:place], altered)))
    rejection = verdict_on_every_way(trace.header(FOREIGN), raw).rejection
    assert rejection is not None
    assert [difference.field for difference in rejection.differences] == ["state.flushed_offset"]


def test_hidden_effects_may_have_synced_more() -> None:
    trace = recorded("elections", 1, 100)
    place, line = next((place, line) for place, line in enumerate(trace.lines) if has_more_than_it_synced(line))
    assert line.state is not UNSET, "it is a trace of the reference"
    altered = replace(line, effects=UNSET, state=replace(line.state, flushed_offset=end_of_log(line)))
    raw = list(map(encode_line, (*trace.lines[:place], altered)))
    assert verdict_on_every_way(trace.header(FOREIGN), raw).kind is VerdictKind.ACCEPTED


def has_more_than_it_synced(line: EventLine) -> bool:
    return line.state is not UNSET and line.crash is UNSET and line.state.flushed_offset != line.state.log_end_offset


def test_a_crash_loses_nothing_that_was_shown_to_be_synced() -> None:
    trace = recorded("snapshots", 1, 200)
    actual = verdict(trace, otherwise(trace, synced_at_once))
    assert actual.rejection is not None
    (difference,) = actual.rejection.differences
    assert (difference.field, difference.expected) == ("input.log_end_offset", "at least 7, the end of the synced log")


def test_what_was_shown_to_be_synced_stays_synced() -> None:
    trace = recorded("auto-join", 1, 200)
    lines = otherwise(trace, synced_at_once)
    ahead = (
        line.sequence for line, other in zip(trace.lines, lines, strict=True) if not other.effects and line != other
    )
    place = next(ahead) - 1
    lines[place] = trace.lines[place]
    actual = verdict(trace, lines)
    assert actual.rejection is not None
    (difference,) = actual.rejection.differences
    assert (difference.field, actual.rejection.sequence) == ("state.flushed_offset", lines[place].sequence)


@pytest.mark.parametrize(
    "done",
    [
        lambda write, sent: (replace(write, voted_key=None), sent),
        lambda write, sent: (sent, replace(write, voted_key=None)),
        lambda write, sent: (sent,),
        lambda write, sent: (replace(write, voted_key=None), replace(write, voted_key=None), sent),
    ],
    ids=["epoch-written", "epoch-written-after", "nothing-written", "epoch-written-twice"],
)
def test_a_vote_that_was_sent_is_written_wherever_the_crash_falls(
    done: Callable[[TracedPersistQuorumState, TracedSend], tuple[TracedEffect, ...]],
) -> None:
    trace = recorded("elections", 1, 100)
    place, line = next((place, line) for place, line in enumerate(trace.lines) if grants_a_vote(line))
    assert line.effects, "it grants a vote"
    write, sent = line.effects[:2]
    assert isinstance(write, TracedPersistQuorumState), "which is written"
    assert isinstance(sent, TracedSend), "and sent"
    effects = done(write, sent)
    died = replace(
        line, effects=effects, crash=TracedCrash(counted(effects), end_of_log(line)), state=UNSET, refusal=UNSET
    )
    verdict = verdict_on_every_way(trace.header(FOREIGN), map(encode_line, (*trace.lines[:place], died)))
    assert verdict.rejection is not None
    assert "vote.persist-before-reply" in verdict.rejection.rules


def grants_a_vote(line: EventLine) -> bool:
    sent = [effect.message for effect in line.effects or () if isinstance(effect, TracedSend)]
    return any(isinstance(message, TracedVoteResponse) and message.granted and not message.pre_vote for message in sent)


def writes_a_vote(line: EventLine) -> bool:
    first = line.effects[0] if line.effects else None
    return line.crash is UNSET and isinstance(first, TracedPersistQuorumState) and first.voted_key is not None


def end_of_log(line: EventLine) -> int:
    assert line.state is not UNSET, "it is a trace of the reference"
    assert line.state.log_end_offset is not UNSET, "with every field"
    return line.state.log_end_offset


def test_a_crash_between_two_portions_is_not_decided() -> None:
    """The model writes epoch and vote at once, so that it has no such state; it is no wrong one."""
    trace = recorded("crashes", 1, 300)
    place = next(place for place, line in enumerate(trace.lines) if writes_a_vote(line))
    line = trace.lines[place]
    assert line.effects, "the vote"
    begun = replace(line.effects[0], voted_key=None, leader_id=None)
    died = replace(line, effects=(begun,), crash=TracedCrash(1, end_of_log(line)), state=UNSET, refusal=UNSET)
    actual = verdict(trace, (*trace.lines[:place], died))
    assert (actual.kind, actual.reason) == (
        VerdictKind.INCONCLUSIVE,
        f"line {place + 2}: the replica dies between two writes of its quorum state, which the model writes at once",
    )
