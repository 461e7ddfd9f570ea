"""The vectors and their schemas as one archive: `python -m kraft_dev.archive FILE`.

FILE is compressed if its name ends with `.gz`.
The same vectors give the same bytes: no times, no owners, names in order.
"""

import io
import sys
import tarfile
from collections.abc import Iterator
from importlib.resources import files

from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.manifest import MANIFEST
from kraft_dev.schemas.conformance import ADAPTER_SCHEMA, VECTOR_SCHEMAS
from kraft_traces.streams import whole_file

_ROOT = "kraft-vectors-1"
_MODE = 0o644


def archive_bytes(catalogue: Catalogue) -> bytes:
    """A tar file with the manifest, every vector, the schemas, the rules without a vector and Kafka's differences.

    Raises:
        VectorFileError: a file is not the one that the manifest describes.
    """
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(_members(catalogue)):
            member = tarfile.TarInfo(f"{_ROOT}/{name}")
            member.size, member.mode = len(content), _MODE
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _members(catalogue: Catalogue) -> Iterator[tuple[str, bytes]]:
    yield MANIFEST, (catalogue.folder / MANIFEST).read_bytes()
    for schema in (ADAPTER_SCHEMA, *VECTOR_SCHEMAS.values()):
        yield schema.file_name, schema.committed_text().encode()
    for name in ("without_vector.toml", "kafka_4.toml"):
        yield name, files("kraft_conformance").joinpath("vectors", name).read_bytes()
    for entry in catalogue.manifest.vectors:
        # Read as a vector too, so that nothing goes out that the manifest does not describe.
        catalogue.vector(entry.id)
        yield entry.file, (catalogue.folder / entry.file).read_bytes()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m kraft_dev.archive FILE.tar.gz")
    with whole_file(sys.argv[1]) as stream:
        stream.write(archive_bytes(Catalogue()))
