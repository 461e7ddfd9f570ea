"""Leaders with unknown endpoints, second requests, responses of older software, and joining."""

from dataclasses import replace

from kraft_reference.events import Poll, PollFetch
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, observe, start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import move_voter, new_disk
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import OBSERVED, THREE, Targets, with_replicas

TARGETS = Targets()


def _restarted_without_the_leader_in_its_set(d: Director) -> None:
    """Replica 2 is Unattached; its leader 1 is in its file but not in its set, by an uncommitted removal."""
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    d.replicate(2, 1)
    d.fetch(3, 1)
    d.crash(2)
    d.restart(2)
    d.roles("L(1)", "U(1,1)", "F(1,1)")


@TARGETS.vector("prevote.unattached-with-a-leader-out-of-reach", 2, "prevote.unattached.grants")
def _asked_without_the_leader(d: Director) -> None:
    """An Unattached replica whose leader has no known endpoint grants Pre-Votes."""
    _restarted_without_the_leader_in_its_set(d)
    d.fetch_timeout(3)
    d.step("pv(3>2): 2 remembers a leader that it cannot reach, and grants")
    d.pre_vote(3, 2, "granted")


@TARGETS.vector(
    "prevote.lost-with-a-leader-out-of-reach",
    2,
    "state.prospective.lost.no-leader",
    "state.unattached.election-timeout",
    level="state",
)
def _nobody_to_go_back_to(d: Director) -> None:
    """A Prospective that has lost becomes Unattached if its leader has no known endpoint."""
    _restarted_without_the_leader_in_its_set(d)
    d.step("the election timer of 2 fires: it still knows who leads")
    d.election_timeout(2)
    d.roles("", "P(1,1)")
    d.step("it fires again: 2 has lost, and cannot follow whom it cannot reach")
    d.election_timeout(2)
    d.roles("", "U(1,1)")


@TARGETS.vector("vote.repeated-under-a-leader", 2, "vote.repeat-grant")
def _asked_again_under_a_leader(d: Director) -> None:
    """A replica grants its candidate's second request even if it knows that the candidate leads now."""
    d.election_timeout(1)
    d.pre_vote(1, 2, "granted")
    first = d.hold(1, 2)
    d.request_timeout(1, 2)
    again = d.hold(1, 2)
    d.handle(first, "granted", answer="lost")
    d.vote(1, 3, "granted")
    d.begin_quorum_epoch(1, 2)
    d.fetch_timeout(2)
    d.roles("L(1)", "P(1,1,voted=1)")
    d.step("v(1>2) once more: 2 has voted for 1, and knows by now that 1 leads")
    d.handle(again, "granted")


@TARGETS.vector(
    "prevote.taken-for-a-vote",
    3,
    "prevote.response.flag-false",
    configuration=with_replicas(THREE, 2, pre_vote="ignored"),
    level="effects",
)
def _taken_for_a_vote(d: Director) -> None:
    """A Pre-Vote that older software refuses as a vote makes the Prospective a Candidate."""
    d.election_timeout(1)
    d.pre_vote(1, 3, "granted")
    d.vote(1, 2, "granted", answer="lost")
    d.election_timeout(3)
    d.pre_vote(3, 2, "INVALID_REQUEST")
    d.roles("C(1)", "U(1,voted=1)", "U(1)")
    d.election_timeout(3)
    d.step("pv(3>2): 2 takes it for a vote, which it has given to 1; its answer says so, and 3 asks for votes")
    d.pre_vote(3, 2, "refused")
    d.roles("", "", "C(2)")


@TARGETS.vector("candidate.lost-asks-nobody", 1, "state.candidate.lost", configuration=cluster(4))
def _lost_and_asks_nobody(d: RecordingDirector) -> None:
    """A Candidate that cannot win any more sends no further vote requests."""
    for candidate, voters in ((1, (2, 3)), (2, (3, 4))):
        d.election_timeout(candidate)
        for voter in voters:
            d.pre_vote(candidate, voter, "granted")
        d.lose(candidate)
    d.vote(2, 3, "granted", answer="lost")
    d.vote(1, 2, "refused")
    d.step("v(1>3): two of four have refused, so that 4 cannot elect 1 any more")
    d.vote(1, 3, "refused")
    d.request_timeout(1, 4)
    d.step("4 has not answered, and is not asked again")
    d.refuses(1, Poll())


