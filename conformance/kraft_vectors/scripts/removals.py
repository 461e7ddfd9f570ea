"""Removals, moved voters, and refused requests."""

from kraft_reference.events import AddVoter
from kraft_reference.identity import ReplicaKey
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import lead_unannounced
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets(OBSERVED)

_STATIC = cluster(4, (1, 2, 3), static=True)


@TARGETS.vector("change.not-the-leader", 2, "add-voter.leader-only", "remove-voter.leader-only")
def _to_a_follower(d: Director) -> None:
    """Only the leader changes voters; other replicas name the leader."""
    start(d, 1, 1)
    d.step("AddVoter and RemoveVoter at 2, which follows 1")
    d.answered(d.add_voter(2, 4), "NOT_LEADER_OR_FOLLOWER")
    d.answered(d.remove_voter(2, 3), "NOT_LEADER_OR_FOLLOWER")


@TARGETS.vector("change.without-directory-id", 1, "add-voter.well-formed", "remove-voter.exact-key")
def _without_directory_id(d: Director) -> None:
    """AddVoter needs a directory id, and RemoveVoter needs the voter's."""
    start(d, 1, 1, end_offset=4)
    d.step("AddVoter of 4 without its directory id, then RemoveVoter of 3 with another one")
    d.answered(d.add_voter(1, ReplicaKey(4)), "INVALID_REQUEST")
    d.answered(d.remove_voter(1, ReplicaKey(3, "U3b")), "VOTER_NOT_FOUND")


@TARGETS.vector("change.too-early", 1, "voters.epoch-committed-before-change")
def _too_early(d: Director) -> None:
    """The leader accepts no change before it has committed a record of its epoch."""
    lead_unannounced(d, 1)
    d.lose(1)
    d.step("before anything of the epoch is committed the leader changes no voters")
    d.answered(d.add_voter(1, 4), "REQUEST_TIMED_OUT")
    d.answered(d.remove_voter(1, 3), "REQUEST_TIMED_OUT")


@TARGETS.vector("change.busy", 1, "voters.one-change-at-a-time")
def _busy(d: Director) -> None:
    """The leader accepts one change at a time."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("one change at a time")
    d.answered(d.remove_voter(1, 3), "REQUEST_TIMED_OUT")


@TARGETS.vector("change.behind-the-snapshot", 1, "voters.one-change-at-a-time")
def _behind_the_snapshot(d: Director) -> None:
    """An uncommitted voter set blocks the next change, even as the first record after the snapshot."""
    start(d, 1, 1, end_offset=5)
    d.take_snapshot(1, 5)
    request = d.remove_voter(1, 3)
    d.step("nobody waits for the removal any more, which is not committed: the next one is refused")
    d.voter_change_timeout(1)
    d.answered(request, "REQUEST_TIMED_OUT")
    d.answered(d.remove_voter(1, 2), "REQUEST_TIMED_OUT")


@TARGETS.vector("change.duplicate", 1, "identity.replica-key", "remove-voter.check-order")
def _duplicate(d: Director) -> None:
    """A voter set has each id once, and a request names a voter by id and directory id."""
    start(d, 1, 1, end_offset=4)
    d.step("the id is a voter already, on this disk or on another; the other is none")
    d.answered(d.add_voter(1, 3), "DUPLICATE_VOTER")
    d.answered(d.add_voter(1, ReplicaKey(3, "U9")), "DUPLICATE_VOTER")
    d.answered(d.remove_voter(1, ReplicaKey(3, "U9")), "VOTER_NOT_FOUND")


@TARGETS.vector("change.foreign-cluster", 1, "bootstrap.same-cluster-id", "add-voter.check-order")
def _foreign(d: Director) -> None:
    """A request for another cluster is refused."""
    start(d, 1, 1, end_offset=4)
    d.step("a request that names another cluster")
    d.happen(1, AddVoter(1, ReplicaKey(4, "U4"), "replica-4:9093", cluster_id="another"))
    d.answered(1, "INCONSISTENT_CLUSTER_ID")


@TARGETS.vector(
    "change.static", 1, "add-voter.unsupported-version", "voters.static-set-at-version-0", configuration=_STATIC
)
def _at_level_0(d: Director) -> None:
    """At kraft.version 0 no voter can be added or removed."""
    start(d, 1, 1, end_offset=4)
    d.step("voters change at kraft.version 1 and above")
    d.answered(d.add_voter(1, 4), "UNSUPPORTED_VERSION")
    d.answered(d.remove_voter(1, ReplicaKey(3, "U3")), "UNSUPPORTED_VERSION")


@TARGETS.vector("change.removed", 1, "remove-voter.reply-after-commit")
@TARGETS.vector(
    "change.becomes-observer",
    3,
    "remove-voter.removed-node-becomes-observer",
    "observer.becomes-non-voter",
    level="state",
    title="A removed replica becomes an observer when it reads its removal, and does not campaign",
)
def _removed(d: Director) -> None:
    """The leader responds to a removal when the reduced set has committed it."""
    start(d, 1, 1, end_offset=4)
    request = d.remove_voter(1, 3)
    d.step("3 reads its removal; the reduced set commits it")
    d.fetch(3, 1)
    d.unanswered(request)
    d.replicate(2, 1)
    d.answered(request, "NONE")
    d.fetch_timeout(3)
