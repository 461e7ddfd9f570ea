"""The Spark session of a run: where it works, what it ships, what it says.

Spark's own words go to a file, because they come at any time and in any number; the file is named when a run fails.
"""

import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kraft_pipeline.failures import MasterUnreachableError, SparkError
from kraft_pipeline.session_folder import log_of, session_folder
from kraft_pipeline.shipping import PACKAGES_FOLDER, archive_of_packages
from kraft_spec.tlc.jar import find_jar, find_java

TASK_FAILURES_MAX = 8
"""How often a task may fail, for instance because its worker was killed, before the run does: more than twice as often
as a worker may die over one trace, which is then given up (`journal`)."""

_CONNECT_SECONDS = 5.0
_END_SECONDS = 30.0
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_JAVA_MEMORY = "1g"
"""Spark's own default."""
_LOCAL = re.compile(r"local(?:\[(?P<cores>\*|[1-9]\d*)\])?")
_STANDALONE = "spark://"

SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError)
"""What a failing job raises."""
_ERRORS: tuple[type[Exception], ...] = (*SPARK_ERRORS, ConnectionError, SparkError)


@dataclass(frozen=True)
class SessionOptions:
    """How to run.

    Attributes:
        master: a master of Spark, `local[*]` for this machine.
        spark_log: whether Spark's log goes to standard error instead of a file.
        settings: more settings of Spark, by name.
    """

    master: str = "local[*]"
    spark_log: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """Do the workers run on this machine, as children of this process?"""
        return _LOCAL.fullmatch(self.master) is not None or self.master.startswith("local[")


@contextmanager
def spark_session(options: SessionOptions) -> Iterator[Any]:
    """A session for the time of the block.

    Raises:
        JavaMissing, JarMissing, JarMismatch: what TLC or Spark needs is not there.
        MasterUnreachableError: nobody listens at the master's address.
        SparkError: Spark does not start, or a job fails within the block.
    """
    java = find_java()
    find_jar()
    _check_reachable(options.master)
    with session_folder() as folder:
        log, kept = log_of(folder), False
        try:
            with _environment(java.home), _without_traceback_of_an_interrupt(), log.open("ab") as stream:
                session = _started(options, folder, None if options.spark_log else stream, log)
                try:
                    yield session
                except _ERRORS as error:
                    if _is_of_an_interrupt(error):
                        raise KeyboardInterrupt from error
                    if isinstance(error, SparkError):
                        raise
                    where = _where(log, not options.spark_log)
                    if isinstance(error, ConnectionError):
                        # What Py4J says when nobody is there any more.
                        raise SparkError(f"Spark's Java process is gone: {error.strerror or error}{where}") from error
                    raise SparkError(f"a Spark job failed: {_first_words(error)}{where}") from error
                finally:
                    _stop(session.sparkContext)
        except SparkError:
            kept = not options.spark_log
            raise
        finally:
            if not kept:
                log.unlink()


