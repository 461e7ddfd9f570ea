"""Order of the rules behind a wrong step: by the change of the reference that explains what was seen, and nothing else.

The terms, strongest first; a later term only orders what the earlier ones leave equal.

1. What explains the step: a mutant of the catalogue that does just what was seen, an expression of the reference whose
   other value does, an expression that decides just the fields that differ, the branch in which the reference's handler
   returned, the rules that are stated.
2. How directly it names the rule: its place in the mutant's list, or how many citations stand closer to the expression.
3. Its place among the stated rules, which the vector or the action of the event is about.
4. How many explanations name it.

`python -m kraft_dev mutants --tool naming` measures what each term is worth (docs/checks.md).
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from kraft_mutants.attribution.citing import cited_at
from kraft_mutants.attribution.probing import Place
from kraft_spec.rules import Level, strictest_level


class Suspect(NamedTuple):
    """A mutant of the catalogue that does just what was seen."""

    name: str
    rules: tuple[str, ...]
    """That it breaks, the one that it is about first."""
    bug: str
    omits_rule: bool = False
    """Whether it breaks the first of them, and nothing else."""


class Clue(NamedTuple):
    """An expression of the reference whose other value explains a step."""

    where: tuple[Place, ...]
    """Its place, then the calls that led there."""
    is_exact: bool = True
    """False if it changes the fields that differ and no other, to other values than were seen."""


class Ranked(NamedTuple):
    """The rules behind a wrong step."""

    rules: tuple[str, ...]
    """The likeliest first."""
    why: str
    """Reason for the first, in a line; empty if it is one of those that are stated."""
    suspects: tuple[str, ...]
    """Names, the likeliest first."""


class _Term(IntEnum):
    """What explains the step, strongest first."""

    MUTANT = 0
    EXPRESSION = 1
    SAME_FIELDS = 2
    BRANCH = 3
    STATED = 4


class _Named(NamedTuple):
    """A rule as one explanation names it."""

    rule: str
    term: _Term
    distance: int
    """0 if nothing is named before it."""


def ranked(suspects: Sequence[Suspect], clues: Sequence[Clue], branch: Place | None, stated: Sequence[str]) -> Ranked:
    """Rank the rules that the explanations name, those of the branch, and those that are stated.

    Args:
        suspects: mutants that do just what was seen.
        clues: expressions.
        branch: where the reference's handler of the event returned; None if that is not known.
        stated: the rules that the vector is about, or that the event's action states.
    """
    named = [*_of_suspects(suspects), *_of_clues(clues)]
    named += [_Named(rule, _Term.BRANCH, 0) for rule in _of_branch(branch)]
    named += [_Named(rule, _Term.STATED, place) for place, rule in enumerate(stated)]
    best: dict[str, tuple[_Term, int]] = {}
    times: dict[str, int] = {}
    for one in named:
        best[one.rule] = min(best.get(one.rule, (one.term, one.distance)), (one.term, one.distance))
    for one in named:
        times[one.rule] = times.get(one.rule, 0) + (one.term is best[one.rule][0])
    about = {rule: place for place, rule in enumerate(stated)}
    order = sorted(best, key=lambda rule: (*best[rule], about.get(rule, len(about)), -times[rule]))
    likeliest = sorted(suspects, key=lambda one: min(order.index(rule) for rule in one.rules))
    return Ranked(tuple(order), _why(order, likeliest, clues), tuple([one.name for one in likeliest]))


def _of_suspects(suspects: Sequence[Suspect]) -> Iterator[_Named]:
    for one in suspects:
        for place, rule in enumerate(one.rules):
            yield _Named(rule, _Term.MUTANT, place)


def _of_clues(clues: Sequence[Clue]) -> Iterator[_Named]:
    for one in clues:
        term = _Term.EXPRESSION if one.is_exact else _Term.SAME_FIELDS
        citations = [rules for place in one.where for rules in cited_at(place)]
        for distance, rules in enumerate(citations):
            for rule in rules:
                yield _Named(rule, term, distance)


def _of_branch(branch: Place | None) -> tuple[str, ...]:
    """The rules cited closest to the branch, and not those of its whole function."""
    citations = () if branch is None else cited_at(branch)
    return citations[0] if citations else ()


def because(bug: str) -> str:
    """The reason that a mutant which does just what was seen gives."""
    return f"just what comes of this: {bug}"


def _why(order: Sequence[str], suspects: Sequence[Suspect], clues: Sequence[Clue]) -> str:
    for suspect in suspects:
        if order[0] in suspect.rules:
            return because(suspect.bug)
    for clue in clues:
        if any(order[0] in rules for rules in cited_at(clue.where[0])[:1]):
            place = f"{clue.where[0].file}:{clue.where[0].line}"
            return f"{'just what' if clue.is_exact else 'a part of what'} comes of another outcome at {place}"
    return ""


def level_of(clues: Sequence[Clue], suspects: Sequence[Suspect] = ()) -> Level:
    """The requirement level that is not kept, by explanations that do just what was seen.

    A mutant that breaks one rule alone and does just what was seen is enough if that rule is a SHOULD.
    Elsewhere the strictest level of the rules cited closest counts; MUST if there are none, or a place cites none.
    """
    for suspect in suspects:
        level = strictest_level(suspect.rules[:1])
        if suspect.omits_rule and level != "MUST":
            return level
    closest = [_closest(clue) for clue in clues]
    return strictest_level([rule for rules in closest for rule in rules]) if all(closest) else "MUST"


def _closest(clue: Clue) -> tuple[str, ...]:
    return next((rules for place in clue.where for rules in cited_at(place)), ())
