"""A session that ends otherwise than it should leaves no process, and says what happened."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kraft_pipeline.checking import row_of
from kraft_traces.alternatives.decisions import OpenAnswer
from kraft_traces.check import Verdict, VerdictKind

_LOSES_JAVA = """
import json, os, psutil, signal
from kraft_pipeline.failures import SparkError
from kraft_pipeline.session import SessionOptions, spark_session
try:
    with spark_session(SessionOptions("local[1]")) as session:
        os.kill(session.sparkContext._gateway.proc.pid, signal.SIGKILL)
        session.range(1).count()
except SparkError as error:
    print(json.dumps([str(error), len(psutil.Process().children(recursive=True))]))
"""

_IS_INTERRUPTED = """
import json, psutil
from kraft_pipeline import session
def interrupted(*_, **__):
    raise KeyboardInterrupt
session.SparkContext = interrupted
try:
    with session.spark_session(session.SessionOptions("local[1]")):
        pass
except KeyboardInterrupt:
    print(json.dumps(len(psutil.Process().children(recursive=True))))
"""

_IS_INTERRUPTED_EARLIER = """
import json, os, psutil, signal, threading
from kraft_pipeline import session
signal.signal(signal.SIGINT, signal.default_int_handler)
started = session.launch_gateway
def interrupted(*words, **more):
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    return started(*words, **more)
session.launch_gateway = interrupted
try:
    with session.spark_session(session.SessionOptions("local[1]")):
        pass
except KeyboardInterrupt:
    print(json.dumps(len(psutil.Process().children(recursive=True))))
"""

_BREAKS_ON_THE_WAY_OUT = """
import json
from py4j.protocol import Py4JNetworkError
from kraft_pipeline.failures import SparkError
from kraft_pipeline import session
class Session:
    sparkContext = None
session._started, session._stop = lambda *_: Session(), lambda *_: None
found = []
for reason in (KeyboardInterrupt, ValueError):
    for broken in (Py4JNetworkError, BrokenPipeError, SparkError):
        try:
            with session.spark_session(session.SessionOptions("local[1]", spark_log=True)):
                try:
                    raise reason
                finally:
                    raise broken("Answer from Java side is empty")
        except BaseException as error:
            found.append(type(error).__name__)
print(json.dumps(found))
"""


def _last_line(script: str) -> object:
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=120)
    assert run.stdout, run.stderr
    document: object = json.loads(run.stdout.splitlines()[-1])
    return document


@pytest.mark.nightly
def test_a_java_process_that_is_gone_is_named_and_its_log_stays() -> None:
    line = _last_line(_LOSES_JAVA)
    assert isinstance(line, list)
    message, processes = line
    first, log = message.splitlines()
    assert first.startswith(("Spark's Java process is gone: ", "a Spark job failed: "))
    assert log.startswith("Spark's log: ")
    path = Path(log.removeprefix("Spark's log: "))
    assert path.is_file()
    path.unlink()
    assert processes == 0


@pytest.mark.nightly
def test_an_interrupted_start_leaves_no_java_process() -> None:
    assert _last_line(_IS_INTERRUPTED) == 0
    assert _last_line(_IS_INTERRUPTED_EARLIER) == 0


def test_a_row_names_a_line_of_its_source_and_the_open_answers() -> None:
    names = ("trace_id", "source", "generator", "workload", "profile", "command", "violation")
    reason = "line 14: the trace omits too many fields: more than 3 candidate states"
    answer = OpenAnswer("own_vote_at_restart", "unattached", "durable.restart.voted-self allows it")
    verdict = Verdict(VerdictKind.INCONCLUSIVE, "many.jsonl", 3, False, 3, 500, reason, open_answers=(answer,))
    row = row_of(dict.fromkeys(names, "x"), verdict)
    assert row["reason"] == reason
    assert row["open_answers"] == ["own_vote_at_restart unattached"]


def test_what_breaks_on_the_way_out_of_an_interrupt_is_the_interrupt() -> None:
    """Spark asks Java once more, whose connection is closed by then."""
    assert _last_line(_BREAKS_ON_THE_WAY_OUT) == ["KeyboardInterrupt"] * 3 + ["SparkError"] * 3
