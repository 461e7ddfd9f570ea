"""The reference that makes other choices in what it writes, syncs and times, and the nearest wrong ones.

`AllChoices` makes every choice that is right at once, those about Fetches and of open decisions among them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace as replaced

from msgspec import UNSET
from msgspec.structs import replace
from tests.conformance.choosing_adapter import RIGHT as OPEN_DECISIONS
from tests.conformance.fetching_adapter import RIGHT as FETCHES
from tests.conformance.fetching_adapter import Fetching

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request, Reset, Restart, RestartReply, Step, StepReply
from kraft_reference.effects import Timer
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, is_voter
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedSend,
    TracedStartTimer,
)
from kraft_traces.latitude.writes import disk_of
from kraft_traces.message_types import TracedVoteResponse
from kraft_traces.states import traced_state
from kraft_traces.values import TracedKey

Effects = Sequence[TracedEffect]
Choice = Callable[[ReplicaState, ReplicaState, Request, Effects], Effects]
"""From the states before and after a step, and what the reference does in it."""

_MS = 1700
ELECTION_TIMER = (Role.UNATTACHED, Role.PROSPECTIVE, Role.CANDIDATE, Role.RESIGNED)


def _file(state: ReplicaState) -> TracedPersistQuorumState:
    return disk_of(traced_state(state)).file


def _writes_again(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """What the file holds is written before every step and after it, where somebody runs to do it."""
    if Role.STOPPED in (before.role, after.role):
        return effects
    return (_file(before), *effects, _file(after))


def _each_file(effects: Effects, portions: Callable[[TracedPersistQuorumState], Effects]) -> Effects:
    made: list[TracedEffect] = []
    for effect in effects:
        made += portions(effect) if isinstance(effect, TracedPersistQuorumState) else (effect,)
    return made


def _epoch_first(before: ReplicaState, _: ReplicaState, __: Request, effects: Effects) -> Effects:
    """A new epoch is written, then the vote, then the leader."""

    def portions(whole: TracedPersistQuorumState) -> Effects:
        if whole.epoch == before.epoch:
            return (whole,)
        epoch = replace(whole, leader_id=None, voted_key=None)
        return (epoch, replace(epoch, voted_key=whole.voted_key), whole)

    return _each_file(effects, portions)


def _syncs_at_once(_: ReplicaState, after: ReplicaState, __: Request, effects: Effects) -> Effects:
    """Every append is synced; `Free` lets the state follow."""
    made: list[TracedEffect] = []
    for effect in effects:
        made.append(effect)
        if isinstance(effect, TracedAppendRecords):
            made.append(TracedFlushLog(effect.base_offset + len(effect.records)))
    return made


def _elections(effects: Effects) -> list[TracedStartTimer]:
    return [one for one in effects if isinstance(one, TracedStartTimer) and one.timer is Timer.ELECTION]


def _without_elections(effects: Effects) -> Effects:
    return [one for one in effects if one not in _elections(effects)]


def _handed_over_late(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """From Resigned to Unattached with another timer than one that has fired."""
    if (before.role, after.role) != (Role.RESIGNED, Role.UNATTACHED) or not _elections(effects):
        return effects
    return (*_without_elections(effects), TracedStartTimer(Timer.ELECTION, _MS))


def _fresh_timer(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """Unattached in another epoch with a fresh timer."""
    kept = before.role in (Role.UNATTACHED, Role.RESIGNED) and after.role is Role.UNATTACHED and is_voter(after)
    if not kept or after.epoch == before.epoch or _elections(effects):
        return effects
    return (*effects, TracedStartTimer(Timer.ELECTION, _MS))


def _remaining_timer(before: ReplicaState, after: ReplicaState, request: Request, effects: Effects) -> Effects:
    """Unattached with what is left of the timer of a Prospective or Candidate: nothing, when that has fired."""
    if before.role not in (Role.PROSPECTIVE, Role.CANDIDATE) or after.role is not Role.UNATTACHED:
        return effects
    if isinstance(request, Step) and request.event == "ElectionTimeout":
        return (*_without_elections(effects), TracedStartTimer(Timer.ELECTION, 0))
    return _without_elections(effects)


def _granted(effects: Effects, *, pre_vote: bool) -> bool:
    answers = [one.message for one in effects if isinstance(one, TracedSend)]
    return any(isinstance(one, TracedVoteResponse) and one.granted and one.pre_vote is pre_vote for one in answers)


def _granted_again(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """The election timer is started again with every grant, a repeated one among them."""
    if not _granted(effects, pre_vote=False) or after.role not in ELECTION_TIMER or _elections(effects):
        return effects
    return (*effects, TracedStartTimer(Timer.ELECTION, _MS)) if is_voter(after) else effects


def _in_passing(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """A sole voter starts the timers of the roles that it passes through."""
    passes = after.role is Role.LEADER and before.role not in (Role.LEADER, Role.CANDIDATE)
    if not passes or len(after.voters) != 1:
        return effects
    return (*effects, TracedStartTimer(Timer.ELECTION, _MS))


RIGHT: dict[str, Choice] = {
    "epoch-first": _epoch_first,
    "writes-again": _writes_again,
    "syncs-at-once": _syncs_at_once,
    "handed-over-late": _handed_over_late,
    "fresh-timer": _fresh_timer,
    "remaining-timer": _remaining_timer,
    "granted-again": _granted_again,
    "in-passing": _in_passing,
}


def _first(wrong: Callable[[TracedPersistQuorumState, TracedPersistQuorumState], TracedPersistQuorumState]) -> Choice:
    """Before the file is written, something else is."""

    def choice(before: ReplicaState, _: ReplicaState, __: Request, effects: Effects) -> Effects:
        return _each_file(effects, lambda whole: (wrong(_file(before), whole), whole))

    return choice


def _file_of_another_epoch(before: ReplicaState, _: ReplicaState, __: Request, effects: Effects) -> Effects:
    return (replace(_file(before), epoch=before.epoch + 1, voted_key=None, leader_id=None), *effects)


def _never_again(before: ReplicaState, after: ReplicaState, _: Request, effects: Effects) -> Effects:
    """Unattached without a timer."""
    return _without_elections(effects) if after.role is Role.UNATTACHED else effects


def _restarts_on_pre_vote(_: ReplicaState, __: ReplicaState, ___: Request, effects: Effects) -> Effects:
    if not _granted(effects, pre_vote=True):
        return effects
    return (*effects, TracedStartTimer(Timer.ELECTION, _MS))


def _restarts_on_refusal(_: ReplicaState, after: ReplicaState, request: Request, effects: Effects) -> Effects:
    refuses = isinstance(request, Step) and request.event == "HandleVoteRequest" and not _elections(effects)
    if not refuses or _granted(effects, pre_vote=True) or _granted(effects, pre_vote=False):
        return effects
    return (*effects, TracedStartTimer(Timer.ELECTION, _MS))


def _fires_at_once(_: ReplicaState, after: ReplicaState, __: Request, effects: Effects) -> Effects:
    """The election timer of a Candidate that begins has run out already."""
    if after.role is not Role.CANDIDATE:
        return effects
    return [replace(one, duration_ms=0) if isinstance(one, TracedStartTimer) else one for one in effects]


WRONG: dict[str, Choice] = {
    "forgets-vote-first": _first(lambda file, whole: replace(whole, voted_key=None, leader_id=None)),
    "vote-in-old-epoch-first": _first(lambda file, whole: replace(file, voted_key=whole.voted_key)),
    "another-vote-first": _first(lambda file, whole: replace(whole, voted_key=TracedKey(9, "U9"))),
    "file-of-another-epoch": _file_of_another_epoch,
    "never-again": _never_again,
    "restarts-on-pre-vote": _restarts_on_pre_vote,
    "restarts-on-refusal": _restarts_on_refusal,
    "fires-at-once": _fires_at_once,
}


class Free(ReferenceAdapter):
    """The reference with these choices, one after the other."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names

    def answer(self, request: Request) -> Reply:
        """Carry out a request."""
        if not isinstance(request, Step | Restart):
            return super().answer(request)
        before = self.replica().state
        reply = super().answer(request)
        if not isinstance(reply, StepReply | RestartReply):
            return reply
        replica = self.replica()
        effects: Effects = reply.effects
        crash = getattr(request, "crash", UNSET)
        for name in self._names if crash is UNSET else ():
            effects = {**RIGHT, **WRONG}[name](before, replica.state, request, effects)
        if "syncs-at-once" in self._names and crash is UNSET:
            log = replica.state.log
            replica.state = replica.state._replace(log=log._replace(flushed=log.end_offset))
        return replace(reply, effects=tuple(effects))


class _Decided(ReferenceAdapter):
    """The reference with other answers to the open decisions, whatever the cluster's profile says."""

    def answer(self, request: Request) -> Reply:
        """Carry out a request."""
        reply = super().answer(request)
        if isinstance(request, Reset):
            replica = self.replica()
            answers = {decision: answer for one in OPEN_DECISIONS.values() for decision, answer in one.items()}
            profile = replaced(replica.configuration.profile, **answers)  # type: ignore[arg-type]
            replica.configuration = replaced(replica.configuration, profile=profile)
        return reply


class AllChoices(Free, Fetching, _Decided):
    """Every choice at once; `level` is what it shows: `state` with injection, or less without it."""

    def __init__(self, level: Level = "state") -> None:
        Fetching.__init__(self, frozenset(FETCHES), level)
        # Who hides when it syncs has to lose what the runner cannot know to be synced.
        self._names = tuple([one for one in RIGHT if level != "wire" or one != "syncs-at-once"])

    def answer(self, request: Request) -> Reply:
        """Carry out a request."""
        return super()._limited(super().answer(request))

    def _limited(self, reply: Reply) -> Reply:
        # Not before all of them have been made.
        return reply
