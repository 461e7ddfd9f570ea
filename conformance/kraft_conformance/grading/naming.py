"""Is the rule that a mutant breaks the first one that the first failure names?"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from kraft_conformance.grading.grader import PROFILE, REPLY_TIMEOUT_S, broken_adapter
from kraft_conformance.grading.subjects import subject_graded
from kraft_conformance.grading.table import TableError
from kraft_conformance.mutation import machine_made
from kraft_conformance.mutation.campaign import Subject
from kraft_conformance.mutation.seeded import subject_of
from kraft_conformance.protocol import features
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import FAILING, Outcome
from kraft_conformance.runner.running import errored, run_vector
from kraft_conformance.runner.selection import selected
from kraft_conformance.runner.session import Session
from kraft_conformance.vectors.catalogue import AnyVector, Catalogue
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_spec.attribution import rules_around
from kraft_spec.mutants import Mutant

FILE_NAME = "naming.json"


class NamingRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One mutant, and what its first failure names."""

    mutant: str
    breaks: tuple[str, ...]
    """Of a named one its rules, the one that it is about first; of a machine-made one those that the reference names
    at the changed line and around it."""
    vector: str
    """The first that fails, in the order of a run; empty if none does."""
    named: tuple[str, ...]
    """The rules that the failure names."""


class Naming(Struct, frozen=True, forbid_unknown_fields=True):
    """All of them."""

    schema: Literal["kraft-naming/1"]
    vectors: int
    seeded: tuple[NamingRow, ...]
    machine: tuple[NamingRow, ...]
    machine_seed: int
    note: str = ""
    """What a reader has to know of how the table was made, if not in one run."""


class Score(NamedTuple):
    """How often the rule is named."""

    failed: int
    """Mutants with a failure."""
    first: int
    """Where the first rule named is the one that the mutant is about."""
    among: int
    """Where it is one of those that it breaks."""
    early: int
    """Where the rule that it is about is among the first three."""


def score(rows: Iterable[NamingRow]) -> Score:
    """How often the rule is named, among the mutants that fail."""
    failing = [row for row in rows if row.vector]
    first = [row for row in failing if row.breaks and row.named[:1] == row.breaks[:1]]
    among = [row for row in failing if row.named[:1] and row.named[0] in row.breaks]
    early = [row for row in failing if row.breaks and row.breaks[0] in row.named[:3]]
    return Score(len(failing), len(first), len(among), len(early))


def naming_of(
    mutants: Sequence[Mutant], machine: int, seed: int, jobs: int, on_row: Callable[[NamingRow], None]
) -> Naming:
    """Run each mutant behind its adapter up to the first vector that fails, in the order of `conformance run`.

    Raises:
        EditError: a mutant does not fit.
        ValueError: there are not so many machine-made mutants.
    """
    catalogue = Catalogue()
    vectors = tuple([catalogue.vector(entry.id) for entry in selected(catalogue, ())])

    def seeded(one: Mutant) -> NamingRow:
        return row(subject_of(one), subject_graded(one), one.rules)

    def made(one: machine_made.MachineMade) -> NamingRow:
        return row(one.subject, "replica", rules_around(one.key.file, one.line))

    def row(subject: Subject, part: features.Subject, breaks: tuple[str, ...]) -> NamingRow:
        is_of_partitions = part == "partitions"
        asked = [one for one in vectors if isinstance(one, PartitionVector) == is_of_partitions]
        failure = _first_failure(subject, asked)
        found = NamingRow(subject.name, breaks, failure.id if failure else "", failure.rules if failure else ())
        on_row(found)
        return found

    drawn = machine_made.sample(machine, seed)[0] if machine else ()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        rows = tuple(pool.map(seeded, mutants))
        return Naming("kraft-naming/1", len(vectors), rows, tuple(pool.map(made, drawn)), seed)


def _first_failure(subject: Subject, vectors: Iterable[AnyVector]) -> Outcome | None:
    with broken_adapter(subject) as command:
        try:
            session = Session(command, REPLY_TIMEOUT_S)
        except AdapterFault as fault:
            return errored("hello", fault)
        try:
            for vector in vectors:
                profiles = vector.requires.profiles
                profile = PROFILE if PROFILE in profiles else profiles[0]
                try:
                    outcome = run_vector(session, vector, profile, attributes=True)
                except AdapterFault as fault:
                    return errored(vector.id, fault)
                if outcome.status in FAILING:
                    return outcome
            return None
        finally:
            session.end(politely=False)


def naming_bytes(naming: Naming) -> bytes:
    """The file, one line for each mutant."""
    document = msgspec.to_builtins(naming)
    tables = {name: document.pop(name) for name in ("seeded", "machine")}
    rows = [
        f' "{name}": [\n' + ",\n".join(f"  {json.dumps(row)}" for row in table) + "\n ]"
        for name, table in tables.items()
    ]
    return (json.dumps(document, indent=1)[:-2] + ",\n" + ",\n".join(rows) + "\n}\n").encode()


def load_naming() -> Naming:
    """The table of the package.

    Raises:
        TableError: the file is none.
    """
    raw = (files("kraft_conformance.grading") / FILE_NAME).read_bytes()
    try:
        return msgspec.json.decode(raw, type=Naming)
    except msgspec.DecodeError as error:
        raise TableError(f"{FILE_NAME}: {error}") from error


def naming_page(naming: Naming) -> Iterator[str]:
    """The lines of the page about it."""
    yield "## Is the broken rule the first one named?"
    yield ""
    yield (
        "Each mutant ran behind its adapter, in the order of `conformance run`, up to the first vector that fails; "
        "the adapter shows its state. Written by `kraft-spec conformance grade --naming`, "
        f"from one run with {naming.vectors} vectors."
    )
    yield (
        "No table of mutants is used for naming: a failure names the rules that the reference cites where one thing "
        "done otherwise gives what was seen, and those of the vector."
    )
    if naming.note:
        yield naming.note
    yield ""
    yield "|  | named | machine-made |"
    yield "|---|---|---|"
    seeded, machine = score(naming.seeded), score(naming.machine)
    yield f"| mutants with a failure | {seeded.failed} | {machine.failed} |"
    yield f"| the first rule named is the one that the mutant is about | {_share(seeded.first, seeded)} | not known |"
    yield f"| it is one that the mutant breaks | {_share(seeded.among, seeded)} | {_share(machine.among, machine)} |"
    yield f"| the one that it is about is among the first three | {_share(seeded.early, seeded)} | not known |"
    yield ""
    yield (
        "The goal is 90% for named mutants, which this is not: many lines of the reference cite several rules that say "
        "the same from different texts, and a mutant is about one of them."
    )
    yield (
        "Of a machine-made mutant only the line is known: counted is that the first rule named is one that the "
        "reference cites at that line or around it, up to the docstring of its function."
    )
    missed = [row for row in naming.seeded if row.vector and row.named[:1] != row.breaks[:1]]
    yield ""
    yield "Named mutants whose rule is not the first one named:"
    yield ""
    yield "| mutant | about | first failure | named |"
    yield "|---|---|---|---|"
    for row in missed:
        yield f"| {row.mutant} | {row.breaks[0]} | {row.vector} | {', '.join(row.named[:3])} |"


def _share(number: int, of: Score) -> str:
    return f"{number} ({number / of.failed:.0%})" if of.failed else "0"
