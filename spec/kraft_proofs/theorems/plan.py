"""KIP-642's plan from any voter set to any other, one replica at a time: its steps, its bounds and its end.

The leader adds a replica of the target while additions are not fewer than removals, and otherwise removes one.
Rules: reassign.three-sets, reassign.add-or-remove-choice, reassign.single-member-steps.
"""

from kraft_proofs.linear import Fact, at_most, equal, less, variable
from kraft_proofs.theorems.data import Obligation, Theorem, meet
from kraft_proofs.venn import Diagram

_SIZES = Diagram("Current", "Target", "Next")
_CURRENT, _TARGET, _NEXT = (_SIZES[name] for name in _SIZES.names)
_CHOICES = ("add", "remove")


def _choice(diagram: Diagram, choice: str) -> Fact:
    """Return the comparison by which the leader adds or removes."""
    current, target = diagram["Current"], diagram["Target"]
    removing, new = diagram.size(current - target), diagram.size(target - current)
    return at_most("choice", removing, new) if choice == "add" else less("choice", new, removing)


def _step(diagram: Diagram, *, adds: bool, removes: bool) -> Fact:
    """State that the next set gains a replica of the target, loses one outside of the target, or both."""
    current, target, following = (diagram[name] for name in ("Current", "Target", "Next"))
    added, removed = following - current, current - following
    rows = (
        equal("", diagram.size(added), int(adds)),
        equal("", diagram.size(removed), int(removes)),
        diagram.inside("", added, target),
        diagram.inside("", removed, current - target),
    )
    return Fact("step", tuple(row for fact in rows for row in fact.rows))


def _premises(diagram: Diagram, choice: str) -> tuple[Fact, Fact]:
    return (_choice(diagram, choice), _step(diagram, adds=choice == "add", removes=choice == "remove"))


def _plan_step() -> Theorem:
    diagram = Diagram(
        *_SIZES.names,
        "CurrentMajority",
        "NextMajority",
        within={"CurrentMajority": "Current", "NextMajority": "Next"},
    )
    steps = {choice: meet(choice, diagram, "Current", "Next", *_premises(diagram, choice)) for choice in _CHOICES}
    everyone = diagram["Current"] | diagram["Target"] | diagram["Next"]
    return Theorem(
        "plan-step",
        "All majorities of the voter sets before and after a step of a KIP-642 plan intersect.",
        ("reassign.single-member-steps", "reassign.add-or-remove-choice", "reassign.effective-on-append"),
        tuple(steps.values()),
        (
            steps["add"]
            .instead(_step(diagram, adds=True, removes=True))
            .weakened(
                "add-and-remove", "a step adds one replica and removes another", (everyone,), "1 | 2 | 2 | 1 | 2"
            ),
        ),
    )


def _plan_size() -> Theorem:
    smaller, larger = variable("smaller"), variable("larger")
    current, target, following = (_SIZES.size(part) for part in (_CURRENT, _TARGET, _NEXT))
    bounds = (
        at_most("target-not-below", smaller, target),
        at_most("target-not-above", target, larger),
        at_most("current-not-below", smaller, current),
        at_most("current-not-above", current, larger + 1),
    )
    denials = {
        "not-below": less("next-below", following, smaller),
        "not-above": less("next-above", larger + 1, following),
    }
    cases = {
        f"{choice}-{name}": Obligation(
            f"{choice}-{name}", _SIZES, (*bounds, *_premises(_SIZES, choice)), denial, ("smaller", "larger")
        )
        for choice in _CHOICES
        for name, denial in denials.items()
    }
    return Theorem(
        "plan-size",
        "While a KIP-642 plan runs, there are never fewer voters than the smaller of the first and the target set has, "
        "and never more than one above the larger.",
        ("reassign.add-or-remove-choice", "reassign.three-sets"),
        tuple(cases.values()),
        (
            cases["add-not-above"]
            .instead(at_most("current-not-above", current, larger))
            .instead(less("next-above", larger, following))
            .weakened(
                "never-above-the-larger",
                "there are never more voters than the larger set has",
                (_CURRENT | _TARGET | _NEXT,),
                "1 | 2 | 1,2",
                smaller=0,
                larger=1,
            ),
        ),
        "The first set is within the bounds by their definition; if the current set is, so is the next.",
    )


