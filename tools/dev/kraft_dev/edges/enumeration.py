"""Breadth-first enumeration of the complete state graph of Edges.tla, with TLC in this process.

The edges from constructed states of `constructing` follow.

Only these modules of the package, and `constructed*`, need Java.
`python -m kraft_dev.edges.enumeration FILE` writes the edges to a file.
"""

import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

import jpype

from kraft_dev.edges.constructing import Constructing, Start, successors
from kraft_dev.edges.edge import WHOLE, Edge, ModelRecord
from kraft_dev.edges.explaining import Explaining
from kraft_dev.edges.graph import NETWORK_ACTIONS, ActionEdges, EdgeGraph, count_constructed
from kraft_dev.edges.shared_values import SharedValues
from kraft_dev.edges.storing import enumeration_key, save_edges
from kraft_proofs.induction.refinement import Refinement
from kraft_spec.compiled.building import CompilationError
from kraft_spec.compiled.checks import compiled_check
from kraft_spec.tlc import jvm
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import codec

Progress = Callable[[int, int], None]
"""Callback with the number of explored and of known states."""

_MODULE = "Edges"
_STATES_BETWEEN_CALLS = 500


class _Label(NamedTuple):
    """Counts for each edge, and the edge itself unless it belongs to the network."""

    action: str
    edge: Edge | None
    changing: bool


class _Found(NamedTuple):
    """A state to explore."""

    state: JavaObject
    configuration: str
    depth: int
    followed: Refinement | None


def enumerate_edges(
    on_progress: Progress | None = None, explaining: Explaining | None = None, *, interpreted: bool = False
) -> EdgeGraph:
    """Enumerate the graph. A process can do so once, because TLC keeps one specification.

    The model is compiled if there is a Java compiler.

    Args:
        on_progress: Called with the progress.
        explaining: Receives each edge of each state, to explain it as steps of the proof.
        interpreted: TLC interprets the model in any case.

    Raises:
        SpecificationError: TLC cannot parse or evaluate the model.
        JvmError, JarMissing, JarMismatch, JavaMissing: TLC cannot be used.
    """
    with as_file(files("kraft_spec") / "tla") as directory:
        if not interpreted:
            with suppress(CompilationError):
                jvm.start(compiled=compiled_check(directory, _MODULE, _MODULE))
        return _Enumeration(directory, explaining).graph(on_progress)


