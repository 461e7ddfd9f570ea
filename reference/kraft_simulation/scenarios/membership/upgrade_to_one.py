"""S17: kraft.version 0 to 1."""

from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.metrics import ignored_static_voters
from kraft_reference.profile import KAFKA_4
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()
_CLUSTER = cluster(3, static=True)

_STATIC: VoterSet = frozenset(ReplicaKey(replica_id) for replica_id in (1, 2, 3))
_KEYS = voter_set(1, 2, 3)


def _reported(d: Director) -> None:
    """The steps 1 and 2."""
    start(d, 1, 3, end_offset=40)
    d.level(1, 0)
    d.line(1, _STATIC, 40, "1:40", 40)
    d.step("1. UpdateFeatures(kraft.version=1): ranges of 2 and 3 unknown")
    d.answered(d.update_features(1, 1), "INVALID_UPDATE_VERSION")
    d.level(1, 0)
    d.line(1, _STATIC, 40, "1:40", 40)
    d.step("2. UpdateVoter(2,U2,h2,0..1), UpdateVoter(3,U3,h3,0..1): kept in memory")
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.check("reports", [report.key for report in d.state(1).reports], [ReplicaKey(2, "U2"), ReplicaKey(3, "U3")])
    d.line(1, _STATIC, 40, "1:40", 40)


def _appended(d: Director) -> int:
    d.step("3. UpdateFeatures(1), brokers all 0..1: batch KV(1)@40, V{(1,U1),(2,U2),(3,U3)}@41")
    upgrade = d.update_features(1, 1)
    d.records(1, 40, "KV V")
    d.level(1, 1)
    d.set_offset(1, 41)
    d.line(1, _KEYS, 42, "1:42", 40)
    d.unanswered(upgrade)
    return upgrade


@VARIANTS.variant("right", _CLUSTER)
def upgraded(d: Director) -> None:
    """KV(1)@40 and V@41 in one batch; HW 42; never down again."""
    _reported(d)
    upgrade = _appended(d)
    d.step("4. ack(2)=42")
    d.fetch(2, 1)
    d.level(2, 1)
    d.voters(2, _KEYS)
    d.set_offset(2, 41)
    d.high_watermark(1, 40)
    d.fetch(2, 1)
    d.line(1, _KEYS, 42, "1:42 2:42", 42)
    d.answered(upgrade, "NONE")
    d.step("5. ignored-static-voters = 1 on nodes that still have the property")
    observe(d, 1, 2, 3)
    for replica_id in (1, 2, 3):
        metric = ignored_static_voters(d.state(replica_id), d.world.configuration)
        d.check(f"ignored-static-voters of N{replica_id}", metric, 1)
    d.step("6. UpdateFeatures(0)")
    d.answered(d.update_features(1, 0), "INVALID_UPDATE_VERSION")
    d.level(1, 1)
    d.step("the same level again changes nothing")
    d.answered(d.update_features(1, 1), "NONE")
    d.line(1, _KEYS, 42, "1:42 2:42 3:42", 42)


@VARIANTS.variant("right-leader-fails", _CLUSTER)
def leader_fails(d: Director) -> None:
    """The batch is truncated: level 0, static set, and reports again."""
    # 1 fails in step 3 with the batch only on itself.
    _reported(d)
    upgrade = _appended(d)
    d.step("1 is cut off; 2 wins e4")
    d.cut(1, 2, 3)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.lose(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.lose(2)
    d.records(2, 40, "LC")
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.line(2, _STATIC, 41, "2:41 3:41", 41)
    d.step("batch truncated, 1 is back at level 0 and the static set")
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    d.answered(upgrade, "NOT_LEADER_OR_FOLLOWER")
    d.level(1, 1)
    d.fetch(1, 2)
    d.end_offsets(40, 41, 41)
    d.level(1, 0)
    d.voters(1, _STATIC)
    observe(d, 2, 1)
    d.step("reports must be sent again to 2")
    d.answered(d.update_features(2, 1), "INVALID_UPDATE_VERSION")
    d.update_voter(1, 2, "ok")
    d.answered(d.update_features(2, 1), "INVALID_UPDATE_VERSION")
    d.update_voter(3, 2, "ok")
    again = d.update_features(2, 1)
    d.records(2, 40, "LC KV V")
    observe(d, 2, 3)
    d.line(2, _KEYS, 43, "2:43 3:43", 43)
    d.answered(again, "NONE")


def _gated(d: Director, refusal: str) -> None:
    _reported(d)
    upgrade = _appended(d)
    d.step("the client of the upgrade gives up before the commit; RemoveVoter(3,U3)")
    d.voter_change_timeout(1)
    d.answered(upgrade, "REQUEST_TIMED_OUT")
    d.answered(d.remove_voter(1, 3), refusal)
    d.line(1, _KEYS, 42, "1:42", 40)
    d.step("after the commit")
    observe(d, 1, 2)
    d.line(1, _KEYS, 42, "1:42 2:42", 42)
    removal = d.remove_voter(1, 3)
    d.line(1, voter_set(1, 2), 43, "1:43 2:42", 42)
    d.unanswered(removal)


@VARIANTS.variant("right-gate", _CLUSTER)
def gated_by_commit(d: Director) -> None:
    """Before the commit RemoveVoter is UNSUPPORTED_VERSION."""
    # KIP: level 1 on commit; until then the request is UNSUPPORTED_VERSION.
    _gated(d, "UNSUPPORTED_VERSION")


@VARIANTS.variant("right-gate-kafka-4", cluster(3, static=True, profile=KAFKA_4))
def gated_by_append(d: Director) -> None:
    """Profile kafka-4: it is REQUEST_TIMED_OUT."""
    # Kafka: level 1 on append; the request is refused because the set is not committed.
    _gated(d, "REQUEST_TIMED_OUT")


SCENARIOS = (
    Scenario(
        40,
        "s17-kraft-version-upgrade",
        "kraft.version 0 to 1",
        "KIP-853, S17",
        (
            "kraft-version.upgrade-needs-all-voters",
            "kraft-version.upgrade-atomic-batch",
            "kraft-version.finalized-when",
            "kraft-version.no-downgrade",
            "update-voter.in-memory-at-version-0",
        ),
        tuple(VARIANTS),
    ),
)
