"""Frames for tests: random messages of every API that is decoded, and the same with damage."""

import random
import resource
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from crc32c import crc32c
from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader

from kraft_kafka.node import apis
from kraft_kafka.node.exchanges import fetched
from kraft_kafka.node.image import image_of
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.frames import decode_request, decode_response, encode_frame, header_of, header_version
from kraft_kafka.wire.log_records import batches_of, control_batch, data_batch, records_of, values_of
from kraft_kafka.wire.other_requests import (
    OtherRequest,
    decode_other_request,
    decode_other_response,
    message_from_kio,
)
from kraft_kafka.wire.schema import RANGES, Field, Kind, Message, fields_of, messages
from kraft_kafka.wire.snapshot_files import decode_snapshot, encode_snapshot
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind

_EXTREMES = [bytes.fromhex(text) for text in ("ffffffff0f", "ffffffff07", "7fffffff", "80000000", "fffffffe", "7fff")]
_EXTREMES += [b"\xff" * 9 + b"\x01", b"\x80" * 10, b"\xff" * 11, b"\x80\x00"]
"""Lengths and counts that are huge or negative, and varints of ten bytes and more."""
_SNAPSHOT = Snapshot(9, 2, 1, frozenset({ReplicaKey(1, "A")}), (VoterDetails(1, "a:1", 0, 1),))
_ADDRESS_SPACE = 2**30
_OTHERS: Mapping[int, apis.Api] = {**apis.BROKER, **apis.CONTROLLER}


class Target(NamedTuple):
    """A message in a version, and the function that decodes its frames."""

    message: Message
    version: int
    decode: Callable[[bytes], Any]


def targets() -> Iterator[Target]:
    """Every request and response that this package decodes, in every version."""
    for message in messages().values():
        if message.kind in (Kind.REQUEST, Kind.RESPONSE):
            for version in message.versions:
                yield Target(message, version, _decoder(message, version))
    versions = apis.versions(_OTHERS)
    for key, supported in versions.items():
        for version in supported:
            requested = OtherRequest(key, version, 7, None)
            request = message_from_kio(load_request_schema(key, version))
            response = message_from_kio(load_response_schema(key, version))
            yield Target(request, version, partial(decode_other_request, versions=versions))
            yield Target(response, version, partial(decode_other_response, requested))


def _decoder(message: Message, version: int) -> Callable[[bytes], Any]:
    if message.kind is Kind.REQUEST:
        return lambda raw: decode_request(raw, is_lenient=True)

    def decode(raw: bytes) -> Any:
        frame = decode_response(raw, message, version, is_lenient=True)
        return fetched(frame.body) if message.api == "Fetch" else frame

    return decode


def valid_frame(target: Target, chance: random.Random) -> bytes:
    """Return a frame with random values in all fields."""
    message, version = target.message, target.version
    header = _document(header_of(message).fields, header_version(message, version), chance)
    header |= {"requestApiKey": message.key, "requestApiVersion": version} if message.kind is Kind.REQUEST else {}
    body = _document(message.fields, version, chance)
    return encode_frame(message, version, {"header": header | {"correlationId": 7}, "body": body})[0]


def _document(fields: tuple[Field, ...], version: int, chance: random.Random) -> Document:
    return {field.name: _value(field, version, chance) for field in fields_of(fields, version)}


def _value(field: Field, version: int, chance: random.Random) -> Any:
    if field.is_nullable and chance.random() < 0.1:
        return None
    if field.is_array:
        return [_element(field, version, chance) for _ in range(chance.choice((0, 1, 2, 3)))]
    return _element(field, version, chance)


def _element(field: Field, version: int, chance: random.Random) -> Any:
    if field.is_struct:
        return _document(field.fields, version, chance)
    if field.type in RANGES:
        low, high = RANGES[field.type]
        return chance.choice((low, high, 0, 1, chance.randint(low, high))) if field.name != "error_code" else 0
    match field.type:
        case "bool":
            return chance.random() < 0.5
        case "uuid":
            return "A" * 21 + chance.choice("AQgw")
        case "records":
            return b64encode(batches(chance)).decode()
        case _:
            return "é" * chance.choice((0, 1, 9))


