"""The bytes of a vector and of the manifest: one line for each event, step and part, so that a change shows."""

from msgspec import UNSET, Struct
from msgspec.json import Decoder, Encoder

from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.manifest import Manifest
from kraft_conformance.vectors.partitions.format import PartitionVector

_ENCODER = Encoder()
_VECTORS: Decoder[Vector] = Decoder(Vector)
_PARTITION_VECTORS: Decoder[PartitionVector] = Decoder(PartitionVector)

_LISTS = ("history", "steps", "vectors")


def vector_bytes(vector: Vector | PartitionVector) -> bytes:
    """The file of a vector; the same vector gives the same bytes."""
    return _laid_out(vector)


def manifest_bytes(manifest: Manifest) -> bytes:
    """The file of the manifest."""
    return _laid_out(manifest)


def vector_from(raw: bytes) -> Vector:
    """The vector in a file.

    Raises:
        msgspec.DecodeError: it is none.
    """
    return _VECTORS.decode(raw)


def partition_vector_from(raw: bytes) -> PartitionVector:
    """The vector of the subject `partitions` in a file.

    Raises:
        msgspec.DecodeError: it is none.
    """
    return _PARTITION_VECTORS.decode(raw)


def _laid_out(whole: Struct) -> bytes:
    fields = []
    for name in whole.__struct_fields__:
        value = getattr(whole, name)
        if value is UNSET:
            continue
        shown = _ENCODER.encode(value)
        if name in _LISTS and value:
            shown = b"[\n" + b",\n".join(b"  " + _ENCODER.encode(one) for one in value) + b"\n ]"
        fields.append(b' "' + name.encode() + b'": ' + shown)
    return b"{\n" + b",\n".join(fields) + b"\n}\n"
