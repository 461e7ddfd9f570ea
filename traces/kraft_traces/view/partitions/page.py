"""The HTML file of a trace of partition reassignment: the page of `kraft_traces.view` with lanes of its own."""

from importlib.resources import files

from kraft_traces.view.page import SHARED_SCRIPTS, assembled, asset
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
"""In the order in which they stand in the page."""


def partition_page_of(document: PartitionDocument, title: str) -> str:
    """The page: the same document gives the same text."""
    # A block of its own, so that no name here meets one of the shared scripts.
    own = ("{", *map(_own_asset, _SCRIPTS), "}")
    styles = "\n".join((asset("page.css"), _own_asset("partitions.css")))
    return assembled(document, title, styles, "\n".join((*map(asset, SHARED_SCRIPTS), *own)))


def _own_asset(name: str) -> str:
    return (files("kraft_traces.view.partitions") / "assets" / name).read_text(encoding="utf-8")
