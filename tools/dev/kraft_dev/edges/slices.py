"""Explanation of every step of a model check as steps of the inductive proof, with the proof's invariants in every
state.

A generated module extends the module of the model check: it labels each step with the action and
its arguments, which Next lacks. The reference computes the effects of the step on its replica (`kraft_dev.edges`).
"""

import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any, NamedTuple

import jpype

from kraft_dev.edges.constructing import successors
from kraft_dev.edges.edge import Edge
from kraft_dev.edges.explaining import Explaining
from kraft_dev.edges.graph import NETWORK_ACTIONS
from kraft_dev.edges.replay import DRAW, step_of
from kraft_proofs.induction.refinement import Refinement
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_spec import mapping, mapping_forms
from kraft_spec.mapping_forms import NO_KEY
from kraft_spec.models import ModelCheck, checks_of, write_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.records import like
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import Function, codec

_LABELLED = re.compile(r"(\w+)\(([^()]*)\)$")
_ROOT = "Labelled"


NOT_EXPLAINED = {
    "forgetting": "begins on a snapshot, whose records no state tells",
    "liveness-zombie": "begins with a changed set, and no state tells that the set before it was committed",
    "voters-known-leader": "a voter alone in a set that is not synced elects itself and dies before the sync: its file "
    "names it the leader, by a log that it lost, and the proof has nobody elected",
}
"""Model checks outside the proof, and the reason."""


class Reached(NamedTuple):
    """Progress of a search."""

    states: int
    queued: int
    """States that were discovered and not expanded; none after a complete search."""


def slices() -> dict[str, ModelCheck]:
    """Return the exhaustive model checks in whose every state the proof must hold, by name."""
    return {
        check.name: check
        for check in (*checks_of("ci"), *checks_of("long"))
        if check.name not in NOT_EXPLAINED
        and not (check.violates or check.simulation or check.mutants or "Partition" in check.configuration.module)
    }


def explain_slice(
    check: ModelCheck,
    explaining: Explaining,
    on_progress: Callable[[Reached], None],
    time_limit_seconds: float | None = None,
) -> Reached:
    """Search a model check breadth first. A process can do so once, because TLC keeps one specification.

    Args:
        check: The model check.
        explaining: Receives each step and each new state.
        on_progress: Called periodically with the progress.
        time_limit_seconds: Stop after this time.

    Raises:
        ValueError: The proof has no such start state: see `Refinement`.
        SpecificationError: TLC cannot parse or evaluate the model.
        JvmError, JarMissing, JarMismatch, JavaMissing: TLC cannot be used.
    """
    with TemporaryDirectory(prefix="kraft-spec-slice-") as temporary:
        folder = write_model(check, Path(temporary) / "model")
        _write_labelled(check, folder)
        return _Search(Specification(folder, _ROOT), explaining).run(on_progress, time_limit_seconds)


def _write_labelled(check: ModelCheck, folder: Path) -> None:
    lines = (folder / "KRaft.tla").read_text(encoding="utf-8").splitlines()
    disjuncts = lines[lines.index("Next ==") + 1 : -1]
    labelled = [_LABELLED.sub(r"\1(\2) /\\ step' = <<" r'"\1", \2>>', disjunct) for disjunct in disjuncts]
    configuration = check.configuration
    module = (
        f"---- MODULE {_ROOT} ----",
        f"EXTENDS {configuration.module}",
        "VARIABLE step",
        # Liveness checks have a formula, which begins with Start.
        f"{_ROOT}Init == {'Start' if configuration.specification else configuration.init} /\\ step = <<>>",
        f"{_ROOT}Next ==",
        *labelled,
        "====",
    )
    (folder / f"{_ROOT}.tla").write_text("\n".join(module), encoding="utf-8")
    labelled_form = replace(configuration, specification="", init=f"{_ROOT}Init", invariants=(), properties=())
    text = labelled_form.text.replace("NEXT Next", f"NEXT {_ROOT}Next")
    (folder / f"{_ROOT}.cfg").write_text(text, encoding="utf-8")


