"""Data types of theorems; neither this module nor the theorems use a solver.

A theorem is proved by contradiction. Each of its obligations lists premises and a denial, which states that the claim
is false; no natural numbers may satisfy all of them. A weakening changes one fact so that some numbers do.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kraft_proofs.linear import Fact, Problem, Term
from kraft_proofs.venn import Diagram, SetExpression

EVERY = "every"
"""Case of a theorem that has only one; its file is named after the theorem alone."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Premises that contradict the denial of a claim.

    Attributes:
        case: Case of the theorem: words with hyphens. `every` if there is only one.
        diagram: The sets involved.
        premises: Assumptions.
        denial: Statement that the claim is false.
        numbers: Variables besides the regions of the diagram, natural numbers, used if a fact names them.
    """

    case: str
    diagram: Diagram
    premises: tuple[Fact, ...]
    denial: Fact
    numbers: tuple[str, ...] = ()

    @property
    def problem(self) -> Problem:
        """All facts as one problem, which must be unsatisfiable."""
        return self._problem(*self.premises, self.denial)

    @property
    def without_denial(self) -> Problem:
        """The premises alone, which must be satisfiable for the theorem to be meaningful."""
        return self._problem(*self.premises)

    def without(self, name: str) -> "Obligation":
        """Return the obligation without a premise.

        Raises:
            KeyError: no premise has this name.
        """
        kept = tuple(fact for fact in self.premises if fact.name != name)
        if len(kept) == len(self.premises):
            raise KeyError(name)
        return replace(self, premises=kept)

    def instead(self, fact: Fact) -> "Obligation":
        """Return the obligation with another fact, or another denial, for the one of the same name.

        Raises:
            KeyError: no fact has this name.
        """
        if fact.name == self.denial.name:
            return replace(self, denial=fact)
        self.without(fact.name)
        premises = tuple(fact if old.name == fact.name else old for old in self.premises)
        return replace(self, premises=premises)

    def also(self, *facts: Fact) -> "Obligation":
        """Return the obligation with more premises."""
        return replace(self, premises=(*self.premises, *facts))

    def weakened(
        self, name: str, change: str, smallest: tuple[SetExpression, ...], sets: str, **numbers: int
    ) -> "Weakening":
        """Return a weakening that makes this obligation false.

        Args:
            name: The weakening's.
            change: Difference from the theorem, in plain words.
            smallest: The sets that a counterexample minimises.
            sets: The smallest one: the members of the diagram's sets in their order, `1,2 | 1,2,3`.
            numbers: Its other variables.
        """
        members = (tuple(map(int, re.findall("[0-9]+", part))) for part in sets.split("|"))
        counterexample = Counterexample(dict(zip(self.diagram.names, members, strict=True)), numbers)
        return Weakening(name, change, self, tuple(map(self.diagram.size, smallest)), counterexample)

    def _problem(self, *facts: Fact) -> Problem:
        named = {name for fact in facts for row in fact.rows for name, _ in row.coefficients}
        return self.diagram.problem(self.case, *facts, more=[name for name in self.numbers if name in named])


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Sets of replicas, numbered from 1 in order of appearance, that refute a claim.

    Attributes:
        sets: Name of a set, and its replicas.
        numbers: Values of the variables that count no replicas.
    """

    sets: Mapping[str, tuple[int, ...]]
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return `Old={1} New={2}`, then the numbers."""
        sets = [f"{name}={{{','.join(map(str, members))}}}" for name, members in self.sets.items()]
        return " ".join([*sets, *(f"{name}={value}" for name, value in self.numbers.items())])


@dataclass(frozen=True, slots=True)
class Weakening:
    """A theorem with one fact changed, so that it is false.

    Attributes:
        name: Words with hyphens; with the theorem's slug it names the file of the query.
        change: Difference from the theorem, in plain words.
        refuted: The obligation that becomes false.
        smallest: Sizes that a counterexample minimises, in this order.
        counterexample: The smallest one; the solver must find exactly this.
    """

    name: str
    change: str
    refuted: Obligation
    smallest: tuple[Term, ...]
    counterexample: Counterexample


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement about sets of any size, its proof, and weakenings that show that it is tight.

    Attributes:
        slug: Its permanent name: words with hyphens.
        statement: One sentence.
        rules: Ids of the rules that depend on it.
        obligations: Obligations to prove.
        weakenings: False variants; at least one.
        argument: Reason why the obligations imply the statement; empty if obvious.
    """

    slug: str
    statement: str
    rules: tuple[str, ...]
    obligations: tuple[Obligation, ...]
    weakenings: tuple[Weakening, ...]
    argument: str = ""

    def questions(self) -> dict[str, str]:
        """Return an SMT-LIB 2 text of each obligation and weakening, by file name without `.smt2`.

        The first line is the expected answer: `; expect: unsat` for an obligation, `; expect: sat` for a weakening.
        The texts are the same bytes on every run.
        """
        texts: dict[str, str] = {}
        for obligation in self.obligations:
            name = self.slug if obligation.case == EVERY else f"{self.slug}--{obligation.case}"
            texts[name] = _query("unsat", name, self.statement, obligation.problem)
        for weakening in self.weakenings:
            name = f"{self.slug}--weakened-{weakening.name}"
            texts[name] = _query("sat", name, f"Weakened: {weakening.change}.", weakening.refuted.problem)
        return texts


def meet(case: str, diagram: Diagram, first: str, second: str, *premises: Fact, half: bool = False) -> Obligation:
    """Return the obligation that all majorities of two sets of a diagram share a replica under the premises.

    Args:
        case: Case of the theorem.
        diagram: Diagram with a set `NAMEMajority` for each of the two.
        first: Name of a set.
        second: Name of another.
        premises: Assumptions besides the majorities.
        half: True if the premises use the number `half`.
    """
    majorities = {name: diagram[f"{name}Majority"] for name in (first, second)}
    facts = (diagram.majority(f"majority-of-{name.lower()}", majorities[name], diagram[name]) for name in majorities)
    denial = diagram.disjoint("no-replica-in-both", *majorities.values())
    return Obligation(case, diagram, (*facts, *premises), denial, ("half",) if half else ())


def _query(answer: str, name: str, sentence: str, problem: Problem) -> str:
    return f"; expect: {answer}\n; {sentence}\n{problem._replace(name=name).smt2()}"
