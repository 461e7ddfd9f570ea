"""The recorded sample traces of `kraft_traces`: how each is made, so that recording them again gives the same bytes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.configuration import Configuration
from kraft_reference.scenarios import run, scenario
from kraft_spec.fingerprint import spec_hash
from kraft_traces.lines import Generator
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes

Recording = tuple[Configuration, Generator, Iterable[Occurrence]]


@dataclass(frozen=True, slots=True)
class Sample:
    """A recorded trace."""

    name: str
    """Its file name."""
    shows: str
    record: Callable[[], Recording]


def _scenario(name: str) -> Callable[[], Recording]:
    def record() -> Recording:
        chosen = scenario(name)
        outcome = run(chosen, chosen.variants[0])
        workload = f"{chosen.name}/{outcome.variant.name}"
        return outcome.configuration, own_generator(workload=workload), outcome.occurrences

    return record


def _simulation(plan: RunPlan) -> Callable[[], Recording]:
    def record() -> Recording:
        simulation = plan.simulation()
        return simulation.configuration, own_generator(plan.seed, plan.workload), simulation.run()

    return record


def _planted_bug() -> Recording:
    """A reference that leaves a rule out, in a trace that says nothing of it."""
    plan = RunPlan(seed=1, steps=300, workload="elections", switched_off=("prevote.follower.rejects-after-fetch",))
    simulation = plan.simulation()
    honest = replace(simulation.configuration, switched_off=frozenset())
    return honest, own_generator(plan.seed, "planted-bug"), simulation.run()


SAMPLES: tuple[Sample, ...] = (
    Sample("partitioned-follower.jsonl", "scenario 1: a partitioned follower", _scenario("partitioned-follower")),
    Sample("ping-pong.jsonl", "scenario 5: two followers do not refuse each other for ever", _scenario("ping-pong")),
    Sample("chaos.jsonl", "a run with faults", _simulation(RunPlan(seed=1, steps=300, workload="chaos"))),
    Sample("planted-bug.jsonl", "a follower that fetched grants a Pre-Vote: rejected at that line", _planted_bug),
)


def sample_folder() -> Path:
    """Where the recorded samples are."""
    return Path(str(files("kraft_traces") / "samples"))


def recorded(sample: Sample) -> bytes:
    """The bytes of a sample, recorded now."""
    configuration, generator, occurrences = sample.record()
    return b"".join(trace_bytes(occurrences, configuration, generator, spec_hash=spec_hash()))


def record_all(folder: Path | None = None) -> None:
    """Record all samples again: after a change of the reference, the model or the format."""
    for sample in SAMPLES:
        ((folder or sample_folder()) / sample.name).write_bytes(recorded(sample))


if __name__ == "__main__":
    record_all()