def _is_of_an_interrupt(error: BaseException | None) -> bool:
    """Is it Ctrl-C, or what went wrong on the way out, where Spark asks Java once more?"""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def _without_traceback_of_an_interrupt() -> Iterator[None]:
    """Ctrl-C while Py4J waits for an answer: it logs a traceback, and raises what is told to the user anyway."""

    def is_news(record: logging.LogRecord) -> bool:
        return record.exc_info is None or not _is_of_an_interrupt(record.exc_info[1])

    # A filter of a logger is not that of those below it.
    loggers = [logging.getLogger(name) for name in ("root", "py4j.java_gateway", "py4j.clientserver")]
    for logger in loggers:
        logger.addFilter(is_news)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_news)


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Ctrl-C is heeded at the end of the block, since what is half-started could not be ended, and as it was before.

    Spark's own way asks Java to cancel all jobs on the very connection that waits for the job to end: it comes through
    when there is nothing to cancel any more. Stopping the session, on a new connection, ends them too.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = threading.Event()
    before = signal.signal(signal.SIGINT, lambda *_: interrupted.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted.is_set():
        raise KeyboardInterrupt


def _started(options: SessionOptions, folder: Path, stream: Any, log: Path) -> Any:
    conf = SparkConf(loadDefaults=False)
    for name, setting in _settings(options, folder).items():
        conf.set(name, setting)
    gateway = None
    try:
        with _interrupts_wait():
            gateway = launch_gateway(conf, {} if stream is None else {"stdout": stream, "stderr": stream})
            context = SparkContext(conf=conf, gateway=gateway)
        return SparkSession(context)
    except BaseException as error:
        # Interrupted too: what has started must not stay.
        if gateway is not None:
            _end(gateway)
        if isinstance(error, SPARK_ERRORS):
            words = _last_error(log) or _first_words(error)
            raise SparkError(f"Spark does not start: {words}{_where(log, stream is not None)}") from error
        raise


def _stop(context: Any) -> None:
    """Stop Spark and the Java process behind it, so that the next session may have other settings."""
    gateway = context._gateway
    # Where it is gone already, that is what was wanted.
    with suppress(*SPARK_ERRORS, OSError):
        context.stop()
    _end(gateway)


def _end(gateway: Any) -> None:
    with suppress(*SPARK_ERRORS, OSError):
        gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        # It ends when its standard input does.
        process.stdin.close()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    SparkContext._gateway = None
    SparkContext._jvm = None


def _settings(options: SessionOptions, folder: Path) -> dict[str, str]:
    settings = {
        "spark.app.name": "kraft-spec pipeline",
        "spark.master": _with_retries(options.master),
        "spark.task.maxFailures": str(TASK_FAILURES_MAX),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        # The master's interpreter, because what is pickled here is unpickled there.
        "spark.pyspark.python": sys.executable,
        "spark.python.worker.reuse": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        # As few tasks after a shuffle as its size asks for, not as many as there are cores.
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    }
    if options.is_local:
        # The Java process has the tasks too: all of its heap from the start, and a collector that does not work beside
        # them, since Python's workers need the cores.
        memory = options.settings.get("spark.driver.memory", _JAVA_MEMORY)
        settings[_JAVA_OPTIONS] = f"-XX:+UseParallelGC -Xms{memory}"
    if options.is_local or options.master.startswith((f"{_STANDALONE}127.", f"{_STANDALONE}localhost:")):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    settings |= options.settings
    if not options.is_local:
        archive = archive_of_packages(folder)
        mine = f"{archive}#{PACKAGES_FOLDER}"
        settings["spark.archives"] = ",".join(filter(None, [settings.get("spark.archives"), mine]))
        # Relative to the folder in which an executor runs, where Spark unpacks archives.
        settings["spark.executorEnv.PYTHONPATH"] = PACKAGES_FOLDER
    return settings


def _with_retries(master: str) -> str:
    """A local master that tries a task again when its worker dies, as a cluster does."""
    local = _LOCAL.fullmatch(master)
    return master if local is None else f"local[{local.group('cores') or 1},{TASK_FAILURES_MAX}]"


def _check_reachable(master: str) -> None:
    """Spark itself tries for a minute and then says that all masters are unresponsive."""
    if not master.startswith(_STANDALONE):
        return
    problems: list[str] = []
    for address in master.removeprefix(_STANDALONE).split(","):
        host, colon, port = address.rpartition(":")
        if not colon or not port.isdecimal():
            raise MasterUnreachableError(f"{master}: expected spark://HOST:PORT, got {address!r}")
        try:
            socket.create_connection((host, int(port)), timeout=_CONNECT_SECONDS).close()
        except OSError as error:
            problems.append(f"{address}: {error.strerror or error}")
        else:
            return
    raise MasterUnreachableError(f"no Spark master answers at {master}: {'; '.join(problems)}")


@contextmanager
def _environment(java_home: Path) -> Iterator[None]:
    """The variables that Spark's scripts read; what is the user's own comes back afterwards."""
    wanted = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = old


def _first_words(error: Exception) -> str:
    """What a Java or Python worker's error says, without its stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    python = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Missing|Mismatch): ", line)]
    chosen = python[-1] if python else causes[-1] if causes else lines[0] if lines else type(error).__name__
    return chosen if len(chosen) <= 500 else f"{chosen[:499]}…"


def _last_error(log: Path) -> str:
    """The last error in Spark's log, which says why Java ended before it could tell us; empty if there is none."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    found = [line.strip() for line in lines if re.search(r"(Error|Exception)\b.*: |^Error: |^Invalid ", line)]
    return found[-1][:500] if found else ""


def _where(log: Path, kept: bool) -> str:
    return f"\nSpark's log: {log}" if kept else ""


def parallelism(session: Any) -> int:
    """How many tasks run at a time."""
    return max(1, int(session.sparkContext.defaultParallelism))
