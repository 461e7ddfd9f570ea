"""S18: a voter that listens somewhere else."""

from kraft_reference.outcome import Refusal
from kraft_reference.polling import due_fetch_targets
from kraft_reference.state import details_of
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import lead, observe, start
from kraft_simulation.scenarios.scenario import Scenario, Variants, cluster, voter_set

VARIANTS = Variants()

REPLY_TIME = "update-voter.reply-time"

_BOTH = voter_set(1, 2)
_NEW_ENDPOINT = "replica-2b:9093"


def _endpoint(d: Director, replica_id: int, expected: str) -> None:
    details = details_of(d.state(replica_id), 2)
    d.check(f"endpoint of 2 in the set of N{replica_id}", None if details is None else details.endpoint, expected)


def _moved(d: Director) -> None:
    lead(d, 1, 5, 30, 2)
    d.line(1, _BOTH, 30, "1:30 2:30", 30)
    d.step("2 restarts on h2b")
    d.crash(2)
    d.restart(2, _NEW_ENDPOINT)
    d.roles("L(5)", "F(5,1)")
    observe(d, 1, 2)
    _endpoint(d, 1, "replica-2:9093")


@VARIANTS.variant("right", cluster(2))
def moves(d: Director) -> None:
    """V{1@h1,2@h2b}@30, answered at once; HW 31."""
    # The answer comes with the append; the keys are unchanged.
    _moved(d)
    d.step("UpdateVoter(2,U2,h2b,0..1): V{1@h1,2@h2b}@30")
    d.update_voter(2, 1, "ok")
    d.set_offset(1, 30)
    d.line(1, _BOTH, 31, "1:31 2:30", 30)
    _endpoint(d, 1, _NEW_ENDPOINT)
    d.step("ack(2)=31")
    d.check("N2 may fetch from", due_fetch_targets(d.state(2), d.world.configuration), (1,))
    d.fetch(2, 1)
    _endpoint(d, 2, _NEW_ENDPOINT)
    d.fetch(2, 1)
    d.line(1, _BOTH, 31, "1:31 2:31", 31)


@VARIANTS.variant("wrong", cluster(2), mutants=(REPLY_TIME,))
def waits_for_itself(d: Director) -> None:
    """2 cannot acknowledge while it waits: nothing commits before its request times out."""
    # 1 answers only after the commit, and 2 sends nothing else on that connection: both wait until the timeout.
    _moved(d)
    d.step("UpdateVoter(2,U2,h2b,0..1): V{1@h1,2@h2b}@30, no answer")
    d.update_voter(2, 1, None)
    d.line(1, _BOTH, 31, "1:31 2:30", 30)
    d.check("N2 may fetch from", due_fetch_targets(d.state(2), d.world.configuration), ())
    d.step("2 gives up; then ack(2)=31")
    d.request_timeout(2, 1)
    d.fetch(2, 1)
    d.high_watermark(1, 30)
    d.fetch(2, 1)
    d.line(1, _BOTH, 31, "1:31 2:31", 31)
    d.change_answer(1, 2, "ok")
    d.check("the late answer", d.occurrences[-1].refusal, Refusal.UNCORRELATED_RESPONSE)


@VARIANTS.variant("right-other-disk", cluster(3, static=True, fetch_max_records=4))
def other_disk(d: Director) -> None:
    """VOTER_NOT_FOUND for (2,U2'), and the set stays."""
    # UpdateVoter(2,U2'): VOTER_NOT_FOUND; the quorum never swaps one directory id for another.
    # Only a replica that takes itself for a voter sends one. So (2,U2') is a new disk at level 0, with the static set,
    # that has not read of the upgrade to level 1 yet.
    start(d, 1, 1, end_offset=5)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.update_features(1, 1)
    observe(d, 1, 2, 3)
    d.line(1, voter_set(1, 2, 3), 7, "1:7 2:7 3:7", 7)
    d.step("2's disk is replaced: (2,U2')")
    d.crash(2)
    d.replace_disk(2, "U2'")
    d.restart(2)
    d.fetch(2, 1, "FENCED_LEADER_EPOCH")
    d.fetch(2, 1)
    d.end_offsets(7, 4, 7)
    d.level(2, 0)
    d.step("UpdateVoter(2,U2')")
    d.update_voter(2, 1, "VOTER_NOT_FOUND")
    d.line(1, voter_set(1, 2, 3), 7, "1:7 2:7 3:7", 7)


SCENARIOS = (
    Scenario(
        41,
        "s18-update-voter",
        "UpdateVoter",
        "KIP-853, S18",
        (
            "update-voter.when-sent",
            REPLY_TIME,
            "update-voter.not-a-membership-change",
            "identity.directory-id-never-silently-replaced",
        ),
        tuple(VARIANTS),
    ),
)