class _Search:
    def __init__(self, specification: Specification, explaining: Explaining) -> None:
        self._specification = specification
        self._tool = specification.tool
        self._explaining = explaining
        self._step = jpype.JClass("util.UniqueString").uniqueStringOf("step")
        self._decode: Callable[[JavaObject], Any] = codec().decode
        self._no_step = codec().encode(())
        self._configurations: dict[str, Any] = {}
        self._edges: dict[tuple[str, ...], Edge | None] = {}

    def run(self, on_progress: Callable[[Reached], None], time_limit_seconds: float | None) -> Reached:
        end = inf if time_limit_seconds is None else monotonic() + time_limit_seconds
        fingerprints: set[int] = set()
        queue: deque[tuple[JavaObject, Refinement]] = deque()
        for state in self._specification.initial_states():
            if self._tool.isInModel(state):
                fingerprints.add(self._fingerprint(state))
                replicas: Any = _plain(self._specification.decoded(state, "replicas"))
                queue.append((state, self._explaining.begin(self._configuration(state), replicas)))
                self._explaining.visit(queue[-1][1])
        explored = 0
        while queue and monotonic() < end:
            queue.extend(self._explored(*queue.popleft(), fingerprints))
            explored += 1
            if explored % 500 == 0:
                on_progress(Reached(explored, len(queue)))
        return Reached(explored, len(queue))

    def _explored(
        self, state: JavaObject, followed: Refinement, fingerprints: set[int]
    ) -> Iterator[tuple[JavaObject, Refinement]]:
        for successor in successors(self._tool, state):
            if not self._tool.isInActions(state, successor):
                continue
            edge = self._edge(state, successor)
            after = followed if edge is None else self._explaining.follow(followed, edge)
            fingerprint = self._fingerprint(successor)
            if self._tool.isInModel(successor) and fingerprint not in fingerprints:
                fingerprints.add(fingerprint)
                self._explaining.visit(after)
                yield successor, after

    def _fingerprint(self, state: JavaObject) -> int:
        """Return the fingerprint of a state after removing its label, which is not restored."""
        state.bind(self._step, self._no_step)
        return self._specification.fingerprint(state)

    def _edge(self, state: JavaObject, successor: JavaObject) -> Edge | None:
        """Return the event at a replica; None if only the network changed."""
        label = self._specification.lookup(successor, "step")
        name, *arguments = self._decode(label)
        if name in NETWORK_ACTIONS:
            return None
        place = codec().encode(arguments[0])
        before, after = (
            self._specification.lookup(model_state, "replicas").apply(place, 0) for model_state in (state, successor)
        )
        configuration = self._configuration(state)
        key = (str(id(configuration)), str(label.toString()), str(before.toString()), str(after.toString()))
        if key not in self._edges:
            states = [_plain(self._decode(replica)) for replica in (before, after)]
            self._edges[key] = _edge(configuration, name, [_plain(argument) for argument in arguments], *states)
        return self._edges[key]

    def _configuration(self, state: JavaObject) -> Any:
        value = self._specification.lookup(state, "config")
        text = str(value.toString())
        if text not in self._configurations:
            plain = _plain(self._decode(value))
            # MCBounds writes {NoKey} for the voters of the cluster.
            formatted = [plain["voters"] if voters == {NO_KEY} else voters for voters in plain["initial_voters"]]
            self._configurations[text] = {**plain, "initial_voters": tuple(formatted)}
        return self._configurations[text]


def _edge(configuration: Any, name: str, arguments: list[Any], before: Any, after: Any) -> Edge:
    replica_id, *parameters = arguments
    event = {"name": name, "replica": replica_id}
    if name.startswith("Handle"):
        event["message"] = parameters[0]
    else:
        fields = mapping.EVENTS[mapping.EVENT_TYPES[name]]
        if name == "Poll":
            # Next has no clock that chooses the receivers.
            parameters = [mapping_forms.OPTIONAL_LIST.to_model(None)]
        event |= dict(zip((field.model for field in fields), parameters, strict=True))
    whole = Edge(configuration, event, before, after, "", ())
    if name == "Crash" or after["role"] != Role.STOPPED:
        return whole
    return next(_cut_short(whole), whole)


def _cut_short(whole: Edge) -> Iterator[Edge]:
    """Yield the same step up to each crash within it that leaves the state after it."""
    configuration = mapping.configuration_from_model(whole.configuration)
    event, before = (
        mapping.event_from_model(whole.event, configuration.cluster_id),
        mapping.state_from_model(whole.before),
    )
    kept = whole.after["base"]["end_offset"] + len(whole.after["log"])
    for completed in range(1, len(Replica(before, configuration).step(event, DRAW).effects)):
        edge = replace(whole, completed=completed, kept=kept)
        # A crash at this place may be unable to leave this much of the log.
        with suppress(ValueError):
            if mapping.state_to_model(step_of(Replica(before, configuration), event, edge).state) == whole.after:
                yield edge


def _plain(value: Any) -> Any:
    """Return a model value as a Python value."""
    if isinstance(value, Function):
        return {key: _plain(entry) for key, entry in value.items()}
    return like(value, [_plain(element) for element in value]) if isinstance(value, tuple) else value
