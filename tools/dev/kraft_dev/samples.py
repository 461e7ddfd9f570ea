"""Recorded sample traces of `kraft_traces`, with the code that records them reproducibly."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_mutants.playing import play, play_partitions, simulation_of
from kraft_mutants.replicas import mutated_controllers
from kraft_partitions.scenarios import partition_scenario
from kraft_simulation.plan import RunPlan
from kraft_simulation.scenarios import scenario
from kraft_spec.fingerprint import partition_spec_hash, spec_hash
from kraft_traces.own import own_generator
from kraft_traces.partitions.encode import encode_trace
from kraft_traces.writer import trace_bytes

Lines = Iterable[bytes]


class Sample(NamedTuple):
    """A recorded trace."""

    name: str
    """File name."""
    shows: str
    record: Callable[[], Lines]
    """Function that makes its lines."""


def _scenario(name: str, variant: str | None = None) -> Lines:
    chosen = scenario(name)
    outcome = play(chosen, chosen.variants[0] if variant is None else chosen.variant(variant))
    generator, off = own_generator(workload=f"{chosen.name}/{outcome.variant.name}"), outcome.variant.mutants
    run = outcome.occurrences, outcome.configuration, generator
    return trace_bytes(*run, spec_hash=spec_hash(), switched_off=off)


def _simulation(plan: RunPlan, checkpoint_every: int | None = None) -> Lines:
    """Return the trace of a simulated run; an omitted rule is not in its header, so the trace does not reveal it."""
    simulation = simulation_of(plan)
    workload = "mutant" if plan.mutants else plan.workload
    run = simulation.run(), simulation.configuration, own_generator(plan.seed, workload)
    return trace_bytes(*run, spec_hash=spec_hash(), checkpoint_every=checkpoint_every)


def _partition_scenario(label: str, variant_name: str) -> Lines:
    chosen = partition_scenario(label)
    outcome = play_partitions(chosen, chosen.variant(variant_name))
    off = outcome.variant.mutants
    return encode_trace(outcome.configuration, outcome.occurrences, spec_hash=partition_spec_hash(), switched_off=off)


def _partition_run(seed: int, events: int, *left_out: str) -> Lines:
    """Return the trace of a random run; an omitted rule is not in its header."""
    honest = random_configuration(seed)
    run = random_run(honest, seed, events, mutated_controllers(left_out))
    return encode_trace(honest, run, seed, spec_hash=partition_spec_hash())


_MUTANT = RunPlan(seed=1, steps=300, workload="elections", mutants=("prevote.follower.rejects-after-fetch",))

SAMPLES: tuple[Sample, ...] = (
    Sample(
        "partitioned-follower.jsonl", "scenario 1: a partitioned follower", partial(_scenario, "partitioned-follower")
    ),
    Sample(
        "ping-pong.jsonl",
        "scenario 5: two followers do not refuse each other for ever",
        partial(_scenario, "ping-pong"),
    ),
    Sample(
        "quorum-reassignment.jsonl",
        "scenario S20: the quorum moves from (1,2,3) to (4,5,6), one voter at a time",
        partial(_scenario, "s20-quorum-reassignment"),
    ),
    Sample(
        "resumed-too-early.jsonl",
        "S22 as KIP-642 has it: a leader resumes before it has committed anything, and a committed record is lost",
        partial(_scenario, "s22-leader-fails-midway", "wrong-resumed"),
    ),
    Sample("chaos.jsonl", "a run with faults", partial(_simulation, RunPlan(seed=1, steps=300, workload="chaos"))),
    Sample(
        "checkpoints.jsonl",
        "a run with snapshots and a checkpoint after each 100 events",
        partial(_simulation, RunPlan(seed=4, steps=300, workload="snapshots"), checkpoint_every=100),
    ),
    Sample(
        "mutant.jsonl",
        "a follower that fetched grants a Pre-Vote: rejected at that line",
        partial(_simulation, _MUTANT),
    ),
)

PARTITION_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "partition-normal.jsonl",
        "S25: 4 joins, 1 goes, and two controllers fail on the way",
        partial(_partition_scenario, "s25", "right-fail-over"),
    ),
    Sample(
        "partition-override-kafka-4.jsonl",
        "S27 as Kafka has it: the old replicas do not come back",
        partial(_partition_scenario, "s27", "kafka-4"),
    ),
    Sample("partition-chaos.jsonl", "a run with failures and requests of every kind", partial(_partition_run, 3, 150)),
    Sample(
        "partition-mutant.jsonl",
        "replicas to be removed go before those that join are in sync: rejected at that line",
        partial(_partition_run, 1, 60, "partition-reassign.add-before-remove"),
    ),
)

ALL_SAMPLES: tuple[Sample, ...] = (*SAMPLES, *PARTITION_SAMPLES)


def sample_folder() -> Path:
    """Return the folder of the recorded samples."""
    return Path(str(files("kraft_traces") / "samples"))


def record_all() -> None:
    """Record all samples again, after a change of the reference, the model or the format."""
    for sample in ALL_SAMPLES:
        (sample_folder() / sample.name).write_bytes(b"".join(sample.record()))


if __name__ == "__main__":
    record_all()
