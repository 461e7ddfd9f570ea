"""A partition trace against the model, line by line: one successor for each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.occurrence import PartitionOccurrence
from kraft_spec.action_rules import partition_event_rules, switchable_partition_rules
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.differences import Difference
from kraft_traces.check.verdict import RejectionKind
from kraft_traces.errors import FieldError
from kraft_traces.partitions.binding import differences_of_shape, model_event, shown
from kraft_traces.partitions.differences import observed_differences, rules_of
from kraft_traces.partitions.encode import configuration_of, line_of
from kraft_traces.partitions.lines import PartitionEventLine
from kraft_traces.partitions.model import PartitionTraceModel, partition_trace_model
from kraft_traces.partitions.reader import read_header, read_lines


@dataclass(frozen=True, slots=True)
class PartitionRejection:
    """The first line that is not right, and why."""

    kind: RejectionKind
    source: str
    line: int
    sequence: int
    event: str
    differences: tuple[Difference, ...] = ()
    properties: tuple[str, ...] = ()
    """Names of the violated properties."""
    explained_by: tuple[str, ...] = ()
    """Rules without any one of which the line would be right: the traced software does not keep one of them."""
    rules: tuple[str, ...] = ()
    """Those that explain the line first, then those of the fields, then those of the event."""

    def headline(self) -> str:
        """One line: where and what."""
        where = f"{self.source}:{self.line}: event {self.sequence} {self.event}"
        if self.kind is RejectionKind.PROPERTY:
            return f"{where} violates {', '.join(self.properties)}"
        fields = "; ".join(f"{one.field}: expected {one.expected}, actual {one.actual}" for one in self.differences)
        return f"{where} shows something else: {fields} ({', '.join(self.rules[:3])})"


GIVEN_UP: Mapping[str, frozenset[str]] = {
    "replicas": frozenset({"CancelRestores", "CompletesAsAsked", "ListsAreConsistent"}),
}
"""What a profile does not promise that starts a second reassignment from the widened R.

Rule: partition-reassign.override."""


@dataclass(frozen=True, slots=True)
class PartitionVerdict:
    """The verdict on one trace."""

    source: str
    events: int
    """Lines that were steps of the model."""
    rejection: PartitionRejection | None = None
    given_up: tuple[str, ...] = ()
    """Properties that some step violates and that the profile of the trace does not promise."""

    @property
    def accepted(self) -> bool:
        """Whether every line is a step of the model and all properties hold."""
        return self.rejection is None


class PartitionTraceChecker:
    """Checks the lines of one trace in order: `feed` each until one is rejected."""

    def __init__(self, model: PartitionTraceModel, configuration: PartitionConfiguration, source: str) -> None:
        self._model = model
        self._configuration = configuration
        self._source = source
        self._state: JavaObject = model.start(configuration)
        self._not_promised = GIVEN_UP.get(configuration.profile.override_base, frozenset())
        self.given_up: set[str] = set()
        """Properties violated so far that the profile does not promise."""

    def feed(self, number: int, line: PartitionEventLine) -> PartitionRejection | None:
        """Check one line; `number` is its line number in the file."""
        found = PartitionRejection(
            RejectionKind.MISMATCH, self._source, number, line.sequence, type(line.event).__name__
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
            explained = self._explaining(event, actual) if not tuple(differences_of_shape(line)) else ()
            rules = dict.fromkeys((*explained, *rules_of(differing), *partition_event_rules(found.event)))
            return replace(found, differences=differing, explained_by=explained, rules=tuple(rules))
        judged = self._model.violated(self._state, after)
        self.given_up |= self._not_promised.intersection(judged)
        violated = tuple([name for name in judged if name not in self._not_promised])
        if violated:
            rules = dict.fromkeys((*sorted(self._configuration.switched_off), *partition_event_rules(found.event)))
            return replace(found, kind=RejectionKind.PROPERTY, properties=violated, rules=tuple(rules))
        self._state = after
        return None

    def _explaining(self, event: Mapping[str, object], actual: Mapping[str, object]) -> tuple[str, ...]:
        """The rules without any one of which the model does what the line shows."""
        found: list[str] = []
        for rule in switchable_partition_rules():
            off = replace(self._configuration, switched_off=self._configuration.switched_off | {rule})
            successors = self._model.successors(self._model.reconfigured(self._state, off), event)
            if any(self._model.observation(one) == actual for one in successors):
                found.append(rule)
        return tuple(found)


def check_partition_occurrences(
    occurrences: Iterable[PartitionOccurrence], configuration: PartitionConfiguration, source: str
) -> PartitionVerdict:
    """Check a run of the reference without writing it down; line numbers are those that its trace would have."""
    numbered = ((one.sequence + 1, line_of(one)) for one in occurrences)
    return _verdict(numbered, configuration, source)


def check_partition_trace(texts: Iterable[bytes], source: str) -> PartitionVerdict:
    """Check a trace, given its lines.

    Raises:
        TraceError: it is malformed; nothing is said about what it shows.
    """
    iterator = iter(texts)
    header = read_header(next(iterator, b""), source)
    known = switchable_partition_rules()
    for index, rule in enumerate(header.switched_off):
        if rule not in known:
            detail = f"{rule!r} is no rule that the model can switch off, expected one of {', '.join(known)}"
            raise FieldError(detail, source, 1, f"$.switched_off[{index}]")
    return _verdict(read_lines(iterator, source), configuration_of(header), source)


def _verdict(
    lines: Iterable[tuple[int, PartitionEventLine]], configuration: PartitionConfiguration, source: str
) -> PartitionVerdict:
    checker = PartitionTraceChecker(partition_trace_model(), configuration, source)
    events = 0
    for number, line in lines:
        rejection = checker.feed(number, line)
        if rejection is not None:
            return PartitionVerdict(source, events, rejection, tuple(sorted(checker.given_up)))
        events += 1
    return PartitionVerdict(source, events, None, tuple(sorted(checker.given_up)))
