"""Records that other nodes and tools expect from a controller in the metadata log."""

from kraft_kafka.wire.metadata_records import decode_metadata_record, encode_metadata_record, type_of

METADATA_VERSION = 25
"""4.0-IV3, which every release since 4.0 supports."""
METADATA_VERSION_MIN = 7
METADATA_VERSION_RECORD = encode_metadata_record(
    "FeatureLevelRecord", name="metadata.version", featureLevel=METADATA_VERSION
)


def says_metadata_version(value: bytes) -> bool:
    """True for a record of this feature, at any level: a newer controller's level stays in force."""
    if type_of(value) != "FeatureLevelRecord":
        return False
    record = decode_metadata_record(value)
    return record is not None and record.fields["name"] == "metadata.version"
