"""Checks of one line beyond its types: the fields that its event may have, and their agreement with each other."""

from collections.abc import Hashable, Sequence
from operator import attrgetter

from msgspec import UNSET

from kraft_reference.records import SET_KINDS, RecordKind
from kraft_traces.checkpoint_types import CheckpointLine, TracedCommitted, TracedHistory, TracedInForce
from kraft_traces.effects import TracedAppendRecords, TracedSend, TracedWriteSnapshot
from kraft_traces.lines import EventLine, HeaderLine, TracedInput
from kraft_traces.message_types import (
    CHANGE_ANSWERS,
    TracedFetchResponse,
    TracedFetchSnapshotResponse,
    TracedMessage,
    TracedVoteResponse,
    message_type,
)
from kraft_traces.state_types import TracedState
from kraft_traces.values import CHANGE_SUFFIX, FETCH_SUFFIX, TracedDetails, TracedKey, TracedRecord, TracedSnapshot
from kraft_traces.vocabulary import EVENTS, EventShape

_INPUT_FIELDS = TracedInput.__struct_fields__


class Inconsistency(Exception):  # noqa: N818 - carried to `parsing`, which makes a TraceError of it
    """A field contradicts the rest of its line; the reader adds file and line number."""

    def __init__(self, field: str, detail: str, *, unknown_replica: bool = False) -> None:
        super().__init__(field, detail)
        self.field = field
        self.detail = detail
        self.unknown_replica = unknown_replica


def check_header(header: HeaderLine) -> None:
    """Check that the header lists each replica once, and refers to listed replicas only.

    Raises:
        Inconsistency: a replica or a directory occurs twice, or a replica is not listed.
    """
    listed = {replica.id for replica in header.replicas}
    _check_distinct("$.replicas", [replica.id for replica in header.replicas])
    formatted = {replica.directory_id: index for index, replica in reversed([*enumerate(header.replicas)])}
    for index, replica in enumerate(header.replicas):
        first = formatted[replica.directory_id]
        if replica.directory_id is not None and first != index:
            detail = (
                f"$.replicas[{first}] has the same, but each directory has its own (identity.directory-id-at-format)"
            )
            raise Inconsistency(f"$.replicas[{index}].directory_id", detail)
    _check_ids("$.voters", header.voters)
    _check_distinct("$.bootstrap_servers", header.bootstrap_servers)
    _check_distinct("$.switched_off", header.switched_off)
    for index, replica in enumerate(header.replicas):
        if replica.initial_voters is not UNSET:
            _check_ids(f"$.replicas[{index}].initial_voters", replica.initial_voters)
    references = [(f"$.voters[{index}].id", key.id) for index, key in enumerate(header.voters)]
    references += [(f"$.bootstrap_servers[{index}]", server) for index, server in enumerate(header.bootstrap_servers)]
    for field, replica_id in references:
        if replica_id not in listed:
            raise Inconsistency(field, f"replica {replica_id} is not listed in $.replicas", unknown_replica=True)


def check_event(line: EventLine) -> None:
    """Check one event line by itself.

    Raises:
        Inconsistency: the event does not have a field, or two fields contradict each other.
    """
    shape = EVENTS[line.event]
    if shape.at_replica:
        if line.replica is UNSET:
            raise Inconsistency("$.replica", f"missing field 'replica', which {line.event} requires")
        if line.effects is not UNSET:
            _check_effects(line)
        if line.state is not UNSET:
            _check_state("$.state", line.state)
    else:
        _check_network_event(line)
    if line.message is not UNSET:
        _check_message(line, shape, line.message)
    if line.cause is not UNSET:
        _check_cause(line, shape)
    if line.input is not UNSET:
        _check_input(line.event, shape, line.input)
    if line.unrecorded is not UNSET:
        _check_distinct("$.unrecorded", line.unrecorded)
    if line.answer is not UNSET:
        if line.event != "AnswerUnsupportedVersion":
            raise Inconsistency("$.answer", f"an event {line.event} has no field 'answer'")
        if type(line.answer) is not TracedVoteResponse:
            raise Inconsistency("$.answer.type", f"expected VoteResponse, got {message_type(line.answer)}")
        _check_sent("$.answer", line.sequence, line.answer)


def _check_network_event(line: EventLine) -> None:
    for field in ("replica", "message", "effects", "refusal", "crash", "state"):
        if getattr(line, field) is not UNSET:
            raise Inconsistency(f"$.{field}", f"{line.event} is an event of the network and has no field {field!r}")


def _check_message(line: EventLine, shape: EventShape, message: TracedMessage) -> None:
    if type(message) is not shape.message:
        if shape.message is None:
            raise Inconsistency("$.message", f"{line.event} delivers no message")
        expected = line.event.removeprefix("Handle")
        raise Inconsistency("$.message.type", f"{line.event} delivers {expected}, got {message_type(message)}")
    if message.destination is not UNSET and message.destination != line.replica:
        detail = f"a message for replica {message.destination} cannot arrive at replica {line.replica}"
        raise Inconsistency("$.message.destination", detail)
    _check_contents("$.message", message)


