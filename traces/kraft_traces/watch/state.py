"""File from which a watch continues after a restart."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Raw, Struct, ValidationError
from msgspec.json import Decoder, decode, encode

from kraft_spec.fingerprint import spec_hash
from kraft_traces.errors import FieldError, MalformedJsonError, TraceError
from kraft_traces.streams import atomic_file

SCHEMA = "kraft-watch-state/1"


class WatchState(Struct, frozen=True):
    """State of a watch."""

    schema: str
    sources: tuple[str, ...]
    spec_hash: str
    watched: Raw


_DECODER = Decoder(WatchState)
_Saved = TypeVar("_Saved")


def write_state(path: Path, sources: Sequence[str], watched: Struct) -> None:
    """Write the state; a reader sees the old file or the new one, whole.

    Raises:
        OSError: the operating system refuses.
    """
    with atomic_file(path) as stream:
        stream.write(encode(WatchState(SCHEMA, tuple(sources), spec_hash(), Raw(encode(watched)))))


def read_state(path: Path, sources: Sequence[str], kind: type[_Saved]) -> _Saved | None:
    """Return the state of a watch of these sources, which is of a kind; None if there is no such file.

    Raises:
        TraceError: the file is none of this command, or of other sources or another model.
    """
    if not path.exists():
        return None
    try:
        state = _DECODER.decode(path.read_bytes())
    except ValidationError as error:
        raise FieldError(f"no state of kraft-spec watch: {error}", str(path)) from error
    except ValueError as error:
        raise MalformedJsonError(f"no state of kraft-spec watch: {error}", str(path)) from error
    _check(path, "schema", state.schema, SCHEMA)
    _check(path, "sources", " ".join(state.sources), " ".join(sources))
    _check(path, "spec_hash", state.spec_hash, spec_hash())
    try:
        return decode(state.watched, type=kind)
    except ValidationError as error:
        raise FieldError(f"no state of kraft-spec watch of such sources: {error}", str(path)) from error


def _check(path: Path, field: str, actual: str, expected: str) -> None:
    if actual != expected:
        detail = f"expected {expected!r}, got {actual!r}: name another --state file, or remove this one to begin anew"
        error: TraceError = FieldError(detail, str(path), None, f"$.{field}")
        raise error
