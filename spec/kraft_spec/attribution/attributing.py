"""A wrong step against what the reference would do with one rule broken, or with one thing otherwise."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from kraft_reference.events import Receive
from kraft_spec.attribution.altered import alternatives
from kraft_spec.attribution.given import AnyGiven, Given, played, player
from kraft_spec.attribution.mutated import broken
from kraft_spec.attribution.ranking import Asked, Clue, Suspect, level_of, ranked
from kraft_spec.copies import ORIGINAL
from kraft_spec.rules import Level


class Attribution(NamedTuple):
    """The rules that a wrong step concerns."""

    rules: tuple[str, ...]
    """The likeliest first."""
    is_exact: bool
    """Whether the reference with one thing otherwise does just what was seen."""
    level: Level = "MUST"
    """What is not kept, as far as that is known: SHOULD or MAY where no MUST need be broken to do what was seen."""
    why: str = ""
    """In a line: what makes the first rule the likeliest; empty if it is one of those that are stated."""
    suspects: tuple[str, ...] = ()
    """The mutants of the catalogue that do just what was seen, the likeliest first."""


Differing = Callable[[Any], Collection[object]]
"""What differs between a step of the reference and what was seen; empty if nothing does.

Two things that differ alike are equal, so that what is left of a difference can be told from another one.
The step is a `Step` of the replica, or a `PartitionOccurrence`.
"""


def attributed(
    given: AnyGiven, differing: Differing, stated: Sequence[str] = (), left_out: frozenset[str] = frozenset()
) -> Attribution:
    """The rules behind what differs in a step, the likeliest first.

    Exact explanations come before those of a part of what differs.
    Among them a rule that is broken on purpose, as a mutant of the catalogue, comes before a thing that comes out
    otherwise at a line of the reference; there the rules named close to the line come first.

    Args:
        given: what the step was given.
        differing: compares a step of the reference with what was seen.
        stated: the rules to fall back on, such as those that the vector or the event's action is about; all of them
            are in the result.
        left_out: mutants that are not tried, by name.
    """
    left = partial(_left, differing)
    at_first = set(left(played(import_module(f"{ORIGINAL}.{player(given)}"), given)) or ())
    suspects, clues = [], []
    for one in broken(given, left_out):
        remaining = left(one.result)
        if remaining is not None and not remaining:
            mutant = one.mutant
            suspects.append(Suspect(mutant.name, mutant.rules, mutant.bug, mutant.is_experiment))
    compared: dict[int, Collection[object] | None] = {}
    for other in tuple(alternatives(given)):
        if id(other.result) not in compared:
            compared[id(other.result)] = left(other.result)
        remaining = compared[id(other.result)]
        if remaining is not None and set(remaining) < at_first:
            clues.append(Clue(other.where, not remaining))
    exact = [one for one in clues if one.is_exact]
    return _concluded(given, suspects, exact or clues, stated)


def _concluded(
    given: AnyGiven, suspects: Sequence[Suspect], clues: Sequence[Clue], stated: Sequence[str]
) -> Attribution:
    asked = Asked()
    if isinstance(given, Given):
        message = given.event.message if isinstance(given.event, Receive) else None
        asked = Asked(str(given.state.role), getattr(message, "pre_vote", None))
    found = ranked(suspects, clues, asked, stated)
    exact = [one for one in clues if one.is_exact]
    return Attribution(found.rules, bool(suspects or exact), level_of(exact, suspects), found.why, found.suspects)


def _left(differing: Differing, step: Any) -> Collection[object] | None:
    """What differs; None for a step that no implementation can show, such as an answer to nobody."""
    try:
        return differing(step)
    except Exception:  # an altered reference may make anything
        return None
