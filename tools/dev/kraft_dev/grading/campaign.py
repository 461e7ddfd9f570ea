"""Grading many mutants: the seeded ones, each with the vectors of its subject, and a sample of machine-made ones."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from msgspec import structs

from kraft_conformance.protocol import features
from kraft_conformance.vectors.catalogue import AnyVector, Catalogue
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_dev.grading.excluding import load_excluded
from kraft_dev.grading.grader import PROFILE, Grader, GradingError
from kraft_dev.grading.random_part import RandomRuns
from kraft_dev.grading.subjects import subject_graded
from kraft_dev.grading.table import SCHEMA, MachineMadeRows, Row, Table
from kraft_dev.mutation import machine_made
from kraft_dev.mutation.campaign import UNBROKEN, Subject, subject_of
from kraft_dev.mutation.machine_made import Key
from kraft_dev.results import measured_now
from kraft_spec.mutants import Mutant


@dataclass(frozen=True, slots=True)
class GradingPlan:
    """What is graded."""

    mutants: tuple[Mutant, ...]
    machine: int = 0
    """How many machine-made mutants, each up to the first vector that notices."""
    seed: int = 1
    random: RandomRuns | None = None
    """For the mutants of the quorum part that no vector notices; None leaves them alone."""
    stops_at_first: bool = False
    """Whether a seeded mutant too is left alone once a vector notices."""
    jobs: int = 1
    """Mutants at a time."""


@dataclass(frozen=True, slots=True)
class _Task:
    subject: Subject
    graded_as: features.Subject
    rules: tuple[str, ...]
    line: str
    excluded: str


def grade(
    plan: GradingPlan,
    on_row: Callable[[Row], None] | None = None,
    on_step: Callable[[str], None] | None = None,
    catalogue: Catalogue | None = None,
) -> Table:
    """Grade; the rows are in the order of the catalogue, whatever came first.

    Raises:
        GradingError: a vector fails on the unbroken reference, or a process does not run its mutant.
        EditError, SurvivorError, ExcludedError: a mutant does not fit, or a list of arguments is wrong.
        ValueError: there are not so many machine-made mutants.
        VectorFileError: a vector cannot be read.
    """
    say = on_step or (lambda _: None)
    told = on_row or (lambda _: None)
    catalogue = catalogue or Catalogue()
    vectors = tuple([catalogue.vector(vector_id) for vector_id in catalogue])
    excluded = load_excluded()
    say("every vector on the unbroken reference")
    unbroken = Grader(vectors).row(UNBROKEN)
    if unbroken.by_vectors:
        raise GradingError(f"{unbroken.first} fails on the unbroken reference: {unbroken.said}")
    by_subject = {subject: _of(vectors, subject) for subject in features.SUBJECTS}
    graders = {subject: Grader(those, plan.stops_at_first) for subject, those in by_subject.items()}
    seeded = [
        _Task(subject_of(one), subject_graded(one), one.rules, "", excluded.get(one.name, "")) for one in plan.mutants
    ]
    rows = _rows(graders, seeded, plan, told)
    machine = None
    if plan.machine:
        say("drawing machine-made mutants")
        made, population = machine_made.sample(plan.machine, plan.seed)
        tasks = [_Task(one.subject, "replica", (), _line_of(one.key), _reason(excluded, one.key)) for one in made]
        first: Mapping[features.Subject, Grader] = {"replica": Grader(by_subject["replica"], stops_at_first=True)}
        machine = MachineMadeRows(plan.seed, population, _rows(first, tasks, plan, told))
    return Table(
        schema=SCHEMA,
        profile=PROFILE,
        vectors=len(by_subject["replica"]),
        partition_vectors=len(by_subject["partitions"]),
        random="" if plan.random is None else str(plan.random),
        seeded=rows,
        machine=machine,
        measured=measured_now("grading"),
    )


def _of(vectors: Sequence[AnyVector], subject: features.Subject) -> tuple[AnyVector, ...]:
    kind = PartitionVector if subject == "partitions" else Vector
    return tuple([one for one in vectors if isinstance(one, kind)])


def _line_of(key: Key) -> str:
    return f"{key.before} -> {key.after or 'nothing'}"


def _reason(excluded: Mapping[str | Key, str], key: Key) -> str:
    return excluded.get(key) or excluded.get(key.file, "")


def _rows(
    graders: Mapping[features.Subject, Grader],
    tasks: Sequence[_Task],
    plan: GradingPlan,
    told: Callable[[Row], None],
) -> tuple[Row, ...]:
    def one(task: _Task) -> Row:
        row = graders[task.graded_as].row(task.subject, task.rules, task.line)
        random = plan.random if task.graded_as == "replica" else None
        if random is not None and not row.by_vectors and not task.excluded:
            row = structs.replace(row, random=random.catch(task.subject))
        row = structs.replace(row, subject=task.graded_as, excluded=task.excluded)
        told(row)
        return row

    with ThreadPoolExecutor(max_workers=plan.jobs) as pool:
        futures = [pool.submit(one, task) for task in tasks]
        try:
            return tuple([future.result() for future in futures])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
