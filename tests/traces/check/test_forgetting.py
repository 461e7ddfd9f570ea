"""State that the checker garbage-collected can matter again: a voter with an empty disk begins again in epoch 0."""

from typing import Any

import pytest
from tests.traces.check.alterations import line_from
from tests.traces.check.cases import Story
from tests.traces.places import document_of

from kraft_reference.events import ClientAppend, ElectionTimeout, FetchTimeout, Poll, PollFetch, Shutdown, TakeSnapshot
from kraft_reference.roles import Role
from kraft_simulation.occurrence import CrashPoint
from kraft_simulation.scenarios.scenario import cluster
from kraft_traces.check import Rejection, RejectionKind, TraceChecker
from kraft_traces.check.model import trace_model


class StaticVoters(Story):
    """Three voters at kraft.version 0, where a voter with a new disk votes as before."""

    def __init__(self) -> None:
        super().__init__(cluster(3, static=True))
        self.disks = 0

    def campaign(self, replica: int, *, to: tuple[int, ...]) -> None:
        """Candidate of the next epoch by the Pre-Vote of these replicas; the requests for votes are on their way."""
        for voter in (*(other for other in to if other != replica), replica):
            # Who follows a leader that serves it refuses every Pre-Vote.
            if self.world.state(voter).role is Role.FOLLOWER:
                self.tell(self.world.happen(voter, FetchTimeout()))
        if self.world.state(replica).role is Role.LEADER:
            self.tell(self.world.happen(replica, Shutdown()))
        while self.world.state(replica).role is not Role.PROSPECTIVE:
            self.tell(self.world.happen(replica, ElectionTimeout()))
        self.tell(self.world.happen(replica, Poll()))
        self.deliver_all(to=to)
        assert self.world.state(replica).role is Role.CANDIDATE
        self.tell(self.world.happen(replica, Poll()))

    def lose(self, replica: int) -> None:
        """A candidate stops before anybody has heard of it; what it has sent is lost."""
        self.tell(self.world.crash(replica))
        self.drop_all()
        self.tell(self.world.restart(replica))

    def drop_all(self) -> None:
        """Whatever is on its way is lost."""
        for identifier, _ in list(self.world.messages()):
            self.tell(self.world.drop(identifier))

    def win(self, replica: int, *, to: tuple[int, ...] = (1, 2, 3)) -> None:
        """Leader of the next epoch, which these replicas learn."""
        self.campaign(replica, to=to)
        self.deliver_all(to=to)
        assert self.world.state(replica).role is Role.LEADER
        self.tell(self.world.happen(replica, Poll()))
        self.deliver_all(to=to)

    def fetch(self, leader: int, *followers: int, times: int = 3) -> None:
        """The followers fetch until they have everything and know that it is committed."""
        for _ in range(times):
            for follower in followers:
                self.tell(self.world.happen(follower, PollFetch(leader)))
                self.deliver_all(to=(leader, follower))

    def replace_disks(self, *replicas: int) -> None:
        """These replicas come back with empty disks."""
        for replica in replicas:
            self.disks += 1
            self.tell(self.world.crash(replica))
            self.tell(self.world.replace_disk(replica, f"NEW{self.disks}"))
            self.tell(self.world.restart(replica))

    def rejection(self, every: int = 1) -> Rejection | None:
        """Return the first rejection of the lines; None if all are accepted."""
        checker = TraceChecker(trace_model(), self.configuration, "trace.jsonl", own=True, every=every)
        for number, line in enumerate(self.lines, 2):
            rejection = checker.feed(number, line)
            if rejection is not None:
                return rejection
        return checker.finish(complete=True).rejection


def second_leader_of_a_forgotten_epoch() -> StaticVoters:
    story = StaticVoters()
    story.win(1)
    story.win(2)
    story.win(2)
    assert min(story.world.state(replica).epoch for replica in (1, 2, 3)) > 2
    story.replace_disks(1, 3)
    story.win(3, to=(1, 3))
    assert story.world.state(3).epoch == 1
    return story


def other_record_in_place_of_a_committed_one() -> StaticVoters:
    story = StaticVoters()
    story.win(1)
    story.tell(story.world.happen(1, ClientAppend(7)))
    story.fetch(1, 2, 3)
    for replica in (1, 2, 3):
        story.tell(story.world.happen(replica, TakeSnapshot(2)))
    story.campaign(2, to=(1, 2, 3))
    story.lose(2)
    story.win(2)
    assert story.world.state(2).epoch == 3
    story.replace_disks(1, 3)
    story.tell(story.world.crash(2))
    story.campaign(3, to=(1, 3))
    story.lose(3)
    story.win(3, to=(1, 3))
    assert story.world.state(3).epoch == 2
    assert story.world.state(3).log.start_offset == 0
    story.fetch(3, 1)
    assert story.world.state(3).high_watermark == 1
    return story


@pytest.mark.parametrize("every", [1, 500])
def test_a_second_leader_of_an_epoch_that_all_had_left_is_found(every: int) -> None:
    rejection = second_leader_of_a_forgotten_epoch().rejection(every)
    assert rejection is not None
    assert "ElectionSafety" in rejection.properties


@pytest.mark.parametrize("every", [1, 500])
def test_a_record_in_place_of_a_committed_one_that_all_had_in_a_snapshot_is_found(every: int) -> None:
    rejection = other_record_in_place_of_a_committed_one().rejection(every)
    assert rejection is not None
    assert set(rejection.properties) >= {"CommittedNeverLost", "StateMachineSafety"}


def test_a_leader_that_died_in_the_step_that_elected_it_has_led_its_epoch() -> None:
    """Nobody has heard of it, and a voter with an empty disk elects another one."""
    story = StaticVoters()
    story.campaign(1, to=(1, 3))
    story.deliver_all(to=(3,))
    [(granted, _)] = story.world.messages(destination=1)
    story.tell(story.world.deliver(granted, crash=CrashPoint(completed=1, log_end_offset=0)))
    assert (story.world.state(1).leader_id, story.world.state(1).epoch) == (1, 1)
    story.drop_all()
    story.replace_disks(3)
    story.campaign(2, to=(2, 3))
    assert story.rejection() is None
    story.deliver_all(to=(2, 3))
    assert (story.world.state(2).role, story.world.state(2).epoch) == (Role.LEADER, 1)
    rejection = story.rejection()
    assert rejection is not None
    assert "ElectionSafety" in rejection.properties


@pytest.mark.parametrize("taken", ["U2", "U1", "NEW1"])
def test_a_new_disk_with_a_directory_id_that_was_given_out_is_rejected(taken: str) -> None:
    """That of another replica, one's own, and one that nobody has any more."""
    story = StaticVoters()
    story.replace_disks(3, 3)
    story.tell(story.world.crash(1))
    document: dict[str, Any] = document_of(story.tell(story.world.replace_disk(1, "NEW3")))
    document["input"]["directory_id"] = document["state"]["replica_key"]["directory_id"] = taken
    story.lines[-1] = line_from(document)
    rejection = story.rejection()
    assert rejection is not None
    assert (rejection.kind, rejection.line) == (RejectionKind.NOT_ENABLED, len(story.lines) + 1)
    assert rejection.rules[0] == "identity.directory-id-at-format"
    assert rejection.conjunct is not None
    assert "history.directories" in rejection.conjunct.text
