"""Make the pairs of the package anew: `python -m kraft_dev.wire.generate [--check]`.

kio's bytes must equal ours, and kio must read the same message from them.
kio 0.6.5 neither writes nor skips unknown tagged fields (it raises KeyError), so it checks
such a message without them, and kafka-python checks them (`tests/conformance/kafka_python.py`).
The same sources give the same bytes; `--check` writes nothing and prints the differences.
"""

import json
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from kraft_dev.wire.format import (
    MANIFEST,
    SCHEMA,
    AbsentField,
    Manifest,
    ManifestFile,
    Pair,
    Refusal,
    VersionEntry,
    WireFile,
    split_camel_case,
)
from kraft_dev.wire.kio_entities import kio_bytes, kio_frame, kio_read, without_unknown_tags
from kraft_dev.wire.typical import typical_body, typical_header
from kraft_dev.wire.values import Valued, contents_of, minimal_document, undroppable_paths
from kraft_kafka.wire.batches import batch_of, decode_batch, encode_batch, encode_value
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import decode_request, decode_response, encode_frame, header_of, header_version
from kraft_kafka.wire.quorum_state import decode_quorum_state, encode_quorum_state
from kraft_kafka.wire.schema import Field, Kind, Message, messages
from kraft_vectors.generate import write_or_check


class PairProofError(AssertionError):
    """kio and this codec disagree about a pair."""


def data_folder() -> Path:
    """Return the folder of the pairs in the package."""
    return Path(str(files("kraft_kafka").joinpath("wire", "data")))


def generated() -> dict[str, bytes]:
    """Return every file of the folder, by name.

    Raises:
        PairProofError: kio writes other bytes of a message, or reads another message from them.
    """
    made, entries = {}, []
    for name, of in _grouped().items():
        built = wire_file(name, of)
        raw = made[f"{name}.json"] = file_bytes(built)
        entries.append(ManifestFile(file=f"{name}.json", sha256=sha256(raw).hexdigest(), pairs=len(built.pairs)))
    made[MANIFEST] = file_bytes(Manifest(schema=SCHEMA, files=tuple(entries)))
    return made


