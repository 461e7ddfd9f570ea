"""Conversion of each kind of value between model and reference: the forms that the tables of `mapping` use.

A model value has a type that `kraft_spec.tlc.values` encodes and decodes: int, bool, str, tuple, frozenset, and a
mapping for a function or a record. Small records are named tuples: `ModelKey`, `ModelDetails`, `ModelReport`,
`ModelRequest`, `ModelAwaitedTarget`, `ModelSnapshotId`.
An absent value is None in the reference; in the model it is -1, "", or the record `NoKey` of these two.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from kraft_reference.changes import (
    AwaitingCatchUp,
    AwaitingCommit,
    AwaitingVersions,
    ChangeKind,
    PendingChange,
    Report,
    Requester,
)
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot, VersionEntry, VotersEntry
from kraft_reference.messages import Error
from kraft_reference.records import Record, RecordKind
from kraft_reference.roles import Role
from kraft_spec.tlc.records import record_type

ModelValue = Any
"""A value of the model; Any, because the reference's types check it."""

EMPTY_TEXT = "(empty)"
"""Empty directory id or endpoint in the model, which a trace of other software may contain."""

CLIENT = -1
"""Requester, in the model, of a change that an admin client requested."""

REASSIGNMENT = -2
"""Requester, in the model, of a change that is a step of the leader's own reassignment."""

NOBODY_ASKED = "reassignment"
"""The same requester in a trace."""


class Form(NamedTuple):
    """Conversion of one kind of value in both directions."""

    to_model: Callable[[Any], ModelValue]
    from_model: Callable[[ModelValue], Any]


class SomeKey(Protocol):
    """A replica key of the reference or of a trace."""

    @property
    def id(self) -> int: ...
    @property
    def directory_id(self) -> str | None: ...


class SomeDetails(Protocol):
    """Endpoint and kraft.version range of a voter, in the reference or a trace."""

    @property
    def id(self) -> int: ...
    @property
    def endpoint(self) -> str: ...
    @property
    def min_version(self) -> int: ...
    @property
    def max_version(self) -> int: ...


def text_to_model(text: str | None) -> str:
    """Convert a directory id or an endpoint."""
    return "" if text is None else text or EMPTY_TEXT


def text_from_model(text: str) -> str | None:
    """Invert `text_to_model`."""
    if not text:
        return None
    return "" if text == EMPTY_TEXT else text


@record_type
class ModelKey(NamedTuple):
    """A replica key: `ReplicaKey` in Definitions.tla."""

    id: int
    directory_id: str


NO_KEY = ModelKey(-1, "")
"""Absent key: `NoKey` in Definitions.tla."""


def key_to_model(key: SomeKey | None) -> ModelKey:
    """Convert a replica key, or None."""
    return NO_KEY if key is None else ModelKey(key.id, text_to_model(key.directory_id))


def key_from_model(key: ModelKey) -> ReplicaKey | None:
    """Invert `key_to_model`."""
    return None if key.id == -1 else _named_key(key)


def _named_key(key: ModelKey) -> ReplicaKey:
    return ReplicaKey(key.id, text_from_model(key.directory_id))


def function_entries(function: ModelValue) -> Mapping[Any, ModelValue]:
    """Return the entries of a TLA+ function; a function over 1..n and the empty function are sequences."""
    if isinstance(function, Mapping):
        return function
    return dict(enumerate(function, start=1))


def _identity(value: Any) -> Any:
    return value


def _to_text(value: Any) -> str:
    return str(value)


def _convert_each(convert: Callable[[Any], Any]) -> Callable[[Iterable[Any]], tuple[Any, ...]]:
    return lambda values: tuple([convert(value) for value in values])


def _key_set(keys: Iterable[SomeKey]) -> frozenset[ModelKey]:
    return frozenset([key_to_model(key) for key in keys])


def _known_keys(keys: Iterable[ModelKey]) -> frozenset[ReplicaKey | None]:
    return frozenset([key_from_model(key) for key in keys])


def _offsets_to_model(offsets: Mapping[ReplicaKey, int]) -> ModelValue:
    # TLC's empty function is the empty sequence.
    return {key_to_model(key): offset for key, offset in offsets.items()} or ()


