"""BeginQuorumEpoch and its responses."""

from kraft_reference.messages import BeginQuorumEpochRequest
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start, take_over
from kraft_simulation.scenarios.scenario import cluster, voter_set
from kraft_vectors.openings import campaign, fetch_in_turn, lead_unannounced, new_disk
from kraft_vectors.target import OBSERVED, THREE, Targets, with_replicas

TARGETS = Targets()


@TARGETS.vector("announcement.accepted", 2, "begin-quorum.accept", "state.unattached.leader")
@TARGETS.vector(
    "announcement.answered", 1, "begin-quorum.response", title="A Leader records the response to its announcement"
)
def _accepted(d: Director) -> None:
    """An Unattached voter follows the leader of its epoch, and keeps its vote."""
    lead_unannounced(d, 1)
    d.step("bqe(1>2): 2 has voted for 1")
    d.begin_quorum_epoch(1, 2)


@TARGETS.vector("announcement.stale", 3, "begin-quorum.stale", "state.epoch-monotonic")
@TARGETS.vector(
    "announcement.answer-of-a-larger-epoch",
    1,
    "state.leader.higher-epoch",
    "state.learn-higher-epoch.leader",
    "begin-quorum.response",
    level="state",
    title="A Leader that receives a response with a larger epoch and its leader follows that leader",
)
def _stale(d: Director) -> None:
    """An announcement of an older epoch is fenced."""
    lead_unannounced(d, 1)
    late = d.outstanding(1, 3, BeginQuorumEpochRequest)
    d.election_timeout(3)
    d.pre_vote(3, 2, "FENCED_LEADER_EPOCH")
    d.election_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.vote(3, 2, "granted")
    d.roles("L(1)", "U(2,voted=3)", "L(2)")
    d.step("the announcement of epoch 1 arrives in epoch 2")
    d.handle(late, "FENCED_LEADER_EPOCH")
    d.roles("F(2,3)")


@TARGETS.vector("announcement.again", 1, "begin-quorum.resend")
def _resent(d: Director) -> None:
    """A Leader repeats the announcement to voters that do not fetch."""
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 2)
    d.begin_quorum_epoch(1, 3)
    d.step("the announcement is due again, and nobody has fetched")
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


@TARGETS.vector("announcement.unanswered", 1, "begin-quorum.resend")
def _unanswered(d: Director) -> None:
    """A Leader repeats the announcement to a voter without a response in time, at once or by its timer."""
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 3)
    d.step("2 has not answered in time: it is told again, when the timer fires at the latest")
    d.request_timeout(1, 2)
    d.poll(1)
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


@TARGETS.vector(
    "announcement.not-to-observers",
    1,
    "voters.no-begin-epoch-to-observers",
    "begin-quorum.resend",
    configuration=OBSERVED,
)
def _not_to_observers(d: Director) -> None:
    """A Leader does not announce itself to observers."""
    lead_unannounced(d, 1)
    observe(d, 1, 4)
    d.lose(1)
    d.step("2 and 3 are told, the observer 4 is not")
    d.begin_quorum_epoch_timeout(1)
    d.poll(1)


@TARGETS.vector("announcement.larger-epoch", 2, "begin-quorum.accept")
def _new_leader(d: Director) -> None:
    """A replica follows the leader of a larger epoch."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    take_over(d, 3, 2)
    d.step("bqe(3>2): the leader of a larger epoch")
    d.begin_quorum_epoch(3, 2)
    d.roles("", "F(2,3)", "L(2)")


@TARGETS.vector(
    "announcement.next-leader",
    2,
    "state.follower.larger-epoch-leader",
    "begin-quorum.accept",
    configuration=cluster(5),
    level="effects",
)
def _from_one_leader_to_the_next(d: Director) -> None:
    """A Follower changes its leader only with the epoch."""
    start(d, 1, 1)
    d.cut(1, 3, 4, 5)
    for replica_id in (3, 4, 5):
        d.fetch_timeout(replica_id)
    campaign(d, 3, 4, 5)
    d.roles("L(1)", "F(1,1)", "L(2)")
    d.step("bqe(3>2): 2, which follows 1 in epoch 1, hears of the leader of epoch 2")
    d.begin_quorum_epoch(3, 2)
    d.roles("", "F(2,3)")


@TARGETS.vector("announcement.other-disk", 3, "identity.addressed-to-key", "begin-quorum.voter-key")
def _other_disk(d: Director) -> None:
    """A request for another disk of the same id is refused."""
    start(d, 1, 1)
    new_disk(d, 3, "U3b")
    d.begin_quorum_epoch_timeout(1)
    d.step("the announcement is for (3,U3), and (3,U3b) gets it")
    d.begin_quorum_epoch(1, 3, str(d.world.configuration.profile.voter_key_error))


@TARGETS.vector(
    "announcement.from-a-stranger",
    3,
    "begin-quorum.membership-not-checked",
    configuration=OBSERVED,
    level="effects",
)
def _stranger(d: Director) -> None:
    """A replica follows a leader that its own voter set does not have."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    fetch_in_turn(d, 1, 2, 4)
    d.crash(1)
    d.restart(1)
    d.fetch_timeout(2)
    d.fetch_timeout(4)
    campaign(d, 4, 1, 2)
    d.voters(3, voter_set(1, 2, 3))
    d.step("bqe(4>3): the set of 3 does not have 4")
    d.begin_quorum_epoch(4, 3)
    d.roles("", "", "F(2,4)", "L(2)")


@TARGETS.vector(
    "announcement.without-endpoint",
    2,
    "discovery.endpoint-lookup",
    configuration=with_replicas(THREE, 1, sends_leader_endpoint=False),
    level="state",
)
def _without_endpoint(d: Director) -> None:
    """A replica looks up an omitted endpoint in its voter set."""
    lead_unannounced(d, 1)
    d.step("bqe(1>2) without an endpoint: 2 looks it up in its set")
    d.begin_quorum_epoch(1, 2)
