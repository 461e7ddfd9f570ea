"""Hypothesis profiles (KRAFT_SPEC_HYPOTHESIS: quick, ci or nightly) and their seed in pytest's header."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Shared CI machines pause for whole garbage collections of the JVM: neither deadlines nor slow data
# generation say anything about the code under test.
_TIMING_IS_NOT_A_FAILURE: tuple[HealthCheck, ...] = (HealthCheck.too_slow,)

settings.register_profile(
    "quick", max_examples=25, deadline=None, print_blob=True, suppress_health_check=_TIMING_IS_NOT_A_FAILURE
)
# derandomize: the same commit gives the same verdict; the nightly profile is the one that explores.
settings.register_profile("ci", settings.get_profile("quick"), max_examples=60, derandomize=True, database=None)
settings.register_profile("nightly", settings.get_profile("quick"), max_examples=2_000)


def _chosen_profile() -> str:
    """Name of the profile: the variable if set, else `ci` under CI=true, else `quick`."""
    default = "ci" if os.environ.get("CI") == "true" else "quick"
    return os.environ.get("KRAFT_SPEC_HYPOTHESIS") or default


settings.load_profile(_chosen_profile())


def pytest_report_header(config: pytest.Config) -> str:
    """State what is needed to run the same examples again."""
    if settings().derandomize:
        seed = "derandomized"
    else:
        given: int | None = config.getoption("--hypothesis-seed")
        seed = "seed drawn afresh (--hypothesis-seed=N fixes it)" if given is None else f"seed {given}"
    return f"hypothesis examples: profile {_chosen_profile()}, {seed}"
