"""Short schedules by hand, for what no simulated run and no scenario does.

A driver that keeps to the rules never hands these events over, and a cluster that keeps to the rules never sends these
messages; a replica has an answer all the same.
"""

from collections.abc import Iterator
from dataclasses import replace

from kraft_dev.probes.election_schedules import ABOUT_ELECTIONS
from kraft_dev.probes.hand import ByHand, Hand, in_role
from kraft_dev.probes.membership_schedules import ABOUT_MEMBERSHIP
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.world import InFlight
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import (
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    ElectionTimeout,
    FetchTimeout,
    Poll,
    PollFetch,
    Restart,
    TakeSnapshot,
)
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    Error,
    FetchRequest,
    FetchResponse,
    FetchSnapshotResponse,
    VoteRequest,
)
from kraft_reference.outcome import Refusal
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_reference.scenarios.scenario import cluster
from kraft_spec.experiments.replicas import replicas_without


def _out_of_place() -> Iterator[Occurrence]:
    hand = Hand(cluster(3))
    yield from hand.elect(1)
    world = hand.world
    for event in (Restart(), ClientAppend(7), Poll()):
        yield world.happen(2, event)
    yield world.crash(2)
    yield world.happen(2, Poll())


def _foreign_cluster() -> Iterator[Occurrence]:
    hand = Hand(cluster(3))
    yield hand.world.happen(1, ElectionTimeout())
    yield hand.world.happen(1, Poll())
    for identifier, message in tuple(hand.world.messages()):
        assert isinstance(message, VoteRequest), "nothing else is on its way"
        hand.world.in_flight[identifier] = InFlight(replace(message, cluster_id="another cluster"))
    yield from hand.deliver_all()


def _late_vote() -> Iterator[Occurrence]:
    hand = Hand(cluster(3), replicas_without(("prevote.response.correlate",)))
    yield from hand.elect(1)


def _second_leader() -> Iterator[Occurrence]:
    hand = Hand(cluster(3))
    yield from hand.elect(1)
    yield hand.forge(BeginQuorumEpochRequest(3, 2, 0, epoch=1, voter_key=None, leader_endpoint=None))


def _lost_file() -> Iterator[Occurrence]:
    hand = Hand(cluster(3))
    yield from hand.elect(1)
    world = hand.world
    yield world.happen(2, PollFetch(1))
    yield from hand.deliver_all()
    yield world.crash(2, world.state(2).log.end_offset)
    # The operator restores a disk without the quorum state file.
    world.replicas[2].state = world.state(2)._replace(epoch=0, leader_id=None, voted_key=None)
    yield world.restart(2)


def _leader_nowhere() -> Iterator[Occurrence]:
    """Replica 4 is no voter and its software does not say where it is."""
    for role in (Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.LEADER, Role.FOLLOWER, Role.RESIGNED):
        for later in (1, 0):
            hand = Hand(cluster(4, voters=(1, 2, 3)))
            yield from in_role(hand, role)
            epoch = hand.world.state(1).epoch + later
            if later or hand.world.state(1).leader_id is None:
                yield hand.forge(BeginQuorumEpochRequest(4, 1, 0, epoch=epoch, voter_key=None, leader_endpoint=None))
    # Replica 1 is Unattached and knows the name of its leader, which answers.
    yield from in_role(hand := Hand(cluster(4, voters=(1, 2, 3))), Role.UNATTACHED)
    yield hand.forge(BeginQuorumEpochRequest(4, 1, 0, epoch=1, voter_key=None, leader_endpoint=None))
    yield hand.world.happen(1, PollFetch(2))
    (fetch,) = (message for _, message in hand.world.messages(source=1) if isinstance(message, FetchRequest))
    answer = FetchResponse(2, 1, fetch.correlation_id, Error.NONE, 1, 4, None, -1, -1, -1, ())
    yield hand.forge(replace(answer, records=(Record(1, RecordKind.LEADER_CHANGE, 4),)))


def _old_snapshot() -> Iterator[Occurrence]:
    """Replica 3 asks for a snapshot, and when the leader is asked it has a newer one; then it sends another again."""
    hand = Hand(cluster(3))
    world = hand.world
    yield from hand.elect(1)
    yield from hand.fetch_from_first(2)
    yield from hand.fetch_from_first(2)
    first = world.state(1).high_watermark
    yield world.happen(1, TakeSnapshot(first + 1))
    yield world.happen(1, TakeSnapshot(first))
    yield from hand.fetch_from_first(3)
    yield world.happen(3, PollFetch(1))
    (asked,) = (identifier for identifier, _ in world.messages(source=3))
    yield world.happen(1, ClientAppend(7))
    yield from hand.fetch_from_first(2)
    yield from hand.fetch_from_first(2)
    yield world.happen(1, TakeSnapshot(world.state(1).high_watermark))
    yield world.deliver(asked)
    yield from hand.deliver_all()
    yield from hand.fetch_from_first(3)
    yield world.happen(3, PollFetch(1))
    (asked,) = (identifier for identifier, _ in world.messages(source=3))
    yield world.deliver(asked)
    ((identifier, sent),) = tuple(world.messages(destination=3))
    assert isinstance(sent, FetchSnapshotResponse), "the leader has it"
    assert sent.snapshot is not None, "the leader has it"
    world.in_flight[identifier] = InFlight(replace(sent, snapshot=sent.snapshot._replace(end_offset=first)))
    yield world.deliver(identifier)


