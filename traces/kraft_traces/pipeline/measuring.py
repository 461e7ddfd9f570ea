"""Runs in one session, timed: `python -m kraft_traces.pipeline.measuring`, a process for each session's settings.

It reads a request from standard input and writes an answer for each run, one line of JSON each, to standard output.
"""

import json
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kraft_traces.pipeline.processes import watched_processes
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
    """

    master: str
    inputs: tuple[str, ...]
    folder: str

    def as_json(self) -> str:
        """For the standard input of the process."""
        return json.dumps(asdict(self))


def answers(request: Request) -> Any:
    """Run and measure; an answer comes as soon as its run is over.

    `usage` is that of the run alone, but for the peaks of memory, which are those of the processes until then.
    """
    with watched_processes() as watch, spark_session(SessionOptions(request.master)) as session:
        for number, name in enumerate(request.inputs):
            output = Path(request.folder) / f"out-{number}"
            before = watch.usage()
            began = time.monotonic()
            account, document = run_in(session, [name], output)
            seconds = time.monotonic() - began
            after = watch.usage()
            usage = {role: asdict(used) for role, used in after.items()}
            for role, used in before.items():
                usage[role]["seconds"] -= used.seconds
            stages = {one["stage"]: one["seconds"] for one in document["throughput"]}
            yield {"seconds": seconds, "stages": stages, "account": account.as_dict(), "usage": usage}


def main() -> None:
    """Answer the request on standard input."""
    asked = json.loads(sys.stdin.read())
    for answer in answers(Request(asked["master"], tuple(asked["inputs"]), asked["folder"])):
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