def _offsets_from_model(offsets: ModelValue) -> Mapping[ReplicaKey | None, int]:
    return {key_from_model(key): offset for key, offset in function_entries(offsets).items()} if offsets else {}


@record_type
class ModelDetails(NamedTuple):
    """Endpoint and kraft.version range of a voter: `VoterDetails` in Definitions.tla."""

    id: int
    endpoint: str
    min_version: int
    max_version: int


def details_to_model(details: Iterable[SomeDetails]) -> frozenset[ModelDetails]:
    """Convert the details of a voter set's voters, which are a set in the model."""
    return frozenset(
        [ModelDetails(row.id, text_to_model(row.endpoint), row.min_version, row.max_version) for row in details]
    )


def details_from_model(details: Iterable[ModelDetails]) -> tuple[VoterDetails, ...]:
    """Invert `details_to_model`, ordered by id."""
    return tuple(sorted([VoterDetails(id_, text_from_model(at) or "", low, high) for id_, at, low, high in details]))


def target_to_model(target: Iterable[int] | None) -> frozenset[int]:
    """Convert the target of a reassignment; no target is the empty set, because a target is never empty."""
    return frozenset() if target is None else frozenset(target)


def _target_from_model(target: Iterable[int]) -> frozenset[int] | None:
    return frozenset(target) or None


def record_to_model(record: Record) -> dict[str, ModelValue]:
    """Convert a record of the log."""
    plain: dict[str, ModelValue] = {
        "epoch": record.epoch,
        "kind": str(record.kind),
        "value": record.value,
        "voters": _key_set(record.voters),
        "details": details_to_model(record.details),
    }
    assigns = record.kind is RecordKind.VOTER_ASSIGNMENT
    return {**plain, "target": target_to_model(record.target)} if assigns else plain


def record_from_model(record: Mapping[str, ModelValue]) -> Record:
    """Invert `record_to_model`."""
    kind = RecordKind(record["kind"])
    voters, details = _known_keys(record["voters"]), details_from_model(record["details"])
    target = _target_from_model(record.get("target", ()))
    return Record(record["epoch"], kind, record["value"], voters, details, target)  # type: ignore[arg-type]


def _voters_entry_to_model(entry: VotersEntry) -> dict[str, ModelValue]:
    voters, details = _key_set(entry.voters), details_to_model(entry.details)
    return {"offset": entry.offset, "voters": voters, "details": details, "target": target_to_model(entry.target)}


def _voters_entry_from_model(entry: Mapping[str, ModelValue]) -> VotersEntry:
    voters, details = _known_keys(entry["voters"]), details_from_model(entry["details"])
    return VotersEntry(entry["offset"], voters, details, _target_from_model(entry["target"]))  # type: ignore[arg-type]


def _version_entry_to_model(entry: VersionEntry) -> dict[str, ModelValue]:
    return {"offset": entry.offset, "kraft_version": entry.kraft_version}


def _version_entry_from_model(entry: Mapping[str, ModelValue]) -> VersionEntry:
    return VersionEntry(entry["offset"], entry["kraft_version"])


def snapshot_to_model(snapshot: Any) -> dict[str, ModelValue]:
    """Convert the voters and versions of a snapshot of the reference or of a trace."""
    return {
        "end_offset": snapshot.end_offset,
        "epoch": snapshot.epoch,
        "kraft_version": snapshot.kraft_version,
        "voters": _key_set(snapshot.voters),
        "details": details_to_model(snapshot.details),
        "target": target_to_model(snapshot.target),
    }


def snapshot_from_model(snapshot: Mapping[str, ModelValue]) -> Snapshot:
    """Invert `snapshot_to_model`."""
    voters, details = _known_keys(snapshot["voters"]), details_from_model(snapshot["details"])
    numbers = (snapshot["end_offset"], snapshot["epoch"], snapshot["kraft_version"])
    return Snapshot(*numbers, voters, details, _target_from_model(snapshot["target"]))  # type: ignore[arg-type]


class ChangeError(ValueError):
    """The observed fields match no pending change; `field` is the first that does not."""

    def __init__(self, field: str, expected: str) -> None:
        super().__init__(f"expected {expected}")
        self.field = field