def batches(chance: random.Random) -> bytes:
    """Two batches of a log, one of them of control records."""
    voters = Record(2, RecordKind.VOTERS, 0, _SNAPSHOT.voters, _SNAPSHOT.details)
    records = [Record(2, RecordKind.LEADER_CHANGE, 1), Record(2, RecordKind.KRAFT_VERSION, 1), voters]
    values = [chance.randbytes(chance.choice((0, 3, 40))) for _ in range(chance.choice((1, 2, 9)))]
    return control_batch(0, records, 0, [1]) + data_batch(len(records), 2, values, 0)


def damaged(raw: bytes, chance: random.Random) -> bytes:
    """Return the bytes with some changed, removed, repeated or inserted."""
    content = bytearray(raw)
    for _ in range(chance.choice((1, 1, 2, 5))):
        start = chance.randrange(len(content) + 1)
        end = min(len(content), start + chance.choice((0, 1, 1, 1, 4, 5, 60)))
        same_size = chance.randbytes(end - start)
        put = chance.choice((same_size, same_size, chance.choice(_EXTREMES), content[start:end] * 2))
        content[start:end] = put
    return bytes(content[: chance.randrange(len(content) + 1)] if chance.random() < 0.1 else content)


def damaged_frame(frame: bytes, chance: random.Random) -> bytes:
    """A damaged frame whose length mostly fits, so that what follows it is decoded."""
    kind = chance.random()
    if kind < 0.02:
        return damaged(frame, chance)
    # API key and version stay in most frames.
    front = 8 if kind < 0.9 else 4
    body = frame[4:front] + (chance.randbytes(chance.randrange(300)) if kind < 0.1 else damaged(frame[front:], chance))
    return len(body).to_bytes(4, "big") + body


def limit_address_space() -> None:
    """Limit this process to 1 GiB, as `ulimit -v` does."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))


def decode_damaged_frames(count: int, seed: int) -> dict[str, int]:
    """Decode frames of every message with a limited address space; how many of each were decoded without an error.

    Raises:
        AssertionError: kio reads another message from an undamaged frame.
    """
    limit_address_space()
    decoded: dict[str, int] = {}
    by_message: dict[str, list[Target]] = {}
    for target in targets():
        by_message.setdefault(target.message.name, []).append(target)
    for name, versions in by_message.items():
        chance = random.Random(f"{seed} {name}")
        frames = [(target, valid_frame(target, chance)) for target in versions for _ in range(5)]
        for target, frame in frames:
            _check_as_kio_reads(target, frame)
        decoded[name] = 0
        for _ in range(count):
            target, frame = chance.choice(frames)
            try:
                target.decode(damaged_frame(frame, chance))
            except WireError:
                continue
            decoded[name] += 1
    return decoded


def _check_as_kio_reads(target: Target, frame: bytes) -> None:
    made = target.decode(frame)
    if target.message.name in messages():
        return
    load = load_request_schema if target.message.kind is Kind.REQUEST else load_response_schema
    schema = load(target.message.key, target.version)
    _, size = entity_reader(schema.__header_schema__)(frame, 4)
    theirs, _ = entity_reader(schema)(frame, 4 + size)
    assert (made.body if isinstance(made, OtherRequest) else made) == theirs, target


def decode_damaged_logs(count: int, seed: int) -> int:
    """Decode batches and snapshots with a limited address space; how many were decoded without an error."""
    limit_address_space()
    chance, decoded = random.Random(seed), 0
    for _ in range(count):
        is_snapshot = chance.random() < 0.3
        raw = encode_snapshot(_SNAPSHOT, [b"\x01\x02\x00"], 0) if is_snapshot else batches(chance)
        raw = with_checksums(damaged(raw, chance)) if chance.random() < 0.9 else damaged(raw, chance)
        try:
            if is_snapshot:
                image_of(decode_snapshot(raw, 9, 2, _SNAPSHOT).values)
            for batch in batches_of(raw):
                assert len(records_of(batch)) == batch.end_offset - batch.base_offset
                assert batch.is_control or len(values_of(batch)) == batch.end_offset - batch.base_offset
        except WireError:
            continue
        decoded += 1
    return decoded


def with_checksums(raw: bytes) -> bytes:
    """The same bytes with the checksum of the first batch made to fit, so that what follows it is decoded."""
    end = 12 + int.from_bytes(raw[8:12], "big")
    return raw[:17] + crc32c(raw[21:end]).to_bytes(4, "big") + raw[21:]
