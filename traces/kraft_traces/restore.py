"""Conversion of the lines of a trace to values of the reference, so that a trace can be replayed."""

from typing import Any

from msgspec import UNSET, Struct

from kraft_reference.configuration import Configuration, ReplicaConfiguration, Timeouts
from kraft_reference.effects import Effect, Timer
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.identity import ReplicaKey
from kraft_reference.profile import PROFILES, Profile, with_settings
from kraft_simulation.occurrence import CrashPoint, NetworkEvent
from kraft_traces.effects import TracedStartTimer, effect_of
from kraft_traces.errors import IncompleteLineError, UnknownProfileError
from kraft_traces.forms import reference_values
from kraft_traces.lines import EventLine, HeaderLine, TracedReplica, input_of
from kraft_traces.messages import message_of
from kraft_traces.values import voter_set
from kraft_traces.vocabulary import EVENT_TYPES, EVENTS, HANDLE


def configuration_of(header: HeaderLine, source: str = "-") -> Configuration:
    """Return the configuration of a header; missing fields have the reference's defaults.

    Args:
        header: a header line.
        source: the file, for the error.

    Raises:
        UnknownProfileError: the profile is unknown.
    """
    profile = PROFILES.get(header.profile)
    if header.decisions is not UNSET:
        recorded = _recorded_fields(header.decisions)
        recorded.pop("vote_of_non_voter", None)  # Its one setting is that of every profile.
        stated = with_settings(Profile(header.profile), **recorded)
        if profile not in (None, stated):
            detail = f"the settings differ from profile {header.profile!r}, expected another profile name"
            raise UnknownProfileError(detail, source, 1, "$.decisions")
        profile = stated
    if profile is None:
        names = ", ".join(PROFILES)
        detail = f"unknown profile {header.profile!r}, expected one of {names}, or a field 'decisions'"
        raise UnknownProfileError(detail, source, 1, "$.profile")
    return Configuration(
        replicas={replica.id: _replica_of(replica) for replica in header.replicas},
        voters=voter_set(header.voters),
        kraft_version=header.kraft_version,
        bootstrap_servers=header.bootstrap_servers,
        cluster_id=header.cluster_id,
        fetch_max_records=header.fetch_max_records,
        profile=profile,
        timeouts=Timeouts() if header.timeouts is UNSET else Timeouts(**_recorded_fields(header.timeouts)),
    )


def _replica_of(replica: TracedReplica) -> ReplicaConfiguration:
    ranges = {name: getattr(replica, name) for name in ("min_version", "max_version")}
    return ReplicaConfiguration(
        ReplicaKey(replica.id, replica.directory_id),
        replica.endpoint,
        replica.pre_vote,
        replica.endpoints,
        initial_voters=None if replica.initial_voters is UNSET else voter_set(replica.initial_voters),
        auto_join=replica.auto_join,
        **{name: level for name, level in ranges.items() if level is not UNSET},
    )


def _recorded_fields(part: Struct) -> dict[str, Any]:
    """Return the fields of a part of a header that are present; the reference has a default for the others."""
    fields = {name: getattr(part, name) for name in part.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not UNSET}


def event_of(line: EventLine) -> Event | NetworkEvent:
    """Return the reference's event of a line.

    Raises:
        IncompleteLineError: a field of the event is missing.
    """
    if line.event.startswith(HANDLE):
        if line.message is UNSET:
            raise IncompleteLineError("$.message")
        return Receive(message_of(line.message))
    kind: type[Event | NetworkEvent] = EVENT_TYPES[line.event]
    fields = input_of(line)
    if fields is UNSET and EVENTS[line.event].input:
        raise IncompleteLineError("$.input")
    return kind(**reference_values(kind, fields, "$.input"))


def crash_point_of(line: EventLine) -> CrashPoint | None:
    """Return the point in the step at which the replica died; None if it did not."""
    return None if line.crash is UNSET else CrashPoint(line.crash.completed, line.crash.log_end_offset)


def effects_of(line: EventLine) -> tuple[Effect, ...]:
    """Return the reference's effects of a line.

    Raises:
        IncompleteLineError: they, or a part of a sent message, were not observed.
    """
    if line.effects is UNSET:
        raise IncompleteLineError("$.effects")
    return tuple(effect_of(effect, f"$.effects[{index}]") for index, effect in enumerate(line.effects))


def draw_of(line: EventLine) -> Draw:
    """Return the random draw of a line's step: its sequence and the duration of the election timer that it started.

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
