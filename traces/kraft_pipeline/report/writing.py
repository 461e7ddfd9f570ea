"""Writer of a report, whose folder appears atomically.

Beside the page are the shortest failing prefixes of the examples: the header and the lines up to the rejected one.
"""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.dataset as pd
from pyspark.sql import functions as sf

from kraft_pipeline.progress import Notice, watched
from kraft_pipeline.report.figures import Document, figures
from kraft_pipeline.report.page import page
from kraft_pipeline.report.regressions import regressions
from kraft_pipeline.schemas import SEGMENTS, TRACES
from kraft_pipeline.store import Workspace
from kraft_traces.streams import atomic_file

FOLDER = "report"
PAGE = "report.html"
FIGURES = "report.json"
PREFIXES = "failing"
"""Folder of prefixes, below that of the report."""


def write_report(session: Any, workspace: Workspace, notice: Notice, before: Document | None = None) -> Document:
    """Write the report of a run, in place of an older one, and return its figures.

    `before` are the figures of an earlier run, with its name under `run`.
    """
    target = workspace.root / FOLDER
    partial = workspace.root / f".{FOLDER}.part"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        with watched(session, "report", notice):
            document = figures(session, workspace)
            if before is not None:
                document["regressions"] = {"run": before["run"], **regressions(before, document)}
            write_prefixes(session, workspace, document, partial)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    (partial / FIGURES).write_text(text + "\n", encoding="utf-8")
    # The page is made from the JSON file, because JSON has fewer types than Python.
    (partial / PAGE).write_text(page(json.loads(text)), encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)
    return document


def write_prefixes(session: Any, workspace: Workspace, document: Document, folder: Path) -> None:
    """Write the prefix of each group's example, and add its path and commands to the document."""
    for group in document["failures"]:
        example = group["example"]
        lines = _lines(session, workspace, example)
        prefix = None
        if lines is not None:
            name = safe_name(f"{group['rule'] or group['event'] or group['kind']}-{example['trace_id'][:8]}")
            prefix = f"{PREFIXES}/{name}.failing.jsonl"
            (folder / PREFIXES).mkdir(exist_ok=True)
            with atomic_file(folder / prefix) as stream:
                stream.writelines(lines)
        example["prefix"] = prefix
        example["commands"] = commands(example, prefix)


def _lines(session: Any, workspace: Workspace, example: Document) -> Iterator[bytes] | None:
    """Return the lines of the prefix; None if the trace was not kept."""
    if example["line"] is None or not workspace.has(SEGMENTS):
        return None
    is_it = pd.field("trace_id") == example["trace_id"]
    trace = workspace.read(session, TRACES).where(sf.col("trace_id") == example["trace_id"])
    (name, first_line) = trace.select("_metadata.file_name", "first_line").head(1)[0]
    # The segments of a trace are in the file of the same name, in order.
    segments = pd.dataset(workspace.path(SEGMENTS) / name).scanner(
        ["raw"], is_it & (pd.field("first_line") <= example["line"]), batch_size=1, use_threads=False
    )
    blocks = (raw for batch in segments.to_batches() for raw in batch["raw"].to_pylist())
    return islice((line for block in blocks for line in BytesIO(block)), example["line"] - first_line + 1)


def commands(example: Document, prefix: str | None) -> list[str]:
    """Return shell commands that reproduce an example, for the folder of the report."""
    lines: list[str] = []
    if example.get("command"):
        lines.append(f"{example['command']} -o trace.jsonl")
        lines.append("kraft-spec validate trace.jsonl")
    if prefix is not None:
        lines.append(f"kraft-spec validate {shlex.quote(prefix)}")
    return lines


def safe_name(text: str) -> str:
    """Return a text as a valid file name."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "trace"
