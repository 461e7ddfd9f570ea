"""S16: BeginQuorumEpoch to a voter that does not know it yet."""

from kraft_reference.identity import ReplicaKey
from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set, without_list

VARIANTS = Variants()
_LIST = without_list(4)

_THREE = voter_set(1, 2, 3)
_OTHER = ReplicaKey(4, "U9")


@VARIANTS.variant("right", cluster(4, (1, 2, 3), formatted=_LIST))
def accepted(d: Director) -> None:
    """4 accepts and fetches its own addition."""
    # 4, whose set is {1,2,3}, accepts it, fetches @10, and its set becomes four.
    start(d, 1, 5, end_offset=10)
    d.step("V{1,2,3,4}@10 at L=1 e5")
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 10)
    d.line(1, voter_set(1, 2, 3, 4), 11, "1:11 2:10 3:10 4:10", 10)
    d.step("BeginQuorumEpoch(e5, leader 1) to (4,U4)")
    d.voters(4, _THREE)
    d.begin_quorum_epoch(1, 4)
    d.roles("L(5)", "F(5,1)", "F(5,1)", "F(5,1)")
    d.check("acknowledged by 4", 4 in d.state(1).acknowledging_voters, True)
    d.fetch(4, 1)
    d.voters(4, voter_set(1, 2, 3, 4))
    d.set_offset(4, 10)


@VARIANTS.variant(
    "right-other-key-kafka-4",
    cluster(4, (1, 2, 3), formatted=_LIST, profile=KAFKA_4),
    outcome="Profile kafka-4: with INVALID_VOTER_KEY",
)
@VARIANTS.variant("right-other-key", cluster(4, (1, 2, 3), formatted=_LIST))
def other_key(d: Director) -> None:
    """Addressed to (4,U9), it is refused with INVALID_REQUEST."""
    # An AddVoter for (4,U9) never gets there, because nobody with that key catches up; so the set is appended as it is.
    # Reading: the text has INVALID_VOTER_KEY for the refusal, which is Kafka's code; the KIP says INVALID_REQUEST.
    start(d, 1, 5, end_offset=10)
    d.step("AddVoter(4,U9) waits for (4,U9) to catch up")
    request = d.add_voter(1, _OTHER)
    d.learn_versions(1, 4)
    d.fetch(4, 1)
    d.line(1, _THREE, 10, "1:10 2:10 3:10 4-U4:10", 10)
    d.unanswered(request)
    d.voter_change_timeout(1)
    d.answered(request, "REQUEST_TIMED_OUT")
    d.step("V{1,2,3,(4,U9)}@10")
    d.append_voters(1, _THREE | {_OTHER})
    d.line(1, _THREE | {_OTHER}, 11, "1:11 2:10 3:10 4-U9:0", 10)
    d.begin_quorum_epoch(1, 4, str(d.world.configuration.profile.voter_key_error))
    d.check("acknowledged by 4", 4 in d.state(1).acknowledging_voters, False)


SCENARIOS = (
    Scenario(
        39,
        "s16-announced-to-new-voter",
        "BeginQuorumEpoch to a voter that does not know it yet",
        "KIP-853, S16",
        ("begin-quorum.membership-not-checked", "voters.begin-epoch-to-current-voters", "begin-quorum.voter-key"),
        tuple(VARIANTS),
    ),
)
