"""The published table held to what there is: the mutants, the vectors, and what these vectors still notice."""

from collections.abc import Callable, Iterable, Sequence

from kraft_conformance.vectors.catalogue import Catalogue
from kraft_dev.grading.excluding import load_excluded
from kraft_dev.grading.grader import AT_HELLO, Grader
from kraft_dev.grading.subjects import graded_mutants
from kraft_dev.grading.table import TARGET, Row, Table, score
from kraft_dev.mutation.campaign import subject_of
from kraft_spec.mutants import Mutant


def problems(table: Table, catalogue: Catalogue | None = None) -> list[str]:
    """Where the table says something else than the catalogues of mutants and of vectors, in sentences."""
    catalogue = catalogue or Catalogue()
    mutants = {one.name: one for one in graded_mutants()}
    rows = {row.mutant: row for row in table.seeded}
    found = [f"the mutant {name} has no row" for name in mutants.keys() - rows.keys()]
    found += [f"there is no mutant {name}" for name in rows.keys() - mutants.keys()]
    for name in mutants.keys() & rows.keys():
        if rows[name].rules != mutants[name].rules:
            found.append(f"{name} breaks {', '.join(mutants[name].rules)}, not {', '.join(rows[name].rules)}")
    machine = () if table.machine is None else table.machine.rows
    for row in (*table.seeded, *machine):
        for vector_id in dict.fromkeys((row.wire, row.effects, row.state, row.history)):
            if vector_id not in (None, AT_HELLO) and vector_id not in catalogue.entries:
                found.append(f"{row.mutant}: there is no vector {vector_id} any more")
    excluded = load_excluded()
    for row in table.seeded:
        if row.excluded != excluded.get(row.mutant, ""):
            found.append(f"{row.mutant}: excluded.toml says {excluded.get(row.mutant, 'nothing')!r}")
        if row.excluded and row.caught:
            found.append(f"{row.mutant} is excluded, and caught")
    counted = score(table.seeded)
    if counted.share < TARGET:
        found.append(f"vectors catch {counted.vectors} of {counted.mutants} named mutants, less than {TARGET:.0%}")
    if counted.together < counted.mutants:
        found.append(f"{counted.mutants - counted.together} named mutants are caught by nothing")
    return sorted(found)


def not_caught_any_more(
    rows: Iterable[Row], on_row: Callable[[Row], None] | None = None, catalogue: Catalogue | None = None
) -> list[str]:
    """The mutants that the vectors in their rows do not notice any more, run again, in sentences.

    Only those vectors are run, so this takes a moment for each mutant.
    """
    catalogue = catalogue or Catalogue()
    mutants = {one.name: one for one in graded_mutants()}
    found = []
    for row in rows:
        if row.first is not None and row.mutant in mutants:
            found += _differences(row, mutants[row.mutant], catalogue)
            if on_row is not None:
                on_row(row)
    return found


_KINDS = {"wire": "wire", "effects": "effects", "state": "state", "history": "state without injection"}


def _differences(row: Row, mutant: Mutant, catalogue: Catalogue) -> list[str]:
    named = dict.fromkeys(one for one in (row.wire, row.effects, row.state, row.history) if one is not None)
    vectors = tuple([catalogue.vector(one) for one in named if one != AT_HELLO])
    again = Grader(vectors).row(subject_of(mutant), mutant.rules)
    return [
        f"{row.mutant}: {getattr(row, kind)} does not notice it any more at {level}"
        for kind, level in _KINDS.items()
        if getattr(row, kind) is not None and getattr(again, kind) is None
    ]


def sampled(rows: Sequence[Row], every: int) -> tuple[Row, ...]:
    """Every how manieth row, and each that only a constructed state shows."""
    return tuple([row for place, row in enumerate(rows) if place % every == 0 or row.history is None])
