"""Events after the timeout of a request: late responses, a second request, the commit, another leader, a restart."""

from kraft_reference.events import Poll, PollFetch
from kraft_reference.messages import (
    AddVoterRequest,
    ApiVersionsRequest,
    BeginQuorumEpochRequest,
    FetchRequest,
    UpdateVoterRequest,
)
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, nominate, observe, start, take_over
from kraft_simulation.scenarios.scenario import cluster, voter_set
from kraft_vectors.openings import campaign, fetch_in_turn, start_reported
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import JOINING, OBSERVED, STATIC, Targets

TARGETS = Targets()
_TIMEOUT = "add-voter.timeout"

_TWO_OUTSIDE = cluster(5, (1, 2, 3))
"""Replicas 4 and 5 are observers."""


def _expires(d: Director, request: int) -> None:
    d.voter_change_timeout(1)
    d.answered(request, "REQUEST_TIMED_OUT")


@TARGETS.vector("expired.versions-of-another", 1, _TIMEOUT, "add-voter.learn-versions", configuration=_TWO_OUTSIDE)
def _asked_for_versions_in_vain(d: Director) -> None:
    """Versions that arrive after the timeout of an addition do not belong to the next new voter."""
    start(d, 1, 1, end_offset=4)
    first = d.add_voter(1, 4)
    late = d.handle(d.outstanding(1, 4, ApiVersionsRequest), "ok", answer="held")
    d.step("the time of the addition of 4 is over; 5 is to be added, and the answer of 4 comes late")
    _expires(d, first)
    second = d.add_voter(1, 5)
    d.deliver(late)
    d.set_offset(1, 2)
    d.learn_versions(1, 5)
    d.voters(1, voter_set(1, 2, 3, 5))
    d.replicate(2, 1)
    d.replicate(5, 1)
    d.answered(second, "NONE")


