"""S15: the leader fails during AddVoter."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_CLUSTER = cluster(4, (1, 2, 3), formatted=without_list(4))

_THREE = voter_set(1, 2, 3)
_FOUR = voter_set(1, 2, 3, 4)


def _appended(d: Director) -> int:
    start(d, 1, 1, end_offset=10)
    d.step("V{1,2,3,4}@10; client is waiting")
    request = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 10)
    d.line(1, _FOUR, 11, "1:11 2:10 3:10 4:10", 10)
    d.unanswered(request)
    return request


@VARIANTS.variant("right-a", _CLUSTER)
def survives(d: Director) -> None:
    """2 has V@10 and commits it; a retry gets DUPLICATE_VOTER."""
    # (a) @10 is on 1 and 2, and commits with LC(e2)@11.
    request = _appended(d)
    d.step("(a) on 1, 2; 1 dies")
    d.fetch(2, 1)
    d.crash(1)
    d.end_offsets(11, 11, 10, 10)
    d.voters(2, _FOUR)
    for replica_id in (2, 3, 4):
        d.fetch_timeout(replica_id)
    d.lose(3)
    d.step("2 (set of four) wins e2 with 2, 3, 4")
    for voter in (3, 4):
        d.pre_vote(2, voter, "granted")
    for voter in (3, 4):
        d.vote(2, voter, "granted")
    d.records(2, 10, "V LC")
    d.line(2, _FOUR, 12, "2:12 3:0 4:0", 10)
    d.answered(d.add_voter(2, 4), "REQUEST_TIMED_OUT")
    announce(d, 2)
    observe(d, 2, 3, 4)
    d.line(2, _FOUR, 12, "2:12 3:12 4:12", 12)
    d.step("the client heard nothing; a retry gets DUPLICATE_VOTER")
    d.unanswered(request)
    d.answered(d.add_voter(2, 4), "DUPLICATE_VOTER")


@VARIANTS.variant("right-b", _CLUSTER)
def is_lost(d: Director) -> None:
    """V@10 is truncated; NOT_LEADER_OR_FOLLOWER, and the retry succeeds."""
    # (b) @10 is on 1 only, and is truncated; the retry succeeds anew.
    request = _appended(d)
    d.step("(b) on 1 only, which is cut off; 2 (set {1,2,3}) wins e2 with 2, 3; LC(e2)@10")
    d.cut(1, 2, 3, 4)
    d.voters(2, _THREE)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.lose(2)
    d.records(2, 10, "LC")
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.line(2, _THREE, 11, "2:11 3:11", 11)
    d.step("1 truncates; its client gets NOT_LEADER_OR_FOLLOWER")
    d.heal(1, 2, 3, 4)
    d.request_timeout(2, 1)
    d.unanswered(request)
    d.begin_quorum_epoch(2, 1)
    d.answered(request, "NOT_LEADER_OR_FOLLOWER")
    d.fetch(1, 2)
    d.end_offsets(10, 11, 11, 10)
    d.voters(1, _THREE)
    observe(d, 2, 1)
    d.step("the retry succeeds anew")
    d.fetch_timeout(4)
    d.fetch(4, 2, "FENCED_LEADER_EPOCH")
    observe(d, 2, 4)
    retry = d.add_voter(2, 4)
    d.learn_versions(2, 4)
    d.line(2, _FOUR, 12, "1:11 2:12 3:11 4:11", 11)
    observe(d, 2, 3, 4)
    d.line(2, _FOUR, 12, "1:11 2:12 3:12 4:12", 12)
    d.answered(retry, "NONE")


@VARIANTS.variant("right-c", _CLUSTER)
def is_committed(d: Director) -> None:
    """HW 11 and NONE; 3, which lacks V@10, cannot be elected."""
    # (c) No later leader lacks @10.
    request = _appended(d)
    d.step("(c) on 1, 2, 4 with acks: HW 11")
    d.replicate(2, 1)
    d.high_watermark(1, 10)
    d.replicate(4, 1)
    d.line(1, _FOUR, 11, "1:11 2:11 3:10 4:11", 11)
    d.answered(request, "NONE")
    d.step("1 dies; 3 lacks @10 and is refused; 2 wins e2")
    d.crash(1)
    for replica_id in (2, 3, 4):
        d.fetch_timeout(replica_id)
    d.lose(4)
    d.pre_vote(3, 2, "refused")
    d.lose(3)
    for voter in (3, 4):
        d.pre_vote(2, voter, "granted")
    for voter in (3, 4):
        d.vote(2, voter, "granted")
    d.roles("stopped", "L(2)", "U(2,voted=2)", "U(2,voted=2)")
    d.records(2, 10, "V LC")


SCENARIOS = (
    Scenario(
        38,
        "s15-leader-fails-during-add",
        "Leader fails during AddVoter",
        "KIP-853, S15 a to c",
        ("add-voter.leader-change-leaves-outcome-open", "add-voter.reply-after-commit", "add-voter.duplicate-id"),
        tuple(VARIANTS),
    ),
)
