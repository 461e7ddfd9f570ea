"""Replicas that are not observed: right lines of the others are accepted, and wrong ones are rejected."""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.traces.check.alterations import altered, places
from tests.traces.checkpointed import FOREIGN
from tests.traces.checkpointed import simulated as checkpointed
from tests.traces.processes import merged, processes_of, write_traces

from kraft_cli.cli import main
from kraft_dev.opaque_traces import without_replicas
from kraft_mutants.playing import simulation_of
from kraft_pipeline.checking import Checking, verdict_row
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import Verdict, VerdictKind, check_reader
from kraft_traces.check.fast_path import BOTH, INTERPRETED, Sample, Way
from kraft_traces.check.judged import IN_PART, NOT_JUDGED
from kraft_traces.check.model import trace_model
from kraft_traces.errors import TraceError
from kraft_traces.process_trace import MergeError, read_process_trace
from kraft_traces.reader import trace_of_bytes
from kraft_traces.view.reading import read_document
from kraft_traces.writer import trace_bytes

Line = dict[str, Any]
SAMPLED = Way(Sample(100, 100))
MANY = settings().max_examples
OBSERVED_AT = 100


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    assert trace_model().compiled_lines(make=True) is not None


@cache
def simulated(workload: str, seed: int, mutant: str = "", checkpoint_every: int | None = None) -> tuple[bytes, ...]:
    """Return a whole trace in which nothing may be left out by its generator."""
    plan = RunPlan(seed, replicas=4, steps=250, workload=workload, mutants=(mutant,) if mutant else ())
    simulation = simulation_of(plan)
    run = simulation.run(), simulation.configuration, FOREIGN
    return tuple(trace_bytes(*run, checkpoint_every=checkpoint_every))


def opaque(lines: Collection[bytes], replicas: Collection[int], observed_at: int | None = None) -> list[bytes]:
    return list(without_replicas(lines, replicas, observed_at))


def judged(lines: Collection[bytes], way: Way = SAMPLED) -> Verdict:
    # The sample is counted across traces, and would make the tests depend on their order.
    fresh = way if way.sample is None else Way(replace(way.sample))
    return check_reader(trace_of_bytes(b"".join(lines)), way=fresh)


def said(lines: Collection[bytes], way: Way) -> Verdict | str:
    """Return the verdict without the numbers of lines of each checker, or the reader's error."""
    try:
        return replace(judged(lines, way), compiled=0, both=0)
    except TraceError as error:
        return str(error)


subsets = st.sampled_from([(1,), (2,), (3,), (1, 2), (2, 3), (1, 2, 3)])


