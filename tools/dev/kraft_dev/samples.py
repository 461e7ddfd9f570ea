"""The recorded sample traces of `kraft_traces`: how each is made, so that recording them again gives the same bytes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.partitions.scenarios import partition_scenario
from kraft_reference.scenarios import scenario
from kraft_spec.experiments.playing import play, play_partitions, simulation_of
from kraft_spec.experiments.replicas import controllers_without
from kraft_spec.fingerprint import partition_spec_hash, spec_hash
from kraft_traces.own import own_generator
from kraft_traces.partitions.encode import encoded
from kraft_traces.writer import trace_bytes


@dataclass(frozen=True, slots=True)
class Sample:
    """A recorded trace."""

    name: str
    """Its file name."""
    shows: str
    record: Callable[[], Iterable[bytes]]
    """Makes its lines."""


def _scenario(name: str, variant: str | None = None) -> Callable[[], Iterable[bytes]]:
    def record() -> Iterable[bytes]:
        chosen = scenario(name)
        outcome = play(chosen, chosen.variants[0] if variant is None else chosen.variant(variant))
        generator, off = own_generator(workload=f"{chosen.name}/{outcome.variant.name}"), outcome.variant.without
        run = outcome.occurrences, outcome.configuration, generator
        return trace_bytes(*run, spec_hash=spec_hash(), switched_off=off)

    return record


def _simulation(plan: RunPlan, checkpoint_every: int | None = None) -> Callable[[], Iterable[bytes]]:
    """A run; a rule that it leaves out is not in its header, so that the trace says nothing of it."""

    def record() -> Iterable[bytes]:
        simulation = simulation_of(plan)
        workload = "planted-bug" if plan.switched_off else plan.workload
        run = simulation.run(), simulation.configuration, own_generator(plan.seed, workload)
        return trace_bytes(*run, spec_hash=spec_hash(), checkpoint_every=checkpoint_every)

    return record


def _partition_scenario(label: str, variant_name: str) -> Callable[[], Iterable[bytes]]:
    def record() -> Iterable[bytes]:
        chosen = partition_scenario(label)
        outcome = play_partitions(chosen, chosen.variant(variant_name))
        off = outcome.variant.without
        return encoded(outcome.configuration, outcome.occurrences, spec_hash=partition_spec_hash(), switched_off=off)

    return record


def _partition_run(seed: int, events: int, rule_left_out: str | None = None) -> Callable[[], Iterable[bytes]]:
    """A random run; a rule that it leaves out is not in its header."""

    def record() -> Iterable[bytes]:
        honest = random_configuration(seed)
        controllers = controllers_without(() if rule_left_out is None else (rule_left_out,))
        run = random_run(honest, seed, events, controllers)
        return encoded(honest, run, seed, spec_hash=partition_spec_hash())

    return record


_PLANTED_BUG = RunPlan(seed=1, steps=300, workload="elections", switched_off=("prevote.follower.rejects-after-fetch",))

SAMPLES: tuple[Sample, ...] = (
    Sample("partitioned-follower.jsonl", "scenario 1: a partitioned follower", _scenario("partitioned-follower")),
    Sample("ping-pong.jsonl", "scenario 5: two followers do not refuse each other for ever", _scenario("ping-pong")),
    Sample(
        "quorum-reassignment.jsonl",
        "scenario S20: the quorum moves from (1,2,3) to (4,5,6), one voter at a time",
        _scenario("s20-quorum-reassignment"),
    ),
    Sample(
        "resumed-too-early.jsonl",
        "S22 as KIP-642 has it: a leader resumes before it has committed anything, and a committed record is lost",
        _scenario("s22-leader-fails-midway", "wrong-resumed"),
    ),
    Sample("chaos.jsonl", "a run with faults", _simulation(RunPlan(seed=1, steps=300, workload="chaos"))),
    Sample(
        "checkpoints.jsonl",
        "a run with snapshots and a checkpoint after each 100 events",
        _simulation(RunPlan(seed=4, steps=300, workload="snapshots"), checkpoint_every=100),
    ),
    Sample(
        "planted-bug.jsonl",
        "a follower that fetched grants a Pre-Vote: rejected at that line",
        _simulation(_PLANTED_BUG),
    ),
)

PARTITION_SAMPLES: tuple[Sample, ...] = (
    Sample(
        "partition-normal.jsonl",
        "S25: 4 joins, 1 goes, and two controllers fail on the way",
        _partition_scenario("s25", "right-fail-over"),
    ),
    Sample(
        "partition-override-kafka-4.jsonl",
        "S27 as Kafka has it: the old replicas do not come back",
        _partition_scenario("s27", "kafka-4"),
    ),
    Sample("partition-chaos.jsonl", "a run with failures and requests of every kind", _partition_run(3, 150)),
    Sample(
        "partition-planted-bug.jsonl",
        "replicas to be removed go before those that join are in sync: rejected at that line",
        _partition_run(1, 60, "partition-reassign.add-before-remove"),
    ),
)

ALL_SAMPLES: tuple[Sample, ...] = (*SAMPLES, *PARTITION_SAMPLES)


def sample_folder() -> Path:
    """Where the recorded samples are."""
    return Path(str(files("kraft_traces") / "samples"))


def record_all() -> None:
    """Record all samples again: after a change of the reference, the model or the format."""
    for sample in ALL_SAMPLES:
        (sample_folder() / sample.name).write_bytes(b"".join(sample.record()))


if __name__ == "__main__":
    record_all()
