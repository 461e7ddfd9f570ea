"""The pairs of the wire codec: made anew they are the same, and what others say of the same bytes and fields."""

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from kio.schema.errors import ErrorCode
from msgspec import UNSET
from tests.conformance.commands import Captured
from tests.conformance.kafka_python import MODULES, differences, kafka_module

from kraft_dev.schemas.conformance import WIRE_SCHEMA
from kraft_dev.wire.format import MANIFEST, Pair, Refusal, WireFile
from kraft_dev.wire.generate import (
    data_folder,
    decode_frame,
    generated,
    read_files,
    rules_of_pairs,
)
from kraft_dev.wire.kio_entities import entity_class, pair_fields
from kraft_kafka.wire.batches import decode_batch, encode_batch
from kraft_kafka.wire.error_codes import CODES
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import encode_frame
from kraft_kafka.wire.other_requests import entity_in
from kraft_kafka.wire.quorum_state import decode_quorum_state, encode_quorum_state
from kraft_kafka.wire.schema import Field, Kind, Message, messages
from kraft_spec.rules import load_registry
from kraft_vectors.generate import differing_files, write_or_check

FILES: tuple[WireFile, ...] = tuple(read_files())
PAIRS: tuple[Pair, ...] = tuple(pair for file in FILES for pair in file.pairs)
WITHOUT_PAIR = {
    "wire.describe-quorum.leader-only": "says who answers DescribeQuorum; the form is that of wire.describe-quorum-2"
}
"""Rules wire.* with the level MUST that no pair is about, and the reason."""
REFUSALS: tuple[Refusal, ...] = tuple(refusal for file in FILES for refusal in file.refusals)


def test_the_pairs_made_anew_are_those_of_the_package() -> None:
    assert differing_files(generated(), data_folder()) == []


def test_check_says_which_file_is_another_one(capsys: Captured) -> None:
    made = {path.name: path.read_bytes() for path in data_folder().glob("*.json")}
    assert write_or_check(["--check"], made, data_folder(), "files") == 0
    assert write_or_check(["--check"], made | {"vote.json": b"{}"}, data_folder(), "files") == 1
    assert capsys.readouterr().out == f"{data_folder() / 'vote.json'}: not what the generator makes\n"


def test_every_file_fits_the_schema_and_the_manifest() -> None:
    validator = Draft202012Validator(WIRE_SCHEMA.committed())
    manifest = json.loads((data_folder() / MANIFEST).read_bytes())
    there = {path.name for path in data_folder().glob("*.json")} - {MANIFEST}
    assert {entry["file"] for entry in manifest["files"]} == there
    for entry in manifest["files"]:
        raw = (data_folder() / entry["file"]).read_bytes()
        validator.validate(json.loads(raw))
        assert sha256(raw).hexdigest() == entry["sha256"]
        assert len(json.loads(raw)["pairs"]) == entry["pairs"]


def test_ids_are_there_once() -> None:
    ids = [pair.id for pair in PAIRS] + [refusal.id for refusal in REFUSALS]
    assert sorted(set(ids)) == sorted(ids)


def test_every_version_of_every_message_has_its_pairs() -> None:
    for message in messages().values():
        if message.kind is not Kind.HEADER:
            for version in message.versions:
                values = {pair.values for pair in PAIRS if (pair.message, pair.version) == (message.name, version)}
                assert values >= {"minimal", "typical", "lowest", "highest"}
                assert ("unknown-tags" in values) == (version in message.flexible and message.kind is not Kind.TEXT)


def test_all_versions_of_kio_are_there_and_all_that_the_rules_name() -> None:
    for message in messages().values():
        if message.kind is Kind.TEXT:
            continue
        there = []
        for version in range(40):
            with suppress(RuntimeError):
                entity_class(message, version)
                there.append(version)
        assert list(message.versions) == there
        assert [version for version in message.needed if version not in message.versions] == []


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_each_pair_is_decoded_and_encoded(file: WireFile) -> None:
    for pair in file.pairs:
        message = messages()[pair.message]
        if pair.text is not UNSET:
            assert decode_quorum_state(pair.text) == pair.json
            assert encode_quorum_state(pair.version, pair.json) == (pair.text, [])
        elif message.kind is Kind.RECORD:
            assert decode_batch(bytes.fromhex(str(pair.hex))) == (pair.json, ())
            assert encode_batch(pair.json).hex() == pair.hex
        else:
            raw = bytes.fromhex(str(pair.hex))
            assert decode_frame(message, pair.version, raw) == pair.json
            assert encode_frame(message, pair.version, pair.json) == (raw, [])


@pytest.mark.parametrize("refusal", REFUSALS, ids=[refusal.id for refusal in REFUSALS])
def test_what_would_get_lost_is_not_sent(refusal: Refusal) -> None:
    """Rule: wire.negotiation."""
    with pytest.raises(WireError) as refused:
        encode_frame(messages()[refusal.message], refusal.version, refusal.json)
    assert (refused.value.reason, refused.value.where) == (Reason.UNSUPPORTED_VERSION, refusal.field)


