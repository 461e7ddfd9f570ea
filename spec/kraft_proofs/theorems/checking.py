"""Check a theorem: ask the solver, and believe nothing that plain arithmetic can look at again."""

from typing import NamedTuple

from kraft_proofs.certificate import Certificate, certifies
from kraft_proofs.solving import Contradiction, Solution, solve
from kraft_proofs.theorems.data import Counterexample, Obligation, Theorem, Weakening
from kraft_proofs.venn import Diagram


class CheckedObligation(NamedTuple):
    """What came of an obligation."""

    case: str
    core: tuple[str, ...]
    """The facts that contradict each other, in their order; empty if it is not proved."""
    certificate: Certificate | None
    """Rows that add up to the contradiction; None if it is one of whole numbers only."""
    problem: str
    """Why it is not proved; empty if it is."""


class CheckedWeakening(NamedTuple):
    """What came of a weakening."""

    name: str
    counterexample: Counterexample | None
    """The smallest one; None if there is none."""
    problem: str
    """Why it is not what the theorem says; empty if it is."""


class Checked(NamedTuple):
    """What came of a theorem."""

    theorem: Theorem
    obligations: tuple[CheckedObligation, ...]
    weakenings: tuple[CheckedWeakening, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is not as stated, a line each; empty if the theorem is proved."""
        parts = [(one.case, one.problem) for one in self.obligations]
        parts += [(one.name, one.problem) for one in self.weakenings]
        return tuple(f"{self.theorem.slug}--{name}: {problem}" for name, problem in parts if problem)

    @property
    def certificate_rows(self) -> tuple[int | None, ...]:
        """For each obligation the rows of its certificate, None where whole numbers are needed."""
        return tuple(None if one.certificate is None else len(one.certificate) for one in self.obligations)


def check(theorem: Theorem) -> Checked:
    """Prove every obligation of a theorem and refute every weakening of it.

    Raises:
        SolverGaveUpError: the solver answered `unknown`.
    """
    return Checked(
        theorem,
        tuple(_obligation(one) for one in theorem.obligations),
        tuple(_weakening(one) for one in theorem.weakenings),
    )


def counterexample_of(diagram: Diagram, values: dict[str, int]) -> Counterexample:
    """The sets of a solution with their replicas numbered from 1, and what it says besides."""
    found = diagram.sets(values)
    replicas = {replica for members in found.values() for replica in members}
    # Whoever is in the first set comes before who is not, and so on: Old={1,2,3} New={1,2,4}.
    ordered = sorted(replicas, key=lambda replica: [replica not in members for members in found.values()])
    number = {replica: n for n, replica in enumerate(ordered, start=1)}
    regions = diagram.problem("").variables
    return Counterexample(
        {name: tuple(sorted(number[replica] for replica in members)) for name, members in found.items()},
        {name: value for name, value in values.items() if name not in regions},
    )


def refutes(counterexample: Counterexample, obligation: Obligation) -> bool:
    """Is every fact of the obligation true of these sets? Counted in plain Python."""
    values = counted(counterexample, obligation.diagram)
    return values is not None and all(fact.holds(values) for fact in obligation.problem.facts)


def counted(counterexample: Counterexample, diagram: Diagram) -> dict[str, int] | None:
    """How many replicas are in each region, and the other numbers; None if the diagram has no place for one."""
    replicas = {replica for members in counterexample.sets.values() for replica in members}
    regions = [
        frozenset(name for name, members in counterexample.sets.items() if replica in members) for replica in replicas
    ]
    if not set(regions) <= set(diagram.regions):
        return None
    sizes = map(regions.count, diagram.regions)
    return {**dict(zip(diagram.problem("").variables, sizes, strict=True)), **counterexample.numbers}


def _obligation(obligation: Obligation) -> CheckedObligation:
    problem = obligation.problem
    answer = solve(problem)
    if isinstance(answer, Solution):
        found = counterexample_of(obligation.diagram, answer.values)
        return CheckedObligation(obligation.case, (), None, f"false of {found}")
    return CheckedObligation(obligation.case, *answer, _why_not(obligation, answer))


def _why_not(obligation: Obligation, answer: Contradiction) -> str:
    """What is wrong with a contradiction; empty if nothing is."""
    facts = {fact.name: fact for fact in obligation.problem.facts}
    if len(facts) < len(obligation.problem.facts) or not set(answer.core) <= set(facts):
        return f"its core names facts that it does not have, or has twice: {', '.join(answer.core)}"
    core = obligation.problem._replace(facts=tuple(facts[name] for name in answer.core))
    if answer.certificate is not None and not certifies(answer.certificate, core):
        return "its certificate does not add up"
    possible = solve(obligation.without_denial)
    # The numbers that the solver names are tried in plain Python.
    if isinstance(possible, Contradiction) or not all(fact.holds(possible.values) for fact in obligation.premises):
        return "its premises contradict each other, so it says nothing"
    return ""


def _weakening(weakening: Weakening) -> CheckedWeakening:
    obligation = weakening.refuted
    answer = solve(obligation.problem, weakening.smallest)
    if isinstance(answer, Contradiction):
        return CheckedWeakening(weakening.name, None, f"proved all the same, by {', '.join(answer.core)}")
    found = counterexample_of(obligation.diagram, answer.values)
    if not refutes(found, obligation):
        return CheckedWeakening(weakening.name, found, f"{found} does not refute it")
    if found != weakening.counterexample:
        return CheckedWeakening(weakening.name, found, f"expected {weakening.counterexample}, found {found}")
    return CheckedWeakening(weakening.name, found, "")
