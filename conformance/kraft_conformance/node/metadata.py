"""What others expect of a controller's records in the metadata log."""

from kraft_conformance.wire.metadata_records import encode_metadata_record

METADATA_VERSION = 25
"""4.0-IV3, which each release from 4.0 on knows."""
METADATA_VERSION_MIN = 7
METADATA_VERSION_RECORD = encode_metadata_record(
    "FeatureLevelRecord", name="metadata.version", featureLevel=METADATA_VERSION
)