@settings(max_examples=max(12, MANY // 4))
@given(st.sampled_from(sorted(WORKLOADS)), st.integers(0, 1000), subsets)
@example("storm", 10, (3,))
def test_a_right_trace_stays_accepted_without_some_replicas(
    workload: str, seed: int, replicas: tuple[int, ...]
) -> None:
    lines = opaque(simulated(workload, seed), replicas)
    verdict = judged(lines)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict.rejection
    assert verdict.events == len(lines) - 2


@settings(max_examples=max(6, MANY // 8))
@given(st.sampled_from(sorted(WORKLOADS)), st.integers(0, 1000), subsets)
@example("storm", 10, (3,))
@example("rolling-upgrade", 10, (1,))
def test_a_replica_may_be_observed_from_the_middle_on(workload: str, seed: int, replicas: tuple[int, ...]) -> None:
    lines = opaque(simulated(workload, seed, checkpoint_every=60), replicas, OBSERVED_AT)
    assert sum(b'"observed": [' in line for line in lines) == 1
    verdict = judged(lines)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict.rejection
    assert lines_of(lines, replicas)


@pytest.mark.parametrize("workload", ["chaos", "voter-changes", "reassignments", "upgrade"])
def test_a_trace_with_opaque_replicas_takes_the_compiled_path(workload: str) -> None:
    lines = opaque(simulated(workload, 3), (2, 3))
    verdict = judged(lines)
    assert verdict.compiled == verdict.events > 50
    assert replace(verdict, compiled=0, both=0) == said(lines, INTERPRETED)


def lines_of(lines: Collection[bytes], replicas: Collection[int]) -> list[int]:
    """Return the places of the lines of replicas."""
    return [place for place, line in enumerate(lines) if json.loads(line).get("replica") in replicas]


@settings(max_examples=max(6, MANY // 8))
@given(st.sampled_from(["chaos", "voter-changes", "upgrade"]), st.integers(0, 5), st.randoms(use_true_random=False))
def test_a_wrong_line_of_an_observed_replica_is_rejected_as_before(workload: str, seed: int, random: Random) -> None:
    whole, without = simulated(workload, seed), opaque(simulated(workload, seed), (3,))
    here, there = random.choice([*zip(*(lines_of(lines, (1, 2, 4)) for lines in (whole, without)), strict=True)])
    document = json.loads(whole[here])
    wrong = altered(document, random.choice([it for it in places(document) if it.path[0] == "state"]), random)
    if wrong is None:
        return
    changed = json.loads(without[there]) | {"state": json.loads(wrong.raw).get("state", document["state"])}
    expected = said((*whole[:here], wrong.raw, *whole[here + 1 :]), SAMPLED)
    verdict = said((*without[:there], json.dumps(changed).encode() + b"\n", *without[there + 1 :]), SAMPLED)
    if not isinstance(expected, Verdict) or not isinstance(verdict, Verdict):
        assert isinstance(expected, str) == isinstance(verdict, str)
    elif expected.rejection is not None and expected.rejection.line == here + 1:
        assert verdict.rejection is not None, (wrong.path, wrong.original, wrong.altered)
        assert verdict.rejection.line == there + 1


def sends(line: Line, kind: str) -> list[Line]:
    """Return the messages of a type that a line sends."""
    sent = [effect["message"] for effect in line.get("effects", ()) if effect["kind"] == "Send"]
    return [message for message in sent if message["type"] == kind]


def vote_twice(line: Line) -> bool:
    """Grant the standard vote of a second candidate in an epoch."""
    state = line.get("state", {})
    for response in sends(line, "VoteResponse"):
        if not response["pre_vote"] and not response["granted"] and response["error"] == "NONE" and state["voted_key"]:
            response["granted"] = True
            return state["voted_key"]["id"] != line["message"]["source"]  # type: ignore[no-any-return]
    return False


def fetch_beyond(line: Line) -> bool:
    """Fetch from an offset after the end of the log."""
    for request in sends(line, "FetchRequest"):
        request["fetch_offset"] += 1
        return True
    return False


def commit_early(line: Line) -> bool:
    """Commit a record that no majority has, at a leader that handles a Fetch of an opaque voter."""
    state, message = line.get("state", {}), line.get("message", {})
    if "id" in message or state.get("role") != "Leader" or message.get("type") != "FetchRequest":
        return False
    if state["high_watermark"] >= state["log_end_offset"]:
        return False
    state["high_watermark"] += 1
    for response in sends(line, "FetchResponse"):
        response["high_watermark"] += 1
    return True


@pytest.mark.parametrize("way", [SAMPLED, INTERPRETED], ids=["compiled", "interpreted"])
@pytest.mark.parametrize(
    ("wrong", "field"), [(vote_twice, "granted"), (fetch_beyond, "fetch_offset"), (commit_early, "high_watermark")]
)
def test_a_planted_bug_is_rejected_at_its_line(wrong: Callable[[Line], bool], field: str, way: Way) -> None:
    for seed in range(10):
        lines = opaque(simulated("chaos", seed), (3,))
        for place, raw in enumerate(lines):
            line = json.loads(raw)
            if wrong(line):
                verdict = judged((*lines[:place], json.dumps(line).encode() + b"\n", *lines[place + 1 :]), way)
                assert verdict.rejection is not None
                assert verdict.rejection.line == place + 1
                assert any(field in difference.field for difference in verdict.rejection.differences)
                return
    pytest.fail("no line where this bug can be planted")


@pytest.mark.parametrize(
    ("mutant", "seed"),
    [("hw.own-epoch", 0), ("fetch.fetched-flag", 8), ("prevote.response.correlate", 1)],
)
def test_a_mutant_is_rejected_at_the_same_line(mutant: str, seed: int) -> None:
    whole = simulated("chaos", seed, mutant)
    expected = judged(whole, BOTH).rejection
    assert expected is not None
    wrong = json.loads(whole[expected.line - 1])
    for replica in {1, 2, 3, 4} - {expected.replica}:
        lines = opaque(whole, (replica,))
        rejection = judged(lines).rejection
        assert rejection is not None
        line = json.loads(lines[rejection.line - 1])
        assert (line["time_ms"], line["event"], line["state"]) == (wrong["time_ms"], wrong["event"], wrong["state"])
        assert {it.field for it in rejection.differences} == {it.field for it in expected.differences}


def test_the_verdict_names_what_is_judged_in_part_and_what_is_not() -> None:
    verdict = judged(opaque(simulated("chaos", 3), (2, 3)))
    assert verdict.judged.opaque == (2, 3)
    assert set(verdict.judged.in_part) == IN_PART
    assert set(verdict.judged.not_judged) == NOT_JUDGED
    assert verdict.compared.properties.keys().isdisjoint(NOT_JUDGED)
    assert verdict.compared.lacking("LeaderCompleteness").keys() == {"LeaderCompleteness"}
    assert judged(simulated("chaos", 3)).judged.lines() == ()


def as_lines(documents: Collection[Line]) -> list[bytes]:
    """Return a trace of these events; its replicas are 1 and 2, and 3, which is not observed."""
    replicas = [
        {"id": n, "directory_id": f"U{n}", "endpoint": f"n{n}:1", "pre_vote": "supported", "endpoints": True}
        for n in (1, 2, 3)
    ]
    replicas[2]["observed"] = False
    header = {
        "kind": "header",
        "schema": "kraft-trace/1",
        "generator": {"name": "somebody-else", "version": "1"},
        "profile": "kip",
        "kraft_version": 1,
        "cluster_id": "c1",
        "replicas": replicas,
        "voters": [{"id": n, "directory_id": f"U{n}"} for n in (1, 2, 3)],
    }
    numbered = [
        {"kind": "event", "sequence": number} | document if document.get("kind") is None else document
        for number, document in zip(sequences(documents), documents, strict=True)
    ]
    events = sum(document["kind"] == "event" for document in numbered)
    end = {"kind": "end", "events": events, "complete": True}
    return [json.dumps(line).encode() + b"\n" for line in (header, *numbered, end)]


def sequences(documents: Collection[Line]) -> list[int]:
    """Return the number of events up to each document."""
    return list(accumulate(int(document.get("kind") is None) for document in documents))


def follows_three(replica: int, epoch: int) -> list[Line]:
    """Return lines in which a replica takes a record of an epoch from replica 3, and learns that it is committed."""
    ends = {"source": 3, "destination": replica}
    announcement = {
        "type": "BeginQuorumEpochRequest",
        "correlation_id": 5,
        "epoch": epoch,
        "leader_endpoint": "n3:1",
        "voter_key": {"id": replica, "directory_id": f"U{replica}"},
        "cluster_id": "c1",
    }
    response = {
        "type": "FetchResponse",
        "correlation_id": 7,
        "error": "NONE",
        "epoch": epoch,
        "leader_id": 3,
        "leader_endpoint": "n3:1",
        "high_watermark": 1,
        "diverging_epoch": -1,
        "diverging_end_offset": -1,
        "records": [{"epoch": epoch, "kind": "LeaderChange", "value": 3}],
        "snapshot_end_offset": -1,
        "snapshot_epoch": -1,
    }
    return [
        {"replica": replica, "event": "HandleBeginQuorumEpochRequest", "message": announcement | ends},
        {"replica": replica, "event": "PollFetch", "input": {"destination": 3}, "state": {"awaiting": [[3, 7]]}},
        {"replica": replica, "event": "HandleFetchResponse", "message": response | ends},
    ]


@pytest.mark.parametrize("way", [SAMPLED, INTERPRETED], ids=["compiled", "interpreted"])
def test_observed_replicas_that_commit_different_records_are_rejected(way: Way) -> None:
    """The opaque replica leads both in one epoch and sends them different records, as no correct one can."""
    first, second = follows_three(1, epoch=1), follows_three(2, epoch=2)
    assert judged(as_lines([*first, *second[:-1]]), way).kind is VerdictKind.ACCEPTED
    rejection = judged(as_lines([*first, *second]), way).rejection
    assert rejection is not None
    assert (rejection.line, rejection.properties) == (7, ("StateMachineSafety",))


OPAQUE_ERRORS = {
    "an event": (
        [{"replica": 3, "event": "Poll"}],
        "2: $.replica: replica 3 is not observed, according to the header, so no line is about its events",
    ),
    "an id": (
        [{"replica": 1, "event": "HandleFetchRequest", "message": {"type": "FetchRequest", "id": "1.1", "source": 3}}],
        "2: $.message.id: expected no id, because replica 3, which sent the message, is not observed",
    ),
    "a history": (
        [
            {
                "kind": "checkpoint",
                "sequence": 0,
                "time_ms": 0,
                "replicas": [],
                "network": [],
                "cuts": [],
                "observed": [1],
            }
        ],
        "2: $.observed[0]: replica 1 is observed already, expected one that is not, or with unrecorded events",
    ),
    "no state": (
        [
            {
                "kind": "checkpoint",
                "sequence": 0,
                "time_ms": 0,
                "replicas": [],
                "network": [],
                "cuts": [],
                "observed": [3],
            }
        ],
        "2: $.replicas: replica 3 is missing, expected each replica of $.observed",
    ),
}


@pytest.mark.parametrize("name", OPAQUE_ERRORS)
def test_the_reader_names_a_line_that_an_opaque_replica_cannot_have(name: str) -> None:
    documents, message = OPAQUE_ERRORS[name]
    assert said(as_lines(documents), SAMPLED) == f"-:{message}"


def test_a_message_of_an_opaque_replica_must_be_whole() -> None:
    first, *_ = follows_three(1, epoch=1)
    del first["message"]["leader_endpoint"]
    verdict = judged(as_lines([first]))
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert "leader_endpoint" in str(verdict.reason)
    assert "no line sends the message" in str(verdict.reason)


def test_a_message_of_another_cluster_is_no_step_of_the_model() -> None:
    first, *_ = follows_three(1, epoch=1)
    first["message"]["cluster_id"] = "c2"
    verdict = judged(as_lines([first]))
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert "line 2: the message is of cluster 'c2', and the model has only cluster 'c1'" in str(verdict.reason)


def test_a_checkpoint_of_one_replica_ends_its_gap() -> None:
    lines = opaque(simulated("chaos", 10, checkpoint_every=60), (3,), OBSERVED_AT)
    header, first, *others, end = [json.loads(line) for line in lines]
    del header["replicas"][2]["observed"]
    events = [line for line in others if line["kind"] == "event" or "observed" in line]
    trace = [header, first | {"unrecorded": [3]}, *events, end | {"complete": False}]
    verdict = judged([json.dumps(line).encode() + b"\n" for line in trace])
    assert (verdict.kind, verdict.rejection) == (VerdictKind.INCONCLUSIVE, None)
    assert verdict.events == end["events"]
    place = next(place for place, line in enumerate(trace) if line.get("replica") == 3)
    wrong = trace[place] | {"state": trace[place]["state"] | {"epoch": 77}}
    trace[place] = wrong
    rejection = judged([json.dumps(line).encode() + b"\n" for line in trace]).rejection
    assert rejection is not None
    assert rejection.line == place + 1


def test_the_page_of_a_trace_says_what_is_not_judged(tmp_path: Path) -> None:
    trace = tmp_path / "opaque.jsonl"
    trace.write_bytes(b"".join(opaque(simulated("chaos", 3), (3,))))
    document = read_document(str(trace)).document
    assert document["replicas"][2]["start"] is None
    assert document["replicas"][0]["start"]["role"] == "Unattached"
    assert document["verdict"] is not None
    assert document["verdict"]["notes"][1].startswith("not judged, because replica 3 may have committed records: Comm")


def test_the_pipeline_counts_no_property_that_is_not_judged() -> None:
    lines = opaque(simulated("chaos", 3), (3,))
    row = verdict_row({}, trace_of_bytes(b"".join(lines)), Checking())
    assert row["verdict"] == "accepted"
    assert {it["name"] for it in row["shown"]}.isdisjoint(NOT_JUDGED)


def test_a_merged_trace_keeps_opaque_replicas(tmp_path: Path) -> None:
    run = checkpointed("elections", 5, 250)
    processes = {replica: lines for replica, lines in processes_of(run).items() if replica != 3}
    for path in (paths := write_traces(tmp_path, run, processes)):
        header, *lines = path.read_bytes().splitlines(keepends=True)
        document = json.loads(header)
        document["replicas"][2]["observed"] = False
        path.write_bytes(b"".join((json.dumps(document).encode() + b"\n", *lines)))
    verdict = judged([merged(paths)])
    assert (verdict.kind, verdict.reason) == (VerdictKind.ACCEPTED, None)
    assert verdict.judged.opaque == (3,)


def test_a_trace_that_observes_a_replica_later_is_not_merged(tmp_path: Path) -> None:
    path = tmp_path / "later.jsonl"
    lines = opaque(simulated("chaos", 10, checkpoint_every=60), (3,), OBSERVED_AT)
    path.write_bytes(b"".join(lines))
    place = next(place for place, line in enumerate(lines, 1) if b'"observed": [' in line)
    with pytest.raises(MergeError, match=rf"later.jsonl:{place}: \$.observed: cannot merge a trace that observes"):
        read_process_trace(path)


def test_the_command_says_which_properties_are_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "opaque.jsonl"
    trace.write_bytes(b"".join(opaque(simulated("chaos", 3), (2, 3))))
    assert main(["validate", str(trace)]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "judged among the observed replicas only, because replicas 2, 3 are not observed: ConfigAgreement," in output
    assert main(["validate", str(trace), "--require", "LeaderCompleteness"]) == 2
