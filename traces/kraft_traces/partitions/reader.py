"""Reading a kraft-partition-trace/1: every line is held to its shape before the model sees it."""

from collections.abc import Iterable, Iterator

import msgspec

from kraft_reference.partitions.decisions import PROFILES
from kraft_traces.errors import EmptyTraceError, FieldError
from kraft_traces.partitions.lines import PartitionEventLine, PartitionHeader

_HEADER = msgspec.json.Decoder(PartitionHeader)
_EVENT = msgspec.json.Decoder(PartitionEventLine)


def read_header(text: bytes, source: str) -> PartitionHeader:
    """The header of a trace.

    Raises:
        FieldError: it is malformed; the message names the field.
    """
    try:
        header = _HEADER.decode(text)
    except msgspec.DecodeError as error:
        raise _refused(error, source, 1) from error
    if header.profile not in PROFILES:
        raise FieldError(f"{header.profile!r} is none of {', '.join(PROFILES)}", source, 1, "$.profile")
    if not header.controllers:
        raise FieldError("expected the node that is controller first, found none", source, 1, "$.controllers")
    for index, (_, replicas) in enumerate(header.assignments):
        if not replicas or not set(header.brokers).issuperset(replicas) or len(set(replicas)) != len(replicas):
            raise FieldError("expected brokers of the cluster, each once", source, 1, f"$.assignments[{index}][1]")
    return header


def read_lines(texts: Iterable[bytes], source: str) -> Iterator[tuple[int, PartitionEventLine]]:
    """The lines after the header with their line numbers, in order.

    Raises:
        FieldError: one is malformed or out of order; the message names the field.
        EmptyTraceError: there is none.
    """
    number = 1
    for number, text in enumerate(texts, 2):
        try:
            line = _EVENT.decode(text)
        except msgspec.DecodeError as error:
            raise _refused(error, source, number) from error
        if line.sequence != number - 1:
            raise FieldError(f"expected {number - 1}, found {line.sequence}", source, number, "$.sequence")
        yield number, line
    if number == 1:
        raise EmptyTraceError("expected at least one event after the header", source)


def _refused(error: msgspec.DecodeError, source: str, number: int) -> FieldError:
    """msgspec's own text ends with the path: `Expected int - at $.event.node`."""
    detail, _, path = str(error).rpartition(" - at ")
    return FieldError(detail or str(error), source, number, path.strip("`") if detail else None)
