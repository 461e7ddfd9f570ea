"""Additions: the leader's checks, the time of the response, and auto join."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, start, take_over
from kraft_vectors.target import JOINING, OBSERVED, Targets, with_replicas

TARGETS = Targets(OBSERVED)


@TARGETS.vector(
    "change.versions-first",
    1,
    "add-voter.learn-versions",
    "voters.endpoints-are-part-of-the-set",
    "add-voter.conditions-hold-at-append",
    level="effects",
)
def _added(d: Director) -> None:
    """The leader asks a new voter for its versions before it appends the set, endpoint and versions included."""
    start(d, 1, 1, end_offset=4)
    d.step("the leader asks 4 for its versions, then appends the set")
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 4)


@TARGETS.vector("change.versions-told", 4, "kraft-version.levels")
def _versions_asked(d: Director) -> None:
    """A replica returns its supported range of kraft.version."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("4 tells its versions")
    d.learn_versions(1, 4)


@TARGETS.vector(
    "change.catch-up", 1, "add-voter.catch-up-first", "add-voter.conditions-hold-at-append", level="effects"
)
def _caught_up(d: Director) -> None:
    """A new voter catches up before the set is appended."""
    start(d, 1, 1, end_offset=4)
    d.append(1, end_offset=6)
    d.replicate(2, 1)
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.step("4 has not caught up when its versions are known; with its Fetch the set is appended")
    d.replicate(4, 1)
    d.set_offset(1, 6)


@TARGETS.vector("change.committed", 1, "add-voter.reply-after-commit", "state.voters-set.own-majority")
def _committed(d: Director) -> None:
    """A majority of the new set commits an addition, and then the client is answered."""
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.step("three of four have the record: the client is answered")
    d.replicate(2, 1)
    d.unanswered(request)
    d.replicate(4, 1)
    d.answered(request, "NONE")


@TARGETS.vector(
    "change.unsupported-level",
    1,
    "add-voter.version-must-be-supported",
    configuration=with_replicas(OBSERVED, 4, max_version=0),
)
def _unsupported(d: Director) -> None:
    """A new voter that does not support the level in force is refused."""
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("4 supports level 0 alone")
    d.learn_versions(1, 4)
    d.answered(request, "INVALID_REQUEST")


@TARGETS.vector("change.timed-out", 1, "add-voter.timeout")
def _timed_out(d: Director) -> None:
    """A request ends when it times out."""
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.step("the time of the request is over")
    d.voter_change_timeout(1)
    d.answered(request, "REQUEST_TIMED_OUT")


@TARGETS.vector("change.deposed", 1, "add-voter.leader-change-leaves-outcome-open")
def _deposed(d: Director) -> None:
    """A leader that is deposed leaves the outcome open."""
    start(d, 1, 1, end_offset=4)
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    take_over(d, 2, 3)
    d.step("another leads: the request ends, its record stays for now")
    d.begin_quorum_epoch(2, 1)
    d.answered(request, "NOT_LEADER_OR_FOLLOWER")


@TARGETS.vector(
    "change.joins", 4, "auto-join.enabled-by-config", "auto-join.uses-the-ordinary-rpcs", configuration=JOINING
)
def _joins(d: Director) -> None:
    """A controller with auto join asks to be added."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3, 4)
    d.step("4 joins by itself")
    d.join(4, 1)


@TARGETS.vector("change.does-not-join", 4, "auto-join.enabled-by-config", "identity.could-become-voter")
def _does_not_join(d: Director) -> None:
    """A controller without auto join sends no AddVoter, and each Fetch has its directory id."""
    elect(d, 1, 1)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.step("4 observes, and asks for nothing but records")
    d.replicate(4, 1)
