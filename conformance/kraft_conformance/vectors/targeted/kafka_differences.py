"""Where Apache Kafka does something else than the KIPs: one script for each decision of a profile.

The scripts run under `kip` and under `kafka-4` (`kraft_conformance.vectors.twins`): the same events happen to the
replica in both, and what it does is not the same.
"""

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.events import Poll, PollFetch
from kraft_reference.messages import FetchRequest, VoteRequest
from kraft_reference.profile import Profile
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, start, win
from kraft_reference.scenarios.scenario import cluster, voter_set

STATIC = cluster(3, static=True)


def _decided(d: Director) -> Profile:
    return d.world.configuration.profile


def _observer_after_its_fetch_timer(d: Director) -> None:
    start(d, 1, 1)
    d.append_voters(1, voter_set(1, 2, 3, 4))
    d.fetch(2, 1)
    d.crash(1)
    d.fetch_timeout(2)
    d.voters(4, voter_set(1, 2, 3))
    d.step("the fetch timer of 4 fires, which does not know that it is a voter; then 2 asks it")
    d.fetch_timeout(4)
    d.pre_vote(2, 4, "granted" if _decided(d).observer_refusal == "expires" else "refused")


def _prospective_hears_its_leader(d: Director) -> None:
    start(d, 1, 1)
    d.fetch_timeout(2)
    d.begin_quorum_epoch_timeout(1)
    d.step("bqe(1>2): the leader that the Prospective has known all along lives")
    d.begin_quorum_epoch(1, 2)
    d.roles("L(1)", "F(1,1)" if _decided(d).prospective_announcement == "follower" else "P(1,1)")


def _asked_after_end_quorum(d: Director) -> None:
    start(d, 1, 1)
    d.shutdown(1)
    d.end_quorum_epoch(1, 3)
    d.step("eqe(1>2), then 3 asks: 2 has fetched in this epoch")
    d.end_quorum_epoch(1, 2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted" if _decided(d).end_quorum_fetched_flag == "cleared" else "refused")


def _diverging_fetch(d: Director) -> None:
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.heal(1, 2, 3)
    d.begin_quorum_epoch(2, 1)
    fetch = d.outstanding(1, 2, FetchRequest, PollFetch(2))
    d.step("f(1>2): the logs part, and 1 is the majority that 2 needs beside itself")
    d.handle(fetch, "ok")


def _own_vote_and_a_leader(d: Director) -> None:
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


def _vote_for_another_disk(d: Director) -> None:
    start(d, 1, 1)
    d.crash(3)
    d.replace_disk(3, "U3b")
    d.restart(3)
    d.crash(1)
    d.fetch_timeout(2)
    asked = d.outstanding(2, 3, VoteRequest, Poll())
    d.step("2 asks (3,U3), and (3,U3b) gets it: the epoch is learned, the vote refused")
    d.handle(asked, str(_decided(d).voter_key_error))


def _removal_during_the_upgrade(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    for voter in (2, 3):
        d.update_voter(voter, 1, "ok")
    d.update_features(1, 1)
    d.voter_change_timeout(1)
    d.step("level 1 is appended and not committed, and nobody waits for it any more: a client removes a voter")
    refusal = "UNSUPPORTED_VERSION" if _decided(d).kraft_version_gate == "commit" else "REQUEST_TIMED_OUT"
    d.answered(d.remove_voter(1, 3), refusal)


TARGETS = (
    Target(
        "prevote.observer-after-its-fetch-timer",
        "Whether an observer that has fetched refuses Pre-Votes when its fetch timer has fired",
        ("prevote.follower.refusal-expires", "observer.fetch-timeout"),
        4,
        _observer_after_its_fetch_timer,
        OBSERVED,
    ),
    Target(
        "announcement.of-the-known-leader",
        "What a Prospective makes of an announcement of the leader that it has known all along",
        ("state.prospective.discovers-leader", "begin-quorum.accept"),
        2,
        _prospective_hears_its_leader,
        level="effects",
    ),
    Target(
        "resignation.then-asked",
        "Whether a Follower that has fetched grants a Pre-Vote after its leader has resigned",
        ("end-quorum.frees-followers",),
        2,
        _asked_after_end_quorum,
    ),
    Target(
        "fetch.diverging-counted",
        "Whether a Fetch that diverges counts for check quorum",
        ("check-quorum.counts-keys",),
        2,
        _diverging_fetch,
        level="effects",
    ),
    Target(
        "restart.own-vote-and-leader",
        "What a restart looks at first in a file that names a leader and holds the replica's own vote",
        ("durable.restart.voted-self", "durable.restart.known-leader"),
        3,
        _own_vote_and_a_leader,
    ),
    Target(
        "vote.for-another-disk",
        "The error for a Pre-Vote that asks for another disk of the same id",
        ("vote.voter-key", "identity.addressed-to-key"),
        3,
        _vote_for_another_disk,
    ),
    Target(
        "change.removed-during-the-upgrade",
        "Whether a kraft.version that is appended and not committed decides which requests a leader takes",
        ("kraft-version.finalized-when",),
        1,
        _removal_during_the_upgrade,
        STATIC,
    ),
)