@TARGETS.vector("expired.versions-asked-again", 1, "add-voter.learn-versions", configuration=OBSERVED)
def _versions_asked_again(d: Director) -> None:
    """A late ApiVersions response is dropped, even if the same replica has a new request."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    late = d.handle(d.outstanding(1, 4, ApiVersionsRequest), "ok", answer="held")
    d.request_timeout(1, 4)
    again = d.outstanding(1, 4, ApiVersionsRequest)
    d.step("1 has asked 4 once more when the first answer comes: it counts for nothing, the second does")
    d.deliver(late)
    d.set_offset(1, 2)
    d.handle(again, "ok")
    d.set_offset(1, 4)
    d.fetch(2, 1)


def _behind(d: Director) -> None:
    """4 has fetched nothing of what the leader has."""
    start(d, 1, 1, end_offset=4)
    d.append(1, end_offset=6)
    d.replicate(2, 1)


@TARGETS.vector("expired.catches-up-later", 1, _TIMEOUT, "add-voter.catch-up-first", configuration=OBSERVED)
def _catches_up_too_late(d: Director) -> None:
    """A replica that catches up after the timeout of its addition is not added; a second request waits anew."""
    _behind(d)
    first = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    _expires(d, first)
    d.step("4 has caught up after the time was over: nobody adds it; asked again, 1 does")
    d.replicate(4, 1)
    d.set_offset(1, 2)
    d.append(1)
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.set_offset(1, 2)
    d.replicate(4, 1)
    d.set_offset(1, 7)


@TARGETS.vector("expired.addition", 1, _TIMEOUT, "voters.one-change-at-a-time", configuration=_TWO_OUTSIDE)
def _addition_in_the_log(d: Director) -> None:
    """An addition that is in the log at its timeout stays, and is committed without a response."""
    start(d, 1, 1, end_offset=4)
    first = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.step("asked for once more, and then out of time: the record stays, and until its commit nothing else is changed")
    d.answered(d.add_voter(1, 4), "REQUEST_TIMED_OUT")
    d.unanswered(first)
    _expires(d, first)
    d.answered(d.add_voter(1, 5), "REQUEST_TIMED_OUT")
    d.answered(d.add_voter(1, 4), "REQUEST_TIMED_OUT")
    d.answered(d.remove_voter(1, 3), "REQUEST_TIMED_OUT")
    d.replicate(2, 1)
    d.replicate(4, 1)
    d.high_watermark(1, 5)
    d.answered(d.add_voter(1, 4), "DUPLICATE_VOTER")
    d.add_voter(1, 5)
    d.learn_versions(1, 5)
    d.replicate(5, 1)
    d.voters(1, voter_set(1, 2, 3, 4, 5))


@TARGETS.vector("expired.removal", 1, _TIMEOUT, "remove-voter.check-order", configuration=OBSERVED)
def _removal_in_the_log(d: Director) -> None:
    """A removal that is in the log at its timeout stays, and the next change follows its commit."""
    start(d, 1, 1, end_offset=4)
    first = d.remove_voter(1, 3)
    d.step("the removal of 3 is committed after its time is over; then 3 is no voter, and 4 can be added")
    _expires(d, first)
    d.answered(d.add_voter(1, 4), "REQUEST_TIMED_OUT")
    d.replicate(2, 1)
    d.answered(d.remove_voter(1, d.state(3).key), "VOTER_NOT_FOUND")
    last = d.add_voter(1, 4)
    d.learn_versions(1, 4)
    _expires(d, last)


@TARGETS.vector("expired.own-removal", 1, "remove-voter.leader-removal", _TIMEOUT)
def _own_removal(d: Director) -> None:
    """A Leader resigns when its removal is committed, even after the timeout of the request."""
    start(d, 1, 1, end_offset=4)
    first = d.remove_voter(1, 1)
    d.step("nobody awaits the removal of the leader any more: when it is committed 1 resigns all the same")
    _expires(d, first)
    fetch_in_turn(d, 1, 2, 3)
    d.roles("R(1)")
    d.end_quorum_epoch(1, 2)


@TARGETS.vector("expired.upgrade", 1, "kraft-version.reply-after-commit", _TIMEOUT, configuration=STATIC)
def _upgrade(d: Director) -> None:
    """A repeated upgrade does not succeed before the first is committed."""
    start_reported(d)
    first = d.update_features(1, 1)
    d.step("the upgrade is in the log, its time is over: it is in force when it is committed, and not before")
    _expires(d, first)
    d.answered(d.update_features(1, 1), "REQUEST_TIMED_OUT")
    d.replicate(2, 1)
    d.answered(d.update_features(1, 1), "NONE")


@TARGETS.vector("expired.deposed", 1, "add-voter.leader-change-leaves-outcome-open", _TIMEOUT, configuration=OBSERVED)
def _second_and_deposed(d: Director) -> None:
    """A deposed Leader responds to its pending request, and not again to one that it has responded to."""
    start(d, 1, 1, end_offset=4)
    first = d.add_voter(1, 4)
    _expires(d, first)
    second = d.remove_voter(1, 3)
    take_over(d, 2, 3)
    d.step("another leads: who asked last is told, and the first not once more")
    d.begin_quorum_epoch(2, 1)
    d.answered(second, "NOT_LEADER_OR_FOLLOWER")
    d.fetch(1, 2)


@TARGETS.vector("expired.restart", 1, _TIMEOUT, "voters.effective-on-append", configuration=OBSERVED)
def _restarted(d: Director) -> None:
    """The record of a request that timed out survives a restart, and the next epoch commits it."""
    start(d, 1, 1, end_offset=4)
    d.add_voter(1, 4)
    d.learn_versions(1, 4)
    d.voter_change_timeout(1)
    d.step("1 restarts: its record is there, and nobody awaits it; elected again, it commits it")
    d.crash(1)
    d.restart(1)
    d.voters(1, voter_set(1, 2, 3, 4))
    d.election_timeout(1)
    d.election_timeout(1)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    campaign(d, 1, 2, 3)
    for voter in (2, 3):
        d.begin_quorum_epoch(1, voter)
    fetch_in_turn(d, 1, 2, 3)
    d.answered(d.add_voter(1, 4), "DUPLICATE_VOTER")


@TARGETS.vector(
    "expired.asks-to-join-again", 4, "auto-join.add-self", "auto-join.uses-the-ordinary-rpcs", configuration=JOINING
)
def _asks_to_join_again(d: RecordingDirector) -> None:
    """A joining replica drops the late response to a request that timed out."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3, 4)
    d.join(4, 1)
    d.voter_change_timeout(1)
    late = next(
        message_id for message_id, message in d.world.messages(1, 4) if type(message).__name__ == "AddVoterResponse"
    )
    d.request_timeout(4, 1)
    d.fetch(4, 1)
    again = d.outstanding(4, 1, AddVoterRequest)
    d.step("4 has asked once more when the answer to its first request comes: it waits for the second")
    d.deliver(late)
    d.deliver(again)
    d.learn_versions(1, 4)
    d.voters(1, voter_set(1, 2, 3, 4))
    d.change_answer(1, 4, "ok")
    d.fetch(4, 1)
    d.refuses(4, Poll())


