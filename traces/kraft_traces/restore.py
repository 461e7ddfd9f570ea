"""From the lines of a trace back to the values of the reference, so that a trace can be run again."""

from typing import TypeVar

from msgspec import UNSET, UnsetType

from kraft_reference.cluster.occurrence import (
    AnswerUnsupportedVersion,
    CrashPoint,
    CutLink,
    DropMessage,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
)
from kraft_reference.configuration import Configuration, ReplicaConfiguration, Timeouts
from kraft_reference.effects import Effect, Timer
from kraft_reference.events import (
    AppendVoters,
    BeginQuorumEpochTimeout,
    CheckQuorumTimeout,
    ClientAppend,
    Crash,
    Draw,
    ElectionTimeout,
    Event,
    FetchTimeout,
    Poll,
    PollFetch,
    Receive,
    ReplaceDisk,
    RequestTimeout,
    Restart,
    Shutdown,
)
from kraft_reference.identity import ReplicaKey
from kraft_reference.profile import PROFILES, Profile
from kraft_traces.effects import TracedStartTimer, effect_of
from kraft_traces.errors import IncompleteLineError, UnknownProfileError
from kraft_traces.lines import EventLine, HeaderLine, TracedInput
from kraft_traces.messages import message_of
from kraft_traces.values import voter_set

_Value = TypeVar("_Value")

_WITHOUT_INPUT: dict[str, type[Event]] = {
    event.__name__: event
    for event in (
        ElectionTimeout,
        FetchTimeout,
        CheckQuorumTimeout,
        BeginQuorumEpochTimeout,
        Poll,
        Shutdown,
        Restart,
    )
}


def configuration_of(header: HeaderLine, source: str = "-") -> Configuration:
    """The cluster that a header describes; what the header may leave out takes the reference's default.

    Args:
        header: a header line.
        source: the file that it stands in, for the error.

    Raises:
        UnknownProfileError: there is no such profile.
    """
    profile = PROFILES.get(header.profile)
    if header.decisions is not UNSET:
        given = {name: getattr(header.decisions, name) for name in header.decisions.__struct_fields__}
        stated = Profile(header.profile, **given)
        if profile not in (None, stated):
            detail = f"other answers than those of the profile {header.profile!r}, expected a name of its own"
            raise UnknownProfileError(detail, source, 1, "$.decisions")
        profile = stated
    if profile is None:
        known = ", ".join(PROFILES)
        detail = f"unknown profile {header.profile!r}, expected one of {known}, or its decisions"
        raise UnknownProfileError(detail, source, 1, "$.profile")
    timeouts = header.timeouts
    return Configuration(
        replicas={
            replica.id: ReplicaConfiguration(
                ReplicaKey(replica.id, replica.directory_id), replica.endpoint, replica.pre_vote, replica.endpoints
            )
            for replica in header.replicas
        },
        voters=voter_set(header.voters),
        kraft_version=header.kraft_version,
        bootstrap_servers=header.bootstrap_servers,
        cluster_id=header.cluster_id,
        fetch_max_records=header.fetch_max_records,
        profile=profile,
        switched_off=frozenset(header.switched_off),
        timeouts=Timeouts()
        if timeouts is UNSET
        else Timeouts(
            timeouts.election_timeout_ms,
            timeouts.election_backoff_max_ms,
            timeouts.fetch_timeout_ms,
            timeouts.fetch_interval_ms,
            timeouts.request_timeout_ms,
        ),
    )


def event_of(line: EventLine) -> Event | NetworkEvent:
    """The event of a line.

    Raises:
        IncompleteLineError: the line leaves out a part of it.
    """
    plain = _WITHOUT_INPUT.get(line.event)
    if plain is not None:
        return plain()  # type: ignore[call-arg]  # they have no fields
    if line.event.startswith("Handle"):
        if line.message is UNSET:
            raise IncompleteLineError("$.message")
        return Receive(message_of(line.message))
    if line.input is UNSET:
        raise IncompleteLineError("$.input")
    return _event_with_input(line.event, line.input)


def _event_with_input(name: str, given: TracedInput) -> Event | NetworkEvent:
    match name:
        case "RequestTimeout":
            return RequestTimeout(_observed(given.destination, "destination"))
        case "PollFetch":
            return PollFetch(_observed(given.destination, "destination"))
        case "ClientAppend":
            return ClientAppend(_observed(given.value, "value"))
        case "AppendVoters":
            return AppendVoters(voter_set(_observed(given.voters, "voters")))
        case "Crash":
            return Crash(_observed(given.log_end_offset, "log_end_offset"))
        case "ReplaceDisk":
            return ReplaceDisk(_observed(given.directory_id, "directory_id"))
        case "DropMessage":
            return DropMessage(_observed(given.message_id, "message_id"))
        case "DuplicateMessage":
            return DuplicateMessage(_observed(given.message_id, "message_id"))
        case "AnswerUnsupportedVersion":
            return AnswerUnsupportedVersion(_observed(given.message_id, "message_id"))
        case "CutLink":
            return CutLink(_observed(given.source, "source"), _observed(given.destination, "destination"))
        case "HealLink":
            return HealLink(_observed(given.source, "source"), _observed(given.destination, "destination"))
        case _:
            raise AssertionError(f"{name} is in the vocabulary but not here")


def _observed(value: _Value | UnsetType, field: str) -> _Value:
    if value is UNSET:
        raise IncompleteLineError(f"$.input.{field}")
    return value


def crash_point_of(line: EventLine) -> CrashPoint | None:
    """Where in the step the replica died, None if it did not."""
    return None if line.crash is UNSET else CrashPoint(line.crash.completed, line.crash.log_end_offset)


def effects_of(line: EventLine) -> tuple[Effect, ...]:
    """The effects of a line.

    Raises:
        IncompleteLineError: they, or a part of a sent message, were not observed.
    """
    if line.effects is UNSET:
        raise IncompleteLineError("$.effects")
    return tuple(effect_of(effect, f"$.effects[{index}]") for index, effect in enumerate(line.effects))


def draw_of(line: EventLine) -> Draw:
    """What chance gave to the step of this line: its sequence and the duration of the election timer it started.

    A step starts at most one election timer, after an entry or as a backoff, so that one duration serves for both.

    Raises:
        IncompleteLineError: the effects were not observed.
    """
    if line.effects is UNSET:
        raise IncompleteLineError("$.effects")
    duration_ms = 0
    for effect in line.effects:
        if isinstance(effect, TracedStartTimer) and effect.timer is Timer.ELECTION:
            duration_ms = effect.duration_ms
    return Draw(line.sequence, duration_ms, duration_ms)