@TARGETS.vector(
    "change.old-software-says-so", 4, "kraft-version.levels", configuration=with_replicas(OBSERVED, 4, max_version=0)
)
def _says_what_it_supports(d: Director) -> None:
    """A replica's ApiVersions response has the levels of its own software."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.step("4 supports level 0 alone, and says so: it cannot be added")
    d.learn_versions(1, 4)
    d.answered(1, "INVALID_REQUEST")


@TARGETS.vector("join.not-configured", 4, "auto-join.enabled-by-config", configuration=OBSERVED)
def _may_not_join(d: RecordingDirector) -> None:
    """An observer without auto join sends no AddVoter."""
    start(d, 1, 1, end_offset=4)
    observe(d, 1, 4)
    d.step("4 knows that it is no voter, and is not configured to join: it has nothing to ask for")
    d.refuses(4, Poll())


@TARGETS.vector("join.removed", 3, "auto-join.add-self", configuration=cluster(3, joining=(3,)))
def _joins_again(d: Director) -> None:
    """A replica with auto join that was removed while it ran sends AddVoter again."""
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 3)
    observe(d, 1, 2, 3)
    d.step("3 has seen itself removed, and joins of its own accord: it asks to be added again")
    d.join(3, 1)


@TARGETS.vector("resignation.of-a-larger-epoch", 3, "end-quorum.handle")
def _hand_over_of_a_larger_epoch(d: Director) -> None:
    """A replica learns epoch and leader from EndQuorumEpoch."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted")
    d.shutdown(1)
    d.step("eqe(1>3): the first that 3 hears of epoch 1 and its leader")
    d.end_quorum_epoch(1, 3)


@TARGETS.vector("resignation.to-another-disk", 2, "end-quorum.candidate-key", level="effects")
def _hand_over_to_another_disk(d: Director) -> None:
    """A replica that is preferred with another directory id waits as if it were not listed."""
    start(d, 1, 1)
    new_disk(d, 2, "U9")
    d.begin_quorum_epoch_timeout(1)
    d.begin_quorum_epoch(1, 2, "INVALID_REQUEST")
    d.shutdown(1)
    d.step("eqe(1>2): the first of the preferred candidates has the id of 2, and another directory id")
    d.end_quorum_epoch(1, 2)


@TARGETS.vector(
    "start.bootstrap-servers-alone",
    3,
    "discovery.bootstrap-fallback",
    "voters.observer-discovery",
    configuration=replace(THREE, bootstrap_servers=(1,)),
)
def _asks_bootstrap_servers_alone(d: RecordingDirector) -> None:
    """With bootstrap servers, only they are asked for the leader."""
    d.step("3 knows no leader; 2 is a voter and no bootstrap server")
    d.refuses(3, PollFetch(2))


@TARGETS.vector("fetch.leader-alone", 2, "discovery.leader-endpoint-known", "voters.fetch-goes-to-known-leader")
def _asks_its_leader_alone(d: RecordingDirector) -> None:
    """A Follower fetches only from its leader."""
    start(d, 1, 1)
    d.step("2 follows 1: it does not fetch from 3")
    d.refuses(2, PollFetch(3))


@TARGETS.vector("fetch.not-as-prospective", 2, "fetch.who-fetches")
def _prospective_does_not_fetch(d: RecordingDirector) -> None:
    """A Prospective does not fetch, not even from a leader that it knows."""
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.step("2 is Prospective and knows 1 as leader: it does not fetch")
    d.refuses(2, PollFetch(1))


@TARGETS.vector("restart.set-says-where", 3, "voters.endpoints-are-part-of-the-set", "durable.restart.known-leader")
def _set_says_where_the_leader_listens(d: Director) -> None:
    """A replica that starts with a known leader takes the leader's endpoint from its voter set."""
    move_voter(d)
    d.update_voter(2, 1, "ok")
    observe(d, 1, 2, 3)
    observe(d, 1, 2, 3)
    d.shutdown(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.vote(2, 3, "granted")
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.crash(3)
    d.step("3 restarts: its leader 2 is in its file, and where that one listens in its voters set")
    d.restart(3)
    d.election_timeout(1)
    d.election_timeout(1)
    d.step("pv(1>3): the answer says where")
    d.pre_vote(1, 3, "refused")
