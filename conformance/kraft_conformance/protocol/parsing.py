"""Parsing and encoding of protocol lines, with errors that name line and field."""

from typing import get_args

from msgspec import UNSET
from msgspec.json import Decoder, Encoder
from msgspec.structs import replace

from kraft_conformance.protocol.messages import (
    HelloReply,
    ObserveReply,
    Reply,
    Request,
    RestartReply,
    Step,
    StepReply,
)
from kraft_partitions.errors import Error as PartitionError
from kraft_reference.changes import ChangeKind
from kraft_reference.effects import Timer
from kraft_reference.messages import Error
from kraft_reference.outcome import Refusal
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_traces.consistency import Inconsistency, check_event
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.errors import FieldError
from kraft_traces.json_lines import Words, check_unique_fields, decode_line, not_one_of
from kraft_traces.lines import EventLine, KipLevel
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.partitions.parsing import EVENT_NAMES as PARTITION_EVENT_NAMES
from kraft_traces.state_types import ChangePhase
from kraft_traces.vocabulary import EVENT_NAMES
from kraft_vectors.features import FEATURES, KIPS, LEVELS, SUBJECTS, UNOBSERVED
from kraft_vectors.partitions.shown import ShownEffect

LINE_BYTES_MAX = 16 * 1024 * 1024
"""Maximum length of a line, to bound memory."""

_ALLOWED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\$\.event\.name", PARTITION_EVENT_NAMES),
    (r"\$\.effects\[\d+\]\.type", tuple(effect.__struct_config__.tag for effect in get_args(ShownEffect))),
    (r"\$\.effects\[\d+\]\.(error|results\[\d+\]\[1\])", tuple(PartitionError)),
    (r".*\.effects\[\d+\]\.kind", tuple(effect.__struct_config__.tag for effect in get_args(TracedEffect))),
    (r".*\.pending_change\.kind", tuple(ChangeKind)),
    (r".*\.phase", tuple(ChangePhase)),
    (r".*\.kind", tuple(RecordKind)),
    (r".*\.message\.type", tuple(TRACED_MESSAGES)),
    (r".*\.role", tuple(Role)),
    (r".*\.error", tuple(Error)),
    (r".*\.timer", tuple(Timer)),
    (r".*\.refusal", tuple(Refusal)),
    (r"\$\.observability", LEVELS),
    (r"\$\.unsupported\[\d+\]", FEATURES),
    (r"\$\.subjects\[\d+\]", SUBJECTS),
    (r"\$\.kip_levels\[.*\]", get_args(KipLevel)),
    (r"\$\.code", ("unsupported", "failed")),
)


def _words(messages: object) -> Words:
    types = tuple(message.__struct_config__.tag for message in get_args(messages))
    return Words("$.event", EVENT_NAMES, ((r"\$\.type", types), *_ALLOWED))


_ENCODER = Encoder()
_REQUESTS: Decoder[Request] = Decoder(Request)
_REPLIES: Decoder[Reply] = Decoder(Reply)
_REQUEST_WORDS, _REPLY_WORDS = _words(Request), _words(Reply)


def encode(message: Request | Reply) -> bytes:
    """Return the line of a message with its newline: no spaces, fields in the order of the types."""
    return _ENCODER.encode(message) + b"\n"


def parse_request(raw: bytes, number: int) -> Request:
    """Parse a request; `number` is its line number, for errors.

    Raises:
        TraceError: the line is not a request; the message names line and field.
    """
    source = "standard input"
    request = decode_line(_REQUESTS, raw, source, number, _REQUEST_WORDS)
    check_unique_fields(_ENCODER.encode(request), raw, source, number)
    if isinstance(request, Step):
        message = request.message
        replica = 0 if message is UNSET or message.destination is UNSET else message.destination
        line = EventLine(sequence=1, replica=replica, event=request.event, message=message, input=request.input)
        _check(line, source, number)
    return request


def parse_reply(raw: bytes, number: int) -> Reply:
    """Parse a reply; `number` is its line number, for errors.

    Raises:
        TraceError: the line is not a reply; the message names line and field.
    """
    source = "standard output"
    reply = decode_line(_REPLIES, raw, source, number, _REPLY_WORDS)
    check_unique_fields(_ENCODER.encode(reply), raw, source, number)
    if isinstance(reply, StepReply | RestartReply):
        effects = tuple(map(_without_ids, reply.effects))
        _check(EventLine(sequence=1, replica=0, event="Poll", effects=effects), source, number)
    elif isinstance(reply, ObserveReply):
        _check(EventLine(sequence=1, replica=0, event="Poll", state=reply.state), source, number)
    elif isinstance(reply, HelloReply):
        for name in reply.kip_levels:
            if name not in KIPS:
                raise FieldError(not_one_of("KIP", name, KIPS), source, number, "$.kip_levels")
        for place, name in enumerate(reply.unobserved):
            if name not in UNOBSERVED:
                raise FieldError(not_one_of("name", name, UNOBSERVED), source, number, f"$.unobserved[{place}]")
    return reply


def _check(line: EventLine, source: str, number: int) -> None:
    """Check the constraints of the trace format that the types do not express."""
    try:
        check_event(line)
    except Inconsistency as found:
        raise FieldError(found.detail, source, number, found.field, problem="inconsistent") from None


def _without_ids(effect: TracedEffect) -> TracedEffect:
    """Return an effect without the id and source of its message, which the comparison checks instead."""
    if not isinstance(effect, TracedSend):
        return effect
    return TracedSend(replace(effect.message, id=UNSET, source=UNSET))
