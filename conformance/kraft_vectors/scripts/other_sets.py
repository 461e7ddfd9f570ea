"""Replicas with different voter sets: a requester outside the set, and an outdated configuration."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start
from kraft_simulation.scenarios.scenario import voter_set
from kraft_vectors.openings import move_voter, start_reported
from kraft_vectors.target import OBSERVED, STATIC, Targets

TARGETS = Targets()


@TARGETS.vector(
    "vote.of-a-stranger", 3, "vote.membership-not-checked", "vote.inconsistent-voter-set-gone", configuration=OBSERVED
)
def _asked_by_a_stranger(d: Director) -> None:
    """A replica votes for a Candidate outside its own voter set."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    observe(d, 1, 2, 4)
    d.crash(1)
    for replica_id in (2, 3, 4):
        d.fetch_timeout(replica_id)
    d.pre_vote(4, 2, "granted")
    d.pre_vote(4, 3, "granted")
    d.lose(4)
    d.voters(3, voter_set(1, 2, 3))
    d.step("v(4>3): the set of 3 does not have 4, and nothing is wrong with that")
    d.vote(4, 3, "granted")


@TARGETS.vector("restart.static-voters-ignored", 2, "kraft-version.static-config-ignored", configuration=STATIC)
def _upgraded_and_restarted(d: Director) -> None:
    """From kraft.version 1 on, the log decides the voters, whatever the configuration says."""
    start_reported(d)
    d.update_features(1, 1)
    observe(d, 1, 2)
    d.remove_voter(1, 3)
    observe(d, 1, 2)
    d.crash(2)
    d.step("2 starts again with {1,2,3} in its configuration and {1,2} in its log: it asks 1 alone")
    d.restart(2)
    d.fetch_timeout(2)
    d.poll(2)


@TARGETS.vector("change.set-after-a-move", 1, "voters.endpoints-are-part-of-the-set", configuration=OBSERVED)
def _set_after_a_move(d: Director) -> None:
    """An appended voter set has the newest endpoint of each voter."""
    move_voter(d)
    d.update_voter(2, 1, "ok")
    observe(d, 1, 2, 3)
    d.step("2 has moved and told its leader: the new set has it where it is now")
    d.append_voters(1, voter_set(1, 2, 3, 4))
