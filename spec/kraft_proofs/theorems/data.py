"""What a theorem is, as data: nothing in this module or in the theorems themselves asks a solver anything.

A theorem is proved by contradiction. Each of its obligations lists premises and a denial, the fact that says that the
claim is false; no natural numbers may make all of them true. A weakening changes one fact, and then they must.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kraft_proofs.linear import Fact, Problem, Term
from kraft_proofs.venn import Diagram, SetExpression

EVERY = "every"
"""The case of a theorem that has only one; its file is named after the theorem alone."""


@dataclass(frozen=True, slots=True)
class Obligation:
    """Premises that leave no room for the denial of a claim.

    Attributes:
        case: Which case of the theorem it settles: words with hyphens. `every` if there is only one.
        diagram: The sets that are talked of.
        premises: What is assumed.
        denial: That the claim is false.
        numbers: Variables that count no region of the diagram, each a natural number, as far as the facts name them.
    """

    case: str
    diagram: Diagram
    premises: tuple[Fact, ...]
    denial: Fact
    numbers: tuple[str, ...] = ()

    @property
    def problem(self) -> Problem:
        """All of it as one question; a theorem says that the answer is no."""
        return self._problem(*self.premises, self.denial)

    @property
    def without_denial(self) -> Problem:
        """The premises alone; if they contradicted each other the theorem would say nothing."""
        return self._problem(*self.premises)

    def without(self, name: str) -> "Obligation":
        """The same without one premise.

        Raises:
            KeyError: no premise has this name.
        """
        kept = tuple(fact for fact in self.premises if fact.name != name)
        if len(kept) == len(self.premises):
            raise KeyError(name)
        return replace(self, premises=kept)

    def instead(self, fact: Fact) -> "Obligation":
        """The same with another fact, or another denial, under the name of one that is there.

        Raises:
            KeyError: no fact has this name.
        """
        if fact.name == self.denial.name:
            return replace(self, denial=fact)
        self.without(fact.name)
        premises = tuple(fact if old.name == fact.name else old for old in self.premises)
        return replace(self, premises=premises)

    def also(self, *facts: Fact) -> "Obligation":
        """The same with more premises."""
        return replace(self, premises=(*self.premises, *facts))

    def weakened(
        self, name: str, change: str, smallest: tuple[SetExpression, ...], sets: str, **numbers: int
    ) -> "Weakening":
        """This obligation, as one that can no longer be met.

        Args:
            name: The weakening's.
            change: What is different from the theorem, in plain words.
            smallest: The sets that a counterexample makes as small as possible.
            sets: The smallest one: the members of the diagram's sets in their order, `1,2 | 1,2,3`.
            numbers: What it says besides.
        """
        members = (tuple(map(int, re.findall("[0-9]+", part))) for part in sets.split("|"))
        found = Counterexample(dict(zip(self.diagram.names, members, strict=True)), numbers)
        return Weakening(name, change, self, tuple(map(self.diagram.size, smallest)), found)

    def _problem(self, *facts: Fact) -> Problem:
        named = {name for fact in facts for row in fact.rows for name, _ in row.coefficients}
        return self.diagram.problem(self.case, *facts, more=[name for name in self.numbers if name in named])


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Sets of replicas, numbered from 1 in the order in which the sets name them, that refute a claim.

    Attributes:
        sets: Name of a set, and its replicas.
        numbers: The values of the variables that count no replicas.
    """

    sets: Mapping[str, tuple[int, ...]]
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """Show `Old={1} New={2}`, then the numbers."""
        sets = [f"{name}={{{','.join(map(str, members))}}}" for name, members in self.sets.items()]
        return " ".join([*sets, *(f"{name}={value}" for name, value in self.numbers.items())])


@dataclass(frozen=True, slots=True)
class Weakening:
    """A theorem with one fact changed, so that it is false.

    Attributes:
        name: Words with hyphens; with the theorem's slug it names the file of the query.
        change: What is different from the theorem, in plain words.
        refuted: The obligation that can no longer be met.
        smallest: What a counterexample makes as small as possible, the first before the second.
        counterexample: The smallest one; the solver must find exactly this.
    """

    name: str
    change: str
    refuted: Obligation
    smallest: tuple[Term, ...]
    counterexample: Counterexample


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement about sets of any size, what proves it, and what shows that it cannot say more.

    Attributes:
        slug: Its permanent name: words with hyphens.
        statement: One sentence.
        rules: Ids of the rules of the catalogue that rest on it.
        obligations: What has to be proved.
        weakenings: What is false; at least one.
        argument: Why the obligations together are the statement; empty where there is nothing to say.
    """

    slug: str
    statement: str
    rules: tuple[str, ...]
    obligations: tuple[Obligation, ...]
    weakenings: tuple[Weakening, ...]
    argument: str = ""

    def questions(self) -> dict[str, str]:
        """Each obligation and each weakening for any solver: a text in SMT-LIB 2 by the name of its file.

        The first line of a text is the answer to expect: `; expect: unsat` of what is proved, `; expect: sat` of what
        is refuted. The texts are the same bytes on every run; the names are without `.smt2`.
        """
        asked: dict[str, str] = {}
        for obligation in self.obligations:
            name = self.slug if obligation.case == EVERY else f"{self.slug}--{obligation.case}"
            asked[name] = _question("unsat", name, self.statement, obligation.problem)
        for weakening in self.weakenings:
            name = f"{self.slug}--weakened-{weakening.name}"
            asked[name] = _question("sat", name, f"Weakened: {weakening.change}.", weakening.refuted.problem)
        return asked


def meet(case: str, diagram: Diagram, one: str, other: str, *premises: Fact, half: bool = False) -> Obligation:
    """All majorities of two sets of a diagram share a replica if the premises hold.

    Args:
        case: Of the theorem.
        diagram: It has a set `NAMEMajority` for each of the two.
        one: Name of a set.
        other: Name of another.
        premises: What is assumed beside that they are majorities.
        half: Whether the premises speak of the number `half`.
    """
    majorities = {name: diagram[f"{name}Majority"] for name in (one, other)}
    facts = (diagram.majority(f"majority-of-{name.lower()}", majorities[name], diagram[name]) for name in majorities)
    denial = diagram.disjoint("no-replica-in-both", *majorities.values())
    return Obligation(case, diagram, (*facts, *premises), denial, ("half",) if half else ())


def _question(answer: str, name: str, says: str, problem: Problem) -> str:
    return f"; expect: {answer}\n; {says}\n{problem._replace(name=name).smt2()}"
