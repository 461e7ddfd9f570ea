"""Traces of partition reassignment as pictures: one self-contained page for one trace."""

from kraft_traces.view.partitions.document import PartitionDocument, partition_document
from kraft_traces.view.partitions.page import partition_page_of
from kraft_traces.view.partitions.reading import read_partition_document

__all__ = (
    "PartitionDocument",
    "partition_document",
    "partition_page_of",
    "read_partition_document",
)
