"""Which of the rules named at several places is the one: what stands closest, and what the step is about."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kraft_spec.attribution.citing import cited_at
from kraft_spec.attribution.probing import Place
from kraft_spec.rules import Level, load_registry, strictest_level

_EXACT = 3.0
"""The alternative is just what was seen."""
_PART = 1.5
"""It leaves less that differs."""
_BROKEN = 12.0
"""A mutant of the catalogue does just what was seen."""
_LATER_BROKEN = 1.0
"""It is about another rule first."""
_STEP_AWAY = 0.5
"""For each list of rules between the place and the rule, at most"""
_AWAY_MAX = 6.0
_LATER_IN_LIST = 0.1
_AT_ALL_PLACES = 2.0
"""The rule stands at every place that explains what was seen; less for a part of them."""
_STATED = 2.0
"""The vector that failed is about the rule; the less, the more rules it is about."""
_STATED_SHARE = 0.15
_LATER_STATED = 0.3
_OF_THE_ROLE = 1.2
"""The rule speaks of the replica's role, and of few others."""
_OF_ANOTHER = 3.0
"""The rule speaks of other roles, or of the other kind of vote."""


class Clue(NamedTuple):
    """A place of the reference where another outcome explains what was seen."""

    where: tuple[Place, ...]
    """The place, then the calls that led there."""
    is_exact: bool


class Suspect(NamedTuple):
    """A mutant that does just what was seen."""

    name: str
    rules: tuple[str, ...]
    """That it breaks, the one that it is about first."""
    bug: str
    is_experiment: bool = False
    """Does it leave out the first of them, and nothing else?"""


class Asked(NamedTuple):
    """What the step was."""

    role: str = ""
    """Empty at controllers of partitions."""
    pre_vote: bool | None = None
    """Of a vote: whether it is a Pre-Vote."""


class Ranked(NamedTuple):
    """The rules behind a wrong step."""

    rules: tuple[str, ...]
    """The likeliest first."""
    why: str
    """In a line, of the first."""
    suspects: tuple[str, ...]
    """Names, the likeliest first."""


def ranked(suspects: Sequence[Suspect], clues: Sequence[Clue], asked: Asked, stated: Sequence[str]) -> Ranked:
    """The rules that the mutants break, those that the places name and those that are stated, the likeliest first.

    Args:
        suspects: mutants.
        clues: the places.
        asked: the step.
        stated: the rules that the vector is about, or that the event's action states.
    """
    worth: dict[str, float] = {}
    for clue in clues:
        for rule, value in _named(clue).items():
            worth[rule] = max(worth.get(rule, value), value)
    for rule in worth:
        at = sum(any(rule in rules for rules in cited_at(clue.where[0])) for clue in clues)
        worth[rule] += _AT_ALL_PLACES * at / len(clues)
    for place, rule in enumerate(stated):
        about = _STATED / (1 + _STATED_SHARE * (len(stated) - 1)) - _LATER_STATED * place
        worth[rule] = worth.get(rule, 0.0) + about
    for rule in dict.fromkeys([rule for one in suspects for rule in one.rules]):
        later = min(one.rules.index(rule) for one in suspects if rule in one.rules)
        worth[rule] = worth.get(rule, 0.0) + _BROKEN - _LATER_BROKEN * later
    in_order = tuple(sorted(worth, key=lambda rule: -worth[rule] - _fitting(rule, asked)))
    of_rule = sorted(suspects, key=lambda one: min(in_order.index(rule) for rule in one.rules))
    return Ranked(in_order, _why(in_order, of_rule, clues), tuple([one.name for one in of_rule]))


def because(bug: str) -> str:
    """What a mutant that does just what was seen says of it."""
    return f"just what comes of this: {bug}"


def _why(rules: Sequence[str], suspects: Sequence[Suspect], clues: Sequence[Clue]) -> str:
    if not rules:
        return ""
    for one in suspects:
        if rules[0] in one.rules:
            return because(one.bug)
    for clue in clues:
        if any(rules[0] in named for named in cited_at(clue.where[0])[:1]):
            place = f"{clue.where[0].file}:{clue.where[0].line}"
            return f"{'just what' if clue.is_exact else 'a part of what'} comes of another outcome at {place}"
    return ""


def level_of(clues: Sequence[Clue], suspects: Sequence[Suspect] = ()) -> Level:
    """What a replica does not keep that does what these explain: a SHOULD where that alone is enough.

    The reference of an experiment keeps all rules but one, so that no other explanation counts beside it.
    Elsewhere the strictest level of the rules named closest counts; MUST if there are none, or a place names none.
    """
    for suspect in suspects:
        level = strictest_level(suspect.rules[:1])
        if suspect.is_experiment and level != "MUST":
            return level
    closest = [_closest(clue) for clue in clues]
    return strictest_level([rule for rules in closest for rule in rules]) if all(closest) else "MUST"


def _closest(clue: Clue) -> tuple[str, ...]:
    return next((rules for place in clue.where for rules in cited_at(place)), ())


def _named(clue: Clue) -> Mapping[str, float]:
    base = _EXACT if clue.is_exact else _PART
    worth: dict[str, float] = {}
    away = 0.0
    for place in clue.where:
        for rules in cited_at(place):
            for later, rule in enumerate(rules):
                worth.setdefault(rule, base - min(away, _AWAY_MAX) - _LATER_IN_LIST * later)
            away += _STEP_AWAY
    return worth


def _fitting(rule_id: str, asked: Asked) -> float:
    if asked.pre_vote is not None and rule_id.startswith("vote." if asked.pre_vote else "prevote."):
        return -_OF_ANOTHER
    roles = load_registry()[rule_id].states
    if not roles or asked.role == "Stopped":
        return 0.0
    if asked.role in roles:
        return _OF_THE_ROLE / len(roles)
    return 0.0 if "Observer" in roles else -_OF_ANOTHER
