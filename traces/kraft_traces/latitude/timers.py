"""When a timer may be started otherwise: the texts fix little of election timers, and most of that with SHOULD."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET

from kraft_reference.effects import Timer
from kraft_reference.roles import Role
from kraft_traces.effects import TracedEffect, TracedSend, TracedStartTimer
from kraft_traces.latitude.values import Latitude, MayStart
from kraft_traces.message_types import TracedEndQuorumEpochRequest, TracedVoteResponse
from kraft_traces.state_types import TracedState
from kraft_traces.vocabulary import EventName

_OF_A_LEADER = (Timer.CHECK_QUORUM, Timer.BEGIN_QUORUM_EPOCH)

_RUNNING = frozenset({Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED})
"""The roles in which a voter has an election timer."""


def latitude_of(
    event: EventName, message: object, before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> tuple[Latitude, ...]:
    """The latitude of the timers that a step starts; `message` is the traced one that arrives in it, if any does.

    - A vote that is cast need not start it again where one is running.
    - From Resigned to Unattached it may be another one than one that has fired.
    - From Prospective or Candidate to Unattached it may be what is left of the one that runs, which is nothing when
      that has fired: nobody starts it then, or it fires at once.
    - A Candidate that cannot win any more may wait out the one that it has, or for no time.
    - An observer whose fetch timer has fired searches until it has fetched: that it fires again changes nothing.
    - An upgrade need have no time within which it must be over.
    - A leader that was the only voter may have had its timers all the time.
    - A Follower that is told of no preferred candidate may stand at once, or wait.

    Rules: vote.grant.resets-timer, state.resigned.timer-handover, state.unattached.entry-timer, state.candidate.lost,
    observer.fetch-timeout, kraft-version.reply-after-commit, check-quorum.sole-voter, end-quorum.handle.
    """
    started = [(f"outputs[{n}]", one.timer) for n, one in enumerate(outputs) if isinstance(one, TracedStartTimer)]
    found = [
        one
        for path, timer in started
        if timer is Timer.ELECTION
        for one in _of_one(path, event, before, outputs, changes)
    ]
    absent: dict[Timer, str] = {}
    if event == "FetchTimeout" and _role_after(before, changes) is Role.FOLLOWER:
        absent[Timer.FETCH] = "observer.fetch-timeout: the observer searches already when it fires again"
    if event == "UpdateFeatures":
        absent[Timer.VOTER_CHANGE] = "kraft-version.reply-after-commit sets no time"
    if before.role is Role.LEADER and _is_alone(before, TracedState()):
        absent |= dict.fromkeys(_OF_A_LEADER, "check-quorum.sole-voter does not say that none may run")
    found += [Latitude(path, absent[timer], absent=True) for path, timer in started if timer in absent]
    if isinstance(message, TracedEndQuorumEpochRequest) and message.preferred_candidates == ():
        reason = "end-quorum.handle leaves open what an empty list says"
        found += [Latitude(f"{path}.duration_ms", reason, free=True) for path, timer in started if timer is Timer.FETCH]
    return tuple(found)


def _of_one(
    path: str, event: EventName, before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState
) -> Iterator[Latitude]:
    duration = f"{path}.duration_ms"
    fired = event == "ElectionTimeout"
    match before.role, _role_after(before, changes):
        case Role.RESIGNED, Role.UNATTACHED if fired:
            yield Latitude(duration, "state.resigned.timer-handover says SHOULD", free=True)
        case ((Role.PROSPECTIVE | Role.CANDIDATE), Role.UNATTACHED) if fired:
            yield Latitude(duration, "state.unattached.entry-timer says SHOULD", free=True)
        case ((Role.PROSPECTIVE | Role.CANDIDATE | Role.RESIGNED), Role.UNATTACHED):
            yield Latitude(path, "state.unattached.entry-timer says SHOULD", absent=True)
        case Role.CANDIDATE, Role.CANDIDATE if event == "HandleVoteResponse":
            reason = "state.candidate.lost leaves open how it waits"
            yield Latitude(path, reason, absent=True)
            yield Latitude(duration, reason, free=True)
        case earlier, later if earlier == later and _grants(outputs):
            yield Latitude(path, "vote.grant.resets-timer says SHOULD", absent=True)
        case _:
            pass


def may_start(before: TracedState, outputs: Sequence[TracedEffect], changes: TracedState) -> tuple[MayStart, ...]:
    """The timers that a step may start although the reference does not.

    Rules: state.unattached.entry-timer, vote.grant.resets-timer, state.sole-voter, check-quorum.sole-voter.
    """
    alone = _role_after(before, changes) is Role.LEADER and _is_alone(before, changes)
    reason = "check-quorum.sole-voter: nothing comes of one that fires"
    return (*_may_start_election(before, outputs, changes), *[MayStart(one, reason) for one in _OF_A_LEADER if alone])


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
    """Is it the only voter of its newest voters set afterwards?"""
    entry = before.voters if changes.voters is UNSET else changes.voters
    assert entry is not UNSET, "a vector has every field"
    assert entry.voters is not UNSET, "and every part of it"
    return len(entry.voters) == 1 and _is_voter(before, changes)


def _is_voter(before: TracedState, changes: TracedState) -> bool:
    """Is the replica in its newest voters set afterwards?"""
    entry = before.voters if changes.voters is UNSET else changes.voters
    key = before.replica_key if changes.replica_key is UNSET else changes.replica_key
    assert entry is not UNSET, "a vector has every field"
    assert entry.voters is not UNSET, "and every part of it"
    assert key is not UNSET, "of a replica that has a name"
    named = [voter.directory_id for voter in entry.voters if voter.id == key.id]
    return None in named or key.directory_id in named


def _grants(outputs: Sequence[TracedEffect]) -> bool:
    answers = [output.message for output in outputs if isinstance(output, TracedSend)]
    return any(isinstance(one, TracedVoteResponse) and one.granted is True and one.pre_vote is False for one in answers)
