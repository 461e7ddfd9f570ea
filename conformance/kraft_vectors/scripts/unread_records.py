"""A VotersRecord that a replica appends below the former end of its truncated log.

Apache Kafka does not read it: its finding `unread-voters`.
"""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, take_over
from kraft_vectors.target import Targets

TARGETS = Targets()


def _truncated(d: Director) -> None:
    """1 leads e1 and appends records that reach nobody; 2 leads e2, and 1 truncates its log."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3)
    d.append(1, 9)
    d.lose(1)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.begin_quorum_epoch(2, 1)
    observe(d, 2, 1)


@TARGETS.vector("snapshot.of-a-set-below-the-old-end", 1, "snapshot.set-at-its-end-offset", "voters.truncation-reverts")
def _takes_a_snapshot_and_restarts(d: Director) -> None:
    """A snapshot has the voter set of a record below the old log end, and a restart uses it."""
    _truncated(d)
    removed = d.remove_voter(2, 3)
    observe(d, 2, 1)
    d.answered(removed, "NONE")
    observe(d, 2, 1)
    d.step("1 takes a snapshot of all that is committed, restarts, and asks the voters of the snapshot: 2 alone")
    d.take_snapshot(1, d.state(1).high_watermark)
    d.crash(1)
    d.restart(1)
    d.fetch_timeout(1)
    d.poll(1)


@TARGETS.vector(
    "change.removed-and-added-after-truncation", 1, "voters.effective-on-append", "voters.truncation-reverts"
)
def _removed_and_added(d: Director) -> None:
    """A former leader that truncates its log, is removed and added again, is a voter."""
    _truncated(d)
    removed = d.remove_voter(2, 1)
    observe(d, 2, 3)
    d.answered(removed, "NONE")
    observe(d, 2, 1)
    d.step("1 is added again, reads that it is a voter, and stands when its leader is silent")
    added = d.add_voter(2, 1)
    d.learn_versions(2, 1)
    observe(d, 2, 1, 3)
    d.answered(added, "NONE")
    d.fetch_timeout(1)
    d.poll(1)