class ShownChange(NamedTuple):
    """A pending change as recorded in a trace, in any phase."""

    kind: str
    phase: str
    """Phase of the change, which names the condition it waits for."""
    voter: Any
    """Voter, in the type of the reference or of a trace; None for an upgrade."""
    endpoint: str | None
    """Endpoint of an added voter."""
    min_version: int = -1
    """Lowest version that a new voter has reported; -1 before."""
    max_version: int = -1
    offset: int = -1
    """Offset of the change's last record; while a new voter catches up, the log end that it must reach; -1 before."""
    requester: int | str | None = NOBODY_ASKED
    """Requesting replica, None for a client, or `NOBODY_ASKED`."""
    request: int = 0
    when_committed: bool = True


def shown_change(change: PendingChange) -> ShownChange:
    """Return the recorded form of the reference's pending change."""
    request: tuple[int | str | None, int, bool] = (NOBODY_ASKED, 0, True)
    if change.requester is not None:
        request = (change.requester.replica_id, change.requester.request, change.requester.when_committed)
    match change:
        case AwaitingVersions(voter, endpoint):
            return ShownChange("add", "learn-versions", voter, endpoint, -1, -1, -1, *request)
        case AwaitingCatchUp(voter, VoterDetails(_, endpoint, lowest, highest), log_end_offset):
            return ShownChange("add", "catch-up", voter, endpoint, lowest, highest, log_end_offset, *request)
        case AwaitingCommit(kind, voter, offset, _, VoterDetails(_, endpoint, lowest, highest)):
            return ShownChange(str(kind), "commit", voter, endpoint, lowest, highest, offset, *request)
        case AwaitingCommit(kind, voter, offset):
            return ShownChange(str(kind), "commit", voter, None, -1, -1, offset, *request)


def change_of(recorded: Any, key: Callable[[Any], ReplicaKey]) -> PendingChange:
    """Return the pending change from its recorded form; `key` converts the voter to the reference's type.

    Raises:
        ChangeError: no change matches.
    """
    request = (recorded.requester, recorded.request, recorded.when_committed)
    requester = None if recorded.requester == NOBODY_ASKED else Requester(*request)
    voter = None if recorded.voter is None else key(recorded.voter)
    change: PendingChange
    if recorded.kind != "add":
        change = AwaitingCommit(ChangeKind(recorded.kind), voter, recorded.offset, requester)
    elif voter is None or recorded.endpoint is None:
        raise ChangeError("voter" if voter is None else "endpoint", "that of the new voter")
    else:
        details = VoterDetails(voter.id, recorded.endpoint, recorded.min_version, recorded.max_version)
        match recorded.phase:
            case "learn-versions":
                change = AwaitingVersions(voter, recorded.endpoint, requester)
            case "catch-up":
                change = AwaitingCatchUp(voter, details, recorded.offset, requester)
            case _:
                change = AwaitingCommit(ChangeKind.ADD, voter, recorded.offset, requester, details)
    for name, value in shown_change(change)._asdict().items():
        if name != "voter" and getattr(recorded, name) != value:
            raise ChangeError(
                name, f"{'null' if value is None else value}, which a change of kind {recorded.kind} has then"
            )
    return change


_REQUESTERS: Mapping[int | str | None, int] = {None: CLIENT, NOBODY_ASKED: REASSIGNMENT}

_NO_CHANGE: Mapping[str, ModelValue] = {"kind": "none"}


def change_to_model(change: Any) -> Mapping[str, ModelValue]:
    """Convert the recorded form of a pending change, or None."""
    if change is None:
        return _NO_CHANGE
    return {
        "kind": str(change.kind),
        "phase": str(change.phase),
        "voter": key_to_model(change.voter),
        "endpoint": text_to_model(change.endpoint),
        "min_version": change.min_version,
        "max_version": change.max_version,
        "offset": change.offset,
        "requester": _REQUESTERS.get(change.requester, change.requester),
        "request": change.request,
        "when_committed": change.when_committed,
    }


_NAMED = {number: name for name, number in _REQUESTERS.items()}


def _change_from_model(change: Mapping[str, ModelValue]) -> PendingChange | None:
    if change["kind"] == "none":
        return None
    converted = {
        "voter": key_from_model(change["voter"]),
        "endpoint": text_from_model(change["endpoint"]),
        "requester": _NAMED.get(change["requester"], change["requester"]),
    }
    return change_of(ShownChange(**{**change, **converted}), lambda voter: voter)


