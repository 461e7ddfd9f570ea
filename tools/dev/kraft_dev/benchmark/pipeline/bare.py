"""One bare checker, a process of its own: `python -m kraft_dev.benchmark.pipeline.bare`.

It reads a request from standard input, checks the traces of the first list until it is warm, says so, waits for a line,
checks those of the second list, and says how long that took.
"""

import json
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from kraft_traces.check import VerdictKind, check_reader
from kraft_traces.reader import open_trace

WARM = "warm"


@dataclass(frozen=True, slots=True)
class Request:
    """Files of traces, one in each.

    Attributes:
        warm_up: to be checked first.
        measured: to be checked against the clock.
    """

    warm_up: tuple[str, ...]
    measured: tuple[str, ...]

    def as_json(self) -> str:
        """One line for the standard input of the process."""
        return json.dumps(asdict(self))


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
    print(WARM, flush=True)
    sys.stdin.readline()
    cpu, clock = time.process_time(), time.monotonic()
    events = check_all(asked["measured"])
    answer = {"events": events, "seconds": time.monotonic() - clock, "cpu_seconds": time.process_time() - cpu}
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
