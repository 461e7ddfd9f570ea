"""The few records of Kafka's controller that others expect in the metadata log.

Kafka's name for the form: a frame version, the type and version of the record, then its fields, all flexible.
"""

from kraft_conformance.wire.encoding import varint

METADATA_VERSION = 25
"""4.0-IV3, which each release from 4.0 on knows."""
_FRAME, _FEATURE_LEVEL = 1, 12


def _feature_level(name: str, level: int) -> bytes:
    """A FeatureLevelRecord."""
    text = name.encode()
    fields = varint(len(text) + 1) + text + level.to_bytes(2, "big") + varint(0)
    return varint(_FRAME) + varint(_FEATURE_LEVEL) + varint(0) + fields


METADATA_VERSION_RECORD = _feature_level("metadata.version", METADATA_VERSION)
