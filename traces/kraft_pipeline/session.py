"""Spark session of a run: settings, shipped packages, and log.

Spark's log goes to a file, which is named when a run fails.
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
"""Maximum number of failures of a task, more than twice the number of deaths of a worker over one trace (`journal`)."""

_CONNECT_SECONDS = 5.0
_END_SECONDS = 30.0
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_JAVA_MEMORY = "1g"
"""Spark's default."""
_LOCAL = re.compile(r"local(?:\[(?P<cores>\*|[1-9]\d*)\])?")
_STANDALONE = "spark://"

SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError)
"""Exceptions of a failing job."""
_ERRORS: tuple[type[Exception], ...] = (*SPARK_ERRORS, ConnectionError, SparkError)


@dataclass(frozen=True)
class SessionOptions:
    """Options of a Spark session.

    Attributes:
        master: Spark master, `local[*]` for this machine.
        spark_log: True to write Spark's log to standard error instead of a file.
        settings: additional settings of Spark, by name.
    """

    master: str = "local[*]"
    spark_log: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        """True if the workers run on this machine, as children of this process."""
        return _LOCAL.fullmatch(self.master) is not None or self.master.startswith("local[")


@contextmanager
def spark_session(options: SessionOptions) -> Iterator[Any]:
    """Open a Spark session.

    Raises:
        JavaMissing, JarMissing, JarMismatch: a requirement of TLC or Spark is missing.
        MasterUnreachableError: the master's address cannot be reached.
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
                        # Py4J raises this when the Java process is gone.
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
    """True if the error is Ctrl-C, or a consequence of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@contextmanager
def _without_traceback_of_an_interrupt() -> Iterator[None]:
    """Suppress the traceback that Py4J logs at Ctrl-C, because the error is reported anyway."""

    def is_news(record: logging.LogRecord) -> bool:
        return record.exc_info is None or not _is_of_an_interrupt(record.exc_info[1])

    # A filter of a logger does not apply to its children.
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
    """Handle Ctrl-C at the end of the block, because a half-started session could not be stopped.

    Spark's own handler would cancel all jobs over the connection that waits for them, so the request would arrive too
    late. Stopping the session, over a new connection, ends them too.
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
        # Stop what was started, also after an interrupt.
        if gateway is not None:
            _end(gateway)
        if isinstance(error, SPARK_ERRORS):
            words = _last_error(log) or _first_words(error)
            raise SparkError(f"Spark does not start: {words}{_where(log, stream is not None)}") from error
        raise


def _stop(context: Any) -> None:
    """Stop Spark and its Java process, so that the next session may have other settings."""
    gateway = context._gateway
    # It may be gone already.
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
        # The interpreter of the driver, because workers unpickle its objects.
        "spark.pyspark.python": sys.executable,
        "spark.python.worker.reuse": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
        # The number of tasks after a shuffle depends on its size, not on the number of cores.
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    }
    if options.is_local:
        # The Java process runs the tasks too: reserve its heap at the start, and use a collector without concurrent
        # threads, because Python's workers need the cores.
        memory = options.settings.get("spark.driver.memory", _JAVA_MEMORY)
        settings[_JAVA_OPTIONS] = f"-XX:+UseParallelGC -Xms{memory}"
    if options.is_local or options.master.startswith((f"{_STANDALONE}127.", f"{_STANDALONE}localhost:")):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    settings |= options.settings
    if not options.is_local:
        archive = archive_of_packages(folder)
        mine = f"{archive}#{PACKAGES_FOLDER}"
        settings["spark.archives"] = ",".join(filter(None, [settings.get("spark.archives"), mine]))
        # Relative to the working folder of an executor, where Spark unpacks archives.
        settings["spark.executorEnv.PYTHONPATH"] = PACKAGES_FOLDER
    return settings


def _with_retries(master: str) -> str:
    """Return a local master that retries a task when its worker dies, as a cluster does."""
    local = _LOCAL.fullmatch(master)
    return master if local is None else f"local[{local.group('cores') or 1},{TASK_FAILURES_MAX}]"


def _check_reachable(master: str) -> None:
    """Check that the master can be reached; Spark itself would try for a minute."""
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
    """Set the variables that Spark's scripts read, and restore the user's own afterwards."""
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
    """Return the message of a Java or Python worker's error, without its stack."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    python = [line for line in lines if re.match(r"[\w.]+(Error|Exception|Missing|Mismatch): ", line)]
    chosen = python[-1] if python else causes[-1] if causes else lines[0] if lines else type(error).__name__
    return chosen if len(chosen) <= 500 else f"{chosen[:499]}…"


def _last_error(log: Path) -> str:
    """Return the last error in Spark's log, which tells why Java ended early; empty if there is none."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    errors = [line.strip() for line in lines if re.search(r"(Error|Exception)\b.*: |^Error: |^Invalid ", line)]
    return errors[-1][:500] if errors else ""


def _where(log: Path, kept: bool) -> str:
    return f"\nSpark's log: {log}" if kept else ""


def parallelism(session: Any) -> int:
    """Return the number of tasks that run at the same time."""
    return max(1, int(session.sparkContext.defaultParallelism))