def file_bytes(built: WireFile | Manifest) -> bytes:
    """Return the text of a file, one line for each pair so that diffs are readable."""
    document = msgspec.to_builtins(built)
    parts = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            lines = ",\n".join(f"    {_line(element)}" for element in value)
            parts.append(f"  {_line(name)}: [\n{lines}\n  ]")
        else:
            parts.append(f"  {_line(name)}: {_line(value)}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _grouped() -> dict[str, list[Message]]:
    groups: dict[str, list[Message]] = {}
    for message in messages().values():
        if message.kind is not Kind.HEADER:
            name = {Kind.RECORD: "control-records", Kind.TEXT: "quorum-state"}.get(message.kind, kebab(message.api))
            groups.setdefault(name, []).append(message)
    return groups


def kebab(name: str) -> str:
    """Return a name in kebab case: `begin-quorum-epoch` for `BeginQuorumEpoch`, `kraft-version-record` for
    `KRaftVersionRecord`.
    """
    return split_camel_case(name.replace("KRaft", "Kraft"), "-")


def wire_file(name: str, of: list[Message]) -> WireFile:
    """Return the file of these messages."""
    return WireFile(
        schema=SCHEMA,
        name=name,
        api_key=of[0].key if of[0].api else msgspec.UNSET,
        sources={message.name: message.source for message in of},
        versions=tuple([_version_entry(message, version) for message in of for version in message.versions]),
        pairs=tuple([pair for message in of for version in message.versions for pair in pairs_of(message, version)]),
        refusals=tuple(
            [refusal for message in of for version in message.versions for refusal in _refusals(message, version)]
        ),
    )


def _version_entry(message: Message, version: int) -> VersionEntry:
    has_header = message.kind in (Kind.REQUEST, Kind.RESPONSE)
    return VersionEntry(
        message=message.name,
        kind=message.kind.value,  # type: ignore[arg-type]
        version=version,
        header_version=header_version(message, version) if has_header else msgspec.UNSET,
        flexible=version in message.flexible,
        needed=version in message.needed,
        absent=tuple(_absent(message.fields, version, "")),
    )


def _absent(fields: tuple[Field, ...], version: int, where: str) -> Iterator[AbsentField]:
    for field in fields:
        path = f"{where}{field.name}"
        if version not in field.versions:
            yield AbsentField(field=path, ignorable=field.is_ignorable)
        elif field.is_struct:
            yield from _absent(field.fields, version, f"{path}{'[]' if field.is_array else ''}.")


def pairs_of(message: Message, version: int) -> Iterator[Pair]:
    """Yield the pairs of one version of a message."""
    for content in contents_of(message, version):
        document, encoded = _encoded(message, version, content)
        yield Pair(
            id=f"{kebab(message.name)}-v{version}-{content.values}",
            rules=(*message.rules, *content.rules),
            message=message.name,
            kind=message.kind.value,  # type: ignore[arg-type]
            version=version,
            values=content.values,  # type: ignore[arg-type]
            json=document,
            **encoded,
        )


def _encoded(message: Message, version: int, content: Valued) -> tuple[Document, dict[str, Any]]:
    """Return the JSON that the bytes decode to, and the bytes with the fields dropped by the encoding."""
    if message.kind is Kind.TEXT:
        text, dropped = encode_quorum_state(version, content.body)
        return decode_quorum_state(text), {"text": text, "dropped": tuple(dropped)}
    if message.kind is Kind.RECORD:
        raw = encode_batch(batch_of(message, content.body) | _BATCH.get(content.values, {}))
        document, _ = decode_batch(raw)
        value = document["records"][0]["value"]
        plain = without_unknown_tags(value)
        _prove(message, version, plain, encode_value(message, plain, "value"))
        return document, {"hex": raw.hex()}
    raw, dropped = encode_frame(message, version, {"header": content.header, "body": content.body})
    document = decode_frame(message, version, raw)
    plain = without_unknown_tags(document)
    of_kio = kio_frame(message, version, plain)
    if of_kio != encode_frame(message, version, plain)[0]:
        raise PairProofError(f"{message.name} version {version}: kio makes {of_kio.hex()}")
    header = header_of(message)
    read, size = kio_read(header, header_version(message, version), of_kio[4:])
    _prove_read(header, document["header"], read)
    read, _ = kio_read(message, version, of_kio[4 + size :])
    _prove_read(message, document["body"], read)
    return document, {"hex": raw.hex(), "dropped": tuple(dropped)}


_BATCH = {
    "typical": {"baseOffset": 200, "partitionLeaderEpoch": 4, "baseTimestamp": 1_700_000_000_000}
    | {"maxTimestamp": 1_700_000_000_000},
    "highest": {"baseOffset": 2**63 - 1, "partitionLeaderEpoch": 2**31 - 1, "attributes": 0x28},
}
"""Batches that do not begin at offset 0; the last one has the time of the append."""


def decode_frame(message: Message, version: int, raw: bytes) -> Document:
    """Return the JSON of a frame, decoded as a request or response.

    Raises:
        WireError: it is no such frame.
    """
    if message.kind is Kind.RESPONSE:
        return decode_response(raw, message, version).document
    return decode_request(raw).document


def _prove(message: Message, version: int, document: Document, raw: bytes) -> None:
    """Check that kio writes these bytes for the document, and reads the document from them."""
    of_kio = kio_bytes(message, version, document)
    if of_kio != raw:
        raise PairProofError(f"{message.name} version {version}: kio makes {of_kio.hex()}")
    _prove_read(message, document, kio_read(message, version, raw)[0])


def _prove_read(message: Message, document: Document, read: Document) -> None:
    if read != without_unknown_tags(document):
        raise PairProofError(f"{message.name}: kio reads {read}, expected {document}")


def _refusals(message: Message, version: int) -> Iterator[Refusal]:
    """Yield a refusal of the ordinary message if this version would lose one of its fields."""
    if message.kind not in (Kind.REQUEST, Kind.RESPONSE):
        return
    whole = minimal_document(message.fields, version) | typical_body(message, message.versions.high)
    lost = list(undroppable_paths(message.fields, version, whole))
    if not lost:
        return
    document = {"header": typical_header(message), "body": whole}
    try:
        encode_frame(message, version, document)
    except WireError as error:
        if error.reason is not Reason.UNSUPPORTED_VERSION or error.where not in lost:
            raise
        yield Refusal(
            id=f"{kebab(message.name)}-v{version}-refused",
            rules=("wire.negotiation",),
            message=message.name,
            kind=message.kind.value,  # type: ignore[arg-type]
            version=version,
            json=document,
            error="UNSUPPORTED_VERSION",
            field=error.where,
        )


def read_files() -> Iterator[WireFile]:
    """Yield the files in the package's manifest, in its order."""
    folder = data_folder()
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    for entry in manifest.files:
        yield msgspec.json.decode((folder / entry.file).read_bytes(), type=WireFile)


def rules_of_pairs() -> dict[str, tuple[str, ...]]:
    """Return the pairs and refusals of each rule, by rule."""
    pairs_of_rule: dict[str, list[str]] = {}
    for file in read_files():
        named = [(entry.id, entry.rules) for entry in file.pairs] + [(entry.id, entry.rules) for entry in file.refusals]
        for pair, rules in named:
            for rule in rules:
                pairs_of_rule.setdefault(rule, []).append(pair)
    return {rule: tuple(pairs) for rule, pairs in pairs_of_rule.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], generated(), data_folder(), "files"))