@TARGETS.vector("expired.joins", 1, _TIMEOUT, "auto-join.uses-the-ordinary-rpcs", configuration=JOINING)
def _joins_after_its_time(d: Director) -> None:
    """A replica whose request to join timed out receives the error, and may request again."""
    elect(d, 1, 1)
    observe(d, 1, 2, 3, 4)
    d.join(4, 1)
    d.step("the time of the request of 4 is over: 4 is told, and once; the next one is another request")
    d.voter_change_timeout(1)
    d.change_answer(1, 4, "REQUEST_TIMED_OUT")
    d.fetch(4, 1)
    d.join(4, 1)
    d.learn_versions(1, 4)
    d.change_answer(1, 4, "ok")


@TARGETS.vector("expired.reports-again", 2, "update-voter.when-sent", configuration=STATIC)
def _reports_again(d: RecordingDirector) -> None:
    """A voter whose UpdateVoter response is late sends UpdateVoter again."""
    start(d, 1, 1, end_offset=4)
    request = d.outstanding(2, 1, UpdateVoterRequest)
    late = d.handle(request, "ok", answer="held")
    d.request_timeout(2, 1)
    d.step("the answer to the report of 2 comes too late: it counts for nothing, and 2 reports again")
    d.deliver(late)
    d.fetch(2, 1)
    d.update_voter(2, 1, "ok")
    d.refuses(2, Poll())


@TARGETS.vector("expired.votes", 1, "prevote.response.correlate", "vote.response.counting")
def _asks_for_votes_again(d: Director) -> None:
    """A late vote does not count, and a request without a response is not a refusal."""
    nominate(d, 1, 1)
    late = d.handle(d.hold(1, 2), "granted", answer="held")
    d.step("1 gives up waiting for 2 and 3, which is no refusal: it asks both again; the late vote is dropped")
    d.request_timeout(1, 2)
    d.request_timeout(1, 3)
    again = d.hold(1, 2)
    d.deliver(late)
    d.roles("C(1)")
    d.handle(again, "granted")
    d.roles("L(1)")


@TARGETS.vector("expired.pre-votes", 1, "prevote.response.correlate")
def _asks_for_pre_votes_again(d: Director) -> None:
    """A late Pre-Vote grant does not count, and a request without a response is not a refusal."""
    d.election_timeout(1)
    late = d.handle(d.hold(1, 2), "granted", answer="held")
    d.step("1 gives up waiting for 2 and 3, which is no refusal: it asks both again; the late grant is dropped")
    d.request_timeout(1, 2)
    d.request_timeout(1, 3)
    again = d.hold(1, 2)
    d.deliver(late)
    d.roles("P(0)")
    d.handle(again, "granted")
    d.roles("C(1)")


@TARGETS.vector("expired.announcement", 1, "begin-quorum.resend", "begin-quorum.response")
def _announces_again(d: RecordingDirector) -> None:
    """A Leader repeats an announcement until it has a response."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted")
    d.lose(1)
    late = d.handle(d.outstanding(1, 2, BeginQuorumEpochRequest), "ok", answer="held")
    d.step(
        "1 gives up waiting for 2, which is no acknowledgement: it announces itself again; the late answer is dropped"
    )
    d.request_timeout(1, 2)
    again = d.outstanding(1, 2, BeginQuorumEpochRequest)
    d.deliver(late)
    d.handle(again, "ok")
    d.refuses(1, Poll())


@TARGETS.vector("expired.fetch", 2, "prevote.response.correlate", "fetch.response.common")
def _fetches_again(d: RecordingDirector) -> None:
    """Records of a late response are not taken, and arrive once with the next Fetch."""
    start(d, 1, 1)
    d.append(1)
    late = d.fetch(2, 1, answer="held")
    d.step("2 gives up waiting and fetches again: the late answer brings nothing, the second the record, once")
    d.request_timeout(2, 1)
    again = d.outstanding(2, 1, FetchRequest)
    d.deliver(late)
    d.end_offsets(4, 3, 3)
    d.refuses(2, PollFetch(1))
    d.handle(again, "ok")
    d.end_offsets(4, 4, 3)
    d.fetch(2, 1)


@TARGETS.vector("expired.step", 1, _TIMEOUT, "reassign.catch-up-before-add", configuration=OBSERVED)
def _step_given_up(d: RecordingDirector) -> None:
    """A reassignment step that times out is repeated."""
    start(d, 1, 1, end_offset=4)
    request = d.reassign(1, 1, 2, 4)
    d.replicate(2, 1)
    d.answered(request, "NONE")
    d.replicate(4, 1)
    d.advance(1, 4)
    late = d.handle(d.outstanding(1, 4, ApiVersionsRequest), "ok", answer="held")
    d.step("the time of the step is over, nobody is answered; the late answer of 4 adds nobody, the next step does")
    d.voter_change_timeout(1)
    d.deliver(late)
    d.voters(1, voter_set(1, 2, 3))
    d.advance(1, 4)
    d.learn_versions(1, 4)
    d.voters(1, voter_set(1, 2, 3, 4))
