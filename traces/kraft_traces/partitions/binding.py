"""Conversion of a line to the model's values: its event and its observation."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from msgspec import Struct

from kraft_mutants.models import mutated_model
from kraft_partitions import effects, events
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.partition import Partition
from kraft_partitions.state import ControllerState
from kraft_spec.difference import Difference
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import Function, TlaValue, codec
from kraft_traces.partitions import lines
from kraft_traces.partitions.lines import Ids, PartitionEventLine, TracedEffect, TracedEvent, TracedPartition


def configuration_to_model(configuration: PartitionConfiguration) -> dict[str, object]:
    """Return the value of the model's variable `config`."""
    return {
        "brokers": configuration.brokers,
        "controllers": frozenset(configuration.controllers),
        "first": configuration.controllers[0],
        "unclean": configuration.unclean_topics,
        "profile": asdict(configuration.profile),
        "assignments": {tuple(name): replicas for name, replicas in configuration.assignments.items()},
    }


class PartitionTraceModel:
    """Specification of partition traces, or an edited copy of it."""

    def __init__(self, switched_off: frozenset[str]) -> None:
        """Parse the model without these rules."""
        self.switched_off = switched_off
        with mutated_model(switched_off) as directory:
            self._specification = Specification(directory, "PartitionTrace")
        (self._initial,) = self._specification.initial_states()

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of the properties that each step is checked against."""
        return (*self._specification.invariants, *self._specification.action_properties)

    def start(self, configuration: PartitionConfiguration) -> JavaObject:
        """Return the state in which a run with this configuration begins."""
        unbound = self._specification.bind(self._initial, "config", configuration_to_model(configuration))
        (start,) = self._specification.successors(self._specification.actions["TraceStart"], unbound)
        return start

    def successors(self, state: JavaObject, event: Mapping[str, object]) -> list[JavaObject]:
        """Return the successors of a state under the action of an event."""
        action = self._specification.actions[f"Trace{event['name']}"]
        return self._specification.step(action, state, "event", event)

    def observation(self, state: JavaObject) -> Mapping[str, TlaValue]:
        """Return the observation that a line must have in this successor."""
        specification = self._specification
        value = specification.evaluate("Observation", state)
        decoded = codec().decode(value)
        assert isinstance(decoded, Function), "Observation is a record"
        return {str(name): field for name, field in decoded.items()}

    def violated(self, before: JavaObject, after: JavaObject) -> tuple[str, ...]:
        """Return the properties of states and of steps that a step violates."""
        specification = self._specification
        of_states = [name for name in specification.invariants if not specification.is_valid(name, after)]
        of_steps = [n for n in specification.action_properties if not specification.action_property(n, before, after)]
        return (*of_states, *of_steps)


@cache
def partition_trace_model(switched_off: frozenset[str] = frozenset()) -> PartitionTraceModel:
    """Return the model without these rules, parsed at the first call.

    Raises:
        MutantError, EditError: the model cannot omit these rules.
    """
    return PartitionTraceModel(switched_off)


NO_TARGET: Ids = (-1,)
"""Null target in the model; it hides no valid list, because ids are never negative."""

_ORDER: tuple[type, ...] = get_args(TracedEffect)
"""Order of the effects of one event: durable writes first, brokers that start before brokers that stop."""


def model_event(event: TracedEvent) -> dict[str, object]:
    """Return the value of the model's variable `event`."""
    fields: dict[str, Any] = {name: in_model(name, getattr(event, name)) for name in event.__struct_fields__}
    match event:
        case lines.AlterPartitionReassignments():
            fields["targets"] = tuple([(name, _target(target)) for name, target in event.targets])
        case lines.ListPartitionReassignments():
            fields |= {"all": event.partitions is None, "partitions": frozenset(event.partitions or ())}
        case lines.WriteReassignPartitions():
            fields["targets"] = dict(event.targets)
    return {"name": type(event).__name__, **fields}


def _target(target: Ids | None) -> Ids:
    """Return (-1,) for null, and another invalid list for (-1,) itself."""
    return NO_TARGET if target is None else (-2,) if target == NO_TARGET else target


