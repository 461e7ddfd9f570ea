"""Decoding and encoding errors."""

from enum import StrEnum


class Reason(StrEnum):
    """Reason that bytes are no frame, or a document no message."""

    TRUNCATED = "truncated"
    """The bytes end within a field."""
    TRAILING_BYTES = "trailing-bytes"
    """Bytes follow after the end of a message or field."""
    BAD_LENGTH = "bad-length"
    """A length is negative, or exceeds the rest of the frame."""
    BAD_VARINT = "bad-varint"
    """A varint has too many bytes, or too large a value, for its type."""
    BAD_UTF8 = "bad-utf8"
    NULL = "null"
    """Null in a field that cannot be null."""
    UNKNOWN_API = "unknown-api"
    UNKNOWN_VERSION = "unknown-version"
    BAD_CRC = "bad-crc"
    BAD_TAGS = "bad-tags"
    """Tagged fields are repeated or not in ascending order."""
    BAD_BATCH = "bad-batch"
    """A record batch is not in the log's format."""
    NOT_CANONICAL = "not-canonical"
    """The bytes are readable, but Kafka never writes them; lenient decoding accepts them."""
    NOT_HEX = "not-hex"
    NOT_JSON = "not-json"
    UNKNOWN_FIELD = "unknown-field"
    MISSING_FIELD = "missing-field"
    WRONG_TYPE = "wrong-type"
    OUT_OF_RANGE = "out-of-range"
    UNSUPPORTED_VERSION = "UNSUPPORTED_VERSION"
    """A field that this version lacks has a value that must not get lost.  Rule: wire.negotiation."""


class WireError(ValueError):
    """Bytes that are no frame, or a document that is no message."""

    def __init__(self, reason: Reason, where: str, expected: str, actual: str, offset: int | None = None) -> None:
        """Args:
        reason: reason as one word, for programs.
        where: path of the field, such as `body.topics[0].topicName`, or of the JSON.
        expected: expected value, in words.
        actual: actual value, in words.
        offset: bytes from the start of the frame; None for a document.
        """
        self.reason, self.where, self.expected, self.actual, self.offset = reason, where, expected, actual, offset
        at = "" if offset is None else f"byte {offset}: "
        super().__init__(f"{at}{where}: expected {expected}, actual {actual} ({reason})")
