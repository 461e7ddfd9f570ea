"""Benchmark of the simulator while it writes its trace."""

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kraft_dev.benchmark.figure import Figure
from kraft_simulation.plan import RunPlan
from kraft_simulation.workload import WORKLOADS
from kraft_spec.fingerprint import spec_hash
from kraft_traces.own import own_generator
from kraft_traces.writer import write_trace

SIMULATION_TARGET = 25_000
"""Events per second with tracing on."""
SEED = 2


def measure_simulation(events: int, workloads: Sequence[str] = tuple(WORKLOADS)) -> Figure:
    """Simulate each workload for this many events and its liveness phase, after a short warm-up.

    Invariants are checked, and each run is traced to a file. The figure is CPU time of the one thread.
    """
    with TemporaryDirectory(prefix="kraft-spec-bench-") as folder:
        target = Path(folder) / "run.jsonl"
        _simulate(RunPlan(seed=SEED, steps=min(events, 200)), target)
        began = time.process_time()
        simulated = sum(_simulate(RunPlan(seed=SEED, steps=events, workload=name), target) for name in workloads)
        seconds = time.process_time() - began
    return Figure("simulation, traced", simulated / seconds, SIMULATION_TARGET, "events/s")


def _simulate(plan: RunPlan, target: Path) -> int:
    simulation = plan.simulation()
    generator = own_generator(plan.seed, plan.workload)
    with write_trace(target, simulation.configuration, generator, spec_hash=spec_hash()) as writer:
        writer.write_all(simulation.run())
    return writer.events