@record_type
class ModelReport(NamedTuple):
    """UpdateVoter as noted by a leader: `Report` in VoterChanges.tla."""

    key: ModelKey
    endpoint: str
    min_version: int
    max_version: int


def reports_to_model(reports: Iterable[Any]) -> frozenset[ModelReport]:
    """Convert reports of the reference or of a trace, which are a set in the model."""
    return frozenset(
        [
            ModelReport(key_to_model(row.key), text_to_model(row.endpoint), row.min_version, row.max_version)
            for row in reports
        ]
    )


def _reports_from_model(reports: Iterable[ModelReport]) -> tuple[Report, ...]:
    return tuple([Report(_named_key(key), text_from_model(at) or "", *of) for key, at, *of in sorted(reports)])


@record_type
class ModelRequest(NamedTuple):
    """A request whose response has not come: `OutstandingRequest` in Definitions.tla."""

    destination: int
    correlation_id: int


@record_type
class ModelAwaitedTarget(NamedTuple):
    """A client's request that is answered when the record at the offset is committed."""

    request: int
    offset: int


@record_type
class ModelSnapshotId(NamedTuple):
    """Identity of a snapshot: `SnapshotId` in Definitions.tla."""

    end_offset: int
    epoch: int


def _records_of(kind: type[ModelRequest] | type[ModelAwaitedTarget]) -> Form:
    return Form(lambda entries: frozenset([kind(*entry) for entry in entries.items()]), dict)


PLAIN = Form(_identity, _identity)
"""A number, TRUE or FALSE, or a text of the configuration."""
ROLE = Form(_to_text, Role)
ERROR = Form(_to_text, Error)
REPLICA_ID = Form(lambda replica_id: -1 if replica_id is None else replica_id, lambda id_: None if id_ == -1 else id_)
"""A replica id, or none."""
TEXT = Form(text_to_model, text_from_model)
"""A directory id or an endpoint, or none."""
KEY = Form(key_to_model, key_from_model)
"""A replica key, or none."""
NAMED_KEY = Form(key_to_model, _named_key)
"""A replica key in a request; any id is valid."""
KEYS = Form(_convert_each(key_to_model), _convert_each(key_from_model))
"""Replica keys in their order."""
KEY_SET = Form(_key_set, _known_keys)
SET = Form(frozenset, frozenset)
"""Replica ids, or names, each once."""
ID_TUPLE = Form(frozenset, lambda ids: tuple(sorted(ids)))
"""Replica ids in no particular order."""
REQUESTS = _records_of(ModelRequest)
"""Outstanding requests: correlation id by receiver."""
AWAITED_TARGETS = _records_of(ModelAwaitedTarget)
"""Clients that await their target: offset by number of the request."""
OFFSETS = Form(_offsets_to_model, _offsets_from_model)
"""Fetch offsets by replica key."""
RECORDS = Form(_convert_each(record_to_model), _convert_each(record_from_model))
VOTERS_HISTORY = Form(_convert_each(_voters_entry_to_model), _convert_each(_voters_entry_from_model))
VERSIONS_HISTORY = Form(_convert_each(_version_entry_to_model), _convert_each(_version_entry_from_model))
SNAPSHOT = Form(snapshot_to_model, snapshot_from_model)
OPTIONAL_SNAPSHOT = Form(
    lambda snapshot: () if snapshot is None else snapshot_to_model(snapshot),
    lambda snapshot: snapshot_from_model(snapshot) if snapshot else None,
)
SNAPSHOT_ID = Form(
    lambda wanted: ModelSnapshotId(-1, -1) if wanted is None else ModelSnapshotId(*wanted),
    lambda wanted: tuple(wanted) if wanted.end_offset >= 0 else None,
)
"""End offset and epoch of a snapshot, or none."""
CHANGE = Form(lambda change: change_to_model(change and shown_change(change)), _change_from_model)
"""A pending change, or none."""
TARGET = Form(target_to_model, _target_from_model)
"""Target ids of a reassignment, or none."""
OPTIONAL_LIST = Form(lambda ids: () if ids is None else (tuple(ids),), lambda value: tuple(value[0]) if value else None)
"""A nullable list of ids; <<>> for null."""
REPORTS = Form(reports_to_model, _reports_from_model)
