"""`kraft-spec describe`: the quorum at any point of any trace."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.commands import Captured, assert_said, document, output

from kraft_conformance.cli import main
from kraft_conformance.description.observations import Observations
from kraft_conformance.description.view import view
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.describe import FetchTimes, describe_quorum, with_fetch
from kraft_reference.events import Receive
from kraft_reference.messages import FetchRequest
from kraft_reference.roles import Role
from kraft_reference.state import voter_entry
from kraft_traces.encode import event_line, header_line
from kraft_traces.own import own_generator

pytestmark = pytest.mark.usefixtures("elsewhere")


def described(capsys: Captured, *words: str) -> dict[str, Any]:
    code, found = document(capsys, "describe", *words, "--status", "--replication")
    assert code == ExitCode.CONFORMANT
    return found  # type: ignore[no-any-return]


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_a_trace_shows_what_its_leader_would_answer(workload: str) -> None:
    """After every line, and for the leader of the highest epoch: the view of the trace is that of the replica."""
    simulation = RunPlan(seed=11, steps=600, workload=workload).simulation()
    configuration = simulation.configuration
    observed = Observations(header_line(configuration, own_generator(11, workload)))
    partial = Observations(observed.header)
    times: dict[int, FetchTimes] = {}
    epochs: dict[int, tuple[object, int]] = {}
    compared = 0
    for occurrence in simulation.run():
        line = event_line(occurrence)
        observed.observe(line)
        # What the records in the effects say is enough to know every voters set.
        partial.observe(line if line.state is UNSET else replace(line, state=replace(line.state, voters=UNSET)))
        if occurrence.replica_id is None or occurrence.state is None:
            continue
        own, state = occurrence.replica_id, occurrence.state
        assert observed.replicas[own].newest.voters == partial.replicas[own].newest.voters == state.voters
        if epochs.get(own) != (state.role, state.epoch):
            epochs[own], times[own] = (state.role, state.epoch), {}
        event = occurrence.event
        if isinstance(event, Receive) and isinstance(event.message, FetchRequest) and state.role is Role.LEADER:
            key = event.message.replica_key
            served = state.fetch_offsets.get(voter_entry(state, key) or key) == event.message.fetch_offset
            if occurrence.refusal is None and served:
                offset = event.message.fetch_offset
                times[own] = with_fetch(times[own], state, key, offset, occurrence.time_ms)
        leading = [one.state for one in simulation.world.replicas.values() if one.state.role is Role.LEADER]
        seen = view(observed).description
        assert view(partial).description == seen, occurrence.sequence
        if not leading:
            assert seen.leader_id is None
            continue
        newest = max(leading, key=lambda one: (one.epoch, one.key.id))
        expected = describe_quorum(newest, configuration, times[newest.key.id], occurrence.time_ms)
        # A leader that has moved knows where it listens before its log says so.
        moved = dataclasses.replace(seen, leader_endpoint=expected.leader_endpoint)
        assert moved == expected, occurrence.sequence
        compared += 1
    assert compared > 50


def scenario(name: str, variant: str) -> str:
    """The file with the trace of a scenario's variant."""
    assert main(["scenario", name, "--variant", variant, "-o", f"{name}.jsonl"]) == 0
    return f"{name}.jsonl"


def calm() -> str:
    """The file with the trace of a cluster of three voters in which nothing goes wrong."""
    assert main(["simulate", "--seed", "2", "--steps", "300", "--workload", "calm", "-o", "calm.jsonl"]) == 0
    return "calm.jsonl"


def test_an_uncommitted_addition_shows_at_its_line_and_is_gone_once_committed(capsys: Captured) -> None:
    file = scenario("s4-disk-failure", "right")
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    appended = next(
        line["sequence"]
        for line in lines
        if (line.get("state", {}).get("pending_change") or {}).get("kind") == "add"
        and any(effect["kind"] == "AppendRecords" for effect in line["effects"])
    )
    before, at, after = (
        described(capsys, file, *words)["status"]
        for words in (("--at", str(appended - 1)), ("--at", str(appended)), ())
    )
    added = at["UncommittedAddedVoter"]
    assert (before["UncommittedAddedVoter"], at["UncommittedRemovedVoter"]) == (None, None)
    assert added is not None
    assert added in before["CurrentObservers"]
    assert added in [{name: voter[name] for name in added} for voter in at["CurrentVoters"]]
    assert at["HighWatermark"] < after["HighWatermark"]
    assert after["UncommittedAddedVoter"] is None


