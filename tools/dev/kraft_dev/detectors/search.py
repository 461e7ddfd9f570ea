"""Find a run in which a check detects a mutant first, and print its line for evidence.toml.

`python -m kraft_dev.detectors.search LAYER CHECK MUTANT`
"""

import argparse
import sys
from collections.abc import Sequence

from kraft_dev.detectors.attempt import Judge, Run, judged
from kraft_reference.cluster.workload import WORKLOADS
from kraft_spec.mutants import load_catalogue

SEEDS = 50


def search(layer: str, check: str, mutant: str, workloads: Sequence[str], seeds: int = SEEDS) -> Run | None:
    """The first run, seed by seed, of which the check is the first to see something; None if there is none."""
    judge: Judge = "simulator" if layer == "simulator" else "line"
    for seed in range(seeds):
        runs = [Run(workload, seed) for workload in workloads]
        for seen in judged(load_catalogue()[mutant], judge, runs):
            if seen.properties[:1] == (check,):
                return seen.run
    return None


def main() -> int:
    """Search, and print what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("layer", choices=["simulator", "trace line"])
    parser.add_argument("check")
    parser.add_argument("mutant")
    parser.add_argument("--workload", action="append", choices=list(WORKLOADS))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    given = parser.parse_args()
    found = search(given.layer, given.check, given.mutant, given.workload or list(WORKLOADS), given.seeds)
    if found is None:
        print(f"no run of {given.seeds} seeds: {given.check} does not see {given.mutant} first", file=sys.stderr)
        return 1
    print(f'run = {{ workload = "{found.workload}", seed = {found.seed} }}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
