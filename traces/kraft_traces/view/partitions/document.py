"""Document of a trace of partition reassignment for its page, made of plain values.

States are given by their changes, so that a page for thousands of events stays small.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, TypedDict

from msgspec import to_builtins

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.partition import Partition, TopicPartition
from kraft_partitions.reassignment import awaited_replicas
from kraft_partitions.state import initial_state
from kraft_spec.action_rules import partition_event_rules
from kraft_traces.check.verdict import VerdictKind
from kraft_traces.errors import TraceError
from kraft_traces.partitions import lines
from kraft_traces.partitions.checker import PartitionVerdict
from kraft_traces.partitions.encode import configuration_of, traced_state
from kraft_traces.partitions.lines import (
    Name,
    PartitionEventLine,
    PartitionHeader,
    TracedEvent,
    TracedPartition,
    TracedState,
)
from kraft_traces.view.reading import inconclusive_reason
from kraft_traces.view.shared import NamedRules, error_text, verdict_document


class WaitsFor(TypedDict):
    """Brokers that must be in sync before the reassignment may complete; empty if it may."""

    brokers: list[int]
    any: bool
    """True if one of them is enough."""


def waits_for(
    traced: TracedPartition, configuration: PartitionConfiguration, switched_off: Collection[str] = ()
) -> WaitsFor | None:
    """Return the brokers that the reassignment of a partition waits for; None if none is in progress.

    Rules: partition-reassign.add-before-remove, partition-reassign.isr-never-empty.
    """
    partition = Partition(
        traced.replicas,
        frozenset(traced.in_sync),
        traced.adding,
        traced.removing,
        traced.leader,
        traced.leader_epoch,
        traced.partition_epoch,
    )
    if not partition.is_reassigned:
        return None
    missing = [broker for broker in awaited_replicas(partition, configuration) if broker not in partition.in_sync]
    if missing and "partition-reassign.add-before-remove" not in switched_off:
        return WaitsFor(brokers=missing, any=False)
    has_no_leader_left = partition.in_sync.isdisjoint(partition.target)
    if has_no_leader_left and "partition-reassign.isr-never-empty" not in switched_off:
        return WaitsFor(brokers=list(partition.target), any=len(partition.target) > 1)
    return WaitsFor(brokers=[], any=False)


class PartitionDocument(TypedDict):
    """Document of a trace; a partition is named `A-0`, and events are referred to by index, from 0."""

    source: str
    header: dict[str, Any]
    partitions: list[str]
    """Every partition that exists at some time, by topic and number."""
    start: dict[str, Any]
    """The state before the first event: controller, alive, deleting, legacy, and `partitions` by name, each with the
    fields of the trace, `being_deleted` and `waits_for`."""
    events: list[dict[str, Any]]
    """Keys: sequence, line; `event`, its name, and `fields`, the others; refusal and effects if there are any;
    `partitions`, those that the event names or changes; `rules` of its action, by index into `rules`; `changed`:
    what is another value than before, `partitions` among it by name and field, None for one that is gone."""
    rules: list[dict[str, str]]
    """Keys: id, title, level, statement."""
    verdict: dict[str, Any] | None
    broken: str | None
    """Error of the first line that cannot be read; the events are those before it."""


def partition_document(
    source: str,
    header: PartitionHeader,
    numbered: Iterable[tuple[int, PartitionEventLine]],
    verdict: PartitionVerdict | None,
    *,
    broken: TraceError | None = None,
) -> PartitionDocument:
    """Return the document of a trace.

    Args:
        source: name of the file, which replaces the path in the verdict and the error.
        header: header of the trace.
        numbered: events of the trace with their line numbers in the file.
        verdict: verdict on the trace; None if it was not checked.
        broken: error of the line after the last of `numbered`; None if there is none.
    """
    collector = _Events(configuration_of(header), header.switched_off)
    start = {"partitions": {}, **collector.state_changes(traced_state(initial_state(collector.configuration)))}
    events = [collector.event(number, line) for number, line in numbered]
    collector.rules.name(header.switched_off)
    if verdict is not None and verdict.rejection is not None:
        collector.rules.name(verdict.rejection.rules)
    return PartitionDocument(
        source=source,
        header=to_builtins(header),
        partitions=[_label(name) for name in sorted(collector.names)],
        start=start,
        events=events,
        rules=collector.rules.documents(),
        verdict=None if verdict is None else _verdict(verdict, source, broken),
        broken=None if broken is None else error_text(broken, source),
    )


class _Events:
    def __init__(self, configuration: PartitionConfiguration, switched_off: Collection[str]) -> None:
        self.configuration = configuration
        self._switched_off = switched_off
        self.rules = NamedRules()
        self.names: set[Name] = set()
        self._before: dict[str, Any] = {"partitions": {}}

    def event(self, number: int, line: PartitionEventLine) -> dict[str, Any]:
        """Return the event of a line."""
        fields: dict[str, Any] = _labelled(to_builtins(line.event))
        event: dict[str, Any] = {
            "sequence": line.sequence,
            "line": number,
            "event": fields.pop("name"),
            "fields": fields,
        }
        if line.refusal is not None:
            event["refusal"] = str(line.refusal)
        if line.effects:
            event["effects"] = _labelled(to_builtins(line.effects))
        changed = self.state_changes(line.state)
        named = dict.fromkeys(_label(name) for name in _named(line.event, self.names) if name in self.names)
        event["partitions"] = list(named | dict.fromkeys(changed.get("partitions", ())))
        event["rules"] = self.rules.places(partition_event_rules(event["event"]))
        if changed:
            event["changed"] = changed
        return event

    def state_changes(self, state: TracedState) -> dict[str, Any]:
        """Return the fields of a state that changed."""
        self.names.update(partition.name for partition in state.partitions)
        now: dict[str, Any] = _labelled(to_builtins(state))
        now["partitions"] = {
            _label(partition.name): {
                **{field: value for field, value in fields.items() if field != "name"},
                "being_deleted": partition.name[0] in state.deleting,
                "waits_for": waits_for(partition, self.configuration, self._switched_off),
            }
            for partition, fields in zip(state.partitions, now["partitions"], strict=True)
        }
        before, self._before = self._before, now
        changed = {
            field: value for field, value in now.items() if field != "partitions" and before.get(field, _NONE) != value
        }
        partitions = dict(_changed_partitions(before["partitions"], now["partitions"]))
        return {**changed, "partitions": partitions} if partitions else changed


_NONE = object()
"""Value that no field of a state equals."""


def _changed_partitions(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any] | None]]:
    for name, fields in after.items():
        earlier = before.get(name, {})
        changed = {field: value for field, value in fields.items() if earlier.get(field, _NONE) != value}
        if changed:
            yield name, changed
    for name in before:
        if name not in after:
            yield name, None


def _named(event: TracedEvent, existing: Iterable[Name]) -> Iterator[Name]:
    """Yield the partitions that an event names, directly or by their topic."""
    match event:
        case lines.AlterPartitionReassignments() | lines.WriteReassignPartitions():
            yield from (name for name, _ in event.targets)
        case lines.ListPartitionReassignments():
            yield from event.partitions or ()
        case lines.AlterPartition() | lines.CompleteReassignment():
            yield event.partition
        case lines.DeleteTopic():
            yield from sorted(name for name in existing if name[0] == event.topic)
        case _:
            pass


def _labelled(value: Any) -> Any:
    """Return the value with the document's names of partitions."""
    match value:
        case (str(), int()):
            return _label(value)
        case tuple():
            return [_labelled(part) for part in value]
        case dict():
            return {name: _labelled(part) for name, part in value.items()}
        case _:
            return value


def _label(name: Name) -> str:
    return str(TopicPartition(*name))


def _verdict(verdict: PartitionVerdict, source: str, broken: TraceError | None) -> dict[str, Any]:
    document = verdict_document(verdict, source)
    if verdict.rejection is None:
        if broken is not None:
            document["kind"] = VerdictKind.INCONCLUSIVE
            document["reason"] = inconclusive_reason(broken)
        return document
    for difference in document["rejection"]["differences"]:
        # A line without a refusal has an empty text, which would be invisible.
        difference["expected"] = difference["expected"] or "none"
        difference["actual"] = difference["actual"] or "none"
    return document
