"""Archive of the project's packages that Spark unpacks beside each executor.

Their dependencies (JPype, msgspec, PyArrow, the jar of TLC) have native parts, so they are installed on the machines of
a cluster, or come in an archive of the user: docs/pipeline.md.
"""

import zipfile
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from kraft_spec.edits import package_folder

PACKAGES = (
    "kraft_reference",
    "kraft_simulation",
    "kraft_partitions",
    "kraft_spec",
    "kraft_mutants",
    "kraft_traces",
    "kraft_pipeline",
)
"""Packages that the workers import."""

PACKAGES_FOLDER = "kraft_spec_packages"
"""Folder beside the executor into which the archive is unpacked."""

_DISTRIBUTION = "kraft-spec"
_THE_SAME_TIME = (1980, 1, 1, 0, 0, 0)


def archive_of_packages(folder: Path) -> Path:
    """Write the archive into `folder` and return its path; the same files give the same bytes."""
    target = folder / "packages.zip"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in PACKAGES:
            source = package_folder(package)
            for file in _files_of(source):
                _add(archive, f"{package}/{file.relative_to(source).as_posix()}", file.read_bytes())
        number = version(_DISTRIBUTION)
        metadata = f"Metadata-Version: 2.1\nName: {_DISTRIBUTION}\nVersion: {number}\n"
        # Traces have the version of their writer, which importlib.metadata finds here.
        _add(archive, f"kraft_spec-{number}.dist-info/METADATA", metadata.encode())
    return target


def _files_of(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    entry = zipfile.ZipInfo(name, _THE_SAME_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, content)
