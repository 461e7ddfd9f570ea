"""Make the pairs of the package anew: `python -m kraft_dev.wire.generate [--check]`.

kio makes the bytes; ours have to be the same, and what kio reads from them the same message.
kio 0.6.5 neither writes tagged fields that its schema does not know nor reads past them (it raises KeyError), so that
it answers for such a message without them, and kafka-python for them (`tests/conformance/kafka_python.py`).
The same sources give the same bytes; `--check` writes nothing and says what differs.
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
    separated,
)
from kraft_dev.wire.kio_entities import kio_bytes, kio_frame, kio_read, without_unknown_tags
from kraft_dev.wire.typical import typical, typical_header
from kraft_dev.wire.values import Valued, minimal, not_droppable, valued
from kraft_kafka.wire.batches import batch_of, decode_batch, encode_batch, encode_value
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import decode_request, decode_response, encode_frame, header_of, header_version
from kraft_kafka.wire.quorum_state import decode_quorum_state, encode_quorum_state
from kraft_kafka.wire.schema import Field, Kind, Message, messages
from kraft_vectors.generate import write_or_check


class PairProofError(AssertionError):
    """kio and this codec do not agree about a pair."""


def data_folder() -> Path:
    """Where the package keeps the pairs."""
    return Path(str(files("kraft_kafka").joinpath("wire", "data")))


def generated() -> dict[str, bytes]:
    """Every file of the folder, by its name.

    Raises:
        PairProofError: kio makes other bytes of a message, or reads another one from them.
    """
    made, entries = {}, []
    for name, of in _grouped().items():
        built = wire_file(name, of)
        raw = made[f"{name}.json"] = file_bytes(built)
        entries.append(ManifestFile(file=f"{name}.json", sha256=sha256(raw).hexdigest(), pairs=len(built.pairs)))
    made[MANIFEST] = file_bytes(Manifest(schema=SCHEMA, files=tuple(entries)))
    return made


def file_bytes(built: WireFile | Manifest) -> bytes:
    """One line for each pair, so that a difference between two revisions can be read."""
    document = msgspec.to_builtins(built)
    parts = []
    for name, value in document.items():
        if isinstance(value, list) and value:
            lines = ",\n".join(f"    {_line(one)}" for one in value)
            parts.append(f"  {_line(name)}: [\n{lines}\n  ]")
        else:
            parts.append(f"  {_line(name)}: {_line(value)}")
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode()


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _grouped() -> dict[str, list[Message]]:
    groups: dict[str, list[Message]] = {}
    for one in messages().values():
        if one.kind is not Kind.HEADER:
            name = {Kind.RECORD: "control-records", Kind.TEXT: "quorum-state"}.get(one.kind, kebab(one.api))
            groups.setdefault(name, []).append(one)
    return groups


def kebab(name: str) -> str:
    """`BeginQuorumEpoch` as `begin-quorum-epoch`; `KRaftVersionRecord` as `kraft-version-record`."""
    return separated(name.replace("KRaft", "Kraft"), "-")


def wire_file(name: str, of: list[Message]) -> WireFile:
    """The file of these messages."""
    return WireFile(
        schema=SCHEMA,
        name=name,
        api_key=of[0].key if of[0].api else msgspec.UNSET,
        sources={one.name: one.source for one in of},
        versions=tuple([_version_entry(one, version) for one in of for version in one.versions]),
        pairs=tuple([pair for one in of for version in one.versions for pair in pairs_of(one, version)]),
        refusals=tuple([refusal for one in of for version in one.versions for refusal in _refusals(one, version)]),
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
    for one in fields:
        path = f"{where}{one.name}"
        if version not in one.versions:
            yield AbsentField(field=path, ignorable=one.is_ignorable)
        elif one.is_struct:
            yield from _absent(one.fields, version, f"{path}{'[]' if one.is_array else ''}.")


def pairs_of(message: Message, version: int) -> Iterator[Pair]:
    """The pairs of one version of a message."""
    for one in valued(message, version):
        document, encoded = _encoded(message, version, one)
        yield Pair(
            id=f"{kebab(message.name)}-v{version}-{one.values}",
            rules=(*message.rules, *one.rules),
            message=message.name,
            kind=message.kind.value,  # type: ignore[arg-type]
            version=version,
            values=one.values,  # type: ignore[arg-type]
            json=document,
            **encoded,
        )


def _encoded(message: Message, version: int, one: Valued) -> tuple[Document, dict[str, Any]]:
    """The JSON that stands for the bytes, and the bytes with what was dropped on the way."""
    if message.kind is Kind.TEXT:
        text, dropped = encode_quorum_state(version, one.body)
        return decode_quorum_state(text), {"text": text, "dropped": tuple(dropped)}
    if message.kind is Kind.RECORD:
        raw = encode_batch(batch_of(message, one.body) | _BATCH.get(one.values, {}))
        document, _ = decode_batch(raw)
        value = document["records"][0]["value"]
        plain = without_unknown_tags(value)
        _prove(message, version, plain, encode_value(message, plain, "value"))
        return document, {"hex": raw.hex()}
    raw, dropped = encode_frame(message, version, {"header": one.header, "body": one.body})
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
    """The JSON of a frame, of which a request has to be the one that is meant.

    Raises:
        WireError: it is no such frame.
    """
    if message.kind is Kind.RESPONSE:
        return decode_response(raw, message, version).document
    return decode_request(raw).document


def _prove(message: Message, version: int, document: Document, raw: bytes) -> None:
    """kio makes these bytes of the document, and reads the document from them."""
    of_kio = kio_bytes(message, version, document)
    if of_kio != raw:
        raise PairProofError(f"{message.name} version {version}: kio makes {of_kio.hex()}")
    _prove_read(message, document, kio_read(message, version, raw)[0])


def _prove_read(message: Message, document: Document, read: Document) -> None:
    if read != without_unknown_tags(document):
        raise PairProofError(f"{message.name}: kio reads {read}, expected {document}")


def _refusals(message: Message, version: int) -> Iterator[Refusal]:
    """What the ordinary message would lose, one field at a time."""
    if message.kind not in (Kind.REQUEST, Kind.RESPONSE):
        return
    whole = minimal(message.fields, version) | typical(message, message.versions.high)
    lost = list(not_droppable(message.fields, version, whole))
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
    """The files of the package that its manifest names, in its order."""
    folder = data_folder()
    manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
    for entry in manifest.files:
        yield msgspec.json.decode((folder / entry.file).read_bytes(), type=WireFile)


def rules_of_pairs() -> dict[str, tuple[str, ...]]:
    """The pairs and refusals of each rule that one names, by rule."""
    found: dict[str, list[str]] = {}
    for file in read_files():
        named = [(one.id, one.rules) for one in file.pairs] + [(one.id, one.rules) for one in file.refusals]
        for pair, rules in named:
            for rule in rules:
                found.setdefault(rule, []).append(pair)
    return {rule: tuple(pairs) for rule, pairs in found.items()}


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], generated(), data_folder(), "files"))