def observation_of(line: PartitionEventLine) -> dict[str, TlaValue]:
    """Return the observation of a line in the form of the model's Observation."""
    store: frozenset[TlaValue] = frozenset()
    legacy: tuple[TlaValue, ...] = ()
    notified: list[TlaValue] = []
    stopped: list[TlaValue] = []
    answer: TlaValue = ()
    for effect in line.effects:
        match effect:
            case lines.StorePartitions():
                store = _partitions(effect.partitions)
            case lines.StoreReassignPartitions():
                legacy = (frozenset(effect.targets),)
            case lines.LeaderAndIsr():
                notified.append(_record(effect))
            case lines.StopReplica():
                stopped.append((effect.broker, effect.partition))
            case lines.AlterReassignmentsAnswer():
                answer = (str(effect.error), tuple([(name, str(error)) for name, error in effect.results]))
            case lines.ListReassignmentsAnswer():
                rows = [(row.partition, row.replicas, row.adding, row.removing) for row in effect.reassignments]
                answer = (str(effect.error), frozenset(rows))
            case lines.AlterPartitionAnswer():
                answer = (str(effect.error), in_model("partition_epoch", effect.partition_epoch))
    state = line.state
    return {
        "refusal": "" if line.refusal is None else str(line.refusal),
        "store": store,
        "store_legacy": legacy,
        "leader_and_isr": frozenset(notified),
        "stop_replica": frozenset(stopped),
        "answer": answer,
        "controller": state.controller,
        "alive": frozenset(state.alive),
        "deleting": frozenset(state.deleting),
        "legacy": frozenset(state.legacy),
        "partitions": _partitions(state.partitions),
    }


_SETS = frozenset(
    [
        name
        for kind in (Partition, ControllerState, *get_args(events.Event), *get_args(effects.Effect))
        for name, hint in get_type_hints(kind).items()
        if get_origin(hint) is frozenset
    ]
)
"""Fields that are sets in the model and lists in lines."""


def in_model(field: str, value: Any) -> Any:
    """Return the value of a field as the model has it: lists of `_SETS` are sets, and null is -1."""
    return -1 if value is None else frozenset(value) if field in _SETS else value


def _record(part: Struct, *without: str) -> Function:
    names = [name for name in part.__struct_fields__ if name not in without]
    return Function({name: in_model(name, getattr(part, name)) for name in names})


def _partitions(partitions: Iterable[TracedPartition]) -> frozenset[TlaValue]:
    return frozenset([(partition.name, _record(partition, "name")) for partition in partitions])


# ---------------------------------------------------------------------------------------------------------
# Constraints on a line by itself.
# ---------------------------------------------------------------------------------------------------------


def differences_of_shape(line: PartitionEventLine) -> Iterator[Difference]:
    """Yield violations of a line's form: effects out of order or duplicate, sets that do not ascend."""
    ranks = [_ORDER.index(type(effect)) for effect in line.effects]
    for index, (rank, following) in enumerate(itertools.pairwise(ranks)):
        if following < rank:
            wanted = f"not after {_ORDER[rank].__name__}"
            yield Difference(f"effects[{index + 1}]", wanted, _ORDER[following].__name__)
    for index, effect in enumerate(line.effects):
        if effect in line.effects[:index]:
            yield Difference(f"effects[{index}]", "once", "twice")
        elif not isinstance(effect, lines.StopReplica | lines.LeaderAndIsr) and _again(effect, line.effects[:index]):
            yield Difference(f"effects[{index}]", "at most one effect of this kind", "a second one")
    for field, members in _sets(line):
        if any(not member < following for member, following in itertools.pairwise(members)):
            yield Difference(field, "each once, in ascending order", str(list(members)))


def _again(effect: TracedEffect, earlier: Iterable[TracedEffect]) -> bool:
    return any(type(other) is type(effect) for other in earlier)


def _sets(line: PartitionEventLine) -> Iterator[tuple[str, Sequence[Any]]]:
    """Yield the lists of a line that are sets or mappings, in which the model could not see a duplicate."""
    if isinstance(line.event, lines.AlterPartition):
        yield "event.in_sync", line.event.in_sync
    for index, effect in enumerate(line.effects):
        field = f"effects[{index}]"
        match effect:
            case lines.LeaderAndIsr():
                yield f"{field}.in_sync", effect.in_sync
            case lines.StorePartitions():
                yield from _named(f"{field}.partitions", effect.partitions)
            case lines.StoreReassignPartitions():
                yield f"{field}.targets", [name for name, _ in effect.targets]
            case lines.ListReassignmentsAnswer():
                # The order follows the request.
                yield f"{field}.reassignments", sorted(row.partition for row in effect.reassignments)
            case _:
                pass
    yield "state.alive", line.state.alive
    yield "state.deleting", line.state.deleting
    yield "state.legacy", [name for name, _ in line.state.legacy]
    yield from _named("state.partitions", line.state.partitions)


def _named(field: str, partitions: Sequence[TracedPartition]) -> Iterator[tuple[str, Sequence[Any]]]:
    yield field, [partition.name for partition in partitions]
    for index, partition in enumerate(partitions):
        yield f"{field}[{index}].in_sync", partition.in_sync
