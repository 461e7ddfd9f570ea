"""Changes of the reference's replies by implementations with other choices, allowed or barely not.

A `Change` takes the moment and the reply; `altered_adapter` combines the names of `RIGHT` and `WRONG`.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace as replaced
from typing import Any, NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.protocol.messages import (
    Crash,
    ObserveReply,
    Reply,
    Request,
    Reset,
    Restart,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.protocol.partitions import PartitionStepReply
from kraft_reference.effects import Send, Timer
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey
from kraft_reference.leadership import begin_quorum_epoch_request, end_quorum_epoch_request
from kraft_reference.log import truncate
from kraft_reference.messages import Message
from kraft_reference.messages import Reply as ClientReply
from kraft_reference.outcome import Outcome
from kraft_reference.polling import after_poll, after_poll_fetch, due_fetch_targets
from kraft_reference.profile import with_settings
from kraft_reference.replica import Replica
from kraft_reference.replication import fetch_request
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState, is_voter, other_voters
from kraft_traces.alternatives.bare_responses import has_place
from kraft_traces.alternatives.high_watermarks import has_error, is_first_of_all
from kraft_traces.alternatives.writes import disk_of
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
    TracedTruncateLog,
    traced_effect,
)
from kraft_traces.message_types import TracedFetchResponse, TracedVoteResponse
from kraft_traces.states import traced_state
from kraft_traces.values import TracedKey, traced_key

Effects = Sequence[TracedEffect]
_MS = 1700
_ELECTION_TIMER = (Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED)


class Moment(NamedTuple):
    """A request, with the reference's state before and after."""

    request: Request
    before: ReplicaState
    replica: Replica
    """Like `before`, missing until the first `reset`."""
    value: str
    """Value after the `=` of a mode."""

    @property
    def after(self) -> ReplicaState:
        """State of the replica after the reply."""
        return self.replica.state

    @property
    def event(self) -> str | None:
        """Event of a step."""
        return self.request.event if isinstance(self.request, Step) else None

    def is_between(self, before: Role, after: Role) -> bool:
        """True if the role has changed in this way."""
        return (self.before.role, self.after.role) == (before, after)


Change = Callable[[Moment, Reply], Reply]


def of_effects(change: Callable[[Moment, Any], Sequence[Any]]) -> Change:
    """Return a change of the effects of a step or restart without a crash."""

    def changed(moment: Moment, reply: Reply) -> Reply:
        crashes = getattr(moment.request, "crash", UNSET) is not UNSET
        if crashes or not isinstance(reply, StepReply | RestartReply | PartitionStepReply):
            return reply
        return replace(reply, effects=tuple(change(moment, reply.effects)))

    return changed


def each(kind: Any, portions: Callable[[Moment, Any], Sequence[Any]]) -> Change:
    """Return a change that replaces every effect of a kind."""

    def change(moment: Moment, effects: Sequence[Any]) -> Sequence[Any]:
        made = [portions(moment, effect) if isinstance(effect, kind) else (effect,) for effect in effects]
        return [item for several in made for item in several]

    return of_effects(change)


# -------------------------------------------------------------------------------------------------------------
# Writes and syncs.
# -------------------------------------------------------------------------------------------------------------


def _file(state: ReplicaState) -> TracedPersistQuorumState:
    return disk_of(traced_state(state)).file


def _writes_again(moment: Moment, effects: Effects) -> Effects:
    """Write the quorum state file again before and after every step of a running replica."""
    if Role.STOPPED in (moment.before.role, moment.after.role):
        return effects
    synced = [effect for effect in effects if isinstance(effect, TracedFlushLog)]
    return (_file(moment.before), *effects, _file(moment.after), *synced)


def _ids_of_votes_alone(moment: Moment, whole: TracedPersistQuorumState) -> Effects:
    """At kraft.version 0, let a restart only read the file, which has no directory ids; hide its version."""
    only_reads = isinstance(moment.request, Restart) and whole.version == 0
    return () if only_reads else (replace(whole, version=UNSET),)


def _names_no_cluster(_: Moment, sent: TracedSend) -> Effects:
    """Omit the cluster id of requests."""
    has_place = hasattr(sent.message, "cluster_id")
    return (TracedSend(replace(sent.message, cluster_id=None)),) if has_place else (sent,)


def _epoch_first(moment: Moment, whole: TracedPersistQuorumState) -> Effects:
    """Write a new epoch, then the vote, then the leader."""
    if whole.epoch == moment.before.epoch:
        return (whole,)
    epoch = replace(whole, leader_id=None, voted_key=None)
    return (epoch, replace(epoch, voted_key=whole.voted_key), whole)