def _plan_ends() -> Theorem:
    before, after = _SIZES.size(_CURRENT ^ _TARGET), _SIZES.size(_NEXT ^ _TARGET)
    removing, new = _SIZES.size(_CURRENT - _TARGET), _SIZES.size(_TARGET - _CURRENT)
    away = at_most("not-there-yet", 1, before)
    possible = (
        Obligation("add-possible", _SIZES, (away, _choice(_SIZES, "add")), at_most("nobody-to-add", new, 0)),
        Obligation(
            "remove-possible", _SIZES, (away, _choice(_SIZES, "remove")), at_most("nobody-to-remove", removing, 0)
        ),
    )
    nearer = tuple(
        Obligation(f"{choice}-{name}", _SIZES, _premises(_SIZES, choice), denial)
        for choice in _CHOICES
        for name, denial in (
            ("one-nearer", less("further-than-one-nearer", before, after + 1)),
            ("no-nearer-than-one", less("nearer-than-one", after + 1, before)),
        )
    )
    return Theorem(
        "plan-ends",
        "A KIP-642 plan that has not reached its target has a next step, which is one replica nearer: it ends after as "
        "many steps as there are replicas in one of the two sets only.",
        ("reassign.add-or-remove-choice", "reassign.three-sets", "reassign.completion"),
        (*possible, *nearer),
        (
            possible[0]
            .without("not-there-yet")
            .also(at_most("current-has-a-voter", 1, _SIZES.size(_CURRENT)))
            .weakened(
                "end-not-tested",
                "step 3 of the algorithm by itself: the two sizes are compared, and not whether the target is reached",
                (_CURRENT | _TARGET,),
                "1 | 1 | 1",
            ),
        ),
    )


def _consecutive_sets() -> Theorem:
    sets = ("First", "Second", "Third")
    majorities = {f"{name}Majority": name for name in sets}
    diagram = Diagram(*sets, *majorities, within=majorities)
    first, second, third = (diagram[name] for name in sets)
    everyone = (first | second | third,)
    premises = (
        *(diagram.majority(f"majority-of-{name.lower()}", diagram[f"{name}Majority"], diagram[name]) for name in sets),
        at_most("first-change", diagram.size(first ^ second), 1),
        at_most("second-change", diagram.size(second ^ third), 1),
    )

    def apart(first_name: str, second_name: str) -> Obligation:
        majority, next_majority = diagram[f"{first_name}Majority"], diagram[f"{second_name}Majority"]
        denial = diagram.disjoint("no-replica-in-both", majority, next_majority)
        return Obligation(f"{first_name}-and-{second_name}".lower(), diagram, premises, denial)

    two_apart = apart("First", "Third")
    return Theorem(
        "consecutive-sets",
        "In a row of voter sets that change by one replica at a time, all majorities of each and the next intersect.",
        ("voters.at-most-one-difference", "voters.one-change-at-a-time", "reassign.commit-before-next-step"),
        (apart("First", "Second"), apart("Second", "Third")),
        (
            two_apart.weakened(
                "next-but-one",
                "all majorities of each set and the next but one intersect",
                everyone,
                "1 | 1,2 | 2 | 1 | 1,2 | 2",
            ),
            two_apart.also(equal("three-voters", diagram.size(first), 3)).weakened(
                "next-but-one-of-three",
                "all majorities of each set and the next but one intersect, and the first has three voters",
                everyone,
                "1,2,3 | 1,2 | 1 | 2,3 | 1,2 | 1",
            ),
        ),
    )


THEOREMS = (_plan_step(), _plan_size(), _plan_ends(), _consecutive_sets())
