"""A real cluster: Spark's standalone master and two workers, each a process of its own, on the loopback interface."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.traces.pipeline.conftest import QUICK_JAVA
from tests.traces.pipeline.corpus import BROKEN, good, rejected
from tests.traces.pipeline.shell import words
from tests.traces.pipeline.tables import all_tables

from kraft_pipeline import runs
from kraft_pipeline.session import SessionOptions
from kraft_pipeline.shipping import PACKAGES_FOLDER
from kraft_spec.tlc.jar import find_java

WORKERS = 2
_PATIENCE_SECONDS = 120
_EXECUTOR = "CoarseGrainedExecutorBackend"


class Cluster:
    """A running cluster."""

    def __init__(self, master: str, processes: list[int], folder: Path) -> None:
        self.master = master
        self.folder = folder
        self._processes = processes

    def executors(self) -> list[int]:
        """The processes that Spark's workers have started for the application."""
        started = [process for root in self._processes for process in psutil.Process(root).children(recursive=True)]
        return [process.pid for process in started if any(_EXECUTOR in word for word in _command_line(process))]

    def workers_with_our_packages(self) -> int:
        """Return the number of workers that ran the check of a trace from the packages that were shipped to them."""
        # Python leaves its compiled form beside what it imports.
        shipped = f"app-*/*/{PACKAGES_FOLDER}/kraft_pipeline/__pycache__/checking.*.pyc"
        return sum(any((self.folder / f"work-{number}").glob(shipped)) for number in range(WORKERS))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    import pyspark

    folder = tmp_path_factory.mktemp("cluster")
    spark_class = str(Path(pyspark.__file__).parent / "bin" / "spark-class")
    # The workers of Spark must find our packages in what is shipped, not where this process has them.
    not_theirs = ("PYTHONPATH", "PYSPARK_PYTHON", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in not_theirs}
    environment |= {"JAVA_HOME": str(find_java().home), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment |= {"SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOG_DIR": str(folder)}
    environment["SPARK_DAEMON_JAVA_OPTS"] = QUICK_JAVA
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"

    @contextmanager
    def started(name: str, *words: str) -> Iterator[int]:
        with (
            (folder / f"{name}.log").open("wb") as log,
            subprocess.Popen(
                [spark_class, *words], stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True
            ) as process,
        ):
            try:
                yield process.pid
            finally:
                process.terminate()

    with ExitStack() as stack:
        package = "org.apache.spark.deploy"
        words = ("--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        stack.enter_context(started("master", f"{package}.master.Master", *words))
        _wait_for(folder / "master.log", "I have been elected leader", 1)
        workers = [
            stack.enter_context(
                started(
                    f"worker-{number}",
                    *(f"{package}.worker.Worker", "--host", "127.0.0.1", "--cores", "1", "--memory", "1g"),
                    *("--webui-port", "0", "--work-dir", str(folder / f"work-{number}"), master),
                )
            )
            for number in range(WORKERS)
        ]
        _wait_for(folder / "master.log", "Registering worker", WORKERS)
        yield Cluster(master, workers, folder)


def _command_line(process: psutil.Process) -> list[str]:
    # What ended since it was listed has none, also while its parent has not yet asked how it ended.
    with suppress(psutil.NoSuchProcess):
        return list(process.cmdline())
    return []


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _wait_for(log: Path, text: str, times: int) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while log.read_text().count(text) < times:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.1)


@pytest.mark.nightly
def test_both_workers_run_the_shipped_packages_and_a_killed_executor_costs_no_results(
    cluster: Cluster, shared: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for seed in range(6):
        (folder / f"{seed}.jsonl").write_bytes(good(seed, 60, "chaos"))
    (folder / "rejected.jsonl").write_bytes(rejected())
    (folder / "broken.jsonl").write_bytes(BROKEN["MALFORMED_JSON"]())

    # No task is given away before both executors are there: otherwise the one that starts first may do all the work.
    both = (
        *("spark.executor.memory=600m", f"spark.cores.max={WORKERS}"),
        *("spark.scheduler.minRegisteredResourcesRatio=1", "spark.scheduler.maxRegisteredResourcesWaitingTime=10min"),
    )
    options = ("--master", cluster.master, *(word for setting in both for word in ("--conf", setting)))
    line = words("run", "-i", folder, "-o", tmp_path / "cluster", *options)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        while cluster.workers_with_our_packages() < WORKERS and run.poll() is None:
            time.sleep(0.1)
        executors = cluster.executors()
        assert len(executors) == WORKERS, f"{cluster.workers_with_our_packages()} workers import what is shipped"
        os.kill(executors[0], signal.SIGKILL)
        _, errors = run.communicate()
    assert run.returncode == 1, errors
    runs.run(SessionOptions("local[2]"), [str(folder)], tmp_path / "local")
    assert all_tables(tmp_path / "cluster") == all_tables(tmp_path / "local")
