"""How fast the reference runs while it writes its trace."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.figure import Figure
from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.workload import WORKLOADS
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import write_trace

SIMULATION_TARGET = 25_000
"""Events a second with tracing on."""


def measure_simulation(events: int, workloads: Sequence[str] = tuple(WORKLOADS), seed: int = 2) -> list[Figure]:
    """Simulate each workload for so many events and what its liveness phase adds, after a short warm-up.

    Invariants are checked, and each run is traced to a file. CPU time counts: the simulation has one thread.
    """
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        target = Path(folder) / "run.jsonl"
        _simulate(RunPlan(seed=seed, steps=min(events, 200)), target)
        simulated = written = 0
        cpu, clock = time.process_time(), time.perf_counter()
        for name in workloads:
            simulated += _simulate(RunPlan(seed=seed, steps=events, workload=name), target)
            written += target.stat().st_size
        cpu, clock = time.process_time() - cpu, time.perf_counter() - clock
    return [
        Figure("simulation, traced", simulated / cpu, SIMULATION_TARGET, "events/s"),
        Figure("simulation, traced, by the clock", simulated / clock, unit="events/s"),
        Figure("trace of a simulation", written / simulated, unit="bytes/event"),
    ]


def _simulate(plan: RunPlan, target: Path) -> int:
    simulation = plan.simulation()
    generator = own_generator(plan.seed, plan.workload)
    with write_trace(target, simulation.configuration, generator, spec_hash=spec_hash()) as writer:
        writer.write_all(simulation.run())
    return writer.events
