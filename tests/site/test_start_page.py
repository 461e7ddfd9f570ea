"""docs/start.md, command by command, with the output that stands there.

A line of three dots stands for any number of lines, and a number of seconds for any other.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from kraft_conformance.commands.run import PLANTED
from kraft_reference.cluster.workload import WORKLOADS
from kraft_reference.scenarios import SCENARIOS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "start.md"
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_SECONDS = re.compile(r"(?<=│ )\d+\.\d +(?=│)|\d+ s\.$")
_LEFT_OUT = "..."
_TIMEOUT_S = 900


def examples(page: Path) -> dict[str, list[str]]:
    """The last command of each block of commands that is followed by a block of output, and the lines of that."""
    blocks = [found.groups() for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return {
        commands.splitlines()[-1]: shown.splitlines()
        for (language, commands), (next_language, shown) in pairwise(blocks)
        if language == "sh" and not next_language
    }


def is_abridged(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether the page shows what was printed, with some lines left out where it says so."""
    if not shown:
        return not printed
    if shown[0] == _LEFT_OUT:
        return any(is_abridged(shown[1:], printed[skipped:]) for skipped in range(len(printed) + 1))
    return bool(printed) and _timeless(shown[0]) == _timeless(printed[0]) and is_abridged(shown[1:], printed[1:])


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


def test_lines_left_out_and_seconds_are_all_that_may_differ() -> None:
    assert is_abridged(["a", "...", "d"], ["a", "b", "c", "d"])
    assert is_abridged(["a", "...", "b"], ["a", "b"])
    assert is_abridged(["│ 18.1    │", "it holds; 39 s."], ["│ 133.2   │", "it holds; 248 s."])
    assert not is_abridged(["a", "d"], ["a", "b", "d"])
    assert not is_abridged(["a", "..."], ["b"])
    assert not is_abridged(["│ 49 scenarios │"], ["│ 50 scenarios │"])


def test_the_page_shows_three_commands_with_their_output() -> None:
    assert list(examples(PAGE)) == [
        "make run",
        "kraft-spec validate traces/kraft_traces/samples/planted-bug.jsonl",
        "kraft-spec rules prevote.follower.rejects-after-fetch",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("command", [one for one in examples(PAGE) if one.startswith("kraft-spec")])
def test_the_output_is_that_of_the_command(command: str, tmp_path: Path) -> None:
    shown, printed = examples(PAGE)[command], printed_by(command, tmp_path)
    assert is_abridged(shown, printed), "\n".join(printed)


def test_the_counts_of_the_main_job_are_those_of_what_it_runs() -> None:
    shown = "\n".join(examples(PAGE)["make run"])
    variants = sum(len(scenario.variants) for scenario in SCENARIOS)
    assert f"│ {len(SCENARIOS)} scenarios, {variants} variants, " in shown
    assert f"│ {3 * len(WORKLOADS)} runs of {len(WORKLOADS)} workloads, " in shown
    assert f"│ {len(PLANTED)} of {len(PLANTED)} rejected with the rule named " in shown


def test_the_readme_shows_the_same_table() -> None:
    table = [line for line in examples(PAGE)["make run"] if line[0] in "┏┃┡│└"]
    assert "\n".join(table) in README.read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_output_is_that_of_the_main_job(tmp_path: Path) -> None:
    """`make run` is `kraft-spec run` in the environment that it makes first."""
    shown, printed = examples(PAGE)["make run"], printed_by("kraft-spec run", tmp_path)
    assert is_abridged(shown, printed), "\n".join(printed)
