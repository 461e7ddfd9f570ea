"""What a night's findings depend on, as one fingerprint."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable

_PACKAGES = ("kraft_reference", "kraft_spec", "kraft_traces", "kraft_conformance")
_SUFFIXES = (".py", ".tla", ".cfg", ".toml")


def fingerprint_of_sources() -> str:
    """SHA-256, in hexadecimal, over the names and texts of all Python, TLA+ and TOML files of the packages."""
    return _fingerprint(_PACKAGES, _SUFFIXES)


def fingerprint_of_model() -> str:
    """The same over the TLA+ modules and configurations alone: what a checkpoint of TLC depends on."""
    return _fingerprint(("kraft_spec",), (".tla", ".cfg"))


def _fingerprint(packages: tuple[str, ...], suffixes: tuple[str, ...]) -> str:
    digest = hashlib.sha256()
    for package in packages:
        for name, file in _walk(files(package), package):
            if name.endswith(suffixes):
                text = file.read_bytes()
                digest.update(f"{name} {len(text)}\n".encode())
                digest.update(text)
    return digest.hexdigest()


def _walk(folder: Traversable, name: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _walk(entry, path)
        else:
            yield path, entry
