"""Rules named by the first failure of a whole run, to compare with the rule that a mutant breaks.

Each mutant has two cells: the rules named with the whole catalogue of mutants, which failures are compared with, and
those named without the mutant and the mutants that change the same text.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.clearing import Clearing
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.selection import select_vectors
from kraft_conformance.runner.whole_run import likeliest_first
from kraft_dev.mutants.adapter import MutantProcess, mutant_process
from kraft_dev.mutants.subjects import Subject, mutants_of_same_text
from kraft_dev.mutants.tool import Means
from kraft_dev.results import Cell
from kraft_vectors.catalogue import AnyVector, Catalogue

NAMED, UNKNOWN = "named", "unknown"

ATTRIBUTED_MAX = 6
"""Number of failures per mutant to attribute."""


@cache
def _catalogue() -> tuple[Catalogue, tuple[AnyVector, ...]]:
    """Return the vectors, in the order of `conformance run`."""
    catalogue = Catalogue()
    return catalogue, tuple([catalogue.vector(entry.id) for entry in select_vectors(catalogue, ())])


def name_rules(subject: Subject, _means: Means) -> Iterator[Cell]:
    """Run all vectors of the mutant's part; yield the rules that the first failure names."""
    catalogue, vectors = _catalogue()
    selected = [vector for vector in vectors if vector.subject == subject.part or not subject.edits]
    same_text = mutants_of_same_text(subject) if subject.mutant is not None else frozenset()
    with mutant_process(subject) as process:
        outcomes, without = _outcomes(process, selected, same_text)
        hello = process.hello
    failing = [outcome.id for outcome in outcomes if outcome.status in FAILING]
    cells = ((NAMED, outcomes), (UNKNOWN, without)) if same_text else ((NAMED, outcomes),)
    for detector, outcomes_of_cell in cells:
        names = _named(outcomes_of_cell, catalogue, hello, failing[0]) if failing and hello is not None else ()
        yield Cell(detector, bool(failing), where=failing[0] if failing else "", amount=len(failing), names=names)


def _outcomes(
    process: MutantProcess, vectors: Iterable[AnyVector], same_text: frozenset[str]
) -> tuple[list[Outcome], list[Outcome]]:
    """Return the outcomes of all vectors, with the whole catalogue and without some mutants."""
    outcomes: list[Outcome] = []
    without: list[Outcome] = []
    failures = 0
    for vector in vectors:
        attributes = failures < ATTRIBUTED_MAX
        outcome = process.outcome(vector, partial(run_vector, attributes=attributes))
        again = outcome
        if outcome.status is Status.FAIL and attributes and same_text:
            again = process.outcome(vector, partial(run_vector, attributes=True, left_out=same_text))
        outcomes.append(outcome)
        without.append(again)
        failures += outcome.status in FAILING
        if process.is_left_alone:
            break
    return outcomes, without


def _named(outcomes: list[Outcome], catalogue: Catalogue, hello: HelloReply, failing: str) -> tuple[str, ...]:
    passed = {outcome.id for outcome in outcomes if outcome.status is Status.PASS}
    ordered = likeliest_first(outcomes, Clearing(catalogue, hello.observability, passed))
    return next(outcome for outcome in ordered if outcome.id == failing).rules
