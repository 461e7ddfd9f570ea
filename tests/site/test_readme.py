"""README.md, which is the first page of the site too: its figures, and the main job with its output.

A number of seconds stands for any other.
"""

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from tools.site.kafka_page import release_rows

from kraft_conformance.commands.run import PLANTED
from kraft_conformance.kafka.recorded import load_recorded
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "README.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_SECONDS = re.compile(r"(?<=│ )\d+\.\d +(?=│)|\d+ s\.$")
_TIMEOUT_S = 900


def examples(page: Path) -> dict[str, list[str]]:
    """The last command of each block of commands that is followed by a block of output, and the lines of that."""
    blocks = [found.groups() for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return {
        commands.splitlines()[-1]: shown.splitlines()
        for (language, commands), (next_language, shown) in pairwise(blocks)
        if language == "sh" and not next_language
    }


def _timeless(line: str) -> str:
    return _SECONDS.sub("SECONDS", line.rstrip())


def printed_by(command: str, folder: Path) -> list[str]:
    """Standard output of a command of the page, in a folder that has the traces of the repository."""
    if not (folder / "traces").exists():
        (folder / "traces").symlink_to(ROOT / "traces")
    words = command.split()
    assert words[0] == "kraft-spec", command
    interpreted = [sys.executable, "-m", "kraft_conformance.cli", *words[1:]]
    variables = os.environ | {"COLUMNS": "120"}
    ran = subprocess.run(
        interpreted, cwd=folder, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False, env=variables
    )
    return ran.stdout.splitlines()


def test_the_counts_of_the_main_job_are_those_of_what_it_runs() -> None:
    shown = "\n".join(examples(PAGE)["make run"])
    variants = sum(len(scenario.variants) for scenario in SCENARIOS)
    assert f"│ {len(SCENARIOS)} scenarios, {variants} variants, " in shown
    assert f"│ {3 * len(WORKLOADS)} runs of {len(WORKLOADS)} workloads, " in shown
    assert f"│ {len(PLANTED)} of {len(PLANTED)} rejected with the rule named " in shown


def test_releases_of_kafka_are_shown_as_they_were_recorded() -> None:
    shown = re.findall(r"^\| (\d+\.\d+\.\d+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(version, *cells.split(" | ")) for version, cells in shown] == release_rows(load_recorded())


@pytest.mark.nightly
def test_the_output_is_that_of_the_main_job(tmp_path: Path) -> None:
    """`make run` is `kraft-spec run` in the environment that it makes first."""
    shown, printed = examples(PAGE)["make run"], printed_by("kraft-spec run", tmp_path)
    assert list(map(_timeless, shown)) == list(map(_timeless, printed[-len(shown) :])), "\n".join(printed)
