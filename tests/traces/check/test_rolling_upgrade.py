"""Traces in which the software of replicas is replaced while they run."""

import pytest
from tests.traces.check.foreign import without
from tests.traces.checkpointed import FOREIGN, Checkpointed, edited, simulated

from kraft_traces.check import Verdict, VerdictKind, check_reader
from kraft_traces.reader import trace_of_bytes

WORKLOADS = ("rolling-upgrade", "rolling-upgrade-static")


def run_of(workload: str) -> Checkpointed:
    return simulated(workload, 1, steps=700)


def upgrades(run: Checkpointed) -> list[int]:
    """The sequences of the events that replace software."""
    return [line.sequence for line in run.events if line.event == "ReplaceSoftware"]


def verdict(lines: list[bytes]) -> Verdict:
    return check_reader(trace_of_bytes(b"".join(lines), "trace.jsonl"))


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_replica_is_upgraded_once_and_the_run_is_accepted(workload: str) -> None:
    run = run_of(workload)
    assert {replica.pre_vote for replica in run.configuration.replicas.values()} == {"unsupported"}
    assert [run.events[sequence - 1].replica for sequence in upgrades(run)] == [1, 2, 3]
    assert run.states[-1].software == dict.fromkeys((1, 2, 3), "supported")
    assert verdict(run.lines(())).kind is VerdictKind.ACCEPTED


def test_a_checkpoint_names_the_software_that_was_replaced() -> None:
    """The header has the old software."""
    run = run_of("rolling-upgrade")
    place = upgrades(run)[-1] + 1
    lines = run.lines((place - 1,))
    assert verdict(lines).kind is VerdictKind.ACCEPTED
    rejection = verdict([*lines[:place], edited(lines[place], software=[]), *lines[place + 1 :]]).rejection
    assert rejection is not None
    assert [difference.field for difference in rejection.differences] == [
        f"software[replica={replica}]" for replica in (1, 2, 3)
    ]


def test_other_software_need_not_say_what_a_replica_runs_now() -> None:
    """The events that follow tell."""
    run = run_of("rolling-upgrade")
    replaced = set(upgrades(run))
    events = [without(line, ("input",)) if line.sequence in replaced else without(line) for line in run.events]
    assert verdict(run.lines((), generator=FOREIGN, events=events)).kind is VerdictKind.ACCEPTED
