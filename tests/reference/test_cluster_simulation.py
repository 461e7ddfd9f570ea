"""Runs of the simulated cluster: properties hold, the same seed is the same run, everything that can happen happens."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import fields, is_dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_reference.cluster.liveness.remaining import remaining_of
from kraft_reference.cluster.occurrence import DuplicateMessage, NetworkEvent, Occurrence
from kraft_reference.cluster.plan import RunPlan, configuration_of
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.effects import AppendRecords
from kraft_reference.events import AppendVoters, Crash, Event, Receive, event_name
from kraft_reference.messages import FetchResponse
from kraft_reference.roles import Role

SEEDS = st.integers(min_value=0, max_value=2**64 - 1)
WORKLOAD_NAMES = sorted(WORKLOADS)


def name_of(occurrence: Occurrence) -> str:
    event: Event | NetworkEvent = occurrence.event
    return type(event).__name__ if isinstance(event, NetworkEvent) else event_name(event)


def canonical(value: object) -> str:
    """A text that depends on the value alone: sets in order, no addresses."""
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(canonical(element) for element in value)) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(element)}" for key, element in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + ",".join(canonical(element) for element in value) + ")"
    if is_dataclass(value):
        named = (f"{field.name}={canonical(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__name__}({','.join(named)})"
    return repr(value)


def digest(plan: RunPlan) -> str:
    """The digest of everything that a run yields, and of its end."""
    simulation = plan.simulation()
    sha256 = hashlib.sha256()
    for occurrence in simulation.run():
        sha256.update(canonical(occurrence).encode())
    sha256.update(f"{simulation.violation} {simulation.progress_at_ms}".encode())
    return sha256.hexdigest()


@pytest.mark.parametrize("workload", WORKLOAD_NAMES)
@given(seed=SEEDS, voters=st.integers(3, 5), profile=st.sampled_from(("kip", "kafka-4")))
def test_invariants_hold_and_the_healed_cluster_makes_progress(
    workload: str, seed: int, voters: int, profile: str
) -> None:
    plan = RunPlan(seed, voters, 300, workload, profile)
    simulation = plan.simulation()
    last_time_ms = 0
    for number, occurrence in enumerate(simulation.run(), 1):
        assert occurrence.sequence == number
        assert occurrence.time_ms >= last_time_ms
        last_time_ms = occurrence.time_ms
    assert simulation.violation is None, plan.command_line()
    assert simulation.healed_at_ms is not None
    # A leader is always promised, unless one that removed itself, and died before anybody else knew, is in the way.
    if simulation.progress_at_ms is None:
        assert WORKLOADS[workload].workload.change_interval_ms
        assert simulation.lasting is not None
        lasting = simulation.lasting
        assert remaining_of(simulation.world, lasting.cuts, lasting.stopped).connected_majority() is None


@pytest.mark.parametrize("voters", [1, 2])
@pytest.mark.parametrize("workload", WORKLOAD_NAMES)
def test_small_clusters(workload: str, voters: int) -> None:
    for seed in range(5):
        simulation = RunPlan(seed, voters, 300, workload).simulation()
        assert sum(1 for _ in simulation.run()) >= 300
        assert simulation.violation is None


@pytest.mark.slow
def test_same_seed_same_run_under_any_hash_seed() -> None:
    program = (
        "from tests.reference.test_cluster_simulation import digest, WORKLOAD_NAMES, RunPlan\n"
        "for name in WORKLOAD_NAMES: print(name, digest(RunPlan(7, 4, 400, name)))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for hash_seed in ("0", "1", "4242")
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == len(WORKLOADS)


def test_different_seeds_are_different_runs() -> None:
    assert len({digest(RunPlan(seed, 3, 200, "chaos")) for seed in range(4)}) == 4


def test_a_calm_cluster_elects_once() -> None:
    """Without faults the first leader stays: nobody raises the epoch.  NoNeedlessElection."""
    for seed in range(10):
        simulation = RunPlan(seed, 3, 800, "calm").simulation()
        epochs: list[int] = []
        for occurrence in simulation.run():
            state = occurrence.state
            if state is not None and state.role is Role.LEADER and state.epoch not in epochs:
                epochs.append(state.epoch)
        assert len(epochs) == 1


@pytest.mark.slow
def test_everything_that_can_happen_happens() -> None:
    seen: Counter[str] = Counter()
    for seed in range(4):
        for name in WORKLOAD_NAMES:
            plan = RunPlan(seed, 3 + seed % 3, 1200, name)
            newest: dict[tuple[int, int], int] = {}
            ends: dict[int, int] = {}
            for occurrence in plan.simulation().run():
                event, state = occurrence.event, occurrence.state
                seen[name_of(occurrence)] += 1
                if isinstance(event, Receive):
                    link = (event.message.source, event.message.destination)
                    assert occurrence.message_id is not None
                    sent = int(occurrence.message_id.split(".")[0])
                    seen["reordered"] += sent < newest.get(link, 0)
                    seen["twice"] += sent == newest.get(link, 0)
                    newest[link] = max(sent, newest.get(link, 0))
                    diverges = isinstance(event.message, FetchResponse) and event.message.diverging_epoch >= 0
                    seen["diverging"] += diverges
                if occurrence.crash is not None:
                    seen[f"crash after {min(occurrence.crash.completed, 2)} effects"] += 1
                    seen[f"crash during {name_of(occurrence)}"] += 1
                if occurrence.refusal is not None:
                    seen[str(occurrence.refusal)] += 1
                if state is not None:
                    lost = state.log.end_offset < ends.get(state.key.id, 0)
                    seen["unsynced records lost at rest"] += lost and isinstance(event, Crash)
                    ends[state.key.id] = state.log.end_offset
                    for effect in occurrence.effects:
                        if isinstance(effect, AppendRecords) and occurrence.crash is not None:
                            written = effect.base_offset + len(effect.records)
                            seen["unsynced records lost in a step"] += state.log.end_offset < written
                    seen[str(state.role)] += 1
                    seen["searching"] += state.searching
    requests = ("VoteRequest", "BeginQuorumEpochRequest", "EndQuorumEpochRequest", "FetchRequest")
    handled = {f"Handle{request}" for request in requests}
    handled |= {name.replace("Request", "Response") for name in handled}
    timers = {"ElectionTimeout", "FetchTimeout", "CheckQuorumTimeout", "BeginQuorumEpochTimeout", "RequestTimeout"}
    others = {"Poll", "PollFetch", "ClientAppend", "AppendVoters", "Shutdown", "Crash", "Restart", "ReplaceDisk"}
    network = {"DropMessage", "DuplicateMessage", "AnswerUnsupportedVersion", "CutLink", "HealLink"}
    crashes = {f"crash after {completed} effects" for completed in range(3)}
    crashes |= {"crash during HandleVoteRequest", "crash during ClientAppend", "crash during HandleFetchResponse"}
    happenings = {
        "reordered",
        "twice",
        "diverging",
        "searching",
        "unsynced records lost at rest",
        *(str(role) for role in Role),
    }
    happenings |= {"unsynced records lost in a step"}
    expected = handled | timers | others | network | crashes | happenings | {"UNCORRELATED_RESPONSE", "STALE_EPOCH"}
    assert {name for name in expected if not seen[name]} == set()


def test_the_voters_set_never_changes() -> None:
    appended = [
        occurrence.event
        for occurrence in RunPlan(1, 3, 1500, "observers").simulation().run()
        if isinstance(occurrence.event, AppendVoters)
    ]
    assert appended
    assert {event.voters for event in appended} == {configuration_of(WORKLOADS["observers"], 1, 3).voters}


def test_duplicates_need_a_message_on_its_way() -> None:
    occurrences = list(RunPlan(3, 3, 600, "lossy").simulation().run())
    assert any(isinstance(occurrence.event, DuplicateMessage) for occurrence in occurrences)


def test_a_plan_names_what_is_wrong_with_it() -> None:
    with pytest.raises(ValueError, match="no workload 'none'"):
        RunPlan(1, workload="none").simulation()
    with pytest.raises(ValueError, match="no profile 'none'"):
        RunPlan(1, profile="none").simulation()
    with pytest.raises(ValueError, match="needs a voter"):
        RunPlan(1, replicas=0).simulation()
