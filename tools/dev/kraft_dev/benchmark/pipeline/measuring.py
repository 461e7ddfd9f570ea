"""Runs in one session, timed: a process of its own for the settings of each session.

It reads a `SessionRequest` from standard input and writes a `Measured` for each run, as soon as that is over, to
standard output: one line of JSON each.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from kraft_dev.benchmark.pipeline.running import Measured, SessionRequest
from kraft_dev.benchmark.pipeline.usage import watched_processes
from kraft_traces.pipeline.runs import run_in
from kraft_traces.pipeline.session import SessionOptions, spark_session


def measured(request: SessionRequest) -> Iterator[Measured]:
    """Run and measure; processor time is that of the run alone.

    Raises:
        SystemExit: not every trace is accepted.
    """
    options = SessionOptions(request.master, settings=request.settings)
    with watched_processes() as watch, spark_session(options) as session:
        for number, name in enumerate(request.inputs):
            before = watch.usage()
            began = time.monotonic()
            document = run_in(session, [name], Path(request.folder) / f"out-{number}")
            seconds = time.monotonic() - began
            used = watch.usage()
            account = document["account"]
            if account["accepted"] != account["traces_in"]:
                raise SystemExit(f"not every trace is accepted: {account}")
            yield Measured(
                events=account["events"],
                seconds=seconds,
                stages={one["stage"]: one["seconds"] for one in document["throughput"]},
                cpu_seconds={role: one.seconds - before[role].seconds for role, one in used.items()},
                peak_bytes={role: one.peak_bytes for role, one in used.items()},
                processes={role: one.processes for role, one in used.items()},
            )


def main() -> None:
    """Answer the request on standard input."""
    for one in measured(SessionRequest(**json.loads(sys.stdin.readline()))):
        print(json.dumps(asdict(one)), flush=True)


if __name__ == "__main__":
    main()
