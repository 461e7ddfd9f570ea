"""Resignations by check quorum, at a shutdown and after a restart, and EndQuorumEpoch at other replicas."""

from kraft_reference.messages import EndQuorumEpochRequest
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, start, take_over
from kraft_vectors.openings import campaign, new_disk
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets()


@TARGETS.vector("resignation.other-disk", 3, "end-quorum.candidate-key", level="effects")
def _other_disk_resigned(d: Director) -> None:
    """A preferred candidate is a replica with its directory id."""
    start(d, 1, 1)
    new_disk(d, 3, "U3b")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.shutdown(1)
    d.step("the list of candidates has (3,U3), not (3,U3b)")
    d.end_quorum_epoch(1, 3)


@TARGETS.vector("resignation.check-quorum", 1, "check-quorum.resign", "state.leader.resigns")
def _resigns(d: Director) -> None:
    """A Leader without Fetches from a majority resigns, and sends EndQuorumEpoch."""
    start(d, 1, 1)
    d.step("cq(1): nobody has fetched in a whole period")
    d.check_quorum_timeout(1)
    d.poll(1)


@TARGETS.vector("resignation.zombie-leader", 1, "check-quorum.zombie-leader")
def _zombie_leader(d: Director) -> None:
    """A leader that was replaced while partitioned resigns, and finds the new leader at a bootstrap server."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.step("cq(1): nobody has fetched in a whole period, since 2 leads epoch 2")
    d.check_quorum_timeout(1)
    d.poll(1)
    d.election_timeout(1)
    d.heal(1, 2, 3)
    d.fetch(1, 3, "NOT_LEADER_OR_FOLLOWER")
    d.fetch(1, 2)


@TARGETS.vector("resignation.with-an-observer", 1, "end-quorum.send", configuration=OBSERVED)
def _resigns_with_an_observer(d: Director) -> None:
    """An observer is never a preferred candidate."""
    start(d, 1, 1)
    d.step("4 has fetched as much as the voters, and cannot stand for election")
    d.shutdown(1)
    d.poll(1)


@TARGETS.vector("resignation.shutdown", 1, "state.leader.resigns", "end-quorum.send")
def _shut_down(d: Director) -> None:
    """A Leader that shuts down resigns, and sends EndQuorumEpoch."""
    start(d, 1, 1)
    d.step("the leader shuts down: EndQuorumEpoch with the order of its successors")
    d.shutdown(1)
    d.roles("R(1)")
    d.poll(1)


@TARGETS.vector("resignation.heard", 2, "end-quorum.frees-followers", "end-quorum.handle", level="effects")
def _ended(d: Director) -> None:
    """A Follower whose leader has resigned no longer waits for it."""
    start(d, 1, 1)
    d.shutdown(1)
    d.step("eqe(1>2): the first of the preferred candidates asks at once")
    d.end_quorum_epoch(1, 2)


@TARGETS.vector("resignation.no-candidates", 2, "end-quorum.handle", level="effects")
def _no_candidates(d: Director) -> None:
    """A Follower whose restarted leader prefers no candidates may campaign soon, or wait."""
    elect(d, 1, 1)
    observe(d, 1, 2)
    d.crash(1)
    d.restart(1)
    d.poll(1)
    d.step("eqe(1>2): the list of preferred candidates is empty")
    d.end_quorum_epoch(1, 2)


@TARGETS.vector("resignation.stale", 3, "end-quorum.stale", "state.epoch-monotonic")
def _ended_late(d: Director) -> None:
    """A resignation of an older epoch is fenced."""
    start(d, 1, 1)
    d.shutdown(1)
    late = d.outstanding(1, 3, EndQuorumEpochRequest)
    d.end_quorum_epoch(1, 2)
    d.fetch_timeout(3)
    d.fetch_timeout(2)
    campaign(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.step("the resignation of epoch 1 arrives in epoch 2")
    d.handle(late, "FENCED_LEADER_EPOCH")
    d.roles("", "L(2)", "F(2,2)")


@TARGETS.vector("resignation.next-leader", 1, "state.resigned.higher-epoch", "state.learn-higher-epoch.leader")
def _resigned_hears(d: Director) -> None:
    """A Resigned replica follows the leader of a larger epoch."""
    start(d, 1, 1)
    d.shutdown(1)
    take_over(d, 2, 3)
    d.step("bqe(2>1): the former leader hears of the next epoch")
    d.begin_quorum_epoch(2, 1)
    d.roles("F(2,2)")


@TARGETS.vector("resignation.restarted-leader-asks", 1, "state.resigned.timeout")
def _elected_again(d: Director) -> None:
    """A restarted leader sends Pre-Votes when its timer fires."""
    elect(d, 1, 1)
    d.crash(1)
    d.restart(1)
    d.step("et(1): a replica that led this epoch goes on to the next only by a Pre-Vote")
    d.election_timeout(1)
