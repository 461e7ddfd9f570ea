"""A partition trace against the model, line by line: one successor for each."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from kraft_mutants import omittable_partition_rules
from kraft_mutants.replicas import mutated_controllers
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import Controllers
from kraft_partitions.decisions import ReassignmentProfile
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.state import initial_state
from kraft_spec.action_rules import partition_event_rules
from kraft_spec.difference import Difference
from kraft_spec.edits import EditError
from kraft_spec.fingerprint import partition_spec_hash
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function, TlaValue
from kraft_traces.check.compared import NOTHING_COMPARED, Compared, compared_completely
from kraft_traces.check.run import is_other_model, model_of
from kraft_traces.check.verdict import Rejection, RejectionKind, VerdictKind
from kraft_traces.check.wording import MISSING, NOTHING
from kraft_traces.partitions.binding import (
    PartitionTraceModel,
    differences_of_shape,
    model_event,
    partition_trace_model,
    shown,
)
from kraft_traces.partitions.encode import configuration_of, event_of, line_of
from kraft_traces.partitions.lines import SCHEMA, PartitionEventLine
from kraft_traces.partitions.reader import PartitionTraceReader, open_partition_trace

RULES_OF_FIELDS: Mapping[str, tuple[str, ...]] = {
    "replicas": ("partition-reassign.start", "partition-reassign.override", "partition-reassign.cancel"),
    "in_sync": ("partition-reassign.isr-never-empty", "partition-reassign.complete-in-one-step"),
    "adding": ("partition-reassign.start", "partition-reassign.complete-in-one-step"),
    "removing": ("partition-reassign.start", "partition-reassign.complete-in-one-step"),
    "leader": ("partition-reassign.leader-in-removing",),
    "leader_epoch": ("partition-reassign.leader-in-removing",),
    "store": ("partition-reassign.persisted",),
    "partition_epoch": ("partition-reassign.persisted",),
    "store_legacy": ("partition-reassign.legacy-znode",),
    "legacy": ("partition-reassign.legacy-znode",),
    "leader_and_isr": ("partition-reassign.leader-and-isr-fields", "partition-reassign.mixed-versions"),
    "stop_replica": ("partition-reassign.cancel", "partition-reassign.override"),
    "answer": ("partition-reassign.error-order", "partition-reassign.per-partition", "partition-reassign.list"),
    "controller": ("partition-reassign.controller-only",),
    "deleting": ("partition-reassign.unknown-partition",),
}
"""What a reader should look at first, by the last name in a field's path."""

_KEYED = {"store": 1, "partitions": 1, "legacy": 1}
"""Fields that are rows by partition."""


def rules_of(differences: tuple[Difference, ...]) -> tuple[str, ...]:
    """The rules about the fields that differ, in their order."""
    names = [name for one in differences for name in reversed(one.field.split("."))]
    return tuple(dict.fromkeys(rule for name in names for rule in RULES_OF_FIELDS.get(name.split("[")[0], ())))


def observed_differences(expected: Mapping[str, TlaValue], actual: Mapping[str, TlaValue]) -> Iterator[Difference]:
    """Where what the model gives and what the line shows differ."""
    for field, wanted in expected.items():
        got = actual[field]
        if wanted == got:
            continue
        if field in _KEYED and isinstance(wanted, frozenset) and isinstance(got, frozenset):
            yield from _by_partition(field, wanted, got)
        elif isinstance(wanted, frozenset) and isinstance(got, frozenset):
            for one in sorted(wanted - got, key=str):
                yield Difference(field, worded(one), MISSING)
            for one in sorted(got - wanted, key=str):
                yield Difference(field, NOTHING, worded(one))
        else:
            yield Difference(field, worded(wanted), worded(got))


