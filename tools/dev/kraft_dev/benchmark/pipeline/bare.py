"""One bare checker, a process of its own: `python -m kraft_dev.benchmark.pipeline.bare`.

It reads a `BareRequest` from standard input, checks the traces of the first list until it is warm, says so, waits for a
line, checks those of the second list, and says how many events they have and what processor time that took.
"""

import json
import sys
import time
from collections.abc import Iterable

from kraft_traces.check import VerdictKind, check_reader
from kraft_traces.reader import open_trace


def check_all(files: Iterable[str]) -> int:
    """Check traces one after the other.  Returns how many events they have.

    Raises:
        SystemExit: one is not accepted.
    """
    events = 0
    for file in files:
        with open_trace(file) as reader:
            verdict = check_reader(reader)
        if verdict.kind is not VerdictKind.ACCEPTED:
            raise SystemExit(f"{file} is {verdict.kind}")
        events += verdict.events
    return events


def main() -> None:
    """Answer the request on standard input."""
    asked = json.loads(sys.stdin.readline())
    check_all(asked["warm_up"])
    print("warm", flush=True)
    sys.stdin.readline()
    began = time.process_time()
    events = check_all(asked["measured"])
    print(json.dumps({"events": events, "cpu_seconds": time.process_time() - began}), flush=True)


if __name__ == "__main__":
    main()
