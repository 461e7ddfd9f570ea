"""File of the model's edges, so that TLC enumerates them once and other processes replay them.

The file holds no value of the reference, so that a process with a mutant of the reference can read it.
It is a pickle made for one machine: do not read a file from an untrusted source.
Its first line has the format and a key over everything that the enumeration depends on; a reader that needs edges of
the current model compares the key.
Only the model's side is stored; each replay runs the reference anew.
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
    """A file has no edges, or edges of another version."""


@cache
def enumeration_key() -> str:
    """Return the SHA-256, in hexadecimal, of everything that the enumerated edges depend on, at the first call.

    That is the modules, Edges.cfg, tla2tools.jar, Python's version, and all Python code of the model's side and of
    the reference, whose tables name the fields and messages of constructed states.

    Raises:
        JarMissing, JarMismatch: There is no jar to enumerate with.
    """
    # Imported late: a file can be read and replayed without a jar.
    from kraft_spec.tlc.jar import find_jar

    sources = fingerprint_of(
        ("kraft_reference", "kraft_simulation", "kraft_spec", "kraft_dev.edges"), (".py", ".tla", "/Edges.cfg")
    )
    jar = hashlib.sha256(find_jar().path.read_bytes()).hexdigest()
    return hashlib.sha256("\n".join((_FORMAT, sys.version, jar, sources)).encode()).hexdigest()


def save_edges(path: Path, graph: EdgeGraph) -> int:
    """Write a graph to a file atomically; return its size in bytes.

    Values that edges share are written once, as `enumerate_edges` shares them.

    Raises:
        OSError: The file cannot be written.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    # Edges are stored as rows, because objects take far longer to read.
    rows = [_values(edge) for edge in graph.edges]
    content = pickle.dumps((replace(graph, edges=()), rows), protocol=pickle.HIGHEST_PROTOCOL)
    with atomic_file(path) as stream:
        return stream.write(_first_line() + b"\n" + content)


def _first_line() -> bytes:
    return f"{_FORMAT} {enumeration_key()}".encode()


def load_edges(path: Path) -> tuple[Edge, ...]:
    """Read the edges of a file, whatever model they were enumerated from.

    Raises:
        OSError: The file cannot be read.
        EdgeFileError: The file is not a file of edges, or is incomplete.
    """
    return _graph(path, _parts(path)[1]).edges


def stored_graph(path: Path) -> EdgeGraph | None:
    """Return the graph of a file if the current model and code enumerated it, else None.

    Raises:
        OSError: There is a file and it cannot be read.
        EdgeFileError: The file is not a file of edges, so edges must not be written to it.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    # Compute the key first: it must be that of the sources before the minutes of enumeration, not after.
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
