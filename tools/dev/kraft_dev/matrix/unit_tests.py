"""The unit tests of the reference as a tool: pytest inside the process that imports the mutant."""

import contextlib
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kraft_dev.matrix.tool import Tally


def tests_folder() -> Path:
    """Folder of the unit tests in a source tree; a wheel has none."""
    return Path(__file__).resolve().parents[3] / "tests" / "reference"


_REPEATED_BY_TOOLS = ("test_cluster_", "test_scenarios", "test_vectors")
"""Tests of the test bench, and of the vectors; what they see of the protocol, the other tools see too."""


def why_no_unit_tests() -> str:
    """Why the unit tests cannot be run here; empty if they can."""
    if not tests_folder().is_dir():
        return "the unit tests are not part of an installed kraft-spec; run it from the source tree"
    if find_spec("pytest") is None or find_spec("hypothesis") is None:
        return "pytest and Hypothesis are not installed: they come with the extra `test`"
    return ""


class _Watch:
    """A pytest plug-in that counts tests and keeps the first that fails."""

    def __init__(self, tally: Tally) -> None:
        self.failed = ""
        self._tally = tally

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            self._tally.amount += 1
        if report.failed and not self.failed:
            self.failed = report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = f"{report.nodeid} (not even imported)"


def run_unit_tests(tally: Tally) -> str:
    """Run the unit tests up to the first failure, in the order of their files, with fixed examples."""
    import pytest

    os.environ["KRAFT_SPEC_HYPOTHESIS"] = "ci"
    folder = tests_folder()
    root = folder.parents[1]
    plain = ["-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "--rootdir", str(root)]
    tests = [str(file) for file in sorted(folder.glob("test_*.py")) if not file.name.startswith(_REPEATED_BY_TOOLS)]
    watch = _Watch(tally)
    os.chdir(root)
    with contextlib.redirect_stdout(sys.stderr):
        code = pytest.main(["-x", "-q", *plain, *tests], plugins=[watch])
    tally.where = "tests/reference"
    return "" if code == 0 else watch.failed.removeprefix("tests/reference/") or f"pytest ends with {int(code)}"
