"""What was measured, one file each, with the commit and the code that it is about; the site makes pages of them."""

import subprocess
from pathlib import Path
from typing import TypeVar

import msgspec

from kraft_spec.fingerprint import fingerprint_of

FOLDER = Path(__file__).parent

DESCRIBES = {
    "mutants": ("kraft_reference", "kraft_spec", "kraft_dev.mutation", "kraft_dev.edges", "kraft_dev.probes"),
    "grading": ("kraft_reference", "kraft_spec.mutants", "kraft_conformance.vectors", "kraft_dev.grading"),
    "naming": ("kraft_reference", "kraft_spec", "kraft_conformance.vectors", "kraft_conformance.runner"),
    "fields": ("kraft_reference", "kraft_spec", "kraft_traces", "kraft_dev.detectors"),
    "probes": ("kraft_reference", "kraft_spec", "kraft_dev.probes"),
}
"""Each result, and the packages whose change makes it old."""

_ENDINGS = (".py", ".tla", ".cfg", ".toml", ".json")


class Measured(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a result was measured at."""

    commit: str
    """With `-dirty` after it if there were changes that are not committed."""
    sources: str
    """SHA-256, in hexadecimal, of the packages that it describes."""


def result_file(name: str) -> Path:
    """Where the result of a name in `DESCRIBES` is."""
    return FOLDER / f"{name}.json"


def measured_now(name: str) -> Measured:
    """The commit and the code of this moment, for a result that is measured now."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    said = subprocess.run(words, cwd=FOLDER, capture_output=True, text=True, check=False)
    return Measured(said.stdout.strip() or "unknown", _sources(name))


_Result = TypeVar("_Result")


def load_result(name: str, kind: type[_Result]) -> _Result | None:
    """A recorded result; None if it has not been measured yet.

    Raises:
        msgspec.DecodeError: The file is malformed.
    """
    file = result_file(name)
    return msgspec.json.decode(file.read_bytes(), type=kind) if file.is_file() else None


def result_bytes(result: object) -> bytes:
    """The file of a result, which is of types that msgspec knows."""
    return msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"


def origin(name: str, measured: Measured | None) -> str:
    """Where the figures of a page come from, and whether the code has changed since; Markdown.

    Args:
        name: Of the result.
        measured: None if it is not known.
    """
    described = ", ".join(f"`{package}`" for package in DESCRIBES[name])
    if measured is None:
        return f"**Older than the code:** recorded without a commit, of earlier forms of {described}."
    if measured.sources != _sources(name):
        return f"**Older than the code:** measured at commit {measured.commit}; {described} have changed since."
    return f"Measured at commit {measured.commit}; {described} are the same now."


def _sources(name: str) -> str:
    return fingerprint_of(DESCRIBES[name], _ENDINGS)
