"""The file `quorum-state`: one line of JSON, with its format version in `data_version`.

Rule: wire.quorum-state.
"""

import json
from typing import Any

from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.documents import read_json
from kraft_kafka.wire.encoding import Encoder
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.schema import fields_of, record_of

DATA_VERSION = "data_version"
"""Kafka's name of the version field, which comes last."""


def encode_quorum_state(version: int, document: Any) -> tuple[str, list[str]]:
    """Return the text of the file, as Kafka writes it, and the paths of the fields that the version lacks.

    Raises:
        WireError: the document is no quorum state.
    """
    message = record_of("QuorumStateData")
    message.checked(version, DATA_VERSION)
    if isinstance(document, dict):
        stated = document.get(DATA_VERSION, version)
        if stated != version:
            raise WireError(Reason.OUT_OF_RANGE, f"$.{DATA_VERSION}", str(version), str(stated))
        document = {name: value for name, value in document.items() if name != DATA_VERSION}
    # Encoding only checks the types; its bytes are not used.
    encoder = Encoder(version, is_flexible=False)
    encoder.struct(message.fields, document, "$")
    ordered = {field.name: document[field.name] for field in fields_of(message.fields, version)}
    text = json.dumps(ordered | {DATA_VERSION: version}, separators=(",", ":"), ensure_ascii=False)
    return text, encoder.dropped


def decode_quorum_state(text: str) -> Document:
    """Return the JSON of the file's first line, with `data_version`.

    Raises:
        WireError: it is no quorum state of a known version.
    """
    line = text.split("\n", 1)[0]
    document = read_json(line)
    if not isinstance(document, dict):
        raise WireError(Reason.WRONG_TYPE, "$", "an object", type(document).__name__)
    version = document.get(DATA_VERSION)
    if not isinstance(version, int) or isinstance(version, bool):
        raise WireError(Reason.MISSING_FIELD, f"$.{DATA_VERSION}", "0 or 1", str(version))
    message = record_of("QuorumStateData")
    message.checked(version, f"$.{DATA_VERSION}")
    present = {field.name for field in fields_of(message.fields, version)}
    if extra := sorted(document.keys() - present - {DATA_VERSION}):
        expected = f"one of {', '.join(sorted(present))} in version {version}"
        raise WireError(Reason.UNKNOWN_FIELD, f"$.{extra[0]}", expected, "another field")
    encode_quorum_state(version, document)
    return document