def _syncs_at_once(moment: Moment, effects: Effects) -> Effects:
    """Sync every append, and show it in the state."""
    made: list[TracedEffect] = []
    for effect in effects:
        made.append(effect)
        if isinstance(effect, TracedAppendRecords):
            made.append(TracedFlushLog(effect.base_offset + len(effect.records)))
    log = moment.after.log
    moment.replica.state = moment.after._replace(log=log._replace(flushed=log.end_offset))
    return made


def _file_of_another_epoch(moment: Moment, effects: Effects) -> Effects:
    before = moment.before
    return (replace(_file(before), epoch=before.epoch + 1, voted_key=None, leader_id=None), *effects)


def _bare(_: Moment, sent: TracedSend) -> Effects:
    """Omit fields of responses that Kafka's schemas do not have."""
    message = sent.message
    nowhere = [name for name in message.__struct_fields__ if not has_place(message, name)]
    return (replace(sent, message=replace(message, **dict.fromkeys(nowhere, UNSET))),)


def _hides_the_leader(_: Moment, sent: TracedSend) -> Effects:
    """Omit the leader of Vote responses, which Kafka's schema has."""
    is_vote = isinstance(sent.message, TracedVoteResponse)
    return (replace(sent, message=replace(sent.message, leader_id=UNSET)) if is_vote else sent,)


def _high_watermark_zero(moment: Moment, reply: Reply) -> Reply:
    """Show a high watermark of 0 while none is known, in error responses, and while nothing can be committed."""
    if isinstance(reply, ObserveReply):
        return replace(reply, state=_with_zero(reply.state))

    def portions(at: Moment, sent: TracedSend) -> Effects:
        return (_zero(sent) if has_error(sent.message) or is_first_of_all(at.before) else sent,)

    return each(TracedSend, portions)(moment, reply)


def _zero(sent: TracedSend) -> TracedSend:
    return TracedSend(_with_zero(sent.message)) if isinstance(sent.message, TracedFetchResponse) else sent


def _with_zero(displayed: Any) -> Any:
    return replace(displayed, high_watermark=0) if displayed.high_watermark == UNKNOWN_HIGH_WATERMARK else displayed


# -------------------------------------------------------------------------------------------------------------
# Timers.
# -------------------------------------------------------------------------------------------------------------


def elections(effects: Effects) -> list[TracedStartTimer]:
    """Return the started election timers."""
    return [effect for effect in effects if isinstance(effect, TracedStartTimer) and effect.timer is Timer.ELECTION]


def without_elections(effects: Effects) -> Effects:
    """Return all other effects."""
    return [effect for effect in effects if effect not in elections(effects)]


def _with_timer(effects: Effects, milliseconds: int = _MS) -> Effects:
    return (*effects, TracedStartTimer(Timer.ELECTION, milliseconds))


def _handed_over_late(moment: Moment, effects: Effects) -> Effects:
    """Become Unattached from Resigned with a new timer instead of an expired one."""
    is_late = moment.is_between(Role.RESIGNED, Role.UNATTACHED) and elections(effects)
    return _with_timer(without_elections(effects)) if is_late else effects


def _fresh_timer(moment: Moment, effects: Effects) -> Effects:
    """Become Unattached in another epoch with a new timer."""
    before, after = moment.before, moment.after
    kept = before.role in (Role.UNATTACHED, Role.RESIGNED) and after.role is Role.UNATTACHED and is_voter(after)
    return _with_timer(effects) if kept and after.epoch != before.epoch and not elections(effects) else effects


def _remaining_timer(moment: Moment, effects: Effects) -> Effects:
    """Become Unattached with the remaining timer of a Prospective or Candidate: none if it has fired."""
    if moment.before.role not in (Role.PROSPECTIVE, Role.CANDIDATE) or moment.after.role is not Role.UNATTACHED:
        return effects
    left = without_elections(effects)
    return _with_timer(left, 0) if moment.event == "ElectionTimeout" else left


def _granted(effects: Effects, *, pre_vote: bool) -> bool:
    answers = [effect.message for effect in effects if isinstance(effect, TracedSend)]
    return any(
        isinstance(answer, TracedVoteResponse) and answer.granted and answer.pre_vote is pre_vote for answer in answers
    )


