"""S5: why the directory id is checked."""

from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, nominate
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()
_ALL = cluster(3)

VOTER_KEY = "vote.voter-key"
REPLICA_KEY = "fetch.replica-key"


def _new_disk(d: Director) -> None:
    d.crash(3)
    d.replace_disk(3, "U3'")
    d.restart(3)


def _lost_record(d: Director) -> None:
    lead(d, 1, 4, 10, 2, 3)
    d.step("(a) X@10 on 1 and 3, HW 11; 2 at 10")
    d.append(1)
    d.replicate(3, 1)
    d.end_offsets(11, 10, 11)
    d.line(1, voter_set(1, 2, 3), 11, "1:11 2:10 3:11", 11)
    d.step("3's disk is replaced: (3,U3') empty; 1 dies")
    _new_disk(d)
    d.crash(1)
    d.end_offsets(11, 10, 0)
    d.fetch_timeout(2)
    d.roles("stopped", "P(4,1)", "U(0)")
    d.step("2 campaigns in e5 and asks the address of voter (3,U3)")


@VARIANTS.variant("right-a", _ALL)
def lost_record_refused(d: Director) -> None:
    """3' refuses 2; no leader and no loss until 1 is back."""
    # Reading: the text has INVALID_VOTER_KEY for it, which is Kafka's code; the KIP says INVALID_REQUEST, and so does
    # the profile `kip`.
    _lost_record(d)

    def one_round() -> None:
        d.pre_vote(2, 3, str(d.world.configuration.profile.voter_key_error))
        d.check("not counted", (d.state(2).granted, d.state(2).rejected), (frozenset({2}), frozenset()))
        d.roles("stopped", "P(4,1)", "U(4)")
        d.election_timeout(2)
        d.fetch_timeout(2)

    one_round()
    d.lasso(one_round)
    d.step("1 is back and leads with 2; X@10 is there")
    d.restart(1)
    d.election_timeout(1)
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    d.vote(1, 2, "granted")
    d.roles("L(6)", "U(6,voted=1)", "U(4)")
    d.records(1, 10, "X LC")


@VARIANTS.variant("right-a-kafka-4", cluster(3, profile=KAFKA_4))
def lost_record_kafka(d: Director) -> None:
    """As INVALID_VOTER_KEY."""
    # The same refusal with the code of Kafka, as in the text.
    _lost_record(d)
    d.pre_vote(2, 3, "INVALID_VOTER_KEY")
    d.roles("stopped", "P(4,1)", "U(4)")


@VARIANTS.variant("wrong-a", _ALL, "CommittedNeverLost", "IdentityBinding", "LeaderCompleteness", mutants=(VOTER_KEY,))
def lost_record(d: Director) -> None:
    """The empty 3' elects 2, and X@10 is lost."""
    # 3' has an empty log and grants: 2 leads e5 without X@10.
    _lost_record(d)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.roles("stopped", "L(5)", "U(5,voted=2)")
    d.records(2, 10, "LC")


def _second_vote(d: Director) -> None:
    nominate(d, 1, 6)
    d.step("(b) 1 and 2 win their Pre-Votes in e6: both C(7)")
    d.election_timeout(1)
    d.pre_vote(1, 3, "granted")
    d.lose(1)
    d.election_timeout(2)
    d.pre_vote(2, 3, "FENCED_LEADER_EPOCH")
    d.lose(2)
    d.roles("C(7)", "U(6)", "U(6)")
    d.election_timeout(2)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.roles("C(7)", "C(7)", "U(6)")
    d.step("e7: 3 votes for 1, which leads")
    d.vote(1, 3, "granted")
    d.lose(1)
    d.roles("L(7)", "C(7)", "U(7,voted=1)")
    d.step("3's disk is replaced; 3' has no quorum-state")
    _new_disk(d)
    d.roles("L(7)", "C(7)", "U(0,voted=none)")


@VARIANTS.variant("right-b", _ALL)
def second_vote_refused(d: Director) -> None:
    """3' does not vote a second time in e7."""
    # 2 asks for the vote of (3,U3), and 3' does not give it.
    _second_vote(d)
    d.vote(2, 3, "INVALID_REQUEST")
    d.roles("L(7)", "C(7)", "U(7,voted=none)")


@VARIANTS.variant(
    "wrong-b", _ALL, "ElectionSafety", "IdentityBinding", "LogMatching", "OffsetEpochUnique", mutants=(VOTER_KEY,)
)
def second_vote(d: Director) -> None:
    """1 and 2 lead e7, each with a vote of 3."""
    # 3' votes for 2 in e7: leaders 1 by {1,3} and 2 by {2,3'}.
    _second_vote(d)
    d.vote(2, 3, "granted")
    d.roles("L(7)", "L(7)", "U(7,voted=2)")


def _fetched_by_new_disk(d: Director, high_watermark: int) -> None:
    lead(d, 1, 4, 10, 2, 3)
    d.step("(c) record @10 on 1; 3's disk is replaced, and 3' fetches to 11")
    d.append(1)
    _new_disk(d)
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)
    d.end_offsets(11, 10, 11)
    d.high_watermark(1, 10)
    d.fetch(3, 1)
    d.high_watermark(1, high_watermark)


@VARIANTS.variant("right-c", _ALL)
def offset_not_counted(d: Director) -> None:
    """3' counts for nothing; HW 10 until 2 has the record."""
    # 3' is tracked as an observer; HW stays 10 until 2 has @10.
    _fetched_by_new_disk(d, 10)
    d.line(1, voter_set(1, 2, 3), 11, "1:11 2:10 3-U3:10 3-U3':11", 10)
    d.replicate(2, 1)
    d.line(1, voter_set(1, 2, 3), 11, "1:11 2:11 3-U3:10 3-U3':11", 11)


@VARIANTS.variant("wrong-c", cluster(3), "IdentityBinding", mutants=(REPLICA_KEY,))
def offset_counted(d: Director) -> None:
    """3' counts for (3,U3): HW 11 with one durable copy among voters."""
    _fetched_by_new_disk(d, 11)
    d.line(1, voter_set(1, 2, 3), 11, "1:11 2:10 3-U3:11", 11)


SCENARIOS = (
    Scenario(
        26,
        "s5-directory-id-checked",
        "Why the directory id is checked",
        "KIP-853, S5 a to c",
        (
            "identity.addressed-to-key",
            "identity.leader-tracks-by-key",
            "identity.voted-key-persisted",
            VOTER_KEY,
            REPLICA_KEY,
        ),
        tuple(VARIANTS),
    ),
)