def test_each_rule_of_the_wire_with_must_has_a_pair_or_a_reason() -> None:
    covered = rules_of_pairs()
    musts = {
        rule.id for rule in load_registry() if rule.id.startswith("wire.") and rule.level == "MUST" and rule.is_active
    }
    assert musts - covered.keys() == WITHOUT_PAIR.keys()


def test_the_pairs_name_rules_that_hold() -> None:
    registry = load_registry()
    assert [rule for rule in rules_of_pairs() if not registry[rule].is_active] == []


def test_the_error_codes_are_those_of_kio() -> None:
    """Rule: wire.error-codes."""
    assert {error: ErrorCode[error.lower()].value for error in CODES} == CODES


def test_api_keys_are_those_of_kio() -> None:
    """Rule: wire.api-keys."""
    for message in messages().values():
        if message.api:
            assert entity_class(message, message.versions.low).__api_key__ == message.key


OF_KIO = [message for message in messages().values() if message.kind is not Kind.TEXT]


@pytest.mark.parametrize("message", OF_KIO, ids=[item.name for item in OF_KIO])
def test_the_fields_are_those_of_kio(message: Message) -> None:
    """Names, order, types, arrays, nulls, tags and defaults, version by version."""
    for version in message.versions:
        cls = entity_class(message, version)
        assert cls.__flexible__ == (version in message.flexible)
        assert list(_differences(message.fields, version, cls, message.name)) == []


def _differences(of: tuple[Field, ...], version: int, cls: Any, where: str) -> Iterator[str]:
    for ours, theirs in pair_fields(of, version, cls):
        path = f"{where}.{ours.name} version {version}"
        if theirs.metadata.get("tag") != ours.tag:
            yield f"{path}: tag {theirs.metadata.get('tag')}"
        if ("tuple" in str(theirs.type)) != ours.is_array:
            yield f"{path}: {theirs.type}"
        if ours.type != "uuid" and ("None" in str(theirs.type)) != ours.is_nullable:
            yield f"{path}: nullable {theirs.type}"
        if ours.is_struct:
            yield from _differences(ours.fields, version, entity_in(theirs.type), f"{where}.{ours.name}")
            continue
        expected = {"error_code": "int16", "timedelta_i32": "int32"}
        kind = theirs.metadata["kafka_type"]
        if expected.get(kind, kind) != ours.type:
            yield f"{path}: {kind}"
        default = theirs.default if theirs.default is not None or ours.type != "uuid" else ours.default
        if isinstance(default, timedelta):
            default //= timedelta(milliseconds=1)
        has_default = isinstance(default, str | int | bool) or default is None
        if has_default and not ours.is_array and default != ours.default:
            yield f"{path}: default {default}, expected {ours.default}"


def test_the_fields_are_those_of_kafkas_files_as_kafka_python_carries_them() -> None:
    """With what kio leaves out: which of them are ignorable, and in which versions."""
    kafka_module("protocol.schemas")
    resources = files("kafka") / "protocol" / "schemas" / "resources"
    observed = []
    for message in messages().values():
        file = resources / f"{message.name}.json"
        if not file.is_file():
            continue
        text = "\n".join(line for line in file.read_text().splitlines() if not line.lstrip().startswith("//"))
        schema = json.loads(text)
        structs = {item["name"]: item["fields"] for item in schema.get("commonStructs", [])}
        theirs = list(_flat_theirs(schema["fields"], structs, message.versions.low, ""))
        assert list(_flat_ours(message.fields, message.versions.low, "")) == theirs
        assert schema["validVersions"] == str(message.versions)
        observed.append(message.name)
    assert len(observed) == 14


def _flat_ours(of: tuple[Field, ...], lowest: int, where: str) -> Iterator[tuple[Any, ...]]:
    for field in of:
        path = f"{where}{field.name}"
        low = max(field.versions.low, lowest)
        yield path, low, field.versions.high, field.tag, field.is_nullable, field.is_ignorable
        yield from _flat_ours(field.fields, lowest, f"{path}.")


def _flat_theirs(
    of: list[dict[str, Any]], structs: dict[str, Any], lowest: int, where: str
) -> Iterator[tuple[Any, ...]]:
    for field in of:
        path = f"{where}{field['name'][0].lower()}{field['name'][1:]}"
        low, _, high = field["versions"].partition("-")
        last = 2**15 - 1 if low.endswith("+") else int(high or low)
        first = max(int(low.rstrip("+")), lowest)
        yield path, first, last, field.get("tag"), "nullableVersions" in field, bool(field.get("ignorable"))
        inner = field.get("fields") or structs.get(field["type"].removeprefix("[]"), [])
        yield from _flat_theirs(inner, structs, lowest, f"{path}.")


OF_CLIENTS = [pair for pair in PAIRS if messages()[pair.message].api in MODULES]


@pytest.mark.parametrize("values", sorted({pair.values for pair in OF_CLIENTS} - {"unknown-tags-within"}))
def test_kafka_python_reads_and_writes_the_same(values: str) -> None:
    """Not of tagged fields in a tagged field, which it cannot read."""
    requested = [pair for pair in OF_CLIENTS if pair.values == values]
    assert [(pair.id, difference) for pair in requested for difference in differences(pair)] == []
