"""Order of the rules of each failure by all failures of the run.

A bug makes many vectors fail, and several rules may explain each of them; usually only one rule explains all of them
and would not have failed a vector that passed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from kraft_conformance.runner.attribution import rules_of_order
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_mutants import Mutant, load_catalogue
from kraft_mutants.attribution import because


def likeliest_first(outcomes: Sequence[Outcome], is_cleared: Callable[[str], bool]) -> tuple[Outcome, ...]:
    """Order the rules of each failure by what the failures have in common.

    A mutant that explains most of them comes first, else the rule that they name earliest; then the same for the
    failures that this leaves.

    Args:
        outcomes: those of a run.
        is_cleared: True for a mutant that fails a vector which passed.
    """
    failed = [outcome for outcome in outcomes if outcome.status in (Status.FAIL, Status.ERROR) and outcome.rules]
    # The rule of effects in the wrong order is certain.
    open_ones = [outcome for outcome in failed if outcome.suspects or not rules_of_order(outcome.differences)]
    left = [_without_cleared(outcome, is_cleared) for outcome in open_ones]
    ordered: dict[str, Outcome] = {}
    while left:
        worth = _worth(left)
        mutant = _suspected(left, worth)
        rules = mutant.rules if mutant else (max(worth, key=lambda rule: worth[rule]),)
        for outcome in left:
            first = [rule for rule in rules if rule in outcome.rules]
            if first:
                why = because(mutant.bug) if mutant and mutant.name in outcome.suspects else ""
                why = why or (outcome.why if first[0] == outcome.rules[0] else "")
                ordered[outcome.id] = replace(outcome, rules=tuple(dict.fromkeys((*first, *outcome.rules))), why=why)
        left = [outcome for outcome in left if outcome.id not in ordered]
    return tuple([ordered.get(outcome.id, outcome) for outcome in outcomes])


def _without_cleared(failure: Outcome, is_cleared: Callable[[str], bool]) -> Outcome:
    """Return the failure without cleared mutants; their rules come last."""
    suspects = tuple([name for name in failure.suspects if not is_cleared(name)])
    if suspects == failure.suspects:
        return failure
    catalogue = load_catalogue()
    cleared = {rule for name in set(failure.suspects).difference(suspects) for rule in catalogue[name].rules}
    cleared.difference_update(rule for name in suspects for rule in catalogue[name].rules)
    rules = tuple(sorted(failure.rules, key=lambda rule: rule in cleared))
    why = failure.why if rules[0] == failure.rules[0] else ""
    return replace(failure, suspects=suspects, rules=rules, why=why)


def _suspected(failures: Sequence[Outcome], worth: Mapping[str, float]) -> Mutant | None:
    """Return the mutant that explains the most failures."""
    explained = Counter(name for failure in failures for name in failure.suspects)
    if not explained:
        return None
    catalogue = load_catalogue()
    return catalogue[max(explained, key=lambda name: (explained[name], worth.get(catalogue[name].rules[0], 0.0)))]


def _worth(failures: Sequence[Outcome]) -> Mapping[str, float]:
    """Return the sum over the failures of the reciprocal position of each rule."""
    worth: dict[str, float] = {}
    for failure in failures:
        for place, rule in enumerate(failure.rules, 1):
            worth[rule] = worth.get(rule, 0.0) + 1 / place
    return worth
