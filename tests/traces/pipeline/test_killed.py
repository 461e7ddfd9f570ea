"""Killed processes cost time, but no results."""

import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.traces.pipeline.corpus import good, rejected
from tests.traces.pipeline.shell import words
from tests.traces.pipeline.tables import all_tables, rows_of

from kraft_pipeline import runs
from kraft_pipeline.journal import DEATHS_MAX, Journals
from kraft_pipeline.schemas import VERDICTS
from kraft_pipeline.session import SessionOptions
from kraft_traces.own import GENERATOR_NAME

CORES = 2
OPTIONS = SessionOptions(f"local[{CORES}]")
WORKLOADS = ("chaos", "storm", "calm", "upgrade")
LONG = "long.jsonl"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Traces enough for a kill to strike in the middle, one of them longer than it takes to see that it is begun."""
    made = tmp_path_factory.mktemp("traces")
    for seed, workload in enumerate(WORKLOADS * 2):
        (made / f"{workload}-{seed}.jsonl").write_bytes(good(seed, 80, workload))
    (made / LONG).write_bytes(good(9, 400, "chaos"))
    (made / "rejected.jsonl").write_bytes(rejected())
    return made


@contextmanager
def deadly(what: str, journals: Path, *, times: int | None = None) -> Iterator[list[int]]:
    """Kill the workers that say in their journal that they begin this piece of work, all or so many, in the block."""
    over = threading.Event()
    killed: list[int] = []

    def look() -> None:
        while len(killed) != times and not over.wait(0.005):
            # A journal whose results are somewhere else is removed, while this reads it too.
            with suppress(FileNotFoundError):
                for begun in Journals(journals, "").unfinished():
                    if begun.what == what and begun.process not in killed:
                        os.kill(begun.process, signal.SIGKILL)
                        killed.append(begun.process)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def wait_until_gone(processes: list[psutil.Process]) -> None:
    """Wait for what ends by itself when its parent is gone."""
    _, left = psutil.wait_procs(processes, timeout=60)
    for process in left:
        process.kill()
    assert not left, "a process outlives its parent"


@pytest.mark.nightly
def test_a_killed_python_worker_costs_no_results(shared: Any, folder: Path, tmp_path: Path) -> None:
    runs.run(OPTIONS, [str(folder)], tmp_path / "whole")
    output = tmp_path / "killed"
    with deadly(f"{folder / LONG}:1", output.with_name("killed.unfinished") / ".work" / "journals", times=1) as killed:
        runs.run(OPTIONS, [str(folder)], output)
    assert len(killed) == 1
    assert all_tables(output) == all_tables(tmp_path / "whole")


def test_a_trace_that_ends_its_worker_each_time_is_given_up_and_the_others_are_checked(
    shared: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for seed in range(3):
        (folder / f"{seed}.jsonl").write_bytes(good(seed, 40, "chaos"))
    bad = folder / "bad.jsonl"
    bad.write_bytes(good(9, 300, "chaos"))
    output = tmp_path / "out"
    with deadly(f"{bad}:1", output.with_name("out.unfinished") / ".work" / "journals") as killed:
        runs.run(OPTIONS, [str(folder)], output)
    assert len(killed) == DEATHS_MAX
    verdicts = {row["source"]: row for row in rows_of(output, VERDICTS)}
    given_up = verdicts.pop(str(bad))
    assert (given_up["verdict"], given_up["defect"]) == ("inconclusive", True)
    assert given_up["reason"].startswith(f"the process that checks it died {DEATHS_MAX} times without an error")
    assert {row["verdict"] for row in verdicts.values()} == {"accepted"}


@pytest.mark.nightly
def test_a_killed_run_loses_the_traces_under_way_and_no_other_verdict(shared: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    # Several in a unit, whose journal is there until the last of them is checked.
    for seed in range(64):
        (folder / f"{seed}.jsonl").write_bytes(good(seed, 60, "chaos"))
    runs.run(OPTIONS, [str(folder)], tmp_path / "whole")
    output, unfinished = tmp_path / "out", tmp_path / "out.unfinished"
    line = words("run", "-i", folder, "-o", output, "--master", "local[2]")
    with subprocess.Popen(line, stderr=subprocess.PIPE, start_new_session=True, text=True) as run:
        while not _journals_with(b"accepted", unfinished) and run.poll() is None:
            time.sleep(0.02)
        children = psutil.Process(run.pid).children(recursive=True)
        run.kill()
        assert run.stderr is not None
        errors = run.stderr.read().splitlines()
    assert run.returncode == -signal.SIGKILL
    wait_until_gone(children)
    journals = Journals(unfinished / ".work" / "journals", run="")
    # What begins when the last verdict of its worker is on disk.
    assert len(journals.unfinished()) <= CORES
    assert errors[0] == "starting Spark ..."
    assert not output.exists()
    assert not (unfinished / "verdicts").exists()
    # What is written down is told from what is checked again by another name of the same length.
    name, other = GENERATOR_NAME.encode(), b"x" * len(GENERATOR_NAME)
    results = 0
    for journal in _journals_with(name, unfinished):
        results += journal.read_bytes().count(name)
        journal.write_bytes(journal.read_bytes().replace(name, other))
    runs.run(OPTIONS, [str(folder)], output, resume=True)
    verdicts, whole = rows_of(output, VERDICTS), rows_of(tmp_path / "whole", VERDICTS)
    kept = [row for row in verdicts if row["generator"] == other.decode()]
    assert 0 < len(kept) == results < len(verdicts)
    assert sorted(({**row, "generator": GENERATOR_NAME} for row in verdicts), key=repr) == whole


def _journals_with(content: bytes, unfinished: Path) -> list[Path]:
    files = [path for path in (unfinished / ".work" / "journals").rglob("*") if path.is_file()]
    return [path for path in files if content in path.read_bytes()]
