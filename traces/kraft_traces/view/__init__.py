"""Traces as pictures: one self-contained page for one trace."""

from kraft_traces.view.document import Document, view_document
from kraft_traces.view.page import page_of
from kraft_traces.view.reading import read_document

__all__ = ("Document", "page_of", "read_document", "view_document")
