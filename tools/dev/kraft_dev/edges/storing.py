"""The model's edges in a file, for tools that replay them in another process, and so that TLC enumerates them once.

The file holds Python's own values only, so that it can be read beside a reference whose classes are broken.
It is a pickle and made for one machine: read none that somebody else wrote.
Its first line is the format, the key and the SHA-256 of the rest, so a torn file is seen before it is read.
The key is over whatever the enumeration depends on; who wants the model's edges of today asks for it.
Only what the model does is kept: what the reference does is found out anew by each replay.
"""

import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import astuple, fields
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

from kraft_dev.edges.edge import Edge
from kraft_dev.edges.graph import ActionEdges, EdgeGraph
from kraft_spec.fingerprint import fingerprint_of

_ANY_FORMAT = "kraft-spec-edges-"
_FORMAT = f"{_ANY_FORMAT}4"
_HEADER_MAX = 1000

_values = attrgetter(*(field.name for field in fields(Edge)))


class EdgeFileError(ValueError):
    """A file holds no edges, or those of another version."""


class _OldOrTornError(EdgeFileError):
    """Edges of another version, or a part of them: this program's own file, which it may write again."""


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

    sources = fingerprint_of(("kraft_reference", "kraft_spec", "kraft_dev.edges"), (".py", ".tla", "/Edges.cfg"))
    jar = hashlib.sha256(find_jar().path.read_bytes()).hexdigest()
    return hashlib.sha256("\n".join((_FORMAT, sys.version, jar, sources)).encode()).hexdigest()


def save_edges(path: Path, graph: EdgeGraph) -> int:
    """Write a graph to a file, whole or not at all; return its size in bytes.

    Values that edges share are written once, as `enumerate_edges` shares them.

    Raises:
        OSError: The file cannot be written.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    values: dict[str, Any] = {field.name: getattr(graph, field.name) for field in fields(EdgeGraph)}
    values["edges"] = [_values(edge) for edge in graph.edges]
    values["actions"] = _rows(graph.actions)
    values["constructed"] = _rows(graph.constructed)
    content = pickle.dumps(values, protocol=pickle.HIGHEST_PROTOCOL)
    header = f"{_FORMAT} {enumeration_key()} {hashlib.sha256(content).hexdigest()}\n".encode()
    # Beside it, because only within a file system a file takes another's place in one step.
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(header + content)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return len(header) + len(content)


def _rows(counted: Mapping[str, ActionEdges]) -> dict[str, tuple[int, ...]]:
    return {action: astuple(one) for action, one in counted.items()}


def load_graph(path: Path) -> EdgeGraph:
    """Read a graph from a file, whatever model it was enumerated from.

    Raises:
        OSError: The file cannot be read.
        EdgeFileError: It holds something else, or a part only.
    """
    return _graph(path, _key_and_content(path)[1])


def load_edges(path: Path) -> tuple[Edge, ...]:
    """The edges of `load_graph`."""
    return load_graph(path).edges


def stored_graph(path: Path) -> EdgeGraph | None:
    """The graph in a file, if it is whole and was enumerated by this model and this code; None if not.

    Raises:
        OSError: There is a file and it cannot be read.
        EdgeFileError: The file is no file of edges at all, so nobody should write edges there.
        JarMissing, JarMismatch: There is no jar, so there is no key.
    """
    # First, so that the key of what is enumerated instead is that of the sources before, and not after, minutes of it.
    wanted = enumeration_key()
    try:
        key, content = _key_and_content(path)
        return _graph(path, content) if key == wanted else None
    except (FileNotFoundError, _OldOrTornError):
        return None


def _key_and_content(path: Path) -> tuple[str, bytes]:
    first, _, content = path.read_bytes().partition(b"\n")
    match first[:_HEADER_MAX].decode("ascii", errors="replace").split(" "):
        case [marker, key, digest] if marker == _FORMAT:
            if hashlib.sha256(content).hexdigest() != digest:
                raise _OldOrTornError(f"{path} holds a part of the edges only, or has been changed")
            return key, content
        case [marker, *_] if marker.startswith(_ANY_FORMAT) or not first + content:
            raise _OldOrTornError(f"{path} holds edges of another version, or no edges: {marker!r}")
        case _:
            raise EdgeFileError(f"{path} holds no edges")


def _graph(path: Path, content: bytes) -> EdgeGraph:
    try:
        values = pickle.loads(content)
        values["edges"] = tuple([Edge(*row) for row in values["edges"]])
        values["actions"] = {action: ActionEdges(*row) for action, row in values["actions"].items()}
        values["constructed"] = {action: ActionEdges(*row) for action, row in values["constructed"].items()}
        return EdgeGraph(**values)
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, KeyError) as cause:
        raise EdgeFileError(f"{path} holds no edges: {cause}") from cause
