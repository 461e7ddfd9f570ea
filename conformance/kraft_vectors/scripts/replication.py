"""Fetch: high watermark, truncation, and leaders outside their voter set."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, start, take_over, win
from kraft_simulation.scenarios.scenario import cluster, voter_set
from kraft_vectors.openings import overtake
from kraft_vectors.target import OBSERVED, Targets

TARGETS = Targets()


@TARGETS.vector("fetch.follower", 2, "hw.follower", "fetch.timer", "durable.flush-before-fetch")
def _follower_fetches(d: Director) -> None:
    """A Follower appends, syncs before it fetches again, and takes the high watermark."""
    start(d, 1, 1)
    d.append(1)
    d.step("f(2>1) brings a record, the next one says that it is synced")
    d.replicate(2, 1)


@TARGETS.vector("fetch.own-epoch", 2, "hw.own-epoch", configuration=cluster(3, fetch_max_records=1))
def _own_epoch(d: Director) -> None:
    """A Leader commits nothing before a record of its own epoch is replicated."""
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.cut(1, 2, 3)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.fetch(3, 2)
    d.step("3 has all old records, one of which nobody has committed; it commits with one of the epoch of 2")
    d.replicate(3, 2)


@TARGETS.vector("fetch.majority", 1, "hw.majority")
def _majority(d: Director) -> None:
    """A record is committed when two of three voters have it."""
    start(d, 1, 1)
    d.append(1)
    d.step("f(2>1) brings a record, the next one says that 2 has it; 3 has not")
    d.replicate(2, 1)


@TARGETS.vector("fetch.older-epoch-alone", 2, "hw.own-epoch")
def _older_epoch_alone(d: Director) -> None:
    """A Leader does not commit a record of an older epoch by counting it."""
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.fetch(3, 1)
    d.cut(1, 2, 3)
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    d.step("3 fetches behind the record of epoch 1, which 2 of 3 have; it counts only with one of epoch 2")
    d.replicate(3, 2)


@TARGETS.vector("fetch.diverging", 1, "fetch.diverging.truncate", "fetch.timer")
@TARGETS.vector("fetch.diverging-leader", 2, "fetch.diverging.truncate", title="A Leader returns the diverging epoch")
def _diverging(d: Director) -> None:
    """A Follower truncates its log at the diverging epoch, and fetches from there."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    overtake(d, 2, 3)
    d.step("f(1>2): the logs part at the end of epoch 1")
    d.replicate(1, 2)
    d.end_offsets(4, 4, 4)


@TARGETS.vector(
    "fetch.set-reverted",
    1,
    "voters.truncation-reverts",
    configuration=OBSERVED,
    level="state",
)
def _set_reverted(d: Director) -> None:
    """Truncating the record removes its voter set."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3, 4)
    d.cut(1, 2, 3, 4)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    overtake(d, 2, 3, 4)
    d.voters(1, voter_set(1, 2, 3, 4))
    d.step("f(1>2): with its record the set goes")
    d.fetch(1, 2)
    d.voters(1, voter_set(1, 2, 3))


@TARGETS.vector(
    "fetch.set-read",
    4,
    "voters.effective-on-append",
    "voters.self-added-may-campaign",
    "identity.voter-definition",
    "voters.set-from-snapshot-and-log",
    configuration=OBSERVED,
)
def _set_read(d: Director) -> None:
    """A replica that reads its own addition is a voter, committed or not."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.step("f(4>1): its own addition, uncommitted: it is a voter")
    d.fetch(4, 1)
    d.fetch_timeout(4)
    d.poll(4)


@TARGETS.vector(
    "fetch.set-replaced",
    2,
    "voters.record-replaces-set",
    "voters.effective-on-append",
    "voters.endpoints-are-part-of-the-set",
    configuration=OBSERVED,
    level="state",
)
def _set_replaced(d: Director) -> None:
    """A VotersRecord replaces the whole voter set."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.step("f(2>1): the record is the whole set")
    d.fetch(2, 1)
    d.voters(2, voter_set(1, 2, 3, 4))


@TARGETS.vector(
    "fetch.removed-leader",
    1,
    "fetch.leader-outside-set-serves",
    "remove-voter.leader-removal",
    "state.leader.resigns",
)
@TARGETS.vector(
    "fetch.from-a-removed-leader",
    2,
    "voters.fetch-from-leader-outside-set",
    title="A Follower continues to fetch from a leader outside its voter set",
)
def _removed_leader(d: Director) -> None:
    """A Leader outside its own set serves everyone until its removal is committed, then resigns."""
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    d.step("1, outside its own set, serves 2 and goes when its removal is committed")
    d.fetch(2, 1)
    d.roles("L(1)")
    d.fetch(3, 1)
    d.fetch(2, 1)
    d.fetch(3, 1)
    d.poll(1)


@TARGETS.vector("fetch.former-leader", 1, "fetch.who-fetches", "state.leader.higher-epoch")
def _rivals_fetch(d: Director) -> None:
    """A former leader follows and fetches."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    win(d, 2)
    d.step("f(1>2): a record of the former leader and one of the next")
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
