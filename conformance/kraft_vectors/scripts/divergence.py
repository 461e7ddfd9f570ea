"""Logs that diverge over several epochs: the leader's response and the follower's truncation.

Replicas 1 and 2 lead in turn, each elected by 3, and fetch nothing from each other meanwhile.
At kraft.version 0 an epoch starts with one record, so that a log can be written as its epochs: `1 2 2 4`.
"""

from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import catch_up
from kraft_vectors.target import STATIC, Targets

TARGETS = Targets(STATIC)


def _leads(d: Director, leader: int, records: int, *fetching: int) -> None:
    """`leader` wins the next epoch with the vote of 3, and so its log has this many records of it; 1 and 2 know."""
    if d.state(leader).role is Role.UNATTACHED:
        d.election_timeout(leader)
    else:
        d.fetch_timeout(leader)
        d.fetch_timeout(3)
    d.pre_vote(leader, 3, "granted")
    d.vote(leader, 3, "granted")
    for voter in (3, 3 - leader):
        d.begin_quorum_epoch(leader, voter)
    d.append(leader, d.state(leader).log.end_offset + records - 1)
    catch_up(d, leader, *fetching)


def _epochs(d: Director, replica_id: int, expected: str) -> None:
    """The epochs of the records that are in the log."""
    epochs = " ".join([str(record.epoch) for record in d.state(replica_id).log.records])
    d.check(f"epochs of N{replica_id}", epochs, expected)


@TARGETS.vector("fetch.parted-long-ago", 2, "fetch.diverging.truncate")
@TARGETS.vector(
    "fetch.parted-long-ago-leader",
    1,
    "fetch.diverging.truncate",
    title="A Leader returns the largest epoch of its log up to the requested one",
)
def _five_epochs(d: Director) -> None:
    """A follower whose log diverged epochs ago truncates it epoch by epoch."""
    _leads(d, 1, 1, 2)
    for leader, records in ((2, 2), (1, 3), (2, 1), (1, 1)):
        _leads(d, leader, records)
    _epochs(d, 1, "1 3 3 3 5")
    _epochs(d, 2, "1 2 2 4")
    d.step("f(2>1): 1 has nothing of epoch 4, and 2 nothing of epoch 3; both have epoch 1")
    d.fetch(2, 1)
    _epochs(d, 2, "1 2 2")
    d.fetch(2, 1)
    _epochs(d, 2, "1")
    d.fetch(2, 1)
    _epochs(d, 2, "1 3 3 3 5")


@TARGETS.vector("fetch.longer-than-the-epoch", 2, "fetch.diverging.truncate")
def _longer_than_the_epoch(d: Director) -> None:
    """A follower without the diverging epoch keeps its older epochs, up to the end offset at most."""
    _leads(d, 1, 1, 2)
    for leader, records in ((2, 2), (1, 1), (2, 1), (1, 1)):
        _leads(d, leader, records)
    _epochs(d, 1, "1 3 5")
    _epochs(d, 2, "1 2 2 4")
    d.step("f(2>1): epoch 3, of which 2 has nothing, ends at 1 before epoch 2 does at 2")
    d.replicate(2, 1)
    _epochs(d, 2, "1")


@TARGETS.vector("fetch.shorter-of-the-epoch", 2, "fetch.diverging.truncate")
def _shorter_of_the_epoch(d: Director) -> None:
    """A follower cannot keep more of an epoch than it has itself."""
    _leads(d, 1, 1, 2)
    d.append(1, 3)
    _leads(d, 2, 2)
    _leads(d, 1, 1)
    _epochs(d, 1, "1 1 1 3")
    _epochs(d, 2, "1 2 2")
    d.step("f(2>1): epoch 1 ends later at 1 than at 2")
    d.fetch(2, 1)
    _epochs(d, 2, "1")
    d.fetch(2, 1)


@TARGETS.vector("fetch.nothing-shared", 1, "fetch.diverging.truncate")
@TARGETS.vector(
    "fetch.nothing-shared-leader",
    2,
    "fetch.diverging.truncate",
    title="A Leader whose log begins with a larger epoch returns epoch 0, which ends at 0",
)
def _nothing_shared(d: Director) -> None:
    """A follower without common records truncates its whole log."""
    _leads(d, 1, 1)
    _leads(d, 2, 2)
    d.step("f(1>2): the logs differ from the first record on")
    d.fetch(1, 2)
    _epochs(d, 1, "")
    d.fetch(1, 2)
    _epochs(d, 1, "2 2")


@TARGETS.vector("snapshot.shorter-log", 1, "fetch.snapshot.accepted")
def _shorter_than_the_snapshot(d: Director) -> None:
    """A Leader offers its snapshot, however short, to a replica without the records before its end."""
    _leads(d, 1, 3, 3)
    d.take_snapshot(1, 1)
    d.step("f(2>1): 2 is empty, and the first record is gone at 1")
    d.fetch(2, 1)
    d.fetch_snapshot(2, 1)
    d.take_snapshot(1, 2)
    d.step("f(2>1): 2 has the first record, and the second is gone at 1")
    d.fetch(2, 1)


@TARGETS.vector("snapshot.ends-alike", 2, "fetch.snapshot.accepted", "fetch.diverging.truncate")
def _ends_where_the_snapshot_does(d: Director) -> None:
    """A snapshot replaces a log that ends at the same offset with another epoch."""
    _leads(d, 1, 1, 2, 3)
    _leads(d, 2, 1)
    _leads(d, 1, 1)
    _leads(d, 2, 1, 3)
    _epochs(d, 1, "1 3")
    _epochs(d, 2, "1 2 4")
    d.take_snapshot(2, 2)
    d.step("f(1>2): the log of 1 ends where the snapshot of 2 does, with a larger epoch; that of 3 goes on behind it")
    d.fetch(1, 2)
    d.fetch(3, 2)


@TARGETS.vector("snapshot.longer-log", 2, "fetch.snapshot.accepted", "fetch.diverging.truncate")
def _longer_than_the_snapshot(d: Director) -> None:
    """A snapshot replaces a log that ends with an older epoch, however long."""
    _leads(d, 1, 1, 2, 3)
    d.append(1, 3)
    _leads(d, 2, 2, 3)
    _epochs(d, 1, "1 1 1")
    _epochs(d, 2, "1 2 2")
    d.take_snapshot(2, 2)
    d.step("f(1>2): the log of 1 ends behind the snapshot of 2, with a smaller epoch")
    d.fetch(1, 2)
