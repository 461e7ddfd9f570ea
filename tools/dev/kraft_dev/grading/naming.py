"""Is the rule that a mutant breaks the first one that a run names?"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from kraft_conformance.protocol import features
from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.clearing import Clearing
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.running import errored, run_vector
from kraft_conformance.runner.selection import selected
from kraft_conformance.runner.session import Session
from kraft_conformance.runner.whole_run import likeliest_first
from kraft_conformance.vectors.catalogue import AnyVector, Catalogue
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_dev.grading.grader import FAULTS_MAX, PROFILE, REPLY_TIMEOUT_S, broken_adapter
from kraft_dev.grading.subjects import subject_graded
from kraft_dev.grading.table import TableError
from kraft_dev.markdown import table
from kraft_dev.mutation import machine_made
from kraft_dev.mutation.campaign import Subject, subject_of
from kraft_dev.results import Measured, measured_now, origin, result_file
from kraft_spec.attribution import rules_around
from kraft_spec.mutants import Mutant, load_catalogue, reference_edits

_ATTRIBUTED_MAX = 6
"""So many failures of a mutant are looked into."""


class NamingRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One mutant, and what the first failure of a whole run names."""

    mutant: str
    breaks: tuple[str, ...]
    """Of a named one its rules, the one that it is about first; of a machine-made one those that the reference names
    at the changed line and around it."""
    vector: str
    """The first that fails, in the order of a run; empty if none does."""
    failures: int
    named: tuple[str, ...]
    """The rules that the failure names."""
    named_without: tuple[str, ...] = ()
    """Those that it names where the catalogue is without the mutant, and without those that change the same text."""


class Naming(Struct, frozen=True, forbid_unknown_fields=True):
    """All of them."""

    schema: Literal["kraft-naming/2"]
    vectors: int
    seeded: tuple[NamingRow, ...]
    machine: tuple[NamingRow, ...]
    machine_seed: int
    measured: Measured | None
    """At what; None if it is not known."""
    """What a reader has to know of how the table was made, if not by the command in one run."""


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


def score(rows: Iterable[NamingRow], *, without: bool = False) -> Score:
    """How often the rule is named, among the mutants that fail; `without` them in the catalogue if asked for."""
    named = [(row.breaks, row.named_without if without else row.named) for row in rows if row.vector]
    first = [rules for breaks, rules in named if breaks and rules[:1] == breaks[:1]]
    among = [rules for breaks, rules in named if rules[:1] and rules[0] in breaks]
    early = [rules for breaks, rules in named if breaks and breaks[0] in rules[:3]]
    return Score(len(named), len(first), len(among), len(early))


def naming_of(
    mutants: Sequence[Mutant], machine: int, seed: int, jobs: int, on_row: Callable[[NamingRow], None]
) -> Naming:
    """Run all vectors on each mutant behind its adapter, in the order of `conformance run`.

    Raises:
        EditError: a mutant does not fit.
        ValueError: there are not so many machine-made mutants.
    """
    catalogue = Catalogue()
    vectors = tuple([catalogue.vector(entry.id) for entry in selected(catalogue, ())])

    def seeded(one: Mutant) -> NamingRow:
        return row(subject_of(one), subject_graded(one), one.rules, _alike(one))

    def made(one: machine_made.MachineMade) -> NamingRow:
        return row(one.subject, "replica", rules_around(one.key.file, one.line))

    def row(
        subject: Subject, part: features.Subject, breaks: tuple[str, ...], alike: frozenset[str] = frozenset()
    ) -> NamingRow:
        is_of_partitions = part == "partitions"
        asked = [one for one in vectors if isinstance(one, PartitionVector) == is_of_partitions]
        failures, named, named_without = _named(subject, asked, catalogue, alike)
        found = NamingRow(
            subject.name, breaks, failures[0] if failures else "", len(failures), named, named_without if alike else ()
        )
        on_row(found)
        return found

    drawn = machine_made.sample(machine, seed)[0] if machine else ()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        rows = tuple(pool.map(seeded, mutants))
        return Naming("kraft-naming/2", len(vectors), rows, tuple(pool.map(made, drawn)), seed, measured_now("naming"))


def _alike(mutant: Mutant) -> frozenset[str]:
    """The mutant, and those that change the same text."""
    edited = {(edit.file, edit.old) for edit in reference_edits(mutant)}
    return frozenset(
        one.name
        for one in load_catalogue().mutants
        if one.name == mutant.name or not edited.isdisjoint((edit.file, edit.old) for edit in reference_edits(one))
    )


