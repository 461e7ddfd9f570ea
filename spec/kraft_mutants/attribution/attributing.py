"""A wrong step against what the reference does with one rule broken, or with another value of one expression."""

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
    """The rules that a wrong step concerns."""

    rules: tuple[str, ...]
    """The likeliest first."""
    is_exact: bool
    """Whether a change of the reference does just what was seen."""
    level: Level = "MUST"
    """What is not kept, as far as that is known: SHOULD or MAY where no MUST need be broken to do what was seen."""
    why: str = ""
    """In a line: what makes the first rule the likeliest; empty if it is one of those that are stated."""
    suspects: tuple[str, ...] = ()
    """The mutants of the catalogue that do just what was seen, the likeliest first."""


Compare = Callable[[Any], Collection[Difference]]
"""Compares a step of the reference, a `Step` of the replica or a `PartitionOccurrence`, with what was seen."""


class Changes(NamedTuple):
    """A step of the reference, and what it is under each change of the reference."""

    step: Any
    branch: Place | None
    """Of the reference, in which the handler of the event returned."""
    mutants: tuple[Broken, ...]
    alternatives: tuple[Alternative, ...]


class Explanations(NamedTuple):
    """The changes of the reference that explain a wrong step."""

    suspects: tuple[Suspect, ...] = ()
    clues: tuple[Clue, ...] = ()
    branch: Place | None = None


def attributed(
    given: AnyGiven, compare: Compare, stated: Sequence[str] = (), left_out: frozenset[str] = frozenset()
) -> Attribution:
    """The rules behind what differs in a step, the likeliest first: see `ranking`.

    Args:
        given: what the step was given.
        compare: compares a step of the reference with what was seen.
        stated: the rules to fall back on, such as those that the vector or the event's action is about; all of them
            are in the result.
        left_out: mutants that are not tried, by name.
    """
    changes = changes_of(given, left_out)
    suspects, clues, branch = Explanations() if changes is None else explanations(changes, compare)
    found = ranked(suspects, clues, branch, stated)
    exact = [clue for clue in clues if clue.is_exact]
    return Attribution(found.rules, bool(suspects or exact), level_of(exact, suspects), found.why, found.suspects)


def changes_of(given: AnyGiven, left_out: frozenset[str] = frozenset()) -> Changes | None:
    """Play a step under each change of the reference; None if the reference cannot take its event.

    An event that is no step of the model may be one that the reference cannot even take.
    """
    try:
        step, branch = decided(given)
    except Exception:  # of the reference's assertions, or of a value that it does not know
        return None
    return Changes(step, branch, tuple(broken(given, left_out)), tuple(alternatives(given)))


def explanations(changes: Changes, compare: Compare) -> Explanations:
    """The changes that explain what differs; none if nothing does."""
    at_first = frozenset(compare(changes.step))
    if not at_first:
        return Explanations()
    fields = {one.field for one in at_first}

    def left(step: Any) -> frozenset[Difference] | None:
        try:
            return frozenset(compare(step))
        except Exception:  # an altered reference may make what no implementation can show
            return None

    suspects = [
        Suspect(mutant.name, mutant.rules, mutant.bug, omitted_rule(mutant) is not None)
        for mutant, result in changes.mutants
        if left(result) == frozenset()
    ]
    clues: list[Clue] = []
    known: dict[int, frozenset[Difference] | None] = {}
    for where, result in changes.alternatives:
        if id(result) not in known:
            known[id(result)] = left(result)
        remaining = known[id(result)]
        if remaining is not None and (not remaining or {one.field for one in at_first ^ remaining} == fields):
            clues.append(Clue(where, not remaining))
    return Explanations(tuple(suspects), tuple(clues), changes.branch)