def _led_from_elsewhere(hand: Hand) -> Iterator[Occurrence]:
    """Replica 2 starts elsewhere and leads before it could report it; its epoch begins with the same voters."""
    world = hand.world
    yield from hand.elect(1)
    yield from hand.fetch_from_first(2)
    yield from hand.fetch_from_first(3)
    yield world.happen(2, Crash(world.state(2).log.end_offset))
    yield world.happen(2, Restart("elsewhere:9093"))
    yield world.happen(1, CheckQuorumTimeout())
    for voter in (2, 3):
        yield world.happen(voter, FetchTimeout())
    yield world.happen(2, Poll())
    yield from hand.deliver_all()
    yield world.happen(2, Poll())
    yield from hand.deliver_all()


def _moved_leader() -> Iterator[Occurrence]:
    yield from _led_from_elsewhere(hand := Hand(cluster(3)))
    # Only a sole voter has no check-quorum timer.
    yield hand.world.happen(2, CheckQuorumTimeout())


def _set_says_where() -> Iterator[Occurrence]:
    """Replica 3 restarts: its file has the id of its leader, and its voters set has where that one listens."""
    yield from _led_from_elsewhere(hand := Hand(cluster(3)))
    yield hand.world.happen(2, Poll())
    yield from hand.deliver_all()
    yield from hand.fetch(3, 2)
    yield from hand.fetch(3, 2)
    yield hand.world.crash(3)
    yield hand.world.restart(3)


BY_HAND: tuple[ByHand, ...] = (
    ByHand(
        "out-of-place",
        "a driver hands over only events that the replica's role allows",
        _out_of_place,
        (Refusal.RUNNING, Refusal.NOT_IN_ROLE, Refusal.NOTHING_DUE, Refusal.NOT_RUNNING),
        "N1 L(1,voted=1) N2 stopped N3 F(1,1,voted=1)",
    ),
    ByHand(
        "foreign-cluster",
        "a run has one cluster",
        _foreign_cluster,
        (Refusal.FOREIGN_CLUSTER, Refusal.FOREIGN_CLUSTER, Refusal.ERROR_RESPONSE, Refusal.ERROR_RESPONSE),
        "N1 P(0,voted=none) N2 U(0,voted=none) N3 U(0,voted=none)",
    ),
    ByHand(
        "late-vote",
        "with prevote.response.correlate in force a late vote answers no outstanding request",
        _late_vote,
        (Refusal.STALE_EPOCH, Refusal.ELECTION_IS_OVER),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
    ),
    ByHand(
        "second-leader",
        "an epoch has one leader while the rules are kept",
        _second_leader,
        (Refusal.SECOND_LEADER_IN_EPOCH,),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
    ),
    ByHand(
        "lost-file",
        "the simulator loses whole disks, not one file",
        _lost_file,
        (),
        "N1 L(1,voted=1) N2 U(1,voted=2) N3 F(1,1,voted=1)",
        (StartTimer(Timer.ELECTION, 0),),
    ),
    ByHand(
        "leader-nowhere",
        "where voters change, the simulator's software says where it is, so a leader outside the voters set is found",
        _leader_nowhere,
        (Refusal.NOT_FOLLOWER_OF_SENDER,),
        "N1 U(1,4,voted=none) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
    ),
    ByHand(
        "old-snapshot",
        "a leader rarely takes two snapshots while a message is on its way, and never sends one that was not asked for",
        _old_snapshot,
        (Refusal.SNAPSHOT_OUT_OF_RANGE, Refusal.ERROR_RESPONSE, Refusal.SNAPSHOT_NOT_WANTED),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
    ),
    ByHand(
        "moved-leader",
        "in a simulated run a replica that has moved nearly always reports it before it is elected",
        _moved_leader,
        (),
        "N1 U(2,voted=2) N2 R(2,voted=2) at elsewhere:9093 N3 U(2,voted=2)",
        (StartTimer(Timer.ELECTION, 0),),
    ),
    ByHand(
        "set-says-where",
        "where a leader listens is in every message that names it, so that nobody has to look it up",
        _set_says_where,
        (),
        "N1 F(2,2,voted=2) at elsewhere:9093 N2 L(2,voted=2) at elsewhere:9093 N3 F(2,2,voted=2) at elsewhere:9093",
        (StartTimer(Timer.FETCH, 2000),),
    ),
    *ABOUT_ELECTIONS,
    *ABOUT_MEMBERSHIP,
)
"""All of them."""
