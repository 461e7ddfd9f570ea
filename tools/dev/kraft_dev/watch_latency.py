"""Time from a wrong line to its alert, while `kraft-spec watch` follows a trace at a steady rate.

python -m kraft_dev.watch_latency [EVENTS_PER_S] [SECONDS]

A run of the reference is written line by line; the last tenth begins with a wrong high watermark.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import islice
from pathlib import Path

from kraft_simulation.plan import RunPlan
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes

_BATCH_S = 0.02
"""Time between two writes to the file."""
_STARTS_S = 15
"""Time for the command to start."""


def recorded(events: int) -> list[bytes]:
    """Return the header and this number of events of a run."""
    simulation = RunPlan(1, replicas=3, steps=events, workload="elections").simulation()
    return list(islice(trace_bytes(simulation.run(), simulation.configuration, own_generator()), events + 1))


def plant(lines: list[bytes]) -> int:
    """Make a state in the last tenth wrong; return the number of the line."""
    for at in range(len(lines) * 9 // 10, len(lines)):
        line = json.loads(lines[at])
        if line.get("state", {}).get("role") == "Follower":
            line["state"]["high_watermark"] += 1
            lines[at] = json.dumps(line).encode() + b"\n"
            return at + 1
    raise AssertionError("a follower has a line")


def write(path: Path, lines: list[bytes], per_s: int, wrong: int) -> float:
    """Append the lines at a rate; return the time at which the wrong line was written."""
    begin, at, written_at = time.monotonic(), 0, 0.0
    with path.open("ab", buffering=0) as file:
        while at < len(lines):
            time.sleep(_BATCH_S)
            end = min(len(lines), int((time.monotonic() - begin) * per_s))
            file.write(b"".join(lines[at:end]))
            if at < wrong - 1 <= end:
                written_at = time.monotonic()
            at = end
    return written_at


def cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run, and print the delay; exit code 1 if it is more than a second."""
    per_s = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    header, *lines = recorded(per_s * seconds)
    wrong = plant(lines) + 1
    program = Path(sys.executable).with_name("kraft-spec")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.jsonl"
        path.write_bytes(header + lines[0])
        command = [str(program), "watch", "--json", "--keep-going", str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watch:
            assert watch.stdout is not None, "it is a pipe"
            time.sleep(_STARTS_S)
            began_s = cpu_s(watch.pid)
            alerts: list[tuple[float, int, float]] = []

            def read() -> None:
                for report in map(json.loads, watch.stdout or ()):
                    if report["report"] == "alert":
                        alerts.append((time.monotonic(), report["line"], cpu_s(watch.pid) - began_s))
                        watch.terminate()

            reader = threading.Thread(target=read)
            reader.start()
            written_at = write(path, lines[1:], per_s, wrong - 1)
            reader.join(60)
            watch.kill()
    if not alerts:
        print(f"no alert for line {wrong}")
        return 1
    shown_at, line, used_s = alerts[0]
    delay_s = shown_at - written_at
    print(f"{per_s} events/s: the alert for line {line} (wrong: {wrong}) came {delay_s:.2f} s after it was written")
    print(f"{used_s:.1f} CPU s of watch for these lines, {line / used_s:,.0f} events per CPU s")
    return 0 if line == wrong and delay_s <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