def _by_partition(field: str, expected: frozenset[TlaValue], actual: frozenset[TlaValue]) -> Iterator[Difference]:
    wanted, got = _rows(expected), _rows(actual)
    for name in sorted({*wanted, *got}, key=str):
        path = f"{field}[{_label(name)}]"
        one, other = wanted.get(name), got.get(name)
        if isinstance(one, Function) and isinstance(other, Function):
            for part in sorted({*one, *other}, key=str):
                if one.get(part) != other.get(part):
                    yield Difference(f"{path}.{part}", worded(one.get(part)), worded(other.get(part)))
        elif one != other:
            yield Difference(path, worded(one), worded(other))


def _rows(rows: frozenset[TlaValue]) -> dict[TlaValue, TlaValue]:
    return {row[0]: row[1] for row in rows if isinstance(row, tuple)}


def _label(name: TlaValue) -> str:
    return "-".join(map(str, name)) if isinstance(name, tuple) else str(name)


def worded(value: object) -> str:
    """A value in the words of a trace."""
    match value:
        case None:
            return NOTHING
        case frozenset():
            return "{" + ", ".join(sorted(worded(one) for one in value)) + "}"
        case tuple():
            return "[" + ", ".join(worded(one) for one in value) + "]"
        case Mapping():
            return " ".join(f"{name} {worded(one)}" for name, one in value.items())
        case _:
            return str(value)


def given_up(profile: ReassignmentProfile) -> frozenset[str]:
    """Properties that a profile does not promise: none, unless a second reassignment starts from the widened R.

    AR then names only what the second one adds: what the first one added is waited for only where all of TR is.
    Rule: partition-reassign.override.
    """
    if profile.override_base == "original":
        return frozenset()
    names = {"CancelRestores", "CompletesAsAsked", "ListsAreConsistent"}
    if profile.completes_with != "target":
        names.add("ReplicasGrowBeforeTheyShrink")
    return frozenset(names)


_GROUPS = ("effects", "refusal", "state")
"""What every line shows of what its event came to."""


@dataclass(frozen=True, slots=True)
class PartitionVerdict:
    """The verdict on one trace."""

    source: str
    events: int
    """Lines that were steps of the model."""
    rejection: Rejection | None = None
    """The rules of a rejection are those that explain the line, then those of the fields, then those of the event."""
    given_up: tuple[str, ...] = ()
    """Properties that some step violates and that the profile of the trace does not promise."""
    switched_off: tuple[str, ...] = ()
    """Rules that the header says were omitted; the model omits them too."""
    other_model: bool = False
    """The header names the hash of another model."""
    compared: Compared = NOTHING_COMPARED
    """How much of the trace was compared: all of each event, since the format lets nothing be left out."""

    @property
    def kind(self) -> VerdictKind:
        """A trace of partitions leaves nothing out and has no end to miss, so that it is never inconclusive."""
        return VerdictKind.ACCEPTED if self.rejection is None else VerdictKind.REJECTED

    @property
    def accepted(self) -> bool:
        """Whether every line is a step of the model and all properties hold."""
        return self.rejection is None

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return {"kind": self.kind, "schema": SCHEMA, **asdict(self)}


