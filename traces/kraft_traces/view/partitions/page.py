"""HTML page of a trace of partition reassignment: the page of `kraft_traces.view` with a lane for each partition."""

from importlib.resources import files

from kraft_traces.view.page import SHARED_SCRIPTS, assemble_page, asset
from kraft_traces.view.partitions.document import PartitionDocument

_SCRIPTS = (
    "history.js",
    "words.js",
    "sets.js",
    "layout.js",
    "lanes.js",
    "partition_panels.js",
    "stepping.js",
    "partition_page.js",
)
"""Scripts in the order of the page."""


def partition_page_of(document: PartitionDocument, title: str) -> str:
    """Return the page of a document; the same document gives the same text."""
    # A separate block, so that no name collides with one of the shared scripts.
    own = ("{", *map(_own_asset, _SCRIPTS), "}")
    styles = "\n".join((asset("page.css"), _own_asset("partitions.css")))
    return assemble_page(document, title, styles, "\n".join((*map(asset, SHARED_SCRIPTS), *own)))


def _own_asset(name: str) -> str:
    return (files("kraft_traces.view.partitions") / "assets" / name).read_text(encoding="utf-8")
