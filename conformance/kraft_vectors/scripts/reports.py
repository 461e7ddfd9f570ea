"""UpdateVoter and upgrades of kraft.version."""

from kraft_reference.events import UpdateFeatures
from kraft_reference.messages import UpdateVoterRequest
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start
from kraft_vectors.openings import campaign, move_voter, start_reported
from kraft_vectors.target import STATIC, THREE, Targets, with_replicas

TARGETS = Targets()


@TARGETS.vector("change.moved-voter", 2, "update-voter.when-sent")
@TARGETS.vector(
    "change.moved-voter-corrected",
    1,
    "voters.endpoints-are-part-of-the-set",
    title="The leader updates the entry of a voter that sends UpdateVoter",
)
def _moved(d: Director) -> None:
    """A voter with a new endpoint sends UpdateVoter."""
    move_voter(d)
    d.step("2 reports where it listens now; the leader corrects its entry")
    d.update_voter(2, 1, "ok")
    d.fetch(2, 1)
    d.fetch(3, 1)


@TARGETS.vector("change.moved-back", 2, "update-voter.when-sent")
def _moved_back(d: Director) -> None:
    """A voter that returns to its first endpoint sends UpdateVoter again."""
    move_voter(d)
    d.update_voter(2, 1, "ok")
    d.fetch(2, 1)
    d.fetch(3, 1)
    d.fetch(2, 1)
    d.crash(2)
    d.restart(2)
    d.fetch(2, 1)
    d.step("2 listens where the configuration says again, and its entry is the other one")
    d.outstanding(2, 1, UpdateVoterRequest)


@TARGETS.vector("change.report-not-the-leader", 1, "update-voter.leader-only")
def _report_refused(d: Director) -> None:
    """Only the leader accepts UpdateVoter."""
    move_voter(d)
    d.cut_one_way(1, 2)
    d.fetch_timeout(3)
    d.check_quorum_timeout(1)
    d.step("the report reaches a replica that leads no more")
    d.do(lambda: d.world.heal(1, 2))
    d.update_voter(2, 1, "NOT_LEADER_OR_FOLLOWER")


@TARGETS.vector("change.report-of-an-older-epoch", 1, "update-voter.leader-only")
def _report_of_an_older_epoch(d: Director) -> None:
    """UpdateVoter for the leader of another epoch is refused."""
    move_voter(d)
    late = d.outstanding(2, 1, UpdateVoterRequest)
    d.shutdown(1)
    d.end_quorum_epoch(1, 3)
    d.election_timeout(1)
    d.election_timeout(1)
    campaign(d, 1, 3)
    d.roles("L(3)")
    d.step("1 leads again, and the report was for the leader of epoch 1")
    d.handle(late, "FENCED_LEADER_EPOCH")


@TARGETS.vector(
    "change.report-without-the-level",
    1,
    "update-voter.range-must-include-finalized",
    configuration=with_replicas(THREE, 2, max_version=0),
)
def _without_the_level(d: Director) -> None:
    """UpdateVoter with a range without the kraft.version in force is refused."""
    move_voter(d)
    d.step("2 listens somewhere else, and supports level 0 alone where level 1 is in force: its entry stays as it was")
    d.update_voter(2, 1, "INVALID_REQUEST")


@TARGETS.vector(
    "change.report-without-level-0",
    1,
    "update-voter.range-must-include-finalized",
    configuration=with_replicas(STATIC, 2, min_version=1),
)
def _without_level_0(d: Director) -> None:
    """At kraft.version 0, too, the range must include the level in force."""
    start(d, 1, 1, end_offset=4)
    d.step("2 supports level 1 alone where level 0 is in force: the leader takes no note of it")
    d.update_voter(2, 1, "INVALID_REQUEST")


@TARGETS.vector(
    "change.leader-corrects-itself",
    2,
    "update-voter.leader-self-update",
    "state.leader.start-of-epoch",
    level="effects",
)
def _leader_moved(d: Director) -> None:
    """A new leader updates its own entry at the start of its epoch."""
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.step("a leader whose own entry is wrong corrects it")
    d.vote(2, 3, "granted")


@TARGETS.vector(
    "change.upgraded",
    1,
    "kraft-version.reply-after-commit",
    "kraft-version.record-gate",
    configuration=STATIC,
)
def _upgraded(d: Director) -> None:
    """The leader responds to an upgrade of kraft.version after its commit."""
    start_reported(d)
    d.step("level 1 and the voters in one batch; answered when it is committed")
    request = d.update_features(1, 1)
    d.unanswered(request)
    d.replicate(2, 1)
    d.answered(request, "NONE")


@TARGETS.vector("change.upgrade-refused", 1, "kraft-version.upgrade-needs-all-observers", configuration=STATIC)
def _broker_lacks(d: Director) -> None:
    """A level that a registered broker does not support is refused."""
    start_reported(d)
    d.step("a registered broker supports level 0 alone")
    d.happen(1, UpdateFeatures(1, 1, 0, 0))
    d.answered(1, "INVALID_UPDATE_VERSION")
