"""Scenario 50: a restart that prefers its own old vote to the leader that it knows, in a set that shrinks to one."""

from kraft_reference.events import PollFetch
from kraft_reference.profile import KAFKA_4
from kraft_reference.roles import Role
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()


def _only_voter_stops(d: Director) -> int:
    """N1 has voted for itself in epoch 1, follows N2 in it, and stops as the only voter.  The open removal."""
    d.step("et(1), et(2): C(1) both; v(2>3) => ok: N2 L(1); N1 follows it and keeps its vote for itself")
    d.election_timeout(1)
    d.election_timeout(2)
    if d.has_pre_vote(1):
        d.pre_vote(1, 3, "granted")
        d.pre_vote(2, 3, "granted")
    d.roles("C(1)", "C(1)", "U(0)")
    d.lose(1)
    d.vote(2, 3, "granted")
    d.lose(2)
    announce(d, 2)
    d.roles("F(1,2,voted=1)", "L(1)", "F(1,2,voted=2)")
    observe(d, 2, 1, 3)
    d.line(2, voter_set(1, 2, 3), 3, "1:3 2:3 3:3", 3)
    d.step("RemoveVoter(3,U3): V{1,2}@3, committed; N3 goes on as an observer")
    first = d.remove_voter(2, 3)
    observe(d, 2, 1, 3)
    d.answered(first, "NONE")
    d.line(2, voter_set(1, 2), 4, "1:4 2:4", 4)
    d.step("RemoveVoter(2,U2): V{1}@4; N1 has it on disk; its Fetch that would tell N2 so is lost; crash(1)")
    second = d.remove_voter(2, 2)
    d.fetch(1, 2)
    d.happen(1, PollFetch(2))
    d.lose(1)
    d.crash(1)
    d.line(2, voter_set(1), 5, "1:4", 4)
    d.unanswered(second)
    d.step("N2 appends X@5 and X@6, and N3 fetches them: not committed, N2 needs N1")
    d.append(2, 7)
    d.fetch(3, 2)
    d.high_watermark(2, 4)
    d.records(3, 3, "V V X X")
    d.step("restart(1): its file has leader 2, and its vote for itself")
    d.restart(1)
    d.voters(1, voter_set(1))
    return second


@VARIANTS.variant("right", cluster(3))
def leader_first(d: Director) -> None:
    """The leader first: N1 leads e2, and nothing committed is lost."""
    # N1 does not lead epoch 1, which has a leader; as the only voter it leads the next.
    # It knows N2 as leader and no endpoint of it, since N2 is not in its set: Unattached.
    removal = _only_voter_stops(d)
    d.roles("U(1,2,voted=1)", "L(1)", "F(1,2)")
    d.step("et(1): N1 is its own majority, but of epoch 2; LC@5 commits its set")
    d.election_timeout(1)
    d.roles("L(2)", "L(1)", "F(1,2)")
    d.high_watermark(1, 6)
    d.step("cq(2), et(2): U(2); N2 and N3 find N1, and what N2 never committed is cut off")
    d.check_quorum_timeout(2)
    d.answered(removal, "NOT_LEADER_OR_FOLLOWER")
    d.election_timeout(2)
    d.fetch_timeout(3)
    d.fetch(2, 1)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    observe(d, 1, 2, 3)
    d.roles("L(2)", "F(2,1)", "F(2,1)")
    for replica_id in (1, 2, 3):
        d.records(replica_id, 3, "V V LC")


@VARIANTS.variant(
    "wrong",
    cluster(3, profile=KAFKA_4),
    "CommittedNeverLost",
    "ElectionSafety",
    "LeaderCompleteness",
    "LogMatching",
    "OffsetEpochUnique",
    "StateMachineSafety",
)
def own_vote_first(d: Director) -> None:
    """Profile kafka-4: N1 leads epoch 1 beside N2; what it commits is lost."""
    # N1 leads epoch 1 as well as N2; what it commits is in no log in the end.
    _only_voter_stops(d)
    d.step("own vote first: C(1), its own majority, so L(1) beside N2, and no epoch is raised; LC@5")
    d.roles("L(1)", "L(1)", "F(1,2)")
    d.step("N1 commits X@6 and answers; N2 and N3 have another X@6 of epoch 1")
    d.append(1, 7)
    d.high_watermark(1, 7)
    d.records(1, 3, "V V LC X")
    d.records(2, 3, "V V X X")
    d.step("N1 restarts: R(1), U(2), L(3), in Apache Kafka L(2) at once; LC@7")
    d.crash(1)
    d.restart(1)
    epoch = _leads_at_last(d)
    d.roles(f"L({epoch})", "L(1)", "F(1,2)")
    d.step("N2 and N3 find its epoch; offset and epoch of their last record agree with N1's, so nothing is cut off")
    _hear_of_first(d)
    d.records(1, 3, "V V LC X LC")
    d.records(2, 3, "V V X X LC")
    d.high_watermark(2, 8)
    d.step("AddVoter(2,U2), RemoveVoter(1,U1): N2 leads; the X@6 that N1 answered for is in N1's log alone")
    d.add_voter(1, 2)
    d.learn_versions(1, 2)
    observe(d, 1, 2)
    removal = d.remove_voter(1, 1)
    d.replicate(2, 1)
    d.answered(removal, "NONE")
    d.end_quorum_epoch(1, 2)
    d.fetch_timeout(2)
    d.roles(f"R({epoch})", f"L({epoch + 1})", f"F({epoch},1)")
    d.records(2, 3, "V V X X LC V V LC")


def epoch_raised(d: Director) -> None:
    """`leader_first` for software whose only voter leads within its start, and whose N2 never checks its quorum."""
    _only_voter_stops(d)
    d.step("the leader first: N1 is its own majority, but of epoch 2; LC@5 commits its set")
    _leads_at_last(d)
    d.roles("L(2)", "L(1)", "F(1,2)")
    d.high_watermark(1, 6)
    d.step("N1 commits X@6 of epoch 2 and answers; N2 and N3 have X@6 of epoch 1")
    d.append(1, 7)
    d.high_watermark(1, 7)
    d.step("N2 and N3 find epoch 2, and what N2 never committed is cut off")
    _hear_of_first(d)
    d.roles("L(2)", "F(2,1)", "F(2,1)")
    for replica_id in (1, 2, 3):
        d.records(replica_id, 3, "V V LC X")


def _leads_at_last(d: Director) -> int:
    """The epoch that N1, which is its own majority, leads: at once, or after as many timeouts as it takes."""
    while d.state(1).role is not Role.LEADER:
        d.election_timeout(1)
    return d.state(1).epoch


def _hear_of_first(d: Director) -> None:
    """N2 announces itself and is told of N1's epoch, N3 is told by N2; both catch up with N1."""
    # Apache Kafka's goes to nobody who has fetched since the timer was started.
    d.begin_quorum_epoch_timeout(2)
    d.begin_quorum_epoch_timeout(2)
    d.begin_quorum_epoch(2, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 2, "FENCED_LEADER_EPOCH")
    observe(d, 1, 2, 3)


SCENARIOS = (
    Scenario(
        50,
        "own-vote-before-known-leader",
        "An old vote that comes before the known leader",
        "gap between KIP-853 and KIP-996",
        (
            "durable.restart.known-leader",
            "durable.restart.voted-self",
            "state.same-epoch-preserves",
            "voters.effective-on-append",
        ),
        tuple(VARIANTS),
    ),
)
