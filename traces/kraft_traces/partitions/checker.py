"""Check of a partition trace against the model, line by line."""

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
    observation_of,
    partition_trace_model,
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
"""Most relevant rules by the last name in a field's path."""

_KEYED = {"store": 1, "partitions": 1, "legacy": 1}
"""Fields that have a row per partition."""


def rules_of(differences: tuple[Difference, ...]) -> tuple[str, ...]:
    """Return the rules about the fields that differ, in order."""
    names = [name for difference in differences for name in reversed(difference.field.split("."))]
    return tuple(dict.fromkeys(rule for name in names for rule in RULES_OF_FIELDS.get(name.split("[")[0], ())))


def observed_differences(expected: Mapping[str, TlaValue], actual: Mapping[str, TlaValue]) -> Iterator[Difference]:
    """Yield the differences between the model's observation and that of the line."""
    for field, wanted in expected.items():
        got = actual[field]
        if wanted == got:
            continue
        if field in _KEYED and isinstance(wanted, frozenset) and isinstance(got, frozenset):
            yield from _by_partition(field, wanted, got)
        elif isinstance(wanted, frozenset) and isinstance(got, frozenset):
            for member in sorted(wanted - got, key=str):
                yield Difference(field, value_text(member), MISSING)
            for member in sorted(got - wanted, key=str):
                yield Difference(field, NOTHING, value_text(member))
        else:
            yield Difference(field, value_text(wanted), value_text(got))


def _by_partition(field: str, expected: frozenset[TlaValue], actual: frozenset[TlaValue]) -> Iterator[Difference]:
    wanted, got = _rows(expected), _rows(actual)
    for name in sorted({*wanted, *got}, key=str):
        path = f"{field}[{_label(name)}]"
        row, other = wanted.get(name), got.get(name)
        if isinstance(row, Function) and isinstance(other, Function):
            for part in sorted({*row, *other}, key=str):
                if row.get(part) != other.get(part):
                    yield Difference(f"{path}.{part}", value_text(row.get(part)), value_text(other.get(part)))
        elif row != other:
            yield Difference(path, value_text(row), value_text(other))


def _rows(rows: frozenset[TlaValue]) -> dict[TlaValue, TlaValue]:
    return {row[0]: row[1] for row in rows if isinstance(row, tuple)}


def _label(name: TlaValue) -> str:
    return "-".join(map(str, name)) if isinstance(name, tuple) else str(name)


def value_text(value: object) -> str:
    """Return the text of a value as a trace writes it."""
    match value:
        case None:
            return NOTHING
        case frozenset():
            return "{" + ", ".join(sorted(value_text(member) for member in value)) + "}"
        case tuple():
            return "[" + ", ".join(value_text(member) for member in value) + "]"
        case Mapping():
            return " ".join(f"{name} {value_text(member)}" for name, member in value.items())
        case _:
            return str(value)


def unpromised_properties(profile: ReassignmentProfile) -> frozenset[str]:
    """Return the properties that a profile does not promise: none, unless `override_base` is the widened R.

    Then AR of a second reassignment has only the replicas that it adds itself.  The replicas that the first one added
    are awaited only if all of TR is.
    Rule: partition-reassign.override.
    """
    if profile.override_base == "original":
        return frozenset()
    names = {"CancelRestores", "CompletesAsAsked", "ListsAreConsistent"}
    if profile.completes_with != "target":
        names.add("ReplicasGrowBeforeTheyShrink")
    return frozenset(names)


_GROUPS = ("effects", "refusal", "state")
"""Groups of fields of the outcome, which every line has."""


@dataclass(frozen=True, slots=True)
class PartitionVerdict:
    """The verdict on one trace."""

    source: str
    events: int
    """Number of lines that are steps of the model."""
    rejection: Rejection | None = None
    """The first wrong line; its rules are those that explain it, those of the fields, and those of the event."""
    given_up: tuple[str, ...] = ()
    """Violated properties that the profile of the trace does not promise."""
    switched_off: tuple[str, ...] = ()
    """Rules that the run omits according to the header; the model omits them too."""
    other_model: bool = False
    """True if the header has the hash of another model."""
    compared: Compared = NOTHING_COMPARED
    """Extent of the comparison: every field of every event, because the format requires all fields."""

    @property
    def kind(self) -> VerdictKind:
        """Accepted or rejected; never inconclusive, because no field and no end line can be missing."""
        return VerdictKind.ACCEPTED if self.rejection is None else VerdictKind.REJECTED

    @property
    def accepted(self) -> bool:
        """True if every line is a step of the model and all properties hold."""
        return self.rejection is None

    def as_dict(self) -> dict[str, Any]:
        """Return the value that `--json` prints."""
        return {"kind": self.kind, "schema": SCHEMA, **asdict(self)}


