"""Viewer of traces: one self-contained HTML page for each trace."""

from kraft_traces.view.document import Document, view_document
from kraft_traces.view.page import page_of
from kraft_traces.view.reading import Reading, display_name, inconclusive_reason, read_document

__all__ = ("Document", "Reading", "display_name", "inconclusive_reason", "page_of", "read_document", "view_document")
