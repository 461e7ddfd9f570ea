"""Encoder of a simulated cluster's occurrences as the bytes of a trace.

Each line is UTF-8 without a byte order mark and without spaces, has its fields in the order of the types in `lines`,
and ends with a newline, so the same run gives the same bytes.
"""

from collections.abc import Collection, Mapping

from msgspec import UNSET, UnsetType
from msgspec.json import Encoder

from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.events import Event, Receive, event_name
from kraft_reference.profile import PROFILES, settings
from kraft_simulation.occurrence import NetworkEvent, Occurrence, message_id
from kraft_traces.effects import traced_effect
from kraft_traces.forms import traced_values
from kraft_traces.lines import (
    SCHEMA,
    DeclaredReplica,
    EventLine,
    Generator,
    HeaderLine,
    KipLevel,
    Line,
    TracedCrash,
    TracedDecisions,
    TracedInput,
    TracedTimeouts,
)
from kraft_traces.message_types import TracedMessage, TracedVoteResponse
from kraft_traces.messages import traced_message
from kraft_traces.states import traced_state
from kraft_traces.values import traced_voters
from kraft_traces.vocabulary import EVENTS, EventName, TracedCause

REFERENCE_KIP_LEVELS: Mapping[str, KipLevel] = {
    "KIP-595": "partial",
    "KIP-642": "partial",
    "KIP-853": "partial",
    "KIP-996": "full",
    "KIP-1186": "partial",
}
"""Extent of the reference: elections and replication of KIP-595, reassignment of KIP-642 without its way to start a
quorum, voter changes of KIP-853 without the administrators' tools, and automatic joining of KIP-1186."""

_ENCODER = Encoder()


def encode_line(line: Line) -> bytes:
    """Return the bytes of a line, with its newline."""
    return _ENCODER.encode(line) + b"\n"


def header_line(
    configuration: Configuration,
    generator: Generator,
    *,
    spec_hash: str | None = None,
    kip_levels: Mapping[str, KipLevel] = REFERENCE_KIP_LEVELS,
    switched_off: Collection[str] = (),
) -> HeaderLine:
    """Return the header of a trace of this cluster.

    Args:
        configuration: the cluster.
        generator: software that writes the trace, with seed and workload.
        spec_hash: SHA-256 of the model that the trace is written for, in hexadecimal; None to omit it.
        kip_levels: extent to which the traced software implements each KIP.
        switched_off: rules that the traced software omits on purpose.

    Raises:
        ValueError: the profile has the name of a known one and other settings.
    """
    profile = configuration.profile
    decisions: TracedDecisions | UnsetType = UNSET
    if profile.name not in PROFILES:
        decisions = TracedDecisions(**settings(profile))  # type: ignore[arg-type]
    elif PROFILES[profile.name] != profile:
        raise ValueError(f"{profile} has the name of another profile")
    timeouts = configuration.timeouts
    return HeaderLine(
        schema=SCHEMA,
        generator=generator,
        profile=profile.name,
        decisions=decisions,
        spec_hash=UNSET if spec_hash is None else spec_hash,
        kip_levels=dict(sorted(kip_levels.items())),
        kraft_version=configuration.kraft_version,
        cluster_id=configuration.cluster_id,
        replicas=tuple(
            _traced_replica(replica_id, replica) for replica_id, replica in sorted(configuration.replicas.items())
        ),
        voters=traced_voters(configuration.voters),
        bootstrap_servers=configuration.bootstrap_servers,
        fetch_max_records=configuration.fetch_max_records,
        switched_off=tuple(sorted(switched_off)),
        timeouts=TracedTimeouts(
            timeouts.election_timeout_ms,
            timeouts.election_backoff_max_ms,
            timeouts.fetch_timeout_ms,
            timeouts.fetch_interval_ms,
            timeouts.request_timeout_ms,
            timeouts.voter_change_timeout_ms,
        ),
    )


def _traced_replica(replica_id: int, replica: ReplicaConfiguration) -> DeclaredReplica:
    initial = replica.initial_voters
    return DeclaredReplica(
        replica_id,
        replica.key.directory_id,
        replica.endpoint,
        replica.pre_vote,
        replica.sends_leader_endpoint,
        replica.min_version,
        replica.max_version,
        UNSET if initial is None else traced_voters(initial),
        replica.auto_join,
    )


def event_line(occurrence: Occurrence) -> EventLine:
    """Return the line of an occurrence.

    Raises:
        ValueError: the occurrence lacks a part that its event requires (a message id, an answer, a state).
    """
    sequence, event = occurrence.sequence, occurrence.event
    if isinstance(event, Receive):
        identifier = occurrence.message_id
        if identifier is None:
            raise ValueError(f"occurrence {sequence} delivers a message without an id")
        message = traced_message(identifier, event.message)
        return _replica_line(occurrence, event_name(event), TracedCause(identifier), message)
    name = type(event).__name__
    cause = EVENTS[name].cause or UNSET
    if occurrence.replica_id is not None:
        return _replica_line(occurrence, name, cause, UNSET, _traced_input(event))
    return EventLine(
        sequence=sequence,
        time_ms=occurrence.time_ms,
        event=name,
        cause=cause,
        input=_traced_input(event),
        answer=_traced_answer(occurrence) if name == "AnswerUnsupportedVersion" else UNSET,
    )


def _replica_line(
    occurrence: Occurrence,
    name: EventName,
    cause: TracedCause | UnsetType,
    message: TracedMessage | UnsetType,
    event_input: TracedInput | UnsetType = UNSET,
) -> EventLine:
    sequence, crash, replica, state = occurrence.sequence, occurrence.crash, occurrence.replica_id, occurrence.state
    if replica is None or state is None:
        raise ValueError(f"occurrence {sequence} ({name}) lacks its replica or the state after it")
    effects = occurrence.effects
    return EventLine(
        sequence=sequence,
        time_ms=occurrence.time_ms,
        replica=replica,
        event=name,
        cause=cause,
        message=message,
        input=event_input,
        effects=tuple([traced_effect(sequence, effect) for effect in effects]) if effects else (),
        refusal=occurrence.refusal,
        crash=UNSET if crash is None else TracedCrash(crash.completed, crash.log_end_offset),
        state=traced_state(state),
    )


def _traced_input(event: Event | NetworkEvent) -> TracedInput | UnsetType:
    shape = EVENTS[type(event).__name__]
    fields = dict(zip(shape.input, traced_values(event), strict=True))
    return UNSET if not fields or fields == shape.default else TracedInput(**fields)


def _traced_answer(occurrence: Occurrence) -> TracedVoteResponse:
    answer = occurrence.answer
    traced = None if answer is None else traced_message(message_id(occurrence.sequence, answer), answer)
    if not isinstance(traced, TracedVoteResponse):
        raise ValueError(f"occurrence {occurrence.sequence} lacks the vote response that the network layer made")
    return traced
