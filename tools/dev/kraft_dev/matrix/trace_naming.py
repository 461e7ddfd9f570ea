"""The rules that `validate` names of a mutant's traces, up to the first trace that it rejects.

A process of its own simulates the broken reference and writes what happens, up to an exception or a broken invariant,
as other software would write it; this one, which is whole, judges the traces.
"""

import argparse
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_dev.child import ChildError, run_child
from kraft_dev.matrix.subjects import Subject
from kraft_dev.matrix.tool import Means
from kraft_dev.results import Cell
from kraft_spec.edits import edited_packages

VALIDATED = "validate"
SEEDS = 2
"""Of every workload, up to the first trace that is rejected."""
STEPS = 400
VOTERS = (3, 4)
"""By seed: half of an even number is no majority."""
_LIMIT_S = 120.0


def name_rules_of_traces(subject: Subject, _means: Means) -> Iterator[Cell]:
    """What `validate` names of a mutant of the quorum part."""
    # Late: it starts a JVM.
    from kraft_traces.check import check_reader
    from kraft_traces.reader import open_trace

    if subject.part != "replica":
        yield Cell(VALIDATED, skipped="the traces are of replicas of the quorum")
        return
    for trace in _traces(subject):
        with open_trace(trace, source=trace.name) as reader:
            rejection = check_reader(reader).rejection
        if rejection is not None:
            where = f"{trace.stem}, event {rejection.sequence}"
            yield Cell(VALIDATED, True, rejection.headline(), where, names=rejection.rules)
            return
    yield Cell(VALIDATED)


def _traces(subject: Subject) -> Iterator[Path]:
    """The traces of a mutant, made a seed at a time."""
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
        simulation = RunPlan(given.seed, replicas=replicas, steps=STEPS, workload=workload).simulation()
        target = given.folder / f"{workload}-{given.seed}.jsonl"
        with write_trace(target, simulation.configuration, Generator(name="mutant", version="1")) as writer:
            with suppress(Exception):  # a mutant may do anything
                writer.write_all(simulation.run())
            writer.end(complete=False)


if __name__ == "__main__":
    main()
