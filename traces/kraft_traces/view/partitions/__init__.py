"""Viewer of traces of partition reassignment: one self-contained HTML page for each trace."""

from kraft_traces.view.partitions.document import PartitionDocument, partition_document
from kraft_traces.view.partitions.page import partition_page_of
from kraft_traces.view.partitions.reading import read_partition_document

__all__ = (
    "PartitionDocument",
    "partition_document",
    "partition_page_of",
    "read_partition_document",
)
