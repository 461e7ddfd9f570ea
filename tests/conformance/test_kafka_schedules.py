"""Findings about Apache Kafka that no vector shows: schedules of some steps on every release.

docs/kafka.md has what follows from each.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conformance.commands import newest_by_day

from kraft_cli.commands.conformance_template import Template, copy_template
from kraft_conformance.random_runs.campaign import random_campaign
from kraft_conformance.random_runs.notes import Notes
from kraft_conformance.random_runs.plan import RandomPlan
from kraft_conformance.random_runs.seats import Command
from kraft_conformance.random_runs.table import Table
from kraft_conformance.runner.outcome import Status
from kraft_kafka.adapter import command_line
from kraft_kafka.differences import known_in_schedules
from kraft_kafka.jars import released
from kraft_kafka.releases import newest, releases
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Answer, AppendRecords, FlushLog
from kraft_reference.events import PollFetch
from kraft_reference.messages import BeginQuorumEpochRequest, EndQuorumEpochRequest, Error, FetchResponse
from kraft_reference.profile import KAFKA_4
from kraft_reference.replica import Replica
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe
from kraft_simulation.scenarios.scenario import cluster, without_list
from kraft_simulation.world import MakeReplica

THREE = cluster(3, profile=KAFKA_4)
ONE_IS_NEW = cluster(3, (2, 3), formatted=without_list(1), profile=KAFKA_4)
TWO = cluster(2, profile=KAFKA_4)


def play(
    command: str,
    configuration: Configuration,
    script: Callable[[Director], None],
    beside: MakeReplica = Replica,
) -> Notes:
    """A script on an implementation that does as it says, with replicas of the reference beside it."""
    notes = Notes()
    with Table((Command(command),), 30) as table:
        maker = table.maker(notes, stops=False, dies_in_steps=False, beside=beside)
        script(Director(script.__name__, configuration, maker))
    assert not notes.is_over, notes.undecided or notes.first
    return notes


def leader_dies_of_a_late_answer(d: Director) -> None:
    """An announcement is on its way when its voter is removed; the answer of that ends the leader's process."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    d.begin_quorum_epoch_timeout(1)
    d.begin_quorum_epoch_timeout(1)
    announcement = d.outstanding(1, 3, BeginQuorumEpochRequest)
    removal = d.remove_voter(1, 3)
    d.replicate(2, 1)
    d.answered(removal, "NONE")
    d.handle(announcement, "ok")
    d.roles("stopped", "F(1,1)", "F(1,1)")


def voter_dies_of_a_new_voter_that_resigns(d: Director) -> None:
    """1 is added, leads and shuts down before 3 has heard of any of it: 3 knows no endpoint of 1."""
    elect(d, 2, 1)
    observe(d, 2, 3, 1)
    added = d.add_voter(2, 1)
    d.learn_versions(2, 1)
    observe(d, 2, 1)
    d.answered(added, "NONE")
    d.crash(2)
    d.restart(2)
    d.fetch_timeout(1)
    if d.has_pre_vote(1):
        d.pre_vote(1, 2, "granted")
        d.lose(1)
    d.vote(1, 2, "granted")
    d.lose(1)
    d.begin_quorum_epoch(1, 2)
    d.lose(1)
    observe(d, 1, 2)
    d.shutdown(1)
    d.deliver(d.outstanding(1, 3, EndQuorumEpochRequest))
    d.roles("R(2)", "F(2,1)", "stopped")


def only_voter_answers_before_it_syncs(d: Director) -> None:
    elect(d, 1, 1)
    observe(d, 1, 2)
    d.remove_voter(1, 2)
    assert [type(effect) for effect in d.occurrences[-1].effects] == [AppendRecords, Answer, FlushLog]