class PartitionTraceChecker:
    """Checker of the lines of one trace: `feed` each line in order until one is rejected."""

    def __init__(self, model: PartitionTraceModel, configuration: PartitionConfiguration, source: str) -> None:
        self._model = model
        self._configuration = configuration
        self._source = source
        self._state: JavaObject = model.start(configuration)
        self._controllers = mutated_controllers(model.switched_off)
        self._before = initial_state(configuration)
        """State of the reference, from which mutants are tried."""
        self._not_promised = unpromised_properties(configuration.profile)
        self.given_up: set[str] = set()
        """Violated properties so far that the profile does not promise."""

    def feed(self, number: int, line: PartitionEventLine) -> Rejection | None:
        """Check one line; `number` is its line number in the file."""
        name = type(line.event).__name__
        rejection = Rejection(
            RejectionKind.MISMATCH, self._source, number, line.sequence, name, replica=None, role=None, rules=()
        )
        event = model_event(line.event)
        differing = tuple(differences_of_shape(line))
        successors = self._model.successors(self._state, event)
        if len(successors) != 1:
            kind = RejectionKind.AMBIGUOUS if successors else RejectionKind.NOT_ENABLED
            return replace(rejection, kind=kind, rules=partition_event_rules(rejection.event))
        (after,) = successors
        actual = observation_of(line)
        differing += tuple(observed_differences(self._model.observation(after), actual))
        if differing:
            explained = self._explaining(line) if not tuple(differences_of_shape(line)) else ()
            near = (*explained, *rules_of(differing))
            named = tuple(dict.fromkeys((*near, *partition_event_rules(rejection.event))))
            return replace(
                rejection, differences=differing, explained_by=explained, rules=named, is_attributed=bool(near)
            )
        judged = self._model.violated(self._state, after)
        self.given_up |= self._not_promised.intersection(judged)
        violated = tuple([name for name in judged if name not in self._not_promised])
        if violated:
            rules = dict.fromkeys((*sorted(self._model.switched_off), *partition_event_rules(rejection.event)))
            return replace(rejection, kind=RejectionKind.PROPERTY, properties=violated, rules=tuple(rules))
        self._state = after
        self._before = self._done(line, self._controllers).state
        return None

    def _explaining(self, line: PartitionEventLine) -> tuple[str, ...]:
        """Return the rules that explain a line: without that one rule the reference gives the recorded outcome."""
        rules: list[str] = []
        for rule in omittable_partition_rules():
            with suppress(EditError):  # the run omits the rule already
                if line_of(self._done(line, mutated_controllers(self._model.switched_off | {rule}))) == line:
                    rules.append(rule)
        return tuple(rules)

    def _done(self, line: PartitionEventLine, controllers: Controllers) -> PartitionOccurrence:
        return happen(line.sequence, self._before, event_of(line.event), self._configuration, controllers)


def check_partition_occurrences(
    occurrences: Iterable[PartitionOccurrence],
    configuration: PartitionConfiguration,
    source: str,
    switched_off: Collection[str] = (),
) -> PartitionVerdict:
    """Check a run of the reference, given as occurrences rather than as a trace file.

    `switched_off` are the rules that the model omits.
    """
    numbered = ((occurrence.sequence + 1, line_of(occurrence)) for occurrence in occurrences)
    return _verdict(numbered, configuration, source, partition_trace_model(frozenset(switched_off)))


def check_partition_reader(reader: PartitionTraceReader, *, strict: bool = False) -> PartitionVerdict:
    """Check a trace while reading it.

    Raises:
        TraceError: the trace is malformed.
        OtherModelError: `strict` is set, and the header has the hash of another model.
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
        OtherModelError: `strict` is set, and the header has the hash of another model.
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
