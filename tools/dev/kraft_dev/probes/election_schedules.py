"""Short schedules by hand about elections and who leads: each ends where one rule decides.

No simulated run and no scenario has them: there a leader says where it listens, a driver asks only where something is
due, and what a message does not change is not looked at.
"""

from collections.abc import Iterator
from dataclasses import replace

from kraft_dev.probes.hand import ByHand, Hand, in_role
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.effects import StartTimer, Timer
from kraft_reference.events import CheckQuorumTimeout, ElectionTimeout, FetchTimeout, Poll, PollFetch, RequestTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import BeginQuorumEpochRequest, EndQuorumEpochRequest, Error, VoteRequest, VoteResponse
from kraft_reference.outcome import Refusal
from kraft_reference.roles import Role
from kraft_reference.scenarios.scenario import cluster


def _announcement(leader: int, receiver: int, epoch: int) -> BeginQuorumEpochRequest:
    """One of version 0, which says nothing of where the leader listens."""
    return BeginQuorumEpochRequest(leader, receiver, 0, epoch=epoch, voter_key=None, leader_endpoint=None)


def _ask(hand: Hand, source: int, destination: int) -> Iterator[Occurrence]:
    """Deliver a request that is on its way, and its answer."""
    for one, other in ((source, destination), (destination, source)):
        (identifier,) = (identifier for identifier, _ in hand.world.messages(one, other))
        yield hand.world.deliver(identifier)


def _prospective_and_its_leader() -> Iterator[Occurrence]:
    """Replica 2 gives up the leader of its epoch, which then refuses its Pre-Vote and announces itself again."""
    hand = Hand(cluster(3))
    world = hand.world
    yield from hand.elect(1)
    yield world.happen(2, FetchTimeout())
    yield world.happen(2, Poll())
    yield from _ask(hand, 2, 1)
    # Replica 1 has refused and is not asked again, replica 3 has yet to answer.
    yield world.happen(2, Poll())
    yield world.happen(2, RequestTimeout(3))
    # A Prospective does not fetch, from a leader that it knows either.
    yield world.happen(2, PollFetch(1))
    yield hand.forge(_announcement(1, 2, epoch=1))
    # A Follower fetches from its leader alone.
    yield world.happen(2, PollFetch(3))
    # The announcement of a leader that a Follower knows is no Fetch: its timer goes on.
    yield hand.forge(_announcement(1, 2, epoch=1))


def _asks_for_a_leader_nowhere() -> Iterator[Occurrence]:
    """Replicas 1 and 2 are Unattached and know the id of leader 4, and not where it listens; replica 1 then votes."""
    hand = Hand(cluster(4, voters=(1, 2, 3)))
    world = hand.world
    for voter in (1, 2):
        yield hand.forge(_announcement(4, voter, epoch=1))
    yield world.happen(2, ElectionTimeout())
    # Lost, and nobody to follow.
    yield world.happen(2, ElectionTimeout())
    yield world.happen(2, ElectionTimeout())
    yield world.happen(2, Poll())
    yield from _ask(hand, 2, 1)


def _grant_that_names_a_leader() -> Iterator[Occurrence]:
    """Replica 2 knows no leader of epoch 1; replica 1, which grants, knows one."""
    hand = Hand(cluster(4, voters=(1, 2, 3)))
    world = hand.world
    yield hand.forge(_announcement(4, 1, epoch=1))
    yield hand.forge(VoteRequest(3, 2, 0, 1, ReplicaKey(3, "U3"), None, last_epoch=0, end_offset=0, pre_vote=True))
    yield world.happen(2, ElectionTimeout())
    yield world.happen(2, Poll())
    yield from _ask(hand, 2, 1)


def _announcement_at_a_candidate() -> Iterator[Occurrence]:
    yield from in_role(hand := Hand(cluster(3)), Role.CANDIDATE)
    yield hand.forge(_announcement(3, 1, epoch=hand.world.state(1).epoch))


def _lost_with_a_voter_left() -> Iterator[Occurrence]:
    """Of four voters two refuse replica 1, so that replica 4, which has not answered, can no longer elect it."""
    hand = Hand(cluster(4))
    world = hand.world
    for candidate, voters in ((1, (2, 3)), (2, (3, 4))):
        yield world.happen(candidate, ElectionTimeout())
        yield world.happen(candidate, Poll())
        for voter in voters:
            yield from _ask(hand, candidate, voter)
    for candidate in (2, 1):
        yield world.happen(candidate, Poll())
    for candidate, voter in ((2, 3), (1, 2), (1, 3)):
        (identifier,) = (
            i for i, sent in world.messages(candidate, voter) if isinstance(sent, VoteRequest) and not sent.pre_vote
        )
        yield world.deliver(identifier)
        (answer,) = (i for i, sent in world.messages(voter, candidate) if isinstance(sent, VoteResponse))
        yield world.deliver(answer)
    yield world.happen(1, RequestTimeout(4))
    yield world.happen(1, Poll())


def _announced_to_but_never_served() -> Iterator[Occurrence]:
    """Replica 3 has heard of its leader and fetched nothing, so that replica 2 can convince it."""
    hand = Hand(cluster(3))
    yield from hand.elect(1)
    yield hand.world.happen(2, FetchTimeout())
    yield hand.world.happen(2, Poll())
    yield from _ask(hand, 2, 3)


def _addressed_to_another_disk() -> Iterator[Occurrence]:
    """Epoch and leader are worth knowing, whoever the announcement was for; a place among the candidates is not."""
    hand = Hand(cluster(3))
    first, second = ReplicaKey(1, "U9"), ReplicaKey(2, "U9")
    yield hand.forge(BeginQuorumEpochRequest(3, 1, 0, epoch=1, voter_key=first, leader_endpoint=None))
    yield hand.forge(EndQuorumEpochRequest(3, 2, 0, epoch=2, preferred_candidates=()))
    yield hand.forge(EndQuorumEpochRequest(3, 2, 0, epoch=2, preferred_candidates=(second, first)))


