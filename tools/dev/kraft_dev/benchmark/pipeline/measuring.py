"""Runs in one session, timed: a process of its own for the settings of each session.

It reads a request from standard input and writes an answer for each run, one line of JSON each, to standard output.
"""

import json
import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kraft_dev.benchmark.pipeline.usage import watched_processes
from kraft_traces.pipeline.runs import run_in
from kraft_traces.pipeline.session import SessionOptions, spark_session

Answer = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """What to run, one after the other.

    Attributes:
        master: of the session.
        inputs: what each run reads.
        folder: where the outputs go.
        settings: more of Spark.
        processors: how many of the machine's it may use, Java included; None for all.
    """

    master: str
    inputs: tuple[str, ...]
    folder: str
    settings: Mapping[str, str]
    processors: int | None = None


def answers(request: Request) -> Iterator[Answer]:
    """Run and measure; an answer comes as soon as its run is over.

    `usage` is that of the run alone, but for the peaks of memory, which are those of the processes until then.
    """
    if request.processors is not None:
        # What this process starts inherits it.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: request.processors])
    options = SessionOptions(request.master, settings=request.settings)
    with watched_processes() as watch, spark_session(options) as session:
        for number, name in enumerate(request.inputs):
            output = Path(request.folder) / f"out-{number}"
            before = watch.usage()
            began = time.monotonic()
            document = run_in(session, [name], output)
            seconds = time.monotonic() - began
            after = watch.usage()
            usage = {role: asdict(used) for role, used in after.items()}
            for role, used in before.items():
                usage[role]["seconds"] -= used.seconds
            stages = {one["stage"]: one["seconds"] for one in document["throughput"]}
            yield {"seconds": seconds, "stages": stages, "account": document["account"], "usage": usage}


def main() -> None:
    """Answer the request on standard input."""
    for answer in answers(Request(**json.loads(sys.stdin.read()))):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
