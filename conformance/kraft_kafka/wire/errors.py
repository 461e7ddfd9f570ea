"""What cannot be decoded or encoded, and where."""

from enum import StrEnum


class Reason(StrEnum):
    """Why bytes are no frame, or a document no message."""

    TRUNCATED = "truncated"
    """The bytes end within a field."""
    TRAILING_BYTES = "trailing-bytes"
    """Bytes are left over where something has to end."""
    BAD_LENGTH = "bad-length"
    """A length is negative, or larger than what is left of the frame."""
    BAD_VARINT = "bad-varint"
    """More bytes than a varint of this type can have, or a value beyond it."""
    BAD_UTF8 = "bad-utf8"
    NULL = "null"
    """Null in a field that cannot be null."""
    UNKNOWN_API = "unknown-api"
    UNKNOWN_VERSION = "unknown-version"
    BAD_CRC = "bad-crc"
    BAD_TAGS = "bad-tags"
    """Tagged fields that do not come in ascending order, each once."""
    BAD_BATCH = "bad-batch"
    """A record batch that is not of the form that the log has."""
    NOT_CANONICAL = "not-canonical"
    """Readable, but not what Kafka writes; lenient decoding takes it."""
    NOT_HEX = "not-hex"
    NOT_JSON = "not-json"
    UNKNOWN_FIELD = "unknown-field"
    MISSING_FIELD = "missing-field"
    WRONG_TYPE = "wrong-type"
    OUT_OF_RANGE = "out-of-range"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    """A field that this version lacks holds something that must not get lost.  Rule: wire.negotiation."""


class WireError(ValueError):
    """Bytes that are no frame, or a document that is no message."""

    def __init__(self, reason: Reason, where: str, expected: str, actual: str, offset: int | None = None) -> None:
        """
        Args:
            reason: one word for programs.
            where: path of the field, such as `body.topics[0].topicName`, or of the JSON.
            expected: what had to be there.
            actual: what was.
            offset: in bytes from the start of the frame; None where a document is read.
        """
        self.reason, self.where, self.expected, self.actual, self.offset = reason, where, expected, actual, offset
        at = "" if offset is None else f"byte {offset}: "
        super().__init__(f"{at}{where}: expected {expected}, actual {actual} ({reason})")
