"""Snapshots: taking, serving and loading them."""

from kraft_reference.messages import FetchSnapshotRequest
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, start, take_over
from kraft_simulation.scenarios.scenario import voter_set
from kraft_vectors.openings import fetch_in_turn, lead_with_snapshot
from kraft_vectors.target import OBSERVED, THREE, Targets

TARGETS = Targets(OBSERVED)


@TARGETS.vector("snapshot.loaded", 4, "fetch.snapshot.install", "voters.set-from-snapshot-and-log", level="effects")
@TARGETS.vector(
    "snapshot.served",
    1,
    "fetch.snapshot.accepted",
    "snapshot.control-records-first",
    title="A Leader without the requested records offers its snapshot",
)
def _loads(d: Director) -> None:
    """A snapshot replaces the whole log, including its voter sets."""
    lead_with_snapshot(d)
    d.step("4, empty, is told to load the snapshot, loads it, and fetches what comes after it")
    d.fetch(4, 1)
    d.fetch_snapshot(4, 1)
    d.fetch(4, 1)


@TARGETS.vector("snapshot.taken", 1, "snapshot.control-records-first", configuration=THREE)
def _takes(d: Director) -> None:
    """A snapshot holds the set and the level in force at its end."""
    start(d, 1, 1, end_offset=6)
    d.step("the state machine has a snapshot ready")
    d.take_snapshot(1, 5)
    d.check("the base of N1", d.state(1).log.base.end_offset, 5)


@TARGETS.vector("snapshot.of-a-changed-set", 1, "snapshot.control-records-first", "snapshot.set-at-its-end-offset")
def _takes_a_changed_set(d: Director) -> None:
    """A snapshot holds the newest set that it covers."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    fetch_in_turn(d, 1, 2, 4)
    d.high_watermark(1, 4)
    d.step("a snapshot that covers a record of voters")
    d.take_snapshot(1, 4)


@TARGETS.vector("snapshot.replaced", 1, "fetch.snapshot.accepted")
def _asks_for_an_older_snapshot(d: Director) -> None:
    """A deleted snapshot is not served."""
    lead_with_snapshot(d)
    d.fetch(4, 1)
    request = d.outstanding(4, 1, FetchSnapshotRequest)
    d.take_snapshot(1, 6)
    d.step("4 asks for a snapshot that a newer one has replaced")
    d.handle(request, "SNAPSHOT_NOT_FOUND")


@TARGETS.vector("snapshot.removed-leader", 1, "snapshot.removed-leader-serves")
def _removed_leader_snapshot(d: Director) -> None:
    """A Leader outside its own set serves its snapshot."""
    elect(d, 1, 1)
    d.append(1, end_offset=6)
    observe(d, 1, 2, 3)
    d.take_snapshot(1, 5)
    d.remove_voter(1, 1)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")
    d.fetch(4, 1)
    d.step("4 loads the snapshot from a leader outside its own set")
    d.fetch_snapshot(4, 1)


@TARGETS.vector(
    "snapshot.in-place-of-own-set", 1, "fetch.snapshot.install", "snapshot.load-resets-history", configuration=THREE
)
def _in_place_of_own_set(d: Director) -> None:
    """A snapshot that replaces a log with its own voter set has the voter set in force."""
    start(d, 1, 1, end_offset=4)
    d.cut(1, 2, 3)
    d.remove_voter(1, 3)
    take_over(d, 2, 3)
    d.replicate(3, 2)
    d.heal(1, 2, 3)
    d.take_snapshot(2, d.state(2).log.end_offset)
    d.step("1, which has a set of its own that nobody else knows, loads the snapshot of 2")
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.fetch_snapshot(1, 2)


@TARGETS.vector("snapshot.leader-resigned", 4, "fetch.snapshot.install")
def _leader_resigned(d: Director) -> None:
    """A replica stops fetching a snapshot when its leader resigns."""
    lead_with_snapshot(d)
    d.fetch(4, 1)
    d.shutdown(1)
    d.step("the leader has resigned: 4 asks it for records again")
    d.fetch_snapshot(4, 1, "NOT_LEADER_OR_FOLLOWER")
