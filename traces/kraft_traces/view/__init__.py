"""Traces as pictures: one self-contained page for one trace."""

from kraft_traces.view.document import Document, view_document
from kraft_traces.view.page import page_of
from kraft_traces.view.reading import Reading, inconclusive_reason, name_of, read_document

__all__ = ("Document", "Reading", "inconclusive_reason", "name_of", "page_of", "read_document", "view_document")
