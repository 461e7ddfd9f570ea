"""Alternatives of timers: the KIPs say little about election timers, and most of it with SHOULD."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from kraft_reference.effects import Timer
from kraft_reference.roles import Role
from kraft_traces.alternatives.values import Alternative, MayStart
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.message_types import TracedEndQuorumEpochRequest, TracedVoteResponse
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import EventName

_OF_A_LEADER = (Timer.CHECK_QUORUM, Timer.BEGIN_QUORUM_EPOCH)

_RUNNING = frozenset({Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED})
"""The roles in which a voter has an election timer."""


def timer_alternatives(
    event: EventName, message: object, before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> tuple[Alternative, ...]:
    """Return the alternatives of the timers that a step starts; `message` is the delivered message, if there is one.

    - Casting a vote need not restart a running election timer.
    - From Resigned to Unattached, the election timeout may differ from the expired one.
    - From Prospective or Candidate to Unattached, the replica may keep the running election timer.  If that has
      expired, it starts none, or one that fires at once.
    - A Candidate that can no longer win may keep its timer, or not wait at all.
    - An observer whose fetch timer has fired searches until it has fetched, so another timeout changes nothing.
    - An upgrade need not have a deadline.
    - A leader that was the only voter may have run its timers all the time.
    - A Follower that receives an empty list of preferred candidates may become a candidate at once, or wait.

    Rules: vote.grant.resets-timer, state.resigned.timer-handover, state.unattached.entry-timer, state.candidate.lost,
    observer.fetch-timeout, kraft-version.reply-after-commit, check-quorum.sole-voter, end-quorum.handle.
    """
    started = [(f"outputs[{n}]", it.timer) for n, it in enumerate(outputs) if isinstance(it, TracedStartTimer)]
    alternatives = [
        alternative
        for path, timer in started
        if timer is Timer.ELECTION
        for alternative in _of_election_timer(path, event, before, outputs, changes)
    ]
    absent: dict[Timer, str] = {}
    if event == "FetchTimeout" and _role_after(before, changes) is Role.FOLLOWER:
        absent[Timer.FETCH] = "observer.fetch-timeout: the observer searches already when it fires again"
    if event == "UpdateFeatures":
        absent[Timer.VOTER_CHANGE] = "kraft-version.reply-after-commit sets no time"
    if before.role is Role.LEADER and _is_alone(before, TracedState()):
        absent |= dict.fromkeys(_OF_A_LEADER, "check-quorum.sole-voter does not say that none may run")
    alternatives += [Alternative(path, absent[timer], absent=True) for path, timer in started if timer in absent]
    if isinstance(message, TracedEndQuorumEpochRequest) and message.preferred_candidates == ():
        reason = "end-quorum.handle leaves open what an empty list says"
        fetch = [path for path, timer in started if timer is Timer.FETCH]
        alternatives += [Alternative(f"{path}.duration_ms", reason, free=True) for path in fetch]
    return tuple(alternatives)


def _of_election_timer(
    path: str, event: EventName, before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> Iterator[Alternative]:
    duration = f"{path}.duration_ms"
    fired = event == "ElectionTimeout"
    match before.role, _role_after(before, changes):
        case Role.RESIGNED, Role.UNATTACHED if fired:
            yield Alternative(duration, "state.resigned.timer-handover says SHOULD", free=True)
        case ((Role.PROSPECTIVE | Role.CANDIDATE), Role.UNATTACHED) if fired:
            yield Alternative(duration, "state.unattached.entry-timer says SHOULD", free=True)
        case ((Role.PROSPECTIVE | Role.CANDIDATE | Role.RESIGNED), Role.UNATTACHED):
            yield Alternative(path, "state.unattached.entry-timer says SHOULD", absent=True)
        case Role.CANDIDATE, Role.CANDIDATE if event == "HandleVoteResponse":
            reason = "state.candidate.lost leaves open how it waits"
            yield Alternative(path, reason, absent=True)
            yield Alternative(duration, reason, free=True)
        case earlier, later if earlier == later and _grants(outputs):
            yield Alternative(path, "vote.grant.resets-timer says SHOULD", absent=True)
        case _:
            pass


def may_start(before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState) -> tuple[MayStart, ...]:
    """Return the timers that a step may start although the reference does not.

    Rules: state.unattached.entry-timer, vote.grant.resets-timer, state.sole-voter, check-quorum.sole-voter.
    """
    alone = _role_after(before, changes) is Role.LEADER and _is_alone(before, changes)
    reason = "check-quorum.sole-voter: nothing comes of one that fires"
    return (
        *_may_start_election(before, outputs, changes),
        *[MayStart(timer, reason) for timer in _OF_A_LEADER if alone],
    )


def _may_start_election(
    before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> tuple[MayStart, ...]:
    started = any(isinstance(output, TracedStartTimer) and output.timer is Timer.ELECTION for output in outputs)
    if started or not _is_voter(before, changes):
        return ()
    role = _role_after(before, changes)
    enters = changes.epoch is not UNSET or changes.leader_id is not UNSET
    if role is Role.UNATTACHED and before.role in (Role.UNATTACHED, Role.RESIGNED) and enters:
        reason = "state.unattached.entry-timer says SHOULD"
    elif role in _RUNNING and _grants(outputs):
        reason = "vote.grant.resets-timer says SHOULD, and not that it must be the first time"
    elif changes.role is Role.LEADER and before.role is not Role.CANDIDATE:
        reason = "state.sole-voter passes through Prospective and Candidate"
    else:
        return ()
    return (MayStart(Timer.ELECTION, reason),)


def _role_after(before: TracedState, changes: TracedState) -> object:
    return before.role if changes.role is UNSET else changes.role


def _is_alone(before: TracedState, changes: TracedState) -> bool:
    """True if the replica is the only voter of its newest voter set after the step."""
    entry = before.voters if changes.voters is UNSET else changes.voters
    assert entry is not UNSET, "a vector has every field"
    assert entry.voters is not UNSET, "and every part of it"
    return len(entry.voters) == 1 and _is_voter(before, changes)


def _is_voter(before: TracedState, changes: TracedState) -> bool:
    """True if the replica is in its newest voter set after the step."""
    entry = before.voters if changes.voters is UNSET else changes.voters
    key = before.replica_key if changes.replica_key is UNSET else changes.replica_key
    assert entry is not UNSET, "a vector has every field"
    assert entry.voters is not UNSET, "and every part of it"
    assert key is not UNSET, "of a replica that has a name"
    named = [voter.directory_id for voter in entry.voters if voter.id == key.id]
    return None in named or key.directory_id in named


def _grants(outputs: Sequence[TracedEffect]) -> bool:
    answers = [output.message for output in outputs if isinstance(output, TracedSend)]
    votes = [answer for answer in answers if isinstance(answer, TracedVoteResponse)]
    return any(vote.granted is True and vote.pre_vote is False for vote in votes)
