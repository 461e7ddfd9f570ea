"""Edges in a file, for tools that replay them in another process and have no Java there.

The file holds Python's own values only, so that it can be read beside a reference whose classes are broken.
It is a pickle and made for one machine: read none that somebody else wrote.
"""

import pickle
from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from pathlib import Path

from kraft_spec.edges.edge import Edge

_FORMAT = "kraft-spec edges 2"

_values = attrgetter(*(field.name for field in fields(Edge)))


class EdgeFileError(ValueError):
    """A file holds no edges, or those of another version."""


def save_edges(path: Path, edges: Iterable[Edge]) -> int:
    """Write edges to a file; return its size in bytes.

    Values that edges share are written once, as `enumerate_edges` shares them.

    Raises:
        OSError: The file cannot be written.
    """
    content = pickle.dumps((_FORMAT, [_values(edge) for edge in edges]), protocol=pickle.HIGHEST_PROTOCOL)
    path.write_bytes(content)
    return len(content)


def load_edges(path: Path) -> tuple[Edge, ...]:
    """Read edges from a file.

    Raises:
        OSError: The file cannot be read.
        EdgeFileError: It holds something else.
    """
    try:
        marker, rows = pickle.loads(path.read_bytes())
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError) as cause:
        raise EdgeFileError(f"{path} holds no edges: {cause}") from cause
    if marker != _FORMAT:
        raise EdgeFileError(f"{path} holds edges of another version: {marker}")
    return tuple([Edge(*row) for row in rows])