class PartitionTraceChecker:
    """Checks the lines of one trace in order: `feed` each until one is rejected."""

    def __init__(self, model: PartitionTraceModel, configuration: PartitionConfiguration, source: str) -> None:
        self._model = model
        self._configuration = configuration
        self._source = source
        self._state: JavaObject = model.start(configuration)
        self._controllers = mutated_controllers(model.switched_off)
        self._before = initial_state(configuration)
        """What the reference comes to, to try what it would do without a rule."""
        self._not_promised = given_up(configuration.profile)
        self.given_up: set[str] = set()
        """Properties violated so far that the profile does not promise."""

    def feed(self, number: int, line: PartitionEventLine) -> Rejection | None:
        """Check one line; `number` is its line number in the file."""
        name = type(line.event).__name__
        found = Rejection(
            RejectionKind.MISMATCH, self._source, number, line.sequence, name, replica=None, role=None, rules=()
        )
        event = model_event(line.event)
        differing = tuple(differences_of_shape(line))
        successors = self._model.successors(self._state, event)
        if len(successors) != 1:
            kind = RejectionKind.AMBIGUOUS if successors else RejectionKind.NOT_ENABLED
            return replace(found, kind=kind, rules=partition_event_rules(found.event))
        (after,) = successors
        actual = shown(line)
        differing += tuple(observed_differences(self._model.observation(after), actual))
        if differing:
            explained = self._explaining(line) if not tuple(differences_of_shape(line)) else ()
            near = (*explained, *rules_of(differing))
            named = tuple(dict.fromkeys((*near, *partition_event_rules(found.event))))
            return replace(found, differences=differing, explained_by=explained, rules=named, is_attributed=bool(near))
        judged = self._model.violated(self._state, after)
        self.given_up |= self._not_promised.intersection(judged)
        violated = tuple([name for name in judged if name not in self._not_promised])
        if violated:
            rules = dict.fromkeys((*sorted(self._model.switched_off), *partition_event_rules(found.event)))
            return replace(found, kind=RejectionKind.PROPERTY, properties=violated, rules=tuple(rules))
        self._state = after
        self._before = self._done(line, self._controllers).state
        return None

    def _explaining(self, line: PartitionEventLine) -> tuple[str, ...]:
        """The rules without any one of which the reference does what the line shows."""
        found: list[str] = []
        for rule in omittable_partition_rules():
            with suppress(EditError):  # it is left out anyway
                if line_of(self._done(line, mutated_controllers(self._model.switched_off | {rule}))) == line:
                    found.append(rule)
        return tuple(found)

    def _done(self, line: PartitionEventLine, controllers: Controllers) -> PartitionOccurrence:
        return happen(line.sequence, self._before, event_of(line.event), self._configuration, controllers)


def check_partition_occurrences(
    occurrences: Iterable[PartitionOccurrence],
    configuration: PartitionConfiguration,
    source: str,
    switched_off: Collection[str] = (),
) -> PartitionVerdict:
    """Check a run of the reference without writing it down; line numbers are those that its trace would have.

    `switched_off` are the rules that the model shall do without.
    """
    numbered = ((one.sequence + 1, line_of(one)) for one in occurrences)
    return _verdict(numbered, configuration, source, partition_trace_model(frozenset(switched_off)))


def check_partition_reader(reader: PartitionTraceReader, *, strict: bool = False) -> PartitionVerdict:
    """Check a trace as it is read.

    Raises:
        TraceError: it is malformed; nothing is said about what it shows.
        OtherModelError: `strict`, and the header names the hash of another model.
    """
    header = reader.header
    other_model = is_other_model(header.spec_hash, partition_spec_hash(), reader.source, strict=strict)
    model = model_of(header.switched_off, omittable_partition_rules, partition_trace_model, reader.source)
    verdict = _verdict(reader, configuration_of(header), reader.source, model)
    return replace(verdict, other_model=other_model)


def check_partition_file(path: str | Path, source: str, strict: bool = False) -> PartitionVerdict:
    """Check a file.

    Raises:
        TraceError: it cannot be read or is malformed.
        OtherModelError: `strict`, and the header names the hash of another model.
    """
    with open_partition_trace(path, source=source) as reader:
        return check_partition_reader(reader, strict=strict)


def _verdict(
    lines: Iterable[tuple[int, PartitionEventLine]],
    configuration: PartitionConfiguration,
    source: str,
    model: PartitionTraceModel,
) -> PartitionVerdict:
    checker = PartitionTraceChecker(model, configuration, source)
    events = 0
    rejection: Rejection | None = None
    for number, line in lines:
        rejection = checker.feed(number, line)
        if rejection is not None:
            break
        events += 1
    off = tuple(sorted(model.switched_off))
    compared = compared_completely(_GROUPS, model.properties, events)
    return PartitionVerdict(source, events, rejection, tuple(sorted(checker.given_up)), off, compared=compared)
