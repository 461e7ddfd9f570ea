"""Encoding of vectors and the manifest: one line for each event, step and field, for readable diffs."""

from msgspec import UNSET
from msgspec.json import Decoder, Encoder

from kraft_vectors.format import Vector
from kraft_vectors.manifest import Manifest
from kraft_vectors.partitions.format import PartitionVector

vector_from = Decoder(Vector).decode
"""Decode a vector file; raises msgspec.DecodeError if it is malformed."""
partition_vector_from = Decoder(PartitionVector).decode
"""Decode a vector file of the subject `partitions`."""

_ENCODER = Encoder()
_LISTS = ("history", "steps", "vectors")


def file_bytes(whole: Vector | PartitionVector | Manifest) -> bytes:
    """Encode a vector or the manifest; equal values give equal bytes."""
    fields = []
    for name in whole.__struct_fields__:
        value = getattr(whole, name)
        if value is UNSET:
            continue
        encoded = _ENCODER.encode(value)
        if name in _LISTS and value:
            encoded = b"[\n" + b",\n".join(b"  " + _ENCODER.encode(item) for item in value) + b"\n ]"
        fields.append(b' "' + name.encode() + b'": ' + encoded)
    return b"{\n" + b",\n".join(fields) + b"\n}\n"
