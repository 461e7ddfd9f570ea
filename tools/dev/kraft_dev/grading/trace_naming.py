"""Is the rule that a mutant breaks the first one that `validate` names of its traces?

A process of its own simulates the broken reference and writes what happens, up to an exception or a broken invariant,
as other software would write it; this one, which is whole, judges the traces up to the first that is rejected.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from kraft_dev.child import ChildError, run_child
from kraft_dev.grading.subjects import subject_graded
from kraft_dev.mutation.campaign import subject_of
from kraft_spec.edits import edited_packages
from kraft_spec.mutants import Mutant

SEEDS = 2
"""Of every workload, up to the first trace that is rejected."""
STEPS = 400
VOTERS = (3, 4)
"""By seed: half of an even number is no majority."""
_LIMIT_S = 120.0


class TraceNamingRow(NamedTuple):
    """A mutant, and what the first rejection of a trace of it names."""

    mutant: str
    breaks: tuple[str, ...]
    """Its rules, the one that it is about first."""
    where: str
    """The trace and the event; empty if no trace is rejected."""
    named: tuple[str, ...]

    @property
    def is_first(self) -> bool:
        """Is the rule that the mutant is about the first one named?"""
        return self.named[:1] == self.breaks[:1]


def trace_naming_of(mutants: Sequence[Mutant], on_row: Callable[[TraceNamingRow], None]) -> tuple[TraceNamingRow, ...]:
    """What `validate` names of each mutant of the quorum part.

    Raises:
        EditError: a mutant does not fit.
    """
    found: list[TraceNamingRow] = []
    for mutant in mutants:
        if subject_graded(mutant) != "replica":
            continue
        found.append(_row(mutant))
        on_row(found[-1])
    return tuple(found)


def _row(mutant: Mutant) -> TraceNamingRow:
    # Late: it starts a JVM.
    from kraft_traces.check import check_reader
    from kraft_traces.reader import open_trace

    for trace in _traces(mutant):
        with open_trace(trace, source=trace.name) as reader:
            rejection = check_reader(reader).rejection
        if rejection is not None:
            where = f"{trace.stem}, event {rejection.sequence}"
            return TraceNamingRow(mutant.name, mutant.rules, where, rejection.rules)
    return TraceNamingRow(mutant.name, mutant.rules, "", ())


def _traces(mutant: Mutant) -> Iterator[Path]:
    """The traces of a mutant, made a seed at a time."""
    subject = subject_of(mutant)
    with edited_packages({"kraft_reference": subject.edits}) as environment, TemporaryDirectory() as folder:
        for seed in range(SEEDS):
            target = Path(folder) / str(seed)
            target.mkdir()
            # One that fails or hangs has written what came before.
            with suppress(ChildError):
                run_child(__name__, str(target), str(seed), environment=environment, seconds=_LIMIT_S)
            yield from sorted(target.iterdir())


def main() -> None:
    """Simulate all workloads with the reference that this process imports, each to a trace in a folder."""
    from kraft_reference.cluster.plan import RunPlan
    from kraft_reference.cluster.workload import WORKLOADS
    from kraft_traces.lines import Generator
    from kraft_traces.writer import write_trace

    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("seed", type=int)
    given = parser.parse_args()
    for workload in WORKLOADS:
        replicas = VOTERS[given.seed % len(VOTERS)]
        plan = RunPlan(given.seed, replicas=replicas, steps=STEPS, workload=workload)
        simulation = plan.simulation()
        target = given.folder / f"{workload}-{given.seed}.jsonl"
        with write_trace(target, simulation.configuration, Generator(name="mutant", version="1")) as writer:
            with suppress(Exception):  # a mutant may do anything
                writer.write_all(simulation.run())
            writer.end(complete=False)


if __name__ == "__main__":
    main()
