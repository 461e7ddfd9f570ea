"""The module PartitionTrace of the model, parsed once in this process and asked about one line at a time."""

from collections.abc import Mapping
from functools import cache

from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_spec.experiments import model_without
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import Function, TlaValue, codec

DECISIONS: Mapping[str, str] = {
    "completes_with": "completesWith",
    "completes": "completes",
    "override_base": "overrideBase",
    "replicas_order": "replicasOrder",
    "idle_when_named": "idleWhenNamed",
}
"""The decisions of a profile, and what the model calls them."""


def configuration_to_model(configuration: PartitionConfiguration) -> dict[str, object]:
    """The value of the model's variable `config`."""
    profile = configuration.profile
    return {
        "brokers": configuration.brokers,
        "controllers": frozenset(configuration.controllers),
        "first": configuration.controllers[0],
        "unclean": configuration.unclean_topics,
        "decisions": {model: getattr(profile, ours) for ours, model in DECISIONS.items()},
        "assignments": {tuple(name): replicas for name, replicas in configuration.assignments.items()},
    }


class PartitionTraceModel:
    """The specification of partition traces, or an edited copy of it."""

    def __init__(self, switched_off: frozenset[str]) -> None:
        """Parse the model without these rules."""
        self.switched_off = switched_off
        with model_without(switched_off) as directory:
            self._specification = Specification(directory, "PartitionTrace")
        (self._initial,) = self._specification.initial_states()

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties that each step is held to."""
        return (*self._specification.invariants, *self._specification.action_properties)

    def start(self, configuration: PartitionConfiguration) -> JavaObject:
        """The state in which a run under this configuration begins."""
        unbound = self._specification.bind(self._initial, "config", configuration_to_model(configuration))
        (start,) = self._specification.successors(self._specification.actions["TraceStart"], unbound)
        return start

    def successors(self, state: JavaObject, event: Mapping[str, object]) -> list[JavaObject]:
        """The successors of a state under the one action that an event names."""
        action = self._specification.actions[f"Trace{event['name']}"]
        return self._specification.step(action, state, "event", event)

    def observation(self, state: JavaObject) -> Mapping[str, TlaValue]:
        """What a line must show of a successor."""
        specification = self._specification
        value = specification.evaluate("Observation", state)
        decoded = codec().decode(value)
        assert isinstance(decoded, Function), "Observation is a record"
        return {str(name): one for name, one in decoded.items()}

    def violated(self, before: JavaObject, after: JavaObject) -> tuple[str, ...]:
        """The properties that a step violates, of states and of steps."""
        specification = self._specification
        of_states = [name for name in specification.invariants if not specification.is_valid(name, after)]
        of_steps = [n for n in specification.action_properties if not specification.action_property(n, before, after)]
        return (*of_states, *of_steps)


@cache
def partition_trace_model(switched_off: frozenset[str] = frozenset()) -> PartitionTraceModel:
    """The model without these rules, parsed at the first call (one to two seconds).

    Raises:
        ExperimentError, EditError: these rules cannot be left out.
    """
    return PartitionTraceModel(switched_off)
