"""How often the broken rule is named first, and among the first three."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kraft_conformance.runner.outcome import RULES_MAX, Outcome, Status
from kraft_conformance.runner.whole_run import likeliest_first
from kraft_dev.naming.bugs import Bug, Kind, is_held_out
from kraft_dev.naming.evidence import Evidence
from kraft_mutants.attribution.ranking import ranked

_FIRST = 3


class Named(NamedTuple):
    """The rules that the first failure of a bug names."""

    bug: Bug
    kind: Kind
    rules: tuple[str, ...]


class Score(NamedTuple):
    """Numbers of bugs of one kind, of one half."""

    kind: Kind
    is_held_out: bool
    bugs: int
    """With a failure."""
    first: int
    """The rule that the bug is about is named first."""
    broken: int
    """A rule that the bug breaks is named first."""
    among: int
    """The rule that the bug is about is among the first three."""


def names(bugs: Sequence[Bug], evidence: Sequence[Evidence]) -> Iterator[Named]:
    """Rank the rules of each bug's failures."""
    by_name: Mapping[str, Evidence] = {one.bug: one for one in evidence}
    for bug in bugs:
        one = by_name.get(bug.name)
        if one is None or not one.failures:
            continue
        yield Named(bug, bug.kind, _rules(one, frozenset()))
        if bug.kind is Kind.NAMED:
            yield Named(bug, Kind.UNKNOWN, _rules(one, frozenset(bug.alike)))


def _rules(evidence: Evidence, left_out: frozenset[str]) -> tuple[str, ...]:
    """The rules that the first failure names, as a run of all vectors does."""
    outcomes = []
    for one in evidence.failures:
        suspects = [suspect for suspect in one.explained.suspects if suspect.name not in left_out]
        found = ranked(suspects, one.explained.clues, one.explained.branch, one.stated)
        rules = found.rules[:RULES_MAX]
        outcomes.append(Outcome(one.vector, Status.FAIL, rules=rules, suspects=found.suspects))
    return likeliest_first(outcomes, lambda mutant: mutant in evidence.cleared)[0].rules


def scores(named: Sequence[Named]) -> Iterator[Score]:
    """Count, for each kind and half; foreign bugs are all held out."""
    for kind in Kind:
        for held_out in (False, True):
            chosen = [one for one in named if one.kind is kind and _is_held_out(one) is held_out]
            if chosen:
                first = sum(one.rules[0] == one.bug.breaks[0] for one in chosen)
                broken = sum(one.rules[0] in one.bug.breaks for one in chosen)
                among = sum(one.bug.breaks[0] in one.rules[:_FIRST] for one in chosen)
                yield Score(kind, held_out, len(chosen), first, broken, among)


def _is_held_out(named: Named) -> bool:
    return named.kind is Kind.FOREIGN or is_held_out(named.bug.name)