def _named(
    subject: Subject, vectors: Iterable[AnyVector], catalogue: Catalogue, alike: frozenset[str]
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The vectors that fail, and what the first names with the whole catalogue and without some of it."""
    outcomes: list[Outcome] = []
    without: list[Outcome] = []
    hello: HelloReply | None = None
    session: Session | None = None
    faults = failures = 0
    with broken_adapter(subject) as command:
        for vector in vectors:
            profiles = vector.requires.profiles
            profile = PROFILE if PROFILE in profiles else profiles[0]
            try:
                session = session or Session(command, REPLY_TIMEOUT_S)
                hello = session.hello
                attributes = failures < _ATTRIBUTED_MAX
                outcome = run_vector(session, vector, profile, attributes=attributes)
                if outcome.status is Status.FAIL and attributes and alike:
                    again = run_vector(session, vector, profile, attributes=True, left_out=alike)
                    without.append(again)
                else:
                    without.append(outcome)
            except AdapterFault as fault:
                outcome = errored(vector.id, fault)
                without.append(outcome)
                faults += 1
                if session is not None:
                    session.end(politely=False)
                    session = None
            outcomes.append(outcome)
            failures += outcome.status in FAILING
            if faults >= FAULTS_MAX:
                break
        if session is not None:
            session.end(politely=False)
    failing = tuple([one.id for one in outcomes if one.status in FAILING])
    if not failing or hello is None:
        return failing, (), ()
    passed = {one.id for one in outcomes if one.status is Status.PASS}
    is_cleared = Clearing(catalogue, hello.observability, passed)
    first, second = [
        next(one for one in likeliest_first(found, catalogue.entries, is_cleared) if one.id == failing[0]).rules
        for found in (outcomes, without)
    ]
    return failing, first, second


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
    """The published table.

    Raises:
        TableError: the file is none.
    """
    file = result_file("naming")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Naming)
    except msgspec.DecodeError as error:
        raise TableError(f"{file.name}: {error}") from error


def naming_page(naming: Naming) -> Iterator[str]:
    """The lines of the page about it."""
    yield "## Is the broken rule the first one named?"
    yield ""
    yield (
        "All vectors were asked of each mutant behind its adapter, in the order of `conformance run`; the adapter "
        "shows its state. Counted is the rule that the first failure names first. "
        f"There were {naming.vectors} vectors; of each mutant the first {_ATTRIBUTED_MAX} failures were looked into."
    )
    yield origin("naming", naming.measured)
    seeded, without = score(naming.seeded), score(naming.seeded, without=True)
    machine = score(naming.machine)
    yield ""
    both = (seeded, without)
    yield from table(
        ("", "named", "named, unknown to the tool", "machine-made"),
        (
            ("mutants with a failure", *(str(one.failed) for one in (*both, machine))),
            (
                "the first rule named is the one that the mutant is about",
                *(_share(one.first, one) for one in both),
                "not known",
            ),
            ("it is one that the mutant breaks", *(_share(one.among, one) for one in (*both, machine))),
            (
                "the one that it is about is among the first three",
                *(_share(one.early, one) for one in both),
                "not known",
            ),
        ),
    )
    yield ""
    yield (
        "**Named**: the catalogue of mutants is what failures are compared with first, so that a named mutant is "
        "compared with itself too. This says how well the tool tells known mistakes apart, and no more."
    )
    yield (
        "**Named, unknown to the tool**: the same failures with the mutant taken out of the catalogue, and with it "
        "every mutant that changes the same text. "
        "This is what to expect of a mistake that nobody thought of; the goal of 90% is not met there. "
        "Where several rules say the same from different texts, a mutant is about one of them, and another one that "
        "forbids it too may be named."
    )
    yield (
        "**Machine-made**: never in the catalogue. Only the changed line is known: counted is that the first rule "
        "named is one that the reference cites at that line or around it, up to the docstring of its function."
    )
    yield from _missed("Named mutants of which none of their rules is named first:", naming.seeded, without=False)
    yield from _missed("The same, of those unknown to the tool:", naming.seeded, without=True)
    yield from _missed(
        "Machine-made mutants of which no rule of their line is named first:", naming.machine, without=False
    )


def _missed(title: str, rows: Iterable[NamingRow], *, without: bool) -> Iterator[str]:
    yield ""
    yield title
    yield ""
    named = [(row, row.named_without if without else row.named) for row in rows if row.vector]
    yield from table(
        ("mutant", "breaks", "first failure", "named"),
        (
            (row.mutant, ", ".join(row.breaks[:3]), row.vector, ", ".join(rules[:3]))
            for row, rules in named
            if not (rules[:1] and rules[0] in row.breaks)
        ),
    )


def _share(number: int, of: Score) -> str:
    return f"{number} ({number / of.failed:.0%})" if of.failed else "0"
