"""The bytes of a vector and of the manifest: one line for each event, step and part, so that a change shows."""

from msgspec import UNSET
from msgspec.json import Decoder, Encoder

from kraft_vectors.format import Vector
from kraft_vectors.manifest import Manifest
from kraft_vectors.partitions.format import PartitionVector

vector_from = Decoder(Vector).decode
"""The vector in the bytes of a file; raises msgspec.DecodeError if it is none."""
partition_vector_from = Decoder(PartitionVector).decode
"""The same of a vector of the subject `partitions`."""

_ENCODER = Encoder()
_LISTS = ("history", "steps", "vectors")


def file_bytes(whole: Vector | PartitionVector | Manifest) -> bytes:
    """The file of a vector or of the manifest; the same one gives the same bytes."""
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
