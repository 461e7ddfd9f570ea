"""Comparison of a wrong step with the reference under a mutant, or under another value of one expression."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from kraft_mutants.attribution.altered import Alternative, alternatives
from kraft_mutants.attribution.deciding import decided
from kraft_mutants.attribution.given import AnyGiven
from kraft_mutants.attribution.mutated import Broken, broken
from kraft_mutants.attribution.probing import Place
from kraft_mutants.attribution.ranking import Clue, Suspect, level_of, ranked
from kraft_mutants.catalogue import omitted_rule
from kraft_spec.difference import Difference
from kraft_spec.rules import Level


class Attribution(NamedTuple):
    """Rules that a wrong step concerns."""

    rules: tuple[str, ...]
    """Most likely first."""
    is_exact: bool
    """True if a change of the reference reproduces the recorded outcome."""
    level: Level = "MUST"
    """Requirement level of the violation: SHOULD or MAY if no MUST need be broken to reproduce the outcome."""
    why: str = ""
    """One line on why the first rule is the most likely; empty if it comes from the stated rules."""
    suspects: tuple[str, ...] = ()
    """Mutants of the catalogue that reproduce the outcome, most likely first."""


Compare = Callable[[Any], Collection[Difference]]
"""Compares a step of the reference (`Step` or `PartitionOccurrence`) with the recorded one."""


class Changes(NamedTuple):
    """A step of the reference, and its result under each change of the reference."""

    step: Any
    branch: Place | None
    """Place where the reference's event handler returned."""
    mutants: tuple[Broken, ...]
    alternatives: tuple[Alternative, ...]


class Explanations(NamedTuple):
    """Changes of the reference that explain a wrong step."""

    suspects: tuple[Suspect, ...] = ()
    clues: tuple[Clue, ...] = ()
    branch: Place | None = None


def attributed(
    inputs: AnyGiven, compare: Compare, stated: Sequence[str] = (), left_out: frozenset[str] = frozenset()
) -> Attribution:
    """Return the rules behind the differences of a step, most likely first: see `ranking`.

    Args:
        inputs: inputs of the step.
        compare: compares a step of the reference with the recorded one.
        stated: fallback rules, such as those of the vector or of the event's action; the result contains all of them.
        left_out: names of mutants that are not tried.
    """
    changes = changes_of(inputs, left_out)
    suspects, clues, branch = Explanations() if changes is None else explanations(changes, compare)
    ranking = ranked(suspects, clues, branch, stated)
    exact = [clue for clue in clues if clue.is_exact]
    return Attribution(ranking.rules, bool(suspects or exact), level_of(exact, suspects), ranking.why, ranking.suspects)


def changes_of(inputs: AnyGiven, left_out: frozenset[str] = frozenset()) -> Changes | None:
    """Play a step under each change of the reference; None if the reference cannot handle its event.

    The reference may raise on an event that is no step of the model.
    """
    try:
        step, branch = decided(inputs)
    except Exception:  # an assertion of the reference, or a value that it does not know
        return None
    return Changes(step, branch, tuple(broken(inputs, left_out)), tuple(alternatives(inputs)))


def explanations(changes: Changes, compare: Compare) -> Explanations:
    """Return the changes that explain the differences; empty if the step does not differ."""
    at_first = frozenset(compare(changes.step))
    if not at_first:
        return Explanations()
    fields = {difference.field for difference in at_first}

    def remaining_differences(step: Any) -> frozenset[Difference] | None:
        try:
            return frozenset(compare(step))
        except Exception:  # an altered reference may produce values that have no recorded form
            return None

    suspects = [
        Suspect(mutant.name, mutant.rules, mutant.bug, omitted_rule(mutant) is not None)
        for mutant, result in changes.mutants
        if remaining_differences(result) == frozenset()
    ]
    clues: list[Clue] = []
    by_result: dict[int, frozenset[Difference] | None] = {}
    for where, result in changes.alternatives:
        if id(result) not in by_result:
            by_result[id(result)] = remaining_differences(result)
        left = by_result[id(result)]
        if left is not None and (not left or {difference.field for difference in at_first ^ left} == fields):
            clues.append(Clue(where, not left))
    return Explanations(tuple(suspects), tuple(clues), changes.branch)
