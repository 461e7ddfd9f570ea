"""The reassignment of the quorum (KIP-642)."""

from kraft_reference.events import AdvanceReassignment
from kraft_reference.identity import ReplicaKey
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start, take_over
from kraft_vectors.openings import fetch_in_turn, overtake
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets(OBSERVED)


@TARGETS.vector("reassign.not-the-leader", 2, "reassign.request-leader-only")
def _asked_elsewhere(d: Director) -> None:
    """Only the leader accepts a target."""
    start(d, 1, 1, end_offset=4)
    d.step("2 follows 1")
    d.answered(d.reassign(2, 1, 2, 4), "NOT_LEADER_OR_FOLLOWER")


@TARGETS.vector("reassign.target", 1, "reassign.assignment-record", "reassign.effective-on-append", level="effects")
def _asked(d: Director) -> None:
    """A target is a record with the current and the future voters."""
    start(d, 1, 1, end_offset=4)
    d.step("the target is written down, and takes effect at once")
    d.reassign(1, 1, 2, 4)
    d.records(1, 4, "VA")
    d.replicate(2, 1)


@TARGETS.vector("reassign.target-read", 2, "reassign.effective-on-append", level="state")
def _read(d: Director) -> None:
    """A follower takes the target from the record."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.step("a follower reads the target")
    d.fetch(2, 1)


@TARGETS.vector("reassign.adds", 1, "reassign.three-sets", "reassign.begin-epoch-to-new-voter")
def _adds(d: Director) -> None:
    """The leader adds a target replica that is not a voter yet, and announces itself to it."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.replicate(2, 1)
    d.replicate(4, 1)
    d.step("4 is new, 3 is to go: the leader adds 4 and tells it")
    d.advance(1, 4)
    d.poll(1)


@TARGETS.vector("reassign.target-reverted", 1, "reassign.truncation-reverts", level="state")
def _reverted(d: Director) -> None:
    """Truncating the record removes its target."""
    start(d, 1, 1, end_offset=4)
    d.cut(1, 2, 3, 4)
    request = d.reassign(1, 1, 2, 4)
    overtake(d, 2, 3, 4)
    d.answered(request, "NOT_LEADER_OR_FOLLOWER")
    d.step("f(1>2): with its record the target goes")
    d.fetch(1, 2)


@TARGETS.vector("reassign.other-target", 1, "reassign.cancel-by-new-target", level="state")
def _other_target(d: Director) -> None:
    """A new target without a replica ends its addition."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.replicate(2, 1)
    d.replicate(4, 1)
    d.advance(1, 4)
    d.step("before 4 has told its versions the target names it no more: the addition ends")
    d.reassign(1, 1, 2, 3)


_FOUR = AdvanceReassignment(ReplicaKey(4, "U4"))


@TARGETS.vector("reassign.waits-for-the-target", 1, "reassign.commit-before-next-step")
def _not_before_the_target(d: RecordingDirector) -> None:
    """A leader takes no step before the target is committed."""
    start(d, 1, 1, end_offset=4)
    d.fetch(4, 1)
    d.reassign(1, 1, 2, 4)
    d.step("the target is not committed: nothing is due")
    d.refuses(1, _FOUR)
    d.replicate(2, 1)
    d.advance(1, 4)


@TARGETS.vector("reassign.waits-for-the-step", 1, "reassign.commit-before-next-step", "reassign.single-member-steps")
def _not_while_busy(d: RecordingDirector) -> None:
    """A leader takes one step at a time."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.replicate(2, 1)
    d.replicate(4, 1)
    d.advance(1, 4)
    d.step("4 is being added: no other step is due, and not this one again")
    d.refuses(1, _FOUR)
    d.refuses(1, AdvanceReassignment(ReplicaKey(3, "U3")))


@TARGETS.vector("reassign.waits-after-a-timeout", 1, "reassign.commit-before-next-step")
def _not_after_a_timeout(d: RecordingDirector) -> None:
    """A step that timed out is not done before it is committed."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2)
    d.replicate(2, 1)
    d.advance(1, 3)
    d.voter_change_timeout(1)
    d.step("the time of the removal of 3 is over, and it is not committed: nothing is due before it is")
    d.refuses(1, AdvanceReassignment(None))
    d.replicate(2, 1)
    d.advance(1)


@TARGETS.vector(
    "reassign.waits-for-its-epoch", 2, "reassign.commit-before-next-step", "voters.epoch-committed-before-change"
)
def _not_before_its_epoch(d: RecordingDirector) -> None:
    """A new leader takes no step before a record of its own epoch is committed."""
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2)
    fetch_in_turn(d, 1, 2, 3)
    d.cut(1, 2, 3)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.high_watermark(2, 5)
    d.step("2 leads, and the target is committed, but no record of its own epoch is: nothing is due")
    d.refuses(2, AdvanceReassignment(ReplicaKey(3, "U3")))
    d.replicate(3, 2)
    d.advance(2, 3)
