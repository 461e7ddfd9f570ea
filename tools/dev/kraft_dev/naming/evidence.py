"""What explains the failures of each bug: collected once, in minutes, so that rankings can be compared in seconds.

Every vector of the replica is played on the reference with every bug in turn, in one process.
A bug fails a vector at the first step in which it does something else; the first few such steps are explained.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from kraft_conformance.protocol.messages import HelloReply, Software
from kraft_conformance.runner.attribution import StepComparison, steps_of
from kraft_conformance.runner.selection import selected
from kraft_conformance.runner.shown import Shown
from kraft_dev.naming.bugs import Bug
from kraft_mutants import load_catalogue, reference_edits
from kraft_mutants.attribution import Given
from kraft_mutants.attribution.attributing import Changes, Explanations, changes_of, explanations
from kraft_mutants.attribution.given import played
from kraft_mutants.attribution.mutated import outcomes
from kraft_reference import replica
from kraft_reference.events import Crash
from kraft_reference.state import ReplicaState
from kraft_spec.edits import Edit
from kraft_traces.effects import TracedEffect, TracedStartTimer, traced_effect
from kraft_traces.latitude.writes import disk_of
from kraft_traces.states import traced_state
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.format import Vector

FAILURES_MAX = 4
"""Failures of a bug that are explained."""

_HELLO = HelloReply(
    id=0,
    schema="kraft-adapter/1",
    implementation=Software("bug", "1"),
    kip_levels={},
    kraft_versions=(0, 1),
    profile="kip",
    observability="state",
    state_injection=True,
)
"""An adapter that shows everything."""


class Failure(msgspec.Struct, frozen=True):
    """A step in which a bug does something else than the reference."""

    vector: str
    stated: tuple[str, ...]
    """The rules of the vector."""
    explained: Explanations


class Evidence(msgspec.Struct, frozen=True):
    """The failures of one bug."""

    bug: str
    failures: tuple[Failure, ...]
    cleared: tuple[str, ...]
    """Mutants that a vector excludes which the bug passes."""


class _Step(NamedTuple):
    vector: Vector
    number: int
    given: Given
    wrong: Any


def collect(bugs: Sequence[Bug], on_step: Callable[[str], None] = lambda _: None) -> tuple[Evidence, ...]:
    """Collect the failures of each bug, and what explains them.

    Raises:
        EditError: an edit does not fit the reference.
    """
    catalogue = Catalogue()
    vectors = [catalogue.vector(entry.id) for entry in selected(catalogue, ())]
    mutants = {one.name: edits for one in load_catalogue().mutants if (edits := reference_edits(one))}
    changes = {**mutants, **{one.name: one.edits for one in bugs}}
    wanted = {one.name for one in bugs}
    failed: dict[str, set[str]] = defaultdict(set)
    # A vector leaves timers open in many places, so that one which differs in them alone clears no mutant.
    failed_without_timers: dict[str, set[str]] = defaultdict(set)
    steps: dict[str, list[_Step]] = defaultdict(list)
    for vector in vectors:
        if not isinstance(vector, Vector):
            continue
        on_step(vector.id)
        apart: dict[str, ReplicaState] = {}
        for number, given in enumerate(steps_of(vector, vector.cluster), 1):
            left = {name: edits for name, edits in changes.items() if vector.id not in failed[name]}
            done = played(replica, given)
            right = _shown(done)
            for name, result in _outcomes(given, left, dict(apart)):
                shown = _shown(result)
                if shown is None:
                    continue
                if shown == right or isinstance(given.event, Crash):
                    if result.state != done.state:
                        apart[name] = result.state
                    continue
                failed[name].add(vector.id)
                apart.pop(name, None)
                if _without_timers(shown) != _without_timers(right):
                    failed_without_timers[name].add(vector.id)
                if name in wanted and len(steps[name]) < FAILURES_MAX:
                    steps[name].append(_Step(vector, number, given, result))
    return tuple(_evidence(steps, failed, failed_without_timers, bugs, on_step))


def _outcomes(
    given: Given, changes: Mapping[str, tuple[Edit, ...]], apart: Mapping[str, ReplicaState]
) -> Iterator[tuple[str, Any]]:
    """The outcomes of a step, each from the state that its bug is in: it may differ in what no adapter shows."""
    yield from outcomes(given, {name: edits for name, edits in changes.items() if name not in apart})
    for name, state in apart.items():
        own = given._replace(state=state)
        with suppress(Exception):  # an edited reference may make anything
            yield next(iter(outcomes(own, {name: changes[name]})), (name, played(replica, own)))


_Steps = dict[str, list[_Step]]
_Failed = dict[str, set[str]]


def _evidence(
    steps: _Steps, failed: _Failed, failed_without_timers: _Failed, bugs: Sequence[Bug], on_step: Callable[[str], None]
) -> Iterator[Evidence]:
    explained = _explained(steps, on_step)
    for bug in bugs:
        failures = [explained[bug.name, step.vector.id] for step in steps[bug.name]]
        suspects = {suspect.name for one in failures for suspect in one.explained.suspects}
        cleared = [name for name in sorted(suspects) if failed_without_timers[name] - failed[bug.name]]
        yield Evidence(bug.name, tuple(failures), tuple(cleared))


def _explained(steps: _Steps, on_step: Callable[[str], None]) -> dict[tuple[str, str], Failure]:
    """The failures by bug and vector; the changes of a step are played once for all bugs that fail in it."""
    by_step: dict[tuple[str, int], list[tuple[str, _Step]]] = defaultdict(list)
    for bug, failing in steps.items():
        for one in failing:
            by_step[one.vector.id, one.number].append((bug, one))
    found = {}
    for (vector, number), alike in by_step.items():
        on_step(f"{vector}, step {number}")
        changes = changes_of(alike[0][1].given)
        assert changes is not None, "the reference takes the steps of a vector"
        for bug, step in alike:
            found[bug, vector] = _failure(step, changes)
    return found


def _failure(step: _Step, changes: Changes) -> Failure:
    effects, refusal, state = _shown(step.wrong) or ([], UNSET, UNSET)
    seen = Shown(tuple(effects), refusal, state, disk_of(traced_state(step.given.state)))
    explained = explanations(changes, StepComparison(seen, _HELLO).differences)
    return Failure(step.vector.id, step.vector.rules, explained)


def _shown(step: Any) -> tuple[list[TracedEffect], Any, Any] | None:
    """What an adapter shows of a step; None for one that no adapter can show."""
    try:
        return [traced_effect(1, one) for one in step.effects], step.refusal, traced_state(step.state)
    except Exception:  # an edited reference may make anything
        return None


def _without_timers(shown: tuple[list[TracedEffect], Any, Any] | None) -> object:
    if shown is None:
        return None
    effects, *others = shown
    return [one for one in effects if not isinstance(one, TracedStartTimer)], *others


def write_evidence(file: Path, evidence: Sequence[Evidence]) -> None:
    """Write evidence to a file."""
    file.write_bytes(msgspec.json.encode(evidence))


def read_evidence(file: Path) -> tuple[Evidence, ...]:
    """Read evidence from a file.

    Raises:
        msgspec.DecodeError: the file holds something else.
    """
    return msgspec.json.decode(file.read_bytes(), type=tuple[Evidence, ...])
