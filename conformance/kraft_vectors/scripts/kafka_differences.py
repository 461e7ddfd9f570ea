"""Differences between Apache Kafka and the KIPs: one script for each decision of a profile.

The scripts run under `kip` and under those of Apache Kafka (`kraft_vectors.twins`): the same events
happen to the replica in each, and what it does is not the same.
"""

from kraft_reference.events import Poll
from kraft_reference.messages import FetchRequest, UpdateVoterRequest, VoteRequest
from kraft_reference.profile import Profile
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start, take_over, win
from kraft_simulation.scenarios.scenario import voter_set
from kraft_vectors.openings import new_disk, start_reported
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, STATIC, Targets

TARGETS = Targets()


def _decided(d: Director) -> Profile:
    return d.world.configuration.profile


@TARGETS.vector(
    "prevote.observer-after-its-fetch-timer",
    4,
    "prevote.follower.refusal-expires",
    "observer.fetch-timeout",
    configuration=OBSERVED,
)
def _observer_after_its_fetch_timer(d: Director) -> None:
    """An observer that has fetched receives a Pre-Vote after its fetch timer has fired."""
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.fetch(2, 1)
    d.crash(1)
    d.fetch_timeout(2)
    d.voters(4, voter_set(1, 2, 3))
    d.step("the fetch timer of 4 fires, which does not know that it is a voter; then 2 asks it")
    d.fetch_timeout(4)
    d.pre_vote(2, 4, "granted" if _decided(d).observer_refusal == "expires" else "refused")


@TARGETS.vector(
    "announcement.of-the-known-leader", 2, "state.prospective.discovers-leader", "begin-quorum.accept", level="effects"
)
def _prospective_hears_its_leader(d: Director) -> None:
    """A Prospective receives BeginQuorumEpoch from the leader that it knows."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.begin_quorum_epoch_timeout(1)
    d.step("bqe(1>2): the leader that the Prospective has known all along lives")
    d.begin_quorum_epoch(1, 2)
    d.roles("L(1)", "F(1,1)" if _decided(d).prospective_announcement == "follower" else "P(1,1)")


@TARGETS.vector("resignation.then-asked", 2, "end-quorum.frees-followers")
def _asked_after_end_quorum(d: Director) -> None:
    """A Follower that has fetched receives a Pre-Vote after its leader has resigned."""
    start(d, 1, 1)
    d.shutdown(1)
    d.end_quorum_epoch(1, 3)
    d.step("eqe(1>2), then 3 asks: 2 has fetched in this epoch")
    d.end_quorum_epoch(1, 2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted" if _decided(d).end_quorum_fetched_flag == "cleared" else "refused")


@TARGETS.vector("fetch.diverging-counted", 2, "check-quorum.counts-keys", level="effects")
def _diverging_fetch(d: Director) -> None:
    """A diverging Fetch may count for check quorum."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    take_over(d, 2, 3)
    d.heal(1, 2, 3)
    d.begin_quorum_epoch(2, 1)
    fetch = d.outstanding(1, 2, FetchRequest)
    d.step("f(1>2): the logs part, and 1 is the majority that 2 needs beside itself")
    d.handle(fetch, "ok")


@TARGETS.vector("restart.own-vote-and-leader", 3, "durable.restart.voted-self", "durable.restart.known-leader")
def _own_vote_and_a_leader(d: Director) -> None:
    """A replica restarts with a file that names a leader and the replica's own vote."""
    nominate(d, 1, 1)
    d.election_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.roles("C(1)", "U(0)", "C(1)")
    win(d, 1)
    d.begin_quorum_epoch(1, 3)
    d.roles("L(1)", "U(1,voted=1)", "F(1,1)")
    d.election_timeout(2)
    d.step("3 crashes; its file names the leader 1, and 3 has voted for itself; what it says to 2 tells who leads")
    d.crash(3)
    d.restart(3)
    leader_first = _decided(d).restart_precedence == "known-leader"
    d.roles("L(1)", "P(1)", "F(1,1)" if leader_first else "C(1)")
    d.pre_vote(2, 3, "granted")


@TARGETS.vector("vote.for-another-disk", 3, "vote.voter-key", "identity.addressed-to-key")
def _vote_for_another_disk(d: Director) -> None:
    """A Pre-Vote for another disk of the same id gets an error."""
    start(d, 1, 1)
    new_disk(d, 3, "U3b")
    d.crash(1)
    d.fetch_timeout(2)
    request = d.outstanding(2, 3, VoteRequest)
    d.step("2 asks (3,U3), and (3,U3b) gets it: the epoch is learned, the vote refused")
    d.handle(request, str(_decided(d).voter_key_error))


@TARGETS.vector("change.removed-during-the-upgrade", 1, "kraft-version.finalized-when", configuration=STATIC)
def _removal_during_the_upgrade(d: Director) -> None:
    """A leader receives RemoveVoter while its kraft.version record is appended but not committed."""
    start_reported(d)
    _remove_during_the_upgrade(d)


def _remove_during_the_upgrade(d: Director) -> None:
    d.update_features(1, 1)
    d.voter_change_timeout(1)
    d.step("level 1 is appended and not committed, and nobody waits for it any more: a client removes a voter")
    refusal = "UNSUPPORTED_VERSION" if _decided(d).kraft_version_gate == "commit" else "REQUEST_TIMED_OUT"
    d.answered(d.remove_voter(1, 3), refusal)


@TARGETS.vector("change.removed-above-the-high-watermark", 1, "kraft-version.finalized-when", configuration=STATIC)
def _removal_above_the_high_watermark(d: Director) -> None:
    """A leader receives RemoveVoter while its kraft.version record follows another uncommitted record."""
    start_reported(d)
    d.append(1)
    _remove_during_the_upgrade(d)


@TARGETS.vector(
    "change.report-at-version-0",
    2,
    "update-voter.in-memory-at-version-0",
    "update-voter.when-sent",
    configuration=STATIC,
)
def _report_at_version_0(d: RecordingDirector) -> None:
    """UpdateVoter at kraft.version 0."""
    start(d, 1, 1, end_offset=4)
    d.step("2 is due to tell its leader where it listens and which levels it supports")
    if _decided(d).report_at_version_0 == "noted":
        d.outstanding(2, 1, UpdateVoterRequest)
    else:
        d.refuses(2, Poll())