def test_a_target_shows_while_the_quorum_is_reassigned(capsys: Captured) -> None:
    """Rule: reassign.describe-quorum."""
    file = scenario("s20", "right")
    lines = [json.loads(line) for line in Path(file).read_text().splitlines()]
    asked = next(line["sequence"] for line in lines if line.get("event") == "AlterPartitionReassignments")
    code, shown = output(capsys, "describe", file, "--status", "--at", str(asked))
    rows = [line.split(":")[0] for line in shown.splitlines()]
    assert (code, rows[6:9]) == (0, ["CurrentVoters", "TargetVoters", "CurrentObservers"])
    target = described(capsys, file, "--at", str(asked))["status"]["TargetVoters"]
    assert [voter["id"] for voter in target] == [4, 5, 6]
    assert "TargetVoters" not in described(capsys, file)["status"]


def test_before_anything_happened_nobody_leads(capsys: Captured) -> None:
    found = described(capsys, calm(), "--at", "0")
    assert (found["sequence"], found["time_ms"]) == (0, None)
    assert (found["status"]["LeaderId"], found["status"]["HighWatermark"]) == (-1, -1)
    assert [voter["id"] for voter in found["status"]["CurrentVoters"]] == [1, 2, 3]
    assert {row["Status"] for row in found["replication"]} == {"Voter"}


def _without(*fields: str) -> Callable[[dict[str, Any]], None]:
    def leave_out(line: dict[str, Any]) -> None:
        for field in fields:
            holder, _, name = field.rpartition(".")
            (line.get(holder, {}) if holder else line).pop(name, None)

    return leave_out


@pytest.mark.parametrize(
    ("leave_out", "unknown"),
    [
        (_without("effects", "message", "cause", "time_ms"), ("LastFetchTimestamp", "LastCaughtUpTimestamp")),
        (_without("state.fetch_offsets"), ("LogEndOffset", "Lag")),
        (_without("state.log_end_offset"), ("Lag",)),
    ],
)
def test_what_a_partial_trace_does_not_show_is_unknown(
    leave_out: Callable[[dict[str, Any]], None], unknown: tuple[str, ...], capsys: Captured
) -> None:
    file = calm()
    whole = described(capsys, file)
    lines = []
    for text in Path(file).read_text().splitlines():
        line = json.loads(text)
        if line["kind"] == "event":
            leave_out(line)
        elif line["kind"] == "header":
            line["generator"] = {"name": "another", "version": "1", "seed": None, "workload": None}
        lines.append(json.dumps(line) + "\n")
    Path("partial.jsonl").write_text("".join(lines))
    partial = described(capsys, "partial.jsonl")
    assert partial["status"]["LeaderId"] == whole["status"]["LeaderId"]
    assert partial["status"]["CurrentVoters"] == whole["status"]["CurrentVoters"]
    for row, seen in zip(whole["replication"][1:], partial["replication"][1:], strict=True):
        assert dict.fromkeys(unknown, -1) == {column: seen[column] for column in unknown}
        assert row["NodeId"] == seen["NodeId"]


def test_only_the_required_fields_are_enough_to_be_read(capsys: Captured) -> None:
    lines = []
    for text in Path(calm()).read_text().splitlines():
        line = json.loads(text)
        if line["kind"] == "event":
            line = {name: line[name] for name in ("kind", "sequence", "event", "replica") if name in line}
        lines.append(json.dumps(line) + "\n")
    Path("bare.jsonl").write_text("".join(lines))
    status = described(capsys, "bare.jsonl")["status"]
    assert (status["LeaderId"], status["LeaderEpoch"]) == (-1, -1)
    assert len(status["CurrentVoters"]) == 3


def test_a_simulated_trace_is_described_too(capsys: Captured) -> None:
    assert main(["simulate", "--seed", "2", "--steps", "300", "--workload", "calm", "-o", "run.jsonl.gz"]) == 0
    assert described(capsys, "run.jsonl.gz")["status"]["LeaderId"] in (1, 2, 3)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("no-such.jsonl", "--status"), ExitCode.NO_INPUT, "no-such.jsonl"),
        (("calm.jsonl",), ExitCode.USAGE, "--status, --replication or both"),
        (("calm.jsonl", "--status", "--at", "100000"), ExitCode.USAGE, "the trace ends at sequence"),
        (("calm.jsonl", "--status", "--at", "-1"), ExitCode.USAGE, "--at"),
        (("bad.jsonl", "--status"), ExitCode.BAD_INPUT, "bad.jsonl:1"),
    ],
)
def test_wrong_use_and_bad_input_are_explained(
    words: tuple[str, ...], code: ExitCode, said: str, capsys: Captured
) -> None:
    calm()
    Path("bad.jsonl").write_text("{}\n")
    assert_said(capsys, code, said, "describe", *words)