class _Enumeration:
    """Breadth-first search over the states within the bounds."""

    def __init__(self, directory: Path, explaining: Explaining | None) -> None:
        self._explaining = explaining
        self._specification = Specification(directory, _MODULE)
        self._tool = self._specification.tool
        unlabelled = {"step": codec().encode({"name": ""}), "observed": codec().encode(())}
        unique_string = jpype.JClass("util.UniqueString").uniqueStringOf
        self._unlabelled = tuple((unique_string(name), nothing) for name, nothing in unlabelled.items())
        self._names = tuple(name for name, _ in self._unlabelled)
        self._labels: dict[tuple[str, int], _Label] = {}
        self._actions: dict[str, ActionEdges] = {}
        self._values = SharedValues()
        self._configurations: dict[str, Any] = {}
        self._replica_states: set[tuple[str, int]] = set()
        self._refused: list[Edge] = []

    def graph(self, on_progress: Progress | None) -> EdgeGraph:
        """Explore all states and return the graph."""
        began = time.perf_counter()
        specification = self._specification
        fingerprints: set[int] = set()
        queue: deque[_Found] = deque()
        starts: list[Start] = []
        for state in specification.initial_states():
            configuration = str(specification.lookup(state, "config").toString())
            self._configurations[configuration] = self._values.decoded(specification.lookup(state, "config"))
            starts.append(Start(state.copy(), self._configurations[configuration]))
            fingerprints.add(self._nameless(state))
            replicas = self._values.decoded(specification.lookup(state, "replicas"))
            queue.append(_Found(state, configuration, 0, self._begin(configuration, replicas)))
            for number, replica in enumerate(replicas, start=1):
                self._ask(state, configuration, number, replica)
        explored = depth = 0
        while queue:
            node = queue.popleft()
            depth = node.depth
            queue.extend(self._explored(node, fingerprints))
            explored += 1
            if on_progress is not None and explored % _STATES_BETWEEN_CALLS == 0:
                on_progress(explored, len(fingerprints))
        edges = [label.edge for label in self._labels.values() if label.edge is not None]
        for edge in edges:
            self._actions[edge.action].distinct += 1
        began_constructed = time.perf_counter()
        constructing = Constructing(specification, self._values)
        of_graph = (*edges, *self._refused, *_not_running(edges))
        constructed = tuple(constructing.edges(starts, of_graph))
        ended = time.perf_counter()
        return EdgeGraph(
            edges=(*of_graph, *constructed),
            actions=dict(sorted(self._actions.items())),
            states=explored,
            depth=depth,
            replica_states=len(self._replica_states),
            seconds=ended - began,
            constructed=count_constructed(constructed),
            constructed_states=constructing.states,
            seconds_constructed=ended - began_constructed,
        )

    def _explored(self, node: _Found, fingerprints: set[int]) -> Iterator[_Found]:
        """Count the edges of a state, and yield the states that are new and within the bounds."""
        edges_seen: set[tuple[int, int]] = set()
        for successor in successors(self._tool, node.state):
            key = (node.configuration, self._values.fingerprint(*[successor.lookup(name) for name in self._names]))
            label = self._labels.get(key)
            asked_of: tuple[int, ModelRecord] | None = None
            if label is None:
                label, asked_of = self._label(successor, node.configuration)
                self._labels[key] = label
            fingerprint = self._nameless(successor)
            # TLC returns a successor once for each way in which the action's formula is true.
            if (id(label), fingerprint) in edges_seen:
                continue
            edges_seen.add((id(label), fingerprint))
            within = bool(self._tool.isInModel(successor))
            self._count(label, leaving=not within)
            if asked_of is not None:
                self._ask(successor, node.configuration, *asked_of)
            followed = node.followed
            if self._explaining is not None and followed is not None and label.edge is not None:
                followed = self._explaining.follow(followed, label.edge)
            if within and fingerprint not in fingerprints:
                fingerprints.add(fingerprint)
                if self._explaining is not None and followed is not None:
                    self._explaining.visit(followed)
                yield _Found(successor, node.configuration, node.depth + 1, followed)

    def _begin(self, configuration: str, replicas: Sequence[ModelRecord]) -> Refinement | None:
        if self._explaining is None:
            return None
        return self._explaining.begin(self._configurations[configuration], replicas)

    def _nameless(self, state: JavaObject) -> int:
        """Return the fingerprint of a state after removing its labels, which are not restored."""
        for name, nothing in self._unlabelled:
            state.bind(name, nothing)
        return self._specification.fingerprint(state)

    def _label(self, successor: JavaObject, configuration: str) -> tuple[_Label, tuple[int, ModelRecord] | None]:
        """Return a new label, and the state of the replica after it, which may be new."""
        step = self._values.decoded(self._specification.lookup(successor, "step"))
        name = str(step["name"])
        if name in NETWORK_ACTIONS:
            return _Label(name, None, changing=False), None
        edge = self._values.edge(
            self._configurations[configuration], step, self._specification.lookup(successor, "observed")
        )
        return _Label(name, edge, edge.before is not edge.after), (step["replica"], edge.after)

    def _count(self, label: _Label, *, leaving: bool) -> None:
        counted = self._actions.setdefault(label.action, ActionEdges())
        counted.leaving += leaving
        if label.edge is None:
            counted.network += 1
            return
        counted.changing += label.changing
        counted.unchanging += not label.changing
        counted.crashes += label.edge.completed != WHOLE

    def _ask(self, state: JavaObject, configuration: str, replica_id: int, replica: ModelRecord) -> None:
        """Collect the events that the model refuses in a new replica state."""
        if (configuration, id(replica)) in self._replica_states:
            return
        self._replica_states.add((configuration, id(replica)))
        bound = self._specification.bind(state, "step", {"name": "asked", "replica": replica_id})
        enabled = {
            id(self._values.decoded(self._specification.lookup(successor, "step")))
            for successor in successors(self._tool, bound)
        }
        for event, reason in self._values.refusable(self._specification.evaluate("AskedEvents", bound)):
            if id(event) not in enabled:
                self._refused.append(Edge.refused(self._configurations[configuration], event, replica, reason))


def _not_running(edges: list[Edge]) -> Iterator[Edge]:
    """Yield edges for messages to a stopped replica: one of each kind for each such state."""
    deliveries: dict[tuple[int, int], dict[str, Edge]] = {}
    stopped: dict[tuple[int, int, int], Edge] = {}
    for edge in edges:
        place = (id(edge.configuration), edge.event["replica"])
        if "message" in edge.event:
            deliveries.setdefault(place, {}).setdefault(edge.action, edge)
        if edge.before["role"] == "Stopped":
            stopped.setdefault((*place, id(edge.before)), edge)
    for (configuration, replica_id, _), edge in stopped.items():
        for delivery in deliveries.get((configuration, replica_id), {}).values():
            yield Edge.refused(edge.configuration, delivery.event, edge.before, "NOT_RUNNING")


def main() -> None:
    """Enumerate the edges, and write them to the file on the command line."""
    enumeration_key()  # of the sources before the minutes that this takes
    print(save_edges(Path(sys.argv[1]), enumerate_edges()))


if __name__ == "__main__":
    main()
