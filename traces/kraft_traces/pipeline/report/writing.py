"""Writing a report: the folder appears whole or not at all."""

import json
import shutil
from typing import Any

from kraft_traces.pipeline.chunks import Notice, watched
from kraft_traces.pipeline.report.figures import Document, figures
from kraft_traces.pipeline.report.page import page
from kraft_traces.pipeline.report.prefixes import write_prefixes
from kraft_traces.pipeline.store import Workspace

FOLDER = "report"
PAGE = "report.html"
FIGURES = "report.json"


def write_report(session: Any, workspace: Workspace, notice: Notice) -> Document:
    """Write the report of a run, in place of an older one, and return its figures."""
    target = workspace.root / FOLDER
    partial = workspace.root / f".{FOLDER}.part"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        with watched(session, lambda: "report", notice):
            document = figures(session, workspace)
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