def _granted_again(moment: Moment, effects: Effects) -> Effects:
    """Start the election timer again with every grant, even a repeated one."""
    runs = moment.after.role in _ELECTION_TIMER and is_voter(moment.after)
    return _with_timer(effects) if runs and _granted(effects, pre_vote=False) and not elections(effects) else effects


def _in_passing(moment: Moment, effects: Effects) -> Effects:
    """Let a sole voter start the timers of the roles that it passes through."""
    passes = moment.after.role is Role.LEADER and moment.before.role not in (Role.LEADER, Role.CANDIDATE)
    return _with_timer(effects) if passes and len(moment.after.voters) == 1 else effects


def _never_again(moment: Moment, effects: Effects) -> Effects:
    """Become Unattached without a timer."""
    return without_elections(effects) if moment.after.role is Role.UNATTACHED else effects


def _restarts_on_pre_vote(_: Moment, effects: Effects) -> Effects:
    return _with_timer(effects) if _granted(effects, pre_vote=True) else effects


def _restarts_on_refusal(moment: Moment, effects: Effects) -> Effects:
    refuses = moment.event == "HandleVoteRequest" and not elections(effects)
    grants = _granted(effects, pre_vote=True) or _granted(effects, pre_vote=False)
    return _with_timer(effects) if refuses and not grants else effects


def _fires_at_once(moment: Moment, timer: TracedStartTimer) -> Effects:
    """Start the election timer of a new Candidate with 0 ms."""
    return (replace(timer, duration_ms=0) if moment.after.role is Role.CANDIDATE else timer,)


def _at_once(moment: Moment, effects: Effects) -> Effects:
    """Start the fetch timer with 0 ms at every position in the list of candidates."""
    if moment.event != "HandleEndQuorumEpochRequest":
        return effects
    return [replace(effect, duration_ms=0) if isinstance(effect, TracedStartTimer) else effect for effect in effects]


def _at_once_with_no_candidates(moment: Moment, effects: Effects) -> Effects:
    message = getattr(moment.request, "message", UNSET)
    return effects if getattr(message, "preferred_candidates", ()) else _at_once(moment, effects)


# -------------------------------------------------------------------------------------------------------------
# Decisions that are open, and states that no answer to them leads to.
# -------------------------------------------------------------------------------------------------------------


def decides(**answers: Any) -> Change:
    """Return a change with other settings than the cluster's profile."""

    def change(moment: Moment, reply: Reply) -> Reply:
        if isinstance(moment.request, Reset):
            replica = moment.replica
            profile = with_settings(replica.configuration.profile, **answers)
            replica.configuration = replaced(replica.configuration, profile=profile)
        return reply

    return change


def _becomes(state: Callable[[ReplicaState, ReplicaState], ReplicaState]) -> Change:
    """Return a change of the state, computed from the states before and after."""

    def change(moment: Moment, reply: Reply) -> Reply:
        if isinstance(moment.request, Step | Crash | Restart):
            moment.replica.state = state(moment.before, moment.after)
        return reply

    return change


