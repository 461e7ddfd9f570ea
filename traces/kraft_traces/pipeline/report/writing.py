"""Writing a report: the folder appears whole or not at all.

Beside the page are the shortest failing prefixes of the examples: the header and the lines up to the rejected one, byte
for byte.
"""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import functions as sf

from kraft_traces.pipeline.progress import Notice, watched
from kraft_traces.pipeline.report.figures import Document, figures
from kraft_traces.pipeline.report.page import page
from kraft_traces.pipeline.report.regressions import regressions
from kraft_traces.pipeline.schemas import SCHEDULES, SEGMENTS, TRACES
from kraft_traces.pipeline.store import Workspace
from kraft_traces.streams import whole_file

FOLDER = "report"
PAGE = "report.html"
FIGURES = "report.json"
PREFIXES = "failing"
"""The folder of prefixes, below that of the report."""


def write_report(session: Any, workspace: Workspace, notice: Notice, before: Document | None = None) -> Document:
    """Write the report of a run, in place of an older one, and return its figures.

    `before` are those of an earlier run, and under `output` where that is.
    """
    target = workspace.root / FOLDER
    partial = workspace.root / f".{FOLDER}.part"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        with watched(session, "report", notice):
            document = figures(session, workspace)
            if before is not None:
                document["regressions"] = {"output": before["output"], **regressions(before, document)}
            write_prefixes(session, workspace, document, partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    (partial / FIGURES).write_text(text + "\n", encoding="utf-8")
    # What the page shows is what the file says, also where JSON has fewer types than Python.
    (partial / PAGE).write_text(page(json.loads(text)), encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return document


def write_prefixes(session: Any, workspace: Workspace, document: Document, folder: Path) -> None:
    """Write the prefix of each group's example, and note in the document where it is and how to see it again."""
    for group in document["failures"]:
        example = group["example"]
        lines = _lines(session, workspace, example)
        prefix = None
        if lines is not None:
            name = safe_name(f"{group['rule'] or group['event'] or group['kind']}-{example['trace_id'][:8]}")
            prefix = f"{PREFIXES}/{name}.failing.jsonl"
            (folder / PREFIXES).mkdir(exist_ok=True)
            with whole_file(folder / prefix) as stream:
                for block in lines:
                    stream.write(block)
        example["prefix"] = prefix
        example["commands"] = commands(example, prefix)


def _lines(session: Any, workspace: Workspace, example: Document) -> Any:
    """The bytes of the prefix, in blocks; None if the trace was not kept."""
    name = example["trace_id"]
    if workspace.has(SCHEDULES):
        kept = workspace.read(session, SCHEDULES).where(sf.col("trace_id") == name).select("prefix").head(1)
        return [bytes(kept[0][0])] if kept and kept[0][0] is not None else None
    if example["line"] is None or not workspace.has(SEGMENTS):
        return None
    (first_line,) = workspace.read(session, TRACES).where(sf.col("trace_id") == name).select("first_line").head(1)[0]
    segments = (
        workspace.read(session, SEGMENTS)
        .where((sf.col("trace_id") == name) & (sf.col("first_line") <= example["line"]))
        .orderBy("segment")
        .select("raw")
    )
    return _cut(segments, example["line"] - first_line + 1)


def _cut(segments: Any, lines: int) -> Any:
    """The first so many lines; one segment is in memory at a time."""
    left = lines
    for row in segments.toLocalIterator():
        raw = bytes(row[0])
        ends = raw.splitlines(keepends=True) if raw.count(b"\n") > left else None
        if ends is not None:
            yield b"".join(ends[:left])
            return
        left -= raw.count(b"\n")
        yield raw
        if left == 0:
            return


def commands(example: Document, prefix: str | None) -> list[str]:
    """What shows an example again, as lines for a shell in the folder of the report."""
    lines: list[str] = []
    if example.get("command"):
        lines.append(f"{example['command']} -o trace.jsonl")
        lines.append("kraft-spec validate trace.jsonl")
    if prefix is not None:
        lines.append(f"kraft-spec validate {shlex.quote(prefix)}")
    return lines


def safe_name(text: str) -> str:
    """A name for a file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "trace"