def unattached_dies_of_an_unknown_error(d: Director) -> None:
    """The answer to its Fetch has an error that Kafka has no branch for."""
    answer = d.fetch(2, 1, "NOT_LEADER_OR_FOLLOWER", answer="held")
    flight = d.world.in_flight[answer]
    assert isinstance(flight.message, FetchResponse)
    d.world.in_flight[answer] = flight._replace(message=replace(flight.message, error=Error.REQUEST_TIMED_OUT))
    d.deliver(answer)
    d.roles("U(0)", "stopped", "U(0)")


def unattached_fetches_again_at_once(d: Director) -> None:
    """With a backoff longer than the run: an error in time starts none, no answer does, and another one is asked."""
    for _ in range(3):
        d.fetch(2, 1, "NOT_LEADER_OR_FOLLOWER")
    d.happen(2, PollFetch(1))
    d.lose(2)
    d.request_timeout(2, 1)
    d.happen(2, PollFetch(1))
    assert [flight.message.destination for flight in d.world.in_flight.values()] == [2]


def restarted_leader_resigns(d: Director) -> None:
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    d.crash(1)
    d.restart(1)
    d.poll(1)
    d.end_quorum_epoch(1, 2)
    d.end_quorum_epoch(1, 3)


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize("version", newest_by_day(releases()))
@pytest.mark.parametrize(
    ("configuration", "script"),
    [
        (THREE, leader_dies_of_a_late_answer),
        (ONE_IS_NEW, voter_dies_of_a_new_voter_that_resigns),
        (TWO, only_voter_answers_before_it_syncs),
        (THREE, unattached_dies_of_an_unknown_error),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
def test_a_release_does_what_the_page_says(
    version: str, configuration: Configuration, script: Callable[[Director], None]
) -> None:
    play(command_line(released(releases()[version]), "state"), configuration, script)


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize("version", newest_by_day(releases()))
def test_all_voters_hurry_when_a_restarted_leader_resigns(version: str) -> None:
    """Its list of preferred candidates is empty, and each voter takes itself for the first in it."""
    notes = play(command_line(released(releases()[version]), "state"), THREE, restarted_leader_resigns)
    (durations,) = notes.durations.values()
    assert durations.waits_ms == {(0, 0): [0, 0]}


@pytest.mark.usefixtures("kafka")
def test_an_unattached_replica_does_not_back_off(tmp_path: Path) -> None:
    copy_template(Template.KAFKA, tmp_path / "own")
    source = tmp_path / "own" / "src" / "org" / "apache" / "kafka" / "raft" / "RunningClient.java"
    text = source.read_text(encoding="utf-8")
    longer = text.replace("QUORUM_RETRY_BACKOFF_MS_CONFIG, 0)", "QUORUM_RETRY_BACKOFF_MS_CONFIG, Timers.NEVER_MS)")
    assert longer != text
    source.write_text(longer, encoding="utf-8")
    command = command_line(released(releases()[newest()]), "state", None, tmp_path / "own")
    play(command, THREE, unattached_fetches_again_at_once)


@pytest.mark.usefixtures("kafka")
@pytest.mark.parametrize(
    ("workload", "seed", "known"),
    [
        ("snapshots", 21, "A replica with a new disk that is told that its own id leads dies"),
        pytest.param("hasty-changes", 28, "A sole voter leads before its start is over", marks=pytest.mark.nightly),
        pytest.param(
            "voter-changes",
            488,
            "A restart, and a Prospective that goes back to its leader, write",
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_what_a_schedule_has_shown_is_known(workload: str, seed: int, known: str) -> None:
    seats = (Command(command_line(released(releases()["4.3.1"]), "state")),)
    plan = RandomPlan(
        seats,
        (seed,),
        (workload,),
        300,
        shrinks=False,
        checks_model=False,
        reply_timeout_s=60,
        known=known_in_schedules(),
    )
    (run,) = random_campaign(plan, lambda _: None)
    assert run.outcome.status is Status.EXPECTED_FAILURE, run.outcome
    assert any(known in reason for reason in run.known)
