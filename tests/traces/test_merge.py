"""Traces of several processes as one: what they lack stays lacking, and is judged around."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.traces.checkpointed import FOREIGN, Checkpointed, edited, simulated
from tests.traces.processes import merged, processes_of, with_ids_anew, write_traces

from kraft_traces.check import Verdict, VerdictKind, check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED, Way
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.deliveries import Key, SendPlace, agree, deliveries, key_of, sends_of
from kraft_traces.effects import TracedFlushLog
from kraft_traces.encode import encode_line
from kraft_traces.errors import DuplicateHeaderError, FieldError
from kraft_traces.lines import EndLine, EventLine
from kraft_traces.merge import Merging
from kraft_traces.message_types import TracedMessage, is_request
from kraft_traces.process_trace import MergeError, read_process_trace
from kraft_traces.reader import trace_of_bytes


@pytest.fixture
def run() -> Checkpointed:
    return simulated("elections", 5, 250)


ways = pytest.mark.parametrize("way", [COMPILED, INTERPRETED], ids=["compiled", "interpreted"])


def judged(content: bytes, way: Way = COMPILED) -> Verdict:
    return check_reader(trace_of_bytes(content), way=way)


def documents(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def test_whole_traces_are_one_trace_that_is_accepted(run: Checkpointed, tmp_path: Path) -> None:
    content = merged(write_traces(tmp_path, run, processes_of(run)))
    assert judged(content).kind is VerdictKind.ACCEPTED
    assert not [line for line in documents(content) if "unrecorded" in line]


@ways
@pytest.mark.parametrize("replica", [1, 2, 3])
def test_a_gap_is_a_gap_in_the_merged_trace(run: Checkpointed, tmp_path: Path, replica: int, way: Way) -> None:
    content = merged(write_traces(tmp_path, run, processes_of(run), {(replica, 40), (replica, 41)}))
    marked = [line for line in documents(content) if "unrecorded" in line]
    assert [line["unrecorded"] for line in marked] == [[replica]]
    assert documents(content)[-1]["complete"] is False
    verdict = judged(content, way)
    assert (verdict.kind, verdict.events) == (VerdictKind.INCONCLUSIVE, documents(content)[-1]["events"])
    message = (
        f"line {marked[0]['sequence'] + 1}: events of replica {replica} before it are not recorded; the end line says"
    )
    assert str(verdict.reason).startswith(message)


@ways
@pytest.mark.parametrize("replica", [1, 2, 3])
def test_the_others_are_judged_where_the_trace_of_one_is_missing(
    run: Checkpointed, tmp_path: Path, replica: int, way: Way
) -> None:
    paths = write_traces(tmp_path, run, processes_of(run))
    content = merged([path for path in paths if path.stem != str(replica)])
    assert judged(content, way).kind is VerdictKind.INCONCLUSIVE
    lines = content.splitlines(keepends=True)
    wrong = next(at for at, line in enumerate(documents(content)) if at > 150 and line.get("state"))
    recorded = documents(content)[wrong]["state"]
    lines[wrong] = edited(lines[wrong], state={**recorded, "epoch": recorded["epoch"] + 1})
    verdict = judged(b"".join(lines), way)
    assert verdict.rejection is not None
    assert (verdict.rejection.line, verdict.rejection.differences[0].field) == (wrong + 1, "state.epoch")


@ways
def test_a_replica_is_judged_again_after_a_gap(run: Checkpointed, tmp_path: Path, way: Way) -> None:
    content = merged(write_traces(tmp_path, run, processes_of(run), {(1, 40)}))
    lines, parsed = content.splitlines(keepends=True), documents(content)
    gap = next(at for at, line in enumerate(parsed) if "unrecorded" in line)
    of_it = [at for at, line in enumerate(parsed) if at > gap and line.get("replica") == 1]
    for at, is_judged in ((gap, False), (of_it[20], True)):
        high = parsed[at]["state"]["high_watermark"] + 1
        altered = [*lines]
        altered[at] = edited(lines[at], state={**parsed[at]["state"], "high_watermark": high})
        rejection = judged(b"".join(altered), way).rejection
        if is_judged:
            assert rejection is not None
            assert rejection.line == at + 1
        else:
            # The state is taken as it is shown; the next line tells.
            assert rejection is None or rejection.line > at + 1


def test_a_leader_with_a_snapshot_of_records_that_are_not_recorded_is_not_accused(tmp_path: Path) -> None:
    run = simulated("snapshots", 1, 250)
    content = merged(write_traces(tmp_path, run, processes_of(run), {(1, 121), (1, 122)}))
    verdict = judged(content)
    assert (verdict.kind, verdict.rejection) == (VerdictKind.INCONCLUSIVE, None)


def test_a_checkpoint_ends_a_gap(run: Checkpointed) -> None:
    events = [encode_line(event) for event in run.events]
    at = next(at for at, event in enumerate(run.events) if at > 50 and event.replica == 1)
    events[at] = edited(events[at], unrecorded=[1], state={"epoch": 99})
    later = next(at for at, event in enumerate(run.events) if at > 110 and event.replica == 1)

    def trace(complete: bool = False) -> bytes:
        lines = run.lines([100], generator=FOREIGN, events=events)
        return b"".join([*lines[:-1], encode_line(EndLine(len(events), complete=complete))])

    assert judged(trace()).kind is VerdictKind.INCONCLUSIVE
    with pytest.raises(FieldError, match=r"\$.complete: expected false"):
        judged(trace(complete=True))
    events[later] = edited(events[later], refusal="NOT_LEADER", effects=[])
    rejection = judged(trace()).rejection
    assert rejection is not None
    assert rejection.sequence == later + 1


def test_a_message_goes_with_its_life_and_not_with_the_clock(tmp_path: Path) -> None:
    run = simulated("crashes", 4, 400)
    processes = with_ids_anew(processes_of(run))
    for replica in processes:
        late = {
            **processes,
            replica: [replace(line, time_ms=line.time_ms + 2000) for line in processes[replica]],  # type: ignore[operator]
        }
        content = merged(write_traces(tmp_path, run, late))
        verdict = judged(content)
        assert (verdict.kind, verdict.rejection) == (VerdictKind.ACCEPTED, None)


@pytest.mark.parametrize("field", ["profile", "cluster_id", "switched_off", "fetch_max_records"])
def test_traces_of_different_clusters_or_specifications_are_refused(
    run: Checkpointed, tmp_path: Path, field: str
) -> None:
    other: Any = {"switched_off": ["vote.once-per-epoch"], "fetch_max_records": 7}.get(field, "kafka-4")
    paths = write_traces(tmp_path, run, processes_of(run))
    header, *events = paths[2].read_bytes().splitlines(keepends=True)
    paths[2].write_bytes(edited(header, **{field: other}) + b"".join(events))
    with pytest.raises(MergeError, match=rf"3.jsonl:1: {field}: expected .* as in .*1.jsonl, got "):
        merged(paths)


def test_a_second_header_is_refused(run: Checkpointed, tmp_path: Path) -> None:
    path = write_traces(tmp_path, run, processes_of(run))[0]
    header, *events = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([header, *events[:5], edited(header, cluster_id="other"), *events[5:]]))
    with pytest.raises(DuplicateHeaderError, match=r"1\.jsonl:7: a second header"):
        read_process_trace(path)


def _not_over(lines: list[EventLine]) -> bytes:
    return encode_line(EndLine(len(lines), complete=False))


def _more_than_there_are(lines: list[EventLine]) -> bytes:
    return encode_line(EndLine(len(lines) + 3, complete=True))


@pytest.mark.parametrize("end", [_not_over, _more_than_there_are, lambda lines: encode_line(lines[-1])[:-9]])
def test_a_run_that_was_not_over_stays_so(
    run: Checkpointed, tmp_path: Path, end: Callable[[list[EventLine]], bytes]
) -> None:
    processes = processes_of(run)
    paths = write_traces(tmp_path, run, processes)
    with paths[1].open("ab") as file:
        file.write(end(processes[2]))
    assert documents(merged(paths))[-1]["complete"] is False


@pytest.mark.parametrize("is_sent", [True, False])
def test_a_response_to_a_request_that_was_handled_after_a_checkpoint_must_be_sent(
    run: Checkpointed, tmp_path: Path, is_sent: bool
) -> None:
    traces = [read_process_trace(path) for path in write_traces(tmp_path, run, processes_of(run))]
    leader = max(traces, key=lambda trace: sum(line.event == "HandleFetchRequest" for _, line in trace.events))
    checkpoint = CheckpointLine(0, 0, (), (), (), observed=tuple(leader.replicas))
    # Messages from before the checkpoint are still received after it.
    leader.events, leader.checkpoints = leader.events[50:], {0: checkpoint}
    place = next(
        place
        for place, (_, line) in enumerate(leader.events)
        if line.event == "HandleFetchRequest" and list(sends_of(line)) and place > 20
    )
    number, line = leader.events[place]
    if not is_sent:
        leader.events[place] = (number, replace(line, effects=()))
    merging = Merging(traces, leader.replicas)
    if is_sent:
        assert sum(isinstance(it, EventLine) for it in merging.lines()) == len(run.events) - 50
    else:
        with pytest.raises(MergeError, match=r"FetchResponse from replica \d .* was never sent"):
            list(merging.lines())


def test_a_request_that_a_killed_process_did_not_write_is_not_a_later_one_with_its_id(tmp_path: Path) -> None:
    run = simulated("crashes", 4, 400)
    traces = [read_process_trace(path) for path in write_traces(tmp_path, run, with_ids_anew(processes_of(run)))]
    places: dict[Key, list[SendPlace]] = {}
    receipts = {send: receipt for receipt, send in deliveries(traces).items()}
    for index, at, effect in sorted(receipts):
        sent = traces[index].events[at][1].effects[effect].message  # type: ignore[index, union-attr]
        places.setdefault(key_of(sent), []).append((index, at, effect))

    def message(place: SendPlace) -> TracedMessage:
        index, at, effect = place
        return dict(sends_of(traces[index].events[at][1]))[effect]

    first, second = next(
        (them[0], them[1])
        for them in places.values()
        if len(them) == 2 and is_request(message(them[0])) and not agree(*map(message, them))
    )
    index, at, effect = first
    number, line = traces[index].events[at]
    # Another effect in its place keeps the places of the others.
    effects = [it if place != effect else TracedFlushLog(0) for place, it in enumerate(line.effects or ())]
    traces[index].events[at] = (number, replace(line, effects=tuple(effects)))
    matched = deliveries(traces)
    assert receipts[first] not in matched
    assert matched[receipts[second]] == second