def _check_contents(path: str, message: TracedMessage) -> None:
    kind = type(message)
    if kind is TracedFetchResponse:
        assert isinstance(message, TracedFetchResponse)
        if message.records:
            _check_records(f"{path}.records", message.records)
    elif kind is TracedFetchSnapshotResponse:
        assert isinstance(message, TracedFetchSnapshotResponse)
        if message.snapshot is not UNSET and message.snapshot is not None:
            _check_snapshot(f"{path}.snapshot", message.snapshot)


def check_checkpoint(line: CheckpointLine) -> None:
    """Check a checkpoint by itself: sets have each member once, and message ids have the sending line and the receiver.

    Raises:
        Inconsistency: two fields contradict each other.
    """
    for index, replica in enumerate(line.replicas):
        path = f"$.replicas[{index}]"
        _check_state(f"{path}.state", replica.state)
        _check_snapshot(f"{path}.snapshot", replica.snapshot)
        _check_records(f"{path}.records", replica.records)
    for index, flight in enumerate(line.network):
        path, message = f"$.network[{index}].message", flight.message
        if message.id is not UNSET:
            sent = int(message.id.partition(".")[0])
            if sent > line.sequence:
                raise Inconsistency(
                    f"{path}.id", f"expected the id of a message that an event up to {line.sequence} sent"
                )
            _check_sent(path, sent, message)
        _check_contents(path, message)
    _check_distinct("$.observed", line.observed)
    if line.history is not UNSET:
        _check_history(line.history)


def _check_history(history: TracedHistory) -> None:
    for index, led in enumerate(history.epochs):
        _check_distinct(f"$.history.epochs[{index}].leaders", led.leaders)
    for index, votes in enumerate(history.votes):
        _check_distinct(f"$.history.votes[{index}].candidates", votes.candidates)
    committed = history.committed
    _check_in_force("$.history.committed", committed)
    _check_records("$.history.committed.records", committed.records)
    if committed.past is not UNSET:
        for index, entry in enumerate(committed.past):
            _check_in_force(f"$.history.committed.past[{index}]", entry)
    if history.directories is not UNSET:
        _check_distinct("$.history.directories", history.directories)


def _check_in_force(path: str, in_force: TracedCommitted | TracedInForce) -> None:
    _check_distinct(f"{path}.voters", in_force.voters or ())
    _check_details(f"{path}.details", in_force.details)
    _check_distinct(f"{path}.target", in_force.target or ())


def _check_cause(line: EventLine, shape: EventShape) -> None:
    cause = line.cause
    if cause == shape.cause or cause is UNSET:
        return
    if shape.cause is not None:
        raise Inconsistency("$.cause", f"the cause of {line.event} is {_describe(shape.cause)}, got {_describe(cause)}")
    if cause.message_id is UNSET or cause.timer is not UNSET or cause.source is not UNSET:
        raise Inconsistency("$.cause", f"the cause of {line.event} is a message_id, got {_describe(cause)}")
    if line.message is not UNSET and line.message.id not in (UNSET, cause.message_id):
        detail = f"expected '{cause.message_id}', which the cause names, got '{line.message.id}'"
        raise Inconsistency("$.message.id", detail)


def _check_input(name: str, shape: EventShape, fields: TracedInput) -> None:
    for field in _INPUT_FIELDS:
        if getattr(fields, field) is not UNSET and field not in shape.input:
            expected = f"expected {', '.join(shape.input)}" if shape.input else "expected no input"
            raise Inconsistency(f"$.input.{field}", f"{name} has no input {field!r}, {expected}")
    if not shape.input:
        raise Inconsistency("$.input", f"{name} has no input")
    if fields.voters is not UNSET:
        _check_distinct("$.input.voters", fields.voters)


def _check_effects(line: EventLine) -> None:
    effects = () if line.effects is UNSET else line.effects
    receivers: list[tuple[int, str]] = []
    identifiers: set[str] = set()
    for index, effect in enumerate(effects):
        if type(effect) is TracedSend:
            message = effect.message
            path = f"$.effects[{index}].message"
            _check_sent(path, line.sequence, message)
            if message.id is not UNSET and message.id in identifiers:
                raise Inconsistency(f"{path}.id", f"another message of this line has the same id '{message.id}'")
            identifiers.update(() if message.id is UNSET else (message.id,))
            if message.source is not UNSET and message.source != line.replica:
                raise Inconsistency(
                    f"{path}.source", f"expected {line.replica}, which sends the message, got {message.source}"
                )
            if message.destination is not UNSET:
                receiver = (message.destination, _kind(message))
                if receiver in receivers:
                    detail = f"a second {receiver[1]} to replica {message.destination} in one line, expected one"
                    raise Inconsistency(f"{path}.destination", detail)
                receivers.append(receiver)
            _check_contents(path, message)
        elif type(effect) is TracedAppendRecords:
            _check_records(f"$.effects[{index}].records", effect.records)
        elif type(effect) is TracedWriteSnapshot:
            _check_snapshot(f"$.effects[{index}].snapshot", effect.snapshot)


