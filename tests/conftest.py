"""Hypothesis profiles (KRAFT_SPEC_HYPOTHESIS: quick, ci or nightly), the order of the files, and a browser."""

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from kraft_mutants.attribution import defects

# Shared CI machines pause for whole garbage collections of the JVM: neither deadlines nor slow data
# generation say anything about the code under test.
_TIMING_IS_NOT_A_FAILURE: tuple[HealthCheck, ...] = (HealthCheck.too_slow,)

settings.register_profile(
    "quick", max_examples=25, deadline=None, print_blob=True, suppress_health_check=_TIMING_IS_NOT_A_FAILURE
)
# derandomize: the same commit gives the same verdict; the nightly profile is the one that explores, other examples each
# night.
settings.register_profile("ci", settings.get_profile("quick"), max_examples=30, derandomize=True, database=None)
settings.register_profile("nightly", settings.get_profile("quick"), max_examples=500)


def _chosen_profile() -> str:
    """Name of the profile: the variable if set, else `ci` under CI=true, else `quick`."""
    default = "ci" if os.environ.get("CI") == "true" else "quick"
    return os.environ.get("KRAFT_SPEC_HYPOTHESIS") or default


settings.load_profile(_chosen_profile())


# A verdict stands without the rules that a defect of attribution costs it; a test does not.
defects.RAISES = True


_LONGEST_FIRST = (
    "tests/traces/check/test_foreign.py",
    "tests/reference/test_cluster_simulation.py",
    "tests/traces/check/test_acceptance.py",
    "tests/dev/test_edges.py",
    "tests/traces/check/test_rules_switched_off.py",
    "tests/spec/proofs/induction/test_proof_mutants.py",
    "tests/conformance/test_cli.py",
)
"""Files of half a minute and more on a processor, which `--dist loadfile` gives to one worker each.

One that starts last keeps one worker busy while the others wait.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of the longest files first; all else stays in the order that pytest-randomly drew.

    Raises:
        pytest.UsageError: One of these files is no longer there.
    """
    rank = {config.rootpath / name: number for number, name in enumerate(_LONGEST_FIRST)}
    for file in rank:
        if not file.is_file():
            raise pytest.UsageError(f"tests/conftest.py puts {file} first, which is not there")
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_report_header(config: pytest.Config) -> str:
    """State what is needed to run the same examples again."""
    if settings().derandomize:
        seed = "derandomized"
    else:
        hypothesis_seed: int | None = config.getoption("--hypothesis-seed")
        seed = (
            "seed drawn afresh (--hypothesis-seed=N fixes it)" if hypothesis_seed is None else f"seed {hypothesis_seed}"
        )
    return f"hypothesis examples: profile {_chosen_profile()}, {seed}"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright; the test is skipped where either is missing."""
    driver = pytest.importorskip("playwright.sync_api", reason="pages are looked at with the extra `browser`")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium to look at pages with")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()
