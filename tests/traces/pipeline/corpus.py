"""Good and broken traces for the tests of the pipeline, as bytes, and what each broken one must be quarantined for."""

import gzip
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from kraft_simulation.plan import RunPlan
from kraft_traces.own import own_generator
from kraft_traces.writer import trace_bytes


@cache
def good_lines(seed: int = 0, steps: int = 20, workload: str = "calm") -> tuple[bytes, ...]:
    """The lines of a trace that the model accepts."""
    simulation = RunPlan(seed, steps=steps, workload=workload).simulation()
    generator = own_generator(seed, workload)
    lines = tuple(trace_bytes(simulation.run(), simulation.configuration, generator))
    assert simulation.violation is None
    return lines


def good(seed: int = 0, steps: int = 20, workload: str = "calm") -> bytes:
    """The same as one file."""
    return b"".join(good_lines(seed, steps, workload))


def _edited(index: int, edit: Callable[[bytes], bytes]) -> bytes:
    lines = list(good_lines())
    lines[index] = edit(lines[index])
    return b"".join(lines)


def _with(index: int, **fields: object) -> bytes:
    return _edited(index, lambda raw: json.dumps(json.loads(raw) | fields, separators=(",", ":")).encode() + b"\n")


def rejected() -> bytes:
    """A trace of the right shape that the model rejects: nobody has raised the epoch."""

    def raised(raw: bytes) -> bytes:
        line = json.loads(raw)
        line["state"]["epoch"] += 7
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"

    return _edited(6, raised)


def inconclusive() -> bytes:
    """A trace that stops without an end line."""
    return b"".join(good_lines()[:-1])


BROKEN: dict[str, Callable[[], bytes]] = {
    "MALFORMED_JSON": lambda: _edited(5, lambda raw: raw[:20] + b"\n"),
    "INVALID_UTF8": lambda: _edited(5, lambda raw: raw[:9] + b"\xff" + raw[10:]),
    "UNKNOWN_SCHEMA": lambda: _with(0, schema="kraft-trace/9"),
    "UNKNOWN_PROFILE": lambda: _with(0, profile="nobody's"),
    "DUPLICATE_SEQUENCE": lambda: _edited(4, lambda raw: raw + raw),
    "SEQUENCE_GAP": lambda: _edited(4, lambda _: b""),
    "DUPLICATE_HEADER": lambda: good_lines()[0] + good(1),
    "MISSING_HEADER": lambda: b"".join(good_lines()[1:]),
    "EMPTY_TRACE": lambda: good_lines()[0],
    "EVENT_COUNT": lambda: _with(-1, events=3),
    "UNKNOWN_EVENT": lambda: _with(3, event="Elect"),
    "FIELD_UNKNOWN": lambda: _with(3, mood="good"),
    "FIELD_WRONG_VALUE": lambda: _with(3, sequence="3"),
    "LINES_AFTER_END": lambda: good() + b'{"kind":"event"}\n',
    "TRUNCATED_FILE": lambda: b"".join(good_lines()[:6])[:-30],
    "LINE_TOO_LONG": lambda: _edited(5, lambda raw: b'{"x":"' + b"x" * 300_000 + b'"}\n'),
}
"""By reason: the content of a file that begins with a trace broken in that way, or goes on with one."""

TRACES_BESIDE = {"DUPLICATE_HEADER": 1, "LINES_AFTER_END": 1}
"""How many good traces such a file holds besides."""

LINE_BYTES_MAX = 200_000


def truncated_gzip() -> bytes:
    """Half of a compressed trace."""
    whole = gzip.compress(good(), mtime=0)
    return whole[: len(whole) // 2]


def write_corpus(folder: Path) -> dict[str, bytes]:
    """Good and broken traces in many kinds of files.  Returns the traces that can be checked, by source."""
    folder.mkdir()
    checkable = {f"good-{seed}.jsonl": good(seed, 40, "chaos") for seed in range(3)}
    checkable |= {"long.jsonl": good(7, 300, "storm"), "rejected.jsonl": rejected(), "stops.jsonl": inconclusive()}
    for name, content in checkable.items():
        (folder / name).write_bytes(content)
    (folder / "deeper").mkdir()
    for reason, make in BROKEN.items():
        (folder / "deeper" / f"{reason}.jsonl").write_bytes(make())
    (folder / "two.jsonl.gz").write_bytes(gzip.compress(good(1) + good(2), mtime=0))
    (folder / "cut.jsonl.gz").write_bytes(truncated_gzip())
    (folder / "empty.jsonl").write_bytes(b"")
    (folder / "notes.txt").write_bytes(b"no trace")
    return checkable
