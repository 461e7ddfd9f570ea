"""Ranking of the rules behind a wrong step, by the changes of the reference that explain it.

The terms, strongest first; a later term only breaks ties of the earlier ones.

1. The kind of explanation: a mutant of the catalogue that reproduces the outcome, an expression of the reference whose
   other value does, an expression that decides exactly the fields that differ, the branch in which the reference's
   handler returned, the stated rules.
2. The distance to the rule: its place in the mutant's list, or the number of citations closer to the expression.
3. The place among the stated rules, which the vector or the action of the event is about.
4. The number of explanations that name it.

`python -m kraft_dev mutants --tool naming` measures the worth of each term (docs/checks.md).
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from kraft_mutants.attribution.citing import cited_at
from kraft_mutants.attribution.probing import Place
from kraft_spec.rules import Level, strictest_level


class Suspect(NamedTuple):
    """A mutant of the catalogue that reproduces the recorded outcome."""

    name: str
    rules: tuple[str, ...]
    """Rules that it breaks, the main one first."""
    bug: str
    omits_rule: bool = False
    """True if it breaks only the first of them."""


class Clue(NamedTuple):
    """An expression of the reference whose other value explains a step."""

    where: tuple[Place, ...]
    """Its place, then its callers."""
    is_exact: bool = True
    """False if it changes exactly the fields that differ, but to other values than recorded."""


class Ranked(NamedTuple):
    """Rules behind a wrong step."""

    rules: tuple[str, ...]
    """Most likely first."""
    why: str
    """One line on why the first is the most likely; empty if it comes from the stated rules."""
    suspects: tuple[str, ...]
    """Names, most likely first."""


class _Term(IntEnum):
    """Kind of explanation, strongest first."""

    MUTANT = 0
    EXPRESSION = 1
    SAME_FIELDS = 2
    BRANCH = 3
    STATED = 4


class _Named(NamedTuple):
    """A rule, as named by one explanation."""

    rule: str
    term: _Term
    distance: int
    """Number of citations before it."""


def ranked(suspects: Sequence[Suspect], clues: Sequence[Clue], branch: Place | None, stated: Sequence[str]) -> Ranked:
    """Rank the rules that the explanations, the branch and the caller name.

    Args:
        suspects: mutants that reproduce the outcome.
        clues: expressions.
        branch: place where the reference's handler of the event returned; None if unknown.
        stated: rules that the vector is about, or that the event's action states.
    """
    named = [*_named_by_suspects(suspects), *_named_by_clues(clues)]
    named += [_Named(rule, _Term.BRANCH, 0) for rule in _cited_by_branch(branch)]
    named += [_Named(rule, _Term.STATED, place) for place, rule in enumerate(stated)]
    best: dict[str, tuple[_Term, int]] = {}
    times: dict[str, int] = {}
    for each in named:
        best[each.rule] = min(best.get(each.rule, (each.term, each.distance)), (each.term, each.distance))
    for each in named:
        times[each.rule] = times.get(each.rule, 0) + (each.term is best[each.rule][0])
    about = {rule: place for place, rule in enumerate(stated)}
    order = sorted(best, key=lambda rule: (*best[rule], about.get(rule, len(about)), -times[rule]))
    likeliest = sorted(suspects, key=lambda suspect: min(order.index(rule) for rule in suspect.rules))
    return Ranked(tuple(order), _explain(order, likeliest, clues), tuple([suspect.name for suspect in likeliest]))


def _named_by_suspects(suspects: Sequence[Suspect]) -> Iterator[_Named]:
    for suspect in suspects:
        for place, rule in enumerate(suspect.rules):
            yield _Named(rule, _Term.MUTANT, place)


def _named_by_clues(clues: Sequence[Clue]) -> Iterator[_Named]:
    for clue in clues:
        term = _Term.EXPRESSION if clue.is_exact else _Term.SAME_FIELDS
        citations = [rules for place in clue.where for rules in cited_at(place)]
        for distance, rules in enumerate(citations):
            for rule in rules:
                yield _Named(rule, term, distance)


def _cited_by_branch(branch: Place | None) -> tuple[str, ...]:
    """Return the rules cited closest to the branch, not those of its whole function."""
    citations = () if branch is None else cited_at(branch)
    return citations[0] if citations else ()


def because(bug: str) -> str:
    """Return the reason given by a mutant that reproduces the outcome."""
    return f"same outcome as the reference with this bug: {bug}"


def _explain(order: Sequence[str], suspects: Sequence[Suspect], clues: Sequence[Clue]) -> str:
    for suspect in suspects:
        if order[0] in suspect.rules:
            return because(suspect.bug)
    for clue in clues:
        if any(order[0] in rules for rules in cited_at(clue.where[0])[:1]):
            place = f"{clue.where[0].file}:{clue.where[0].line}"
            if clue.is_exact:
                return f"same outcome as the reference with another value of the expression at {place}"
            return f"the reference decides the fields that differ at {place}"
    return ""


def level_of(clues: Sequence[Clue], suspects: Sequence[Suspect] = ()) -> Level:
    """Return the requirement level of the violation, from exact explanations.

    A mutant of a single SHOULD or MAY rule decides the level.
    Otherwise the strictest level of the closest citations counts; MUST if there are none, or a place cites none.
    """
    for suspect in suspects:
        level = strictest_level(suspect.rules[:1])
        if suspect.omits_rule and level != "MUST":
            return level
    closest = [_closest_citation(clue) for clue in clues]
    return strictest_level([rule for rules in closest for rule in rules]) if all(closest) else "MUST"


def _closest_citation(clue: Clue) -> tuple[str, ...]:
    return next((rules for place in clue.where for rules in cited_at(place)), ())
