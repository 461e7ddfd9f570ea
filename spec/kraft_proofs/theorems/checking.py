"""Checks of a theorem by the solver, whose results are verified by plain arithmetic."""

from typing import NamedTuple

from kraft_proofs.certificate import Certificate, certifies
from kraft_proofs.solving import Contradiction, Solution, solve
from kraft_proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_proofs.venn import Diagram


class CheckedObligation(NamedTuple):
    """Result of an obligation."""

    case: str
    core: tuple[str, ...]
    """The facts that contradict each other, in their order; empty if it is not proved."""
    certificate: Certificate | None
    """Rows that add up to the contradiction; None if whole numbers are needed."""
    problem: str
    """Reason why it is not proved; empty if it is."""


class CheckedWeakening(NamedTuple):
    """Result of a weakening."""

    name: str
    counterexample: Counterexample | None
    """The smallest one; None if there is none."""
    problem: str
    """Deviation from the theorem's statement; empty if there is none."""


class Checked(NamedTuple):
    """Result of a theorem."""

    theorem: Theorem
    obligations: tuple[CheckedObligation, ...]
    weakenings: tuple[CheckedWeakening, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Deviations from the theorem's statement, one per line; empty if it is proved."""
        parts = [(obligation.case, obligation.problem) for obligation in self.obligations]
        parts += [(weakening.name, weakening.problem) for weakening in self.weakenings]
        return tuple(f"{self.theorem.slug}--{name}: {problem}" for name, problem in parts if problem)

    @property
    def certificate_rows(self) -> tuple[int | None, ...]:
        """For each obligation the number of rows of its certificate, None if whole numbers are needed."""
        return tuple(None if each.certificate is None else len(each.certificate) for each in self.obligations)


def check(theorem: Theorem) -> Checked:
    """Prove every obligation of a theorem and refute every weakening of it.

    Raises:
        SolverGaveUpError: the solver answered `unknown`.
    """
    return Checked(
        theorem,
        tuple(_check_obligation(obligation) for obligation in theorem.obligations),
        tuple(_check_weakening(weakening) for weakening in theorem.weakenings),
    )


def counterexample_of(diagram: Diagram, values: dict[str, int]) -> Counterexample:
    """Return the sets of a solution with their replicas numbered from 1, and its other numbers."""
    sets = diagram.sets(values)
    replicas = {replica for members in sets.values() for replica in members}
    # Replicas of the first set come first, and so on: Old={1,2,3} New={1,2,4}.
    ordered = sorted(replicas, key=lambda replica: [replica not in members for members in sets.values()])
    number = {replica: n for n, replica in enumerate(ordered, start=1)}
    regions = diagram.problem("").variables
    return Counterexample(
        {name: tuple(sorted(number[replica] for replica in members)) for name, members in sets.items()},
        {name: value for name, value in values.items() if name not in regions},
    )


def refutes(counterexample: Counterexample, obligation: Obligation) -> bool:
    """Return True if every fact of the obligation holds for these sets, counted in plain Python."""
    values = counted(counterexample, obligation.diagram)
    return values is not None and all(fact.holds(values) for fact in obligation.problem.facts)


def counted(counterexample: Counterexample, diagram: Diagram) -> dict[str, int] | None:
    """Return the number of replicas in each region, and the other numbers; None if a replica is in no region."""
    replicas = {replica for members in counterexample.sets.values() for replica in members}
    regions = [
        frozenset(name for name, members in counterexample.sets.items() if replica in members) for replica in replicas
    ]
    if not set(regions) <= set(diagram.regions):
        return None
    sizes = map(regions.count, diagram.regions)
    return {**dict(zip(diagram.problem("").variables, sizes, strict=True)), **counterexample.numbers}


def _check_obligation(obligation: Obligation) -> CheckedObligation:
    problem = obligation.problem
    answer = solve(problem)
    if isinstance(answer, Solution):
        counterexample = counterexample_of(obligation.diagram, answer.values)
        return CheckedObligation(obligation.case, (), None, f"false of {counterexample}")
    return CheckedObligation(obligation.case, *answer, _find_problem(obligation, answer))


def _find_problem(obligation: Obligation, answer: Contradiction) -> str:
    """Return the problem of a contradiction; empty if there is none."""
    facts = {fact.name: fact for fact in obligation.problem.facts}
    if len(facts) < len(obligation.problem.facts) or not set(answer.core) <= set(facts):
        return f"its core names facts that it does not have, or has twice: {', '.join(answer.core)}"
    core = obligation.problem._replace(facts=tuple(facts[name] for name in answer.core))
    if answer.certificate is not None and not certifies(answer.certificate, core):
        return "its certificate does not add up"
    possible = solve(obligation.without_denial)
    # Plain Python verifies the solver's numbers.
    if isinstance(possible, Contradiction) or not all(fact.holds(possible.values) for fact in obligation.premises):
        return "its premises contradict each other, so it says nothing"
    return ""


def _check_weakening(weakening: Weakening) -> CheckedWeakening:
    obligation = weakening.refuted
    answer = solve(obligation.problem, weakening.smallest)
    if isinstance(answer, Contradiction):
        return CheckedWeakening(weakening.name, None, f"proved all the same, by {', '.join(answer.core)}")
    sets = counterexample_of(obligation.diagram, answer.values)
    if not refutes(sets, obligation):
        return CheckedWeakening(weakening.name, sets, f"{sets} does not refute it")
    if sets != weakening.counterexample:
        return CheckedWeakening(weakening.name, sets, f"expected {weakening.counterexample}, found {sets}")
    return CheckedWeakening(weakening.name, sets, "")