def _watermark_falls(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Reset the high watermark at every event of a leader, not only at its election."""
    leads = before.role is after.role is Role.LEADER and before.high_watermark > UNKNOWN_HIGH_WATERMARK
    return after._replace(high_watermark=UNKNOWN_HIGH_WATERMARK) if leads else after


def _refuses_for_ever(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Stay Follower when the fetch timer fires."""
    lost = before.role is Role.FOLLOWER and after.role is Role.PROSPECTIVE and before.fetched
    return before if lost else after


def _forgets_vote(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Restart as Unattached without the replica's own vote."""
    started = before.role is Role.STOPPED is not after.role and after.role is Role.UNATTACHED
    return after._replace(voted_key=None) if started else after


def _commits_at_election(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Let a new leader commit its whole log."""
    elected = before.role is not Role.LEADER and after.role is Role.LEADER
    return after._replace(high_watermark=after.log.end_offset) if elected else after


def _never_announces_again(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Let a leader stop announcing itself after a request timeout, even when its timer fires."""
    leads = before.role is after.role is Role.LEADER and before.epoch == after.epoch
    given_up = (before.acknowledging_voters | before.awaiting.keys()) - after.awaiting.keys()
    return after._replace(acknowledging_voters=after.acknowledging_voters | given_up) if leads else after


def _cuts_everything(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Truncate the whole log whenever the reference truncates a part."""
    is_cut = after.log.end_offset < before.log.end_offset
    return after._replace(log=truncate(after.log, after.log.start_offset)) if is_cut else after


def _without_a_leaders_vote(_: ReplicaState, after: ReplicaState) -> ReplicaState:
    """Omit a leader's vote for itself."""
    led = after.leader_id == after.key.id
    return after._replace(voted_key=None) if led and after.voted_key == after.key else after


def _file_without_a_leaders_vote(moment: Moment, whole: TracedPersistQuorumState) -> Effects:
    votes = (whole.leader_id, whole.voted_key) == (moment.after.key.id, traced_key(moment.after.key))
    return (replace(whole, voted_key=None) if votes else whole,)


def _leaders_vote_left_out(moment: Moment, reply: Reply) -> Reply:
    """Omit it in the state and in the file."""
    _becomes(_without_a_leaders_vote)(moment, reply)
    return each(TracedPersistQuorumState, _file_without_a_leaders_vote)(moment, reply)


# -------------------------------------------------------------------------------------------------------------
# Requests beyond those of the reference.
# -------------------------------------------------------------------------------------------------------------

Extra = Callable[[Moment, Draw], Sequence[Message]]
"""Additional requests of a step."""


def _sends_more(extra: Extra) -> Change:
    """Await the newest of two requests on a connection, and send no third meanwhile."""

    def change(moment: Moment, reply: Reply) -> Reply:
        request = moment.request
        if not isinstance(request, Step) or request.crash is not UNSET or not isinstance(reply, StepReply):
            return reply
        sent = {effect.message.destination for effect in reply.effects if isinstance(effect, TracedSend)}
        drawn = extra(moment, Draw(request.draw.correlation_id, 0, 0))
        more = [message for message in drawn if message.destination not in sent]
        awaiting = {**moment.after.awaiting, **{message.destination: message.correlation_id for message in more}}
        moment.replica.state = moment.after._replace(awaiting=awaiting)
        effects = (*reply.effects, *[traced_effect(1, Send(message)) for message in more])
        return replace(reply, effects=effects, refusal=None if more else reply.refusal)

    return change


def _messages(outcome: Outcome) -> list[Message]:
    return [send for send in outcome.sends if not isinstance(send, ClientReply)]


def _poll_without(*fields: str) -> Extra:
    """Return the requests of a poll without these fields of the state."""

    def extra(moment: Moment, draw: Draw) -> Sequence[Message]:
        unaware = moment.before._replace(**{name: type(getattr(moment.before, name))() for name in fields})
        is_poll = moment.event == "Poll"
        return _messages(after_poll(unaware, moment.replica.configuration, draw)) if is_poll else ()

    return extra


def _asks_all_servers(moment: Moment, draw: Draw) -> Sequence[Message]:
    idle, configuration = moment.before._replace(awaiting={}), moment.replica.configuration
    targets = due_fetch_targets(idle, configuration) if moment.event == "PollFetch" else ()
    return [message for to in targets for message in _messages(after_poll_fetch(idle, configuration, to, draw))]


def _when_leading(of: Extra) -> Extra:
    def extra(moment: Moment, draw: Draw) -> Sequence[Message]:
        return of(moment, draw) if moment.event == "Poll" and moment.before.role is Role.LEADER else ()

    return extra


_announced_to_all = _when_leading(_poll_without("awaiting", "acknowledging_voters", "fetchers"))


announces_again = _sends_more(_when_leading(_poll_without("acknowledging_voters", "fetchers")))
"""Choices that are right if a replica sends one request at a time, because an announcement occupies a connection."""


def _to_an_observer(moment: Moment, draw: Draw) -> Sequence[Message]:
    key, configuration = ReplicaKey(9, "U9"), moment.replica.configuration
    return (begin_quorum_epoch_request(moment.before, configuration, key, draw.correlation_id),)


def _ends(moment: Moment, draw: Draw) -> Sequence[Message]:
    before, configuration = moment.before, moment.replica.configuration
    return [end_quorum_epoch_request(before, configuration, to, draw.correlation_id) for to in other_voters(before)]


def _of_another_epoch(moment: Moment, draw: Draw) -> Sequence[Message]:
    return _announced_to_all(moment._replace(before=moment.before._replace(epoch=moment.before.epoch + 1)), draw)


def _fetches_elsewhere(moment: Moment, draw: Draw) -> Sequence[Message]:
    before, configuration = moment.before, moment.replica.configuration
    if moment.event != "PollFetch" or before.role is not Role.FOLLOWER or before.searching:
        return ()
    remaining = [voter.id for voter in other_voters(before) if voter.id != before.leader_id]
    return [fetch_request(before, configuration, item, draw.correlation_id) for item in remaining]


RIGHT: dict[str, Change] = {
    "epoch-first": each(TracedPersistQuorumState, _epoch_first),
    "writes-again": of_effects(_writes_again),
    "ids-of-votes-alone": each(TracedPersistQuorumState, _ids_of_votes_alone),
    "syncs-what-it-cuts": each(TracedTruncateLog, lambda _, cut: (TracedFlushLog(cut.end_offset + 1), cut)),
    "syncs-at-once": of_effects(_syncs_at_once),
    "handed-over-late": of_effects(_handed_over_late),
    "fresh-timer": of_effects(_fresh_timer),
    "remaining-timer": of_effects(_remaining_timer),
    "granted-again": of_effects(_granted_again),
    "in-passing": of_effects(_in_passing),
    "hurries-with-no-candidates": of_effects(_at_once_with_no_candidates),
    "leaders-vote-left-out": _leaders_vote_left_out,
    "bare-responses": each(TracedSend, _bare),
    "high-watermark-zero": _high_watermark_zero,
    "names-no-cluster": each(TracedSend, _names_no_cluster),
    "high-watermark-unknown": decides(leader_high_watermark="unknown"),
    "goes-on-refusing": decides(end_quorum_fetched_flag="kept"),
    "restarts-unattached": decides(own_vote_at_restart="unattached"),
    "restarts-prospective": decides(own_vote_at_restart="prospective"),
    "remembers-directory-id": decides(voted_directory_at_version_0="remembered"),
    "announces-by-timer": decides(announcement_again="by-timer"),
    "cuts-at-the-smaller-offset": decides(diverging_cut="smaller-offset"),
    "votes-after-lost-file": decides(vote_of_lost_file="free"),
}
"""The last of two modes about a decision counts."""

RIGHT_REQUESTS: dict[str, Change] = {
    "announces-to-all": _sends_more(_announced_to_all),
    "asks-all-servers": _sends_more(_asks_all_servers),
    "repeats": _sends_more(_poll_without("awaiting")),
}
"""At most one of these modes at a time, because each tracks its additional requests."""


def _written_first(wrong: Callable[[Moment, TracedPersistQuorumState], TracedPersistQuorumState]) -> Change:
    return each(TracedPersistQuorumState, lambda moment, whole: (wrong(moment, whole), whole))


WRONG: dict[str, Change] = {
    "forgets-vote-first": _written_first(lambda _, whole: replace(whole, voted_key=None, leader_id=None)),
    "vote-left-out": each(TracedPersistQuorumState, lambda _, whole: (replace(whole, voted_key=None),)),
    "vote-in-old-epoch-first": _written_first(lambda m, whole: replace(_file(m.before), voted_key=whole.voted_key)),
    "another-vote-first": _written_first(lambda _, whole: replace(whole, voted_key=TracedKey(9, "U9"))),
    "file-of-another-epoch": of_effects(_file_of_another_epoch),
    "cuts-all-first": each(TracedTruncateLog, lambda _, cut: (TracedTruncateLog(0), cut)),
    "appends-elsewhere-first": each(
        TracedAppendRecords,
        lambda _, tracedappendrecord: (replace(tracedappendrecord, base_offset=0), tracedappendrecord),
    ),
    "hides-the-leader": each(TracedSend, _hides_the_leader),
    "never-again": of_effects(_never_again),
    "restarts-on-pre-vote": of_effects(_restarts_on_pre_vote),
    "restarts-on-refusal": of_effects(_restarts_on_refusal),
    "fires-at-once": each(TracedStartTimer, _fires_at_once),
    "always-hurries": of_effects(_at_once),
    "publishes-zero": each(TracedSend, lambda _, sent: (_zero(sent),)),
    "high-watermark-falls": _becomes(_watermark_falls),
    "refuses-for-ever": _becomes(_refuses_for_ever),
    "restarts-without-vote": _becomes(_forgets_vote),
    "never-announces-again": _becomes(_never_announces_again),
    "cuts-everything": _becomes(_cuts_everything),
    "commits-at-election": _becomes(_commits_at_election),
    "announces-to-observers": _sends_more(_when_leading(_to_an_observer)),
    "announces-another-epoch": _sends_more(_of_another_epoch),
    "asks-who-answered": _sends_more(_poll_without("awaiting", "granted", "rejected")),
    "ends-when-leading": _sends_more(_when_leading(_ends)),
    "fetches-elsewhere": _sends_more(_fetches_elsewhere),
}
"""The nearest wrong choices."""