def _kind(message: TracedMessage) -> str:
    """Return the kind of message of which a line may send one to each receiver.

    A receiver that gave up a Fetch may have sent another one, so responses to different Fetches are different kinds.
    """
    if isinstance(message, TracedFetchResponse):
        return "Fetch response" if message.correlation_id is UNSET else f"response to Fetch {message.correlation_id}"
    return "response to a voter change" if isinstance(message, CHANGE_ANSWERS) else "message"


def _check_sent(path: str, sequence: int, message: TracedMessage) -> None:
    identifier = message.id
    if identifier is UNSET:
        return
    suffix = CHANGE_SUFFIX if isinstance(message, CHANGE_ANSWERS) else ""
    if isinstance(message, TracedFetchResponse):
        identifier = identifier.removesuffix(FETCH_SUFFIX)
    if message.destination is not UNSET:
        expected = f"{sequence}.{message.destination}{suffix}"
        if identifier != expected:
            raise Inconsistency(f"{path}.id", f"expected '{expected}' (sequence and receiver), got '{identifier}'")
    elif not identifier.startswith(f"{sequence}.") or identifier.count(".") != 1 + bool(suffix):
        raise Inconsistency(f"{path}.id", f"expected '{sequence}.<receiver>{suffix}', got '{identifier}'")


def _check_records(path: str, records: tuple[TracedRecord, ...]) -> None:
    for index, record in enumerate(records):
        has_voters = record.voters is not UNSET
        if has_voters != (record.kind in SET_KINDS):
            detail = f"a {record.kind} record has {'no voters' if has_voters else 'voters'}"
            raise Inconsistency(f"{path}[{index}].voters", detail)
        if record.voters is not UNSET:
            _check_distinct(f"{path}[{index}].voters", record.voters)
        if record.details is not UNSET:
            if not has_voters:
                raise Inconsistency(f"{path}[{index}].details", f"a {record.kind} record has no details")
            _check_details(f"{path}[{index}].details", record.details)
        if record.target is not UNSET:
            if record.kind is not RecordKind.VOTER_ASSIGNMENT:
                raise Inconsistency(f"{path}[{index}].target", f"a {record.kind} record has no target")
            _check_distinct(f"{path}[{index}].target", record.target or ())


def _check_snapshot(path: str, snapshot: TracedSnapshot) -> None:
    _check_distinct(f"{path}.voters", snapshot.voters)
    _check_details(f"{path}.details", snapshot.details)
    _check_distinct(f"{path}.target", snapshot.target or ())


def _check_ids(path: str, voters: tuple[TracedKey, ...]) -> None:
    """Check that a voter set has each id once, with one directory."""
    _check_distinct(path, [voter.id for voter in voters])


def _check_details(path: str, details: tuple[TracedDetails, ...]) -> None:
    """Check that the details of voters have each id once."""
    _check_distinct(path, [voter.id for voter in details])


_SETS = ("granted", "rejected", "acknowledged", "fetchers")
_MAPPINGS = ("awaiting", "fetch_offsets", "awaited_targets")
_read_sets = attrgetter(*_SETS)
_read_mappings = attrgetter(*_MAPPINGS)


def _check_state(path: str, state: TracedState) -> None:
    """Check the lists of a state that are sets and mappings."""
    for name, values in zip(_SETS, _read_sets(state), strict=True):
        if values:
            _check_distinct(f"{path}.{name}", values)
    for name, pairs in zip(_MAPPINGS, _read_mappings(state), strict=True):
        if pairs:
            _check_distinct(f"{path}.{name}", [key for key, _ in pairs])
    if state.voters is not UNSET and state.voters.voters is not UNSET:
        _check_distinct(f"{path}.voters.voters", state.voters.voters)
        _check_distinct(f"{path}.voters.target", state.voters.target or ())
    if state.reports:
        _check_distinct(f"{path}.reports", [report.key.id for report in state.reports])


def _check_distinct(path: str, values: Sequence[Hashable]) -> None:
    if len(values) != len(set(values)):
        earlier: set[Hashable] = set()
        for index, value in enumerate(values):
            if value in earlier:
                raise Inconsistency(f"{path}[{index}]", "appears twice, expected each value once")
            earlier.add(value)


def _describe(cause: object) -> str:
    fields = {field: getattr(cause, field) for field in ("message_id", "timer", "source")}
    return ", ".join(f"{field} {value!s}" for field, value in fields.items() if value is not UNSET) or "nothing"
