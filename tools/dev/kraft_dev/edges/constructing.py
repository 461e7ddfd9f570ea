"""Successors of the constructed states: one step from each, computed by TLC in this process."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, cast

import jpype

from kraft_dev.edges.constructed import ConstructedState, constructed_states
from kraft_dev.edges.constructed_place import hashable
from kraft_dev.edges.edge import Edge, ModelRecord
from kraft_dev.edges.shared_values import SharedValues
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import TlaValue, codec


def _identity(edge: Edge) -> tuple[object, ...]:
    """Return an identity that is equal for equal edges, which share their values."""
    values = (edge.configuration, edge.event, edge.before, edge.after, edge.effects)
    return (*map(id, values), edge.refusal, edge.completed, edge.kept)


class ConstructedStateError(ValueError):
    """A constructed state is not well-typed."""


class Start(NamedTuple):
    """A start state of the model check and its `config` as Python values."""

    state: JavaObject
    configuration: ModelRecord


def successors(tool: JavaObject, state: JavaObject) -> list[JavaObject]:
    """Return the successors under Next, one for each way in which Next is true."""
    states = jpype.JClass("tlc2.tool.StateVec")(0)
    tool.getNextStates(states, state)
    return [states.elementAt(index) for index in range(states.size())]


class Constructing:
    """Takes one step from each constructed state.

    Attributes:
        states: Number of constructed states.
    """

    def __init__(self, specification: Specification, values: SharedValues) -> None:
        """Use the parsed specification, and share values with the edges that were made of `values`."""
        self._specification = specification
        self._codec = codec()
        self._values = values
        self._network: dict[tuple[int, ...], tuple[JavaObject, Any]] = {}
        self.states = 0

    def edges(self, starts: Sequence[Start], known_edges: Iterable[Edge]) -> Iterator[Edge]:
        """Yield every edge from a constructed state that is not in `known_edges`, each once.

        Args:
            starts: One for each cluster; their configurations are the same objects as those of the known edges.
            known_edges: Edges made of the same values, which must stay referenced during the iteration.

        Raises:
            ConstructedStateError: A state is not well-typed.
            SpecificationError: TLC cannot evaluate a step.
        """
        met = {_identity(edge) for edge in known_edges}
        clusters: Any = self._codec.decode(self._specification.evaluate("Clusters", starts[0].state))
        for start in starts:
            replicas = self._replicas(start.state)
            cluster = next(
                name
                for name, configuration in clusters.items()
                if self._values.shared(configuration) == start.configuration
            )
            for constructed in constructed_states(cluster, start.configuration):
                self.states += 1
                for edge in self._steps(start, replicas, constructed):
                    identity = _identity(edge)
                    if identity not in met:
                        met.add(identity)
                        yield edge

    def _replicas(self, start: JavaObject) -> tuple[JavaObject, ...]:
        replicas = self._specification.lookup(start, "replicas")
        return tuple([replicas.apply(self._codec.encode(number), 0) for number in range(1, int(replicas.size()) + 1)])

    def _steps(self, start: Start, replicas: tuple[JavaObject, ...], constructed: ConstructedState) -> Iterator[Edge]:
        state = self._bound(start.state, replicas, constructed)
        enabled = set()
        for successor in successors(self._specification.tool, state):
            step, observed = (self._specification.lookup(successor, name) for name in ("step", "observed"))
            event = self._values.decoded(step)
            enabled.add(id(event))
            yield self._values.edge(start.configuration, event, observed, constructed=True)
        before = self._values.encoded(constructed.before)
        for event, reason in self._refusals(state, constructed):
            if id(event) not in enabled:
                yield Edge.refused(start.configuration, event, before, reason, constructed=True)

    def _bound(self, start: JavaObject, replicas: tuple[JavaObject, ...], constructed: ConstructedState) -> JavaObject:
        number = constructed.replica_id
        of_all = (*replicas[: number - 1], constructed.before, *replicas[number:])
        state = self._specification.bind(start, "replicas", of_all)
        network = self._messages(constructed)
        may = {"crashing": constructed.crashing, "asking": constructed.asking}
        label = {"name": "constructed", "replica": number, **may}
        state = self._specification.bind(self._specification.bind(state, "network", network), "step", label)
        if not self._specification.is_valid("TypeOk", state):
            raise ConstructedStateError(f"not well-typed: {constructed.before}")
        return state

    def _messages(self, constructed: ConstructedState) -> JavaObject:
        """Return the network with all messages of a state; the groups are kept so that their ids are not reused."""
        key = tuple(map(id, constructed.messages))
        if key not in self._network:
            messages = frozenset(message for group in constructed.messages for message in group)
            self._network[key] = (self._codec.encode(messages), constructed.messages)
        return self._network[key][0]

    def _refusals(self, state: JavaObject, constructed: ConstructedState) -> Iterator[tuple[Any, str]]:
        """Yield events of the replica with the model's reason to ignore each, valid where the event is not enabled."""
        events = self._values.refusable(self._specification.evaluate("AskedEvents", state))
        yield from events[constructed.turn :: constructed.share]
        if constructed.before["role"] == "Stopped":
            for message in (message for group in constructed.messages for message in group):
                named = hashable(
                    {"name": f"Handle{message['type']}", "replica": message["destination"], "message": message}
                )
                yield self._values.shared(cast(TlaValue, named)), "NOT_RUNNING"
