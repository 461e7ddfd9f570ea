"""Output has the same bytes wherever it is made: under any hash seed, locale, time zone and version of Python."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kraft_dev.samples import sample_folder

PROGRAM = """
import sys
from kraft_cli.cli import main
folder, sample = sys.argv[1:]
main(["simulate", "--seed", "3", "--steps", "100", "-o", f"{folder}/run.jsonl"])
main(["view", sample, "-o", f"{folder}/page.html"])
main(["rules", "--json"])
main(["wire", "list"])
main(["conformance", "explain", "partition.list.all"])
"""
PLACES = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
]


@pytest.mark.parametrize("places", [PLACES[::2], pytest.param(PLACES[:2], marks=pytest.mark.nightly)])
def test_output_is_the_same_under_any_hash_seed_locale_and_time_zone(
    tmp_path: Path, places: list[dict[str, str]]
) -> None:
    made = []
    for number, place in enumerate(places):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        sample = str(sample_folder() / "ping-pong.jsonl")
        command = [sys.executable, "-c", PROGRAM, str(folder), sample]
        done = subprocess.run(command, capture_output=True, env=os.environ | place, check=True)
        files = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
        made.append((done.stdout.replace(bytes(folder), b"FOLDER"), files))
    assert [*made[0][1]] == ["page.html", "run.jsonl"]
    assert made[1] == made[0]


CORE = """
import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from kraft_simulation.plan import RunPlan

def text(value):
    if isinstance(value, (set, frozenset)):
        return "{" + ",".join(sorted(map(text, value))) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(sorted(f"{text(k)}:{text(v)}" for k, v in value.items())) + "}"
    if isinstance(value, (tuple, list)):
        return type(value).__name__ + "(" + ",".join(map(text, value)) + ")"
    if is_dataclass(value):
        return type(value).__name__ + text({one.name: getattr(value, one.name) for one in fields(value)})
    return value.name if isinstance(value, Enum) else repr(value)

for workload in ("chaos", "voter-changes", "reassignments"):
    digest = hashlib.sha256()
    for occurrence in RunPlan(7, 4, 150, workload).simulation().run():
        digest.update(text(occurrence).encode())
    print(workload, digest.hexdigest())
"""


def interpreters() -> list[str]:
    """Each version of Python that this package supports and this machine has, once."""
    results = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13)]
    results += [str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.1[123].*/bin/python"))]
    program = "import sys; print(sys.version)"
    works = {
        subprocess.run([path, "-c", program], capture_output=True, text=True, check=False).stdout: path
        for path in results
        if path is not None
    }
    return [path for version, path in works.items() if version.startswith(("3.11.", "3.12.", "3.13."))]


def test_a_run_is_the_same_under_any_version_of_python() -> None:
    remaining = interpreters()
    if len(remaining) < 2:
        pytest.skip("this machine has one version of Python")
    import kraft_reference

    core = str(Path(kraft_reference.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": core, "PYTHONDONTWRITEBYTECODE": "1"}
    printed = {
        subprocess.run([path, "-c", CORE], capture_output=True, text=True, env=environment, check=True).stdout
        for path in remaining
    }
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) == 3
