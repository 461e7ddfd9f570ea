"""Explanation of a model check as steps of the inductive proof."""

import os
import subprocess
import sys

from kraft_dev.edges.slices import NOT_EXPLAINED, slices
from kraft_spec.models import find_check


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "kraft_dev", "edges", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "120"})


def test_every_state_of_a_slice_has_the_invariants_of_the_proof() -> None:
    done = run("--slice", "liveness-removed-voter")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the steps of 16 states" in done.stdout
    assert "in 16 states every invariant" in " ".join(done.stdout.split())


def test_a_slice_that_is_not_explained_is_refused() -> None:
    assert all(find_check(name) and name not in slices() for name in NOT_EXPLAINED)
    assert run("--slice", "forgetting").returncode == 64
