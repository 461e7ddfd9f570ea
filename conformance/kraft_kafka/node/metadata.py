"""What others expect of a controller's records in the metadata log."""

from kraft_kafka.wire.metadata_records import decode_metadata_record, encode_metadata_record, type_of

METADATA_VERSION = 25
"""4.0-IV3, which each release from 4.0 on knows."""
METADATA_VERSION_MIN = 7
METADATA_VERSION_RECORD = encode_metadata_record(
    "FeatureLevelRecord", name="metadata.version", featureLevel=METADATA_VERSION
)


def says_metadata_version(value: bytes) -> bool:
    """Is it a record of that feature, at any level: one that a newer controller wrote stays in force?"""
    if type_of(value) != "FeatureLevelRecord":
        return False
    record = decode_metadata_record(value)
    return record is not None and record.fields["name"] == "metadata.version"