def _third_of_the_preferred() -> Iterator[Occurrence]:
    hand = Hand(cluster(4))
    yield hand.forge(_announcement(4, 1, epoch=1))
    candidates = (ReplicaKey(2, "U2"), ReplicaKey(3, "U3"), ReplicaKey(1, "U1"))
    yield hand.forge(EndQuorumEpochRequest(4, 1, 0, epoch=1, preferred_candidates=candidates))


def _lost_with_a_long_backoff() -> Iterator[Occurrence]:
    """The other two of three voters refuse replica 1, which is to wait nearly as long as it may."""
    yield from in_role(hand := Hand(cluster(3)), Role.CANDIDATE)
    world = hand.world
    yield world.happen(1, Poll())
    for voter, backoff_ms in ((2, 0), (3, 900)):
        candidate = world.state(1)
        request = candidate.awaiting[voter]
        refusal = VoteResponse(
            voter, 1, request, Error.NONE, candidate.epoch, None, None, granted=False, pre_vote=False
        )
        yield hand.forge(refusal, world.draw(election_backoff_ms=backoff_ms))


def _sole_voter() -> Iterator[Occurrence]:
    hand = Hand(cluster(1))
    yield hand.world.happen(1, ElectionTimeout())
    yield hand.world.happen(1, CheckQuorumTimeout())


def _bootstrap_servers_alone() -> Iterator[Occurrence]:
    """Replica 1 is the only bootstrap server; replica 3 knows no leader and may not ask replica 2, which is a voter."""
    hand = Hand(replace(cluster(3), bootstrap_servers=(1,)))
    yield hand.world.happen(3, PollFetch(2))


_NEW_ELECTION_TIMER = (StartTimer(Timer.ELECTION, 0),)
"""Of a length that the driver draws; here it draws 0."""

ABOUT_ELECTIONS: tuple[ByHand, ...] = (
    ByHand(
        "prospective-and-its-leader",
        "a driver asks and fetches only where there is something to ask, and a Prospective has nobody to fetch from",
        _prospective_and_its_leader,
        (Refusal.NOTHING_DUE, Refusal.NOTHING_DUE, Refusal.NOTHING_DUE),
        "N1 L(1,voted=1) N2 F(1,1,voted=1) N3 F(1,1,voted=1)",
    ),
    ByHand(
        "asks-for-a-leader-nowhere",
        "where voters change, the simulator's software says where it is, so nobody knows an id that it cannot reach",
        _asks_for_a_leader_nowhere,
        (),
        "N1 U(1,4,voted=none) N2 C(2,voted=2)",
        _NEW_ELECTION_TIMER,
    ),
    ByHand(
        "grant-that-names-a-leader",
        "who knows a leader of the epoch rarely grants, and who asks it rarely knows none",
        _grant_that_names_a_leader,
        (),
        "N1 U(1,4,voted=none) N2 U(1,4,voted=none)",
        _NEW_ELECTION_TIMER,
    ),
    ByHand(
        "announcement-at-a-candidate",
        "in the scenarios a Candidate that loses learns of the leader from an answer to its own request",
        _announcement_at_a_candidate,
        (),
        "N1 F(2,3,voted=1) N2 U(1,voted=none)",
        (StartTimer(Timer.FETCH, 2000),),
    ),
    ByHand(
        "lost-with-a-voter-left",
        "a driver polls only where something is due, and of three voters none is left to ask when two have refused",
        _lost_with_a_voter_left,
        (Refusal.NOTHING_DUE,),
        "N1 C(1,voted=1) N2 C(1,voted=2) N3 U(1,voted=2) N4 U(0,voted=none)",
    ),
    ByHand(
        "announced-to-but-never-served",
        "in the scenarios every Follower that is asked before its first Fetch has heard of its leader in another way",
        _announced_to_but_never_served,
        (),
        "N1 L(1,voted=1) N2 C(2,voted=2) N3 F(1,1,voted=1)",
        _NEW_ELECTION_TIMER,
    ),
    ByHand(
        "addressed-to-another-disk",
        "a leader that hands over has the directory ids of its voters from their Fetches, and so names the right ones",
        _addressed_to_another_disk,
        (),
        "N1 F(1,3,voted=none) N2 F(2,3,voted=none)",
        (StartTimer(Timer.FETCH, 1000),),
    ),
    ByHand(
        "third-of-the-preferred",
        "how long a Follower waits decides nothing in a scenario, whose script fires the timers",
        _third_of_the_preferred,
        (),
        "N1 F(1,4,voted=none)",
        (StartTimer(Timer.FETCH, 250),),
    ),
    ByHand(
        "lost-with-a-long-backoff",
        "how long a Candidate waits decides nothing in a scenario either, and a long wait in a simulated run little",
        _lost_with_a_long_backoff,
        (),
        "N1 C(2,voted=1) N2 U(1,voted=none)",
        (StartTimer(Timer.ELECTION, 900),),
    ),
    ByHand(
        "sole-voter",
        "a driver fires only timers that run",
        _sole_voter,
        (Refusal.NOT_IN_ROLE,),
        "N1 L(1,voted=1)",
    ),
    ByHand(
        "bootstrap-servers-alone",
        "in the scenarios no bootstrap servers are configured, so that the voters are asked",
        _bootstrap_servers_alone,
        (Refusal.NOTHING_DUE,),
        "N3 U(0,voted=none)",
    ),
)
"""All of them."""
