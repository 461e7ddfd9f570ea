"""The model's edges in a file, for tools that replay them in another process, and so that TLC enumerates them once.

The file holds no value of the reference, so that it can be read beside one whose classes are broken.
It is a pickle and made for one machine: read none that somebody else wrote.
Its first line is the format and the key, which is over whatever the enumeration depends on; who wants the model's edges
of today asks for it.
Only what the model does is kept: what the reference does is found out anew by each replay.
"""

import hashlib
import pickle
import sys
from dataclasses import fields, replace
from functools import cache
from operator import attrgetter
from pathlib import Path

from kraft_dev.edges.edge import Edge
from kraft_dev.edges.graph import EdgeGraph
from kraft_spec.fingerprint import fingerprint_of
from kraft_traces.streams import atomic_file

_ANY_FORMAT = b"kraft-spec-edges-"
_FORMAT = f"{_ANY_FORMAT.decode()}5"

_values = attrgetter(*(field.name for field in fields(Edge)))


class EdgeFileError(ValueError):
    """A file holds no edges, or those of another version."""


@cache
def enumeration_key() -> str:
    """SHA-256, in hexadecimal, over all that the enumerated edges depend on, when this process first asks.

    That is the modules, Edges.cfg, tla2tools.jar, Python's version, and all Python code of the model's side and of
    the reference, whose tables name the fields and messages of constructed states.

    Raises:
        JarMissing, JarMismatch: There is no jar to enumerate with.
    """
    # Late: without a jar a file can still be read and replayed.
    from kraft_spec.tlc.jar import find_jar

    sources = fingerprint_of(
        ("kraft_reference", "kraft_simulation", "kraft_spec", "kraft_dev.edges"), (".py", ".tla", "/Edges.cfg")
    )
    jar = hashlib.sha256(find_jar().path.read_bytes()).hexdigest()
    return hashlib.sha256("\n".join((_FORMAT, sys.version, jar, sources)).encode()).hexdigest()


def save_edges(path: Path, graph: EdgeGraph) -> int:
    """Write a graph to a file, whole or not at all; return its size in bytes.

    Values that edges share are written once, as `enumerate_edges` shares them.

    Raises:
        OSError: The file cannot be written.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    # Edges as rows: as objects they take far longer to read.
    rows = [_values(edge) for edge in graph.edges]
    content = pickle.dumps((replace(graph, edges=()), rows), protocol=pickle.HIGHEST_PROTOCOL)
    with atomic_file(path) as stream:
        return stream.write(_first_line() + b"\n" + content)


def _first_line() -> bytes:
    return f"{_FORMAT} {enumeration_key()}".encode()


def load_edges(path: Path) -> tuple[Edge, ...]:
    """Read the edges in a file, whatever model they were enumerated from.

    Raises:
        OSError: The file cannot be read.
        EdgeFileError: It holds something else, or a part only.
    """
    return _graph(path, _parts(path)[1]).edges


def stored_graph(path: Path) -> EdgeGraph | None:
    """The graph in a file, if it was enumerated by this model and this code; None if not.

    Raises:
        OSError: There is a file and it cannot be read.
        EdgeFileError: The file is no file of edges at all, so nobody should write edges there.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    # First, so that the key of what is enumerated instead is that of the sources before, and not after, minutes of it.
    wanted = _first_line()
    if not path.exists():
        return None
    first, content = _parts(path)
    return _graph(path, content) if first == wanted else None


def _parts(path: Path) -> tuple[bytes, bytes]:
    first, _, content = path.read_bytes().partition(b"\n")
    if not first.startswith(_ANY_FORMAT):
        raise EdgeFileError(f"{path} holds no edges")
    return first, content


def _graph(path: Path, content: bytes) -> EdgeGraph:
    try:
        graph: EdgeGraph
        graph, rows = pickle.loads(content)
        return replace(graph, edges=tuple([Edge(*row) for row in rows]))
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError) as cause:
        raise EdgeFileError(f"{path} holds no edges: {cause}") from cause
