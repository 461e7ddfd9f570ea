"""Bytes that are no frame, JSON that is no message, and what random changes of a frame lead to."""

import json
from base64 import b64encode
from typing import Any

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st
from kio.static.primitive import Records

from kraft_dev.wire.format import Pair
from kraft_dev.wire.generate import decode_frame, read_files
from kraft_dev.wire.kio_entities import entity_class, from_entity, kio_bytes, kio_read
from kraft_kafka.wire.batches import decode_batch, encode_batch
from kraft_kafka.wire.documents import read_json
from kraft_kafka.wire.encoding import encoded
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import Frame, decode_request, decode_response, encode_frame
from kraft_kafka.wire.quorum_state import decode_quorum_state, encode_quorum_state
from kraft_kafka.wire.schema import NULL_UUID, Kind, Message, message_of, messages

PAIRS = [pair for file in read_files() for pair in file.pairs]
FRAMES = [pair for pair in PAIRS if pair.kind in ("request", "response")]
BATCHES = [pair for pair in PAIRS if pair.kind == "record"]
VOTE = message_of("Vote", Kind.REQUEST)

st.register_type_strategy(Records, st.binary(max_size=40).map(Records))


def raw_of(name: str) -> bytes:
    return bytes.fromhex(str(next(pair for pair in PAIRS if pair.id == name).hex))


def json_of(name: str) -> dict[str, Any]:
    return json.loads(json.dumps(next(pair for pair in PAIRS if pair.id == name).json))  # type: ignore[no-any-return]


def framed(content: bytes) -> bytes:
    return len(content).to_bytes(4, "big") + content


def vote(after_header: bytes, version: int = 2) -> bytes:
    return framed(b"\0\x34" + version.to_bytes(2, "big") + b"\0\0\0\x06\xff\xff\0" + after_header)


BOOL_OF_2 = raw_of("vote-request-v2-typical")[:-4] + b"\2\0\0\0"
PARTITION = "body.topics[0].partitions[0]"
TAGGED = b"\0\x3b\0\1\0\0\0\6\xff\xff\0\xff\xff\xff\xff\x7f\xff\xff\xff\1"
"""A FetchSnapshotRequest up to its tagged fields."""
MALFORMED = {
    "no length": (b"\0\0", 0, "length", Reason.TRUNCATED),
    "a negative length": (b"\xff\xff\xff\xff", 0, "length", Reason.BAD_LENGTH),
    "too few bytes": (raw_of("vote-request-v0-minimal")[:-1], 4, "frame", Reason.TRUNCATED),
    "too many bytes": (raw_of("vote-request-v0-minimal") + b"\0\0", 18, "frame", Reason.TRAILING_BYTES),
    "too many within": (vote(b"\0\0\0\0\2\1\0\7"), 22, "body", Reason.TRAILING_BYTES),
    "no api": (framed(b"\0"), 4, "header", Reason.TRUNCATED),
    "an unknown api": (framed(b"\0\x03\0\0"), 4, "header.requestApiKey", Reason.UNKNOWN_API),
    "an unknown version": (vote(b"", version=3), 6, "header.requestApiVersion", Reason.UNKNOWN_VERSION),
    "no end of a number": (vote(b"\0\0\0"), 16, "body.voterId", Reason.TRUNCATED),
    "a string beyond the end": (vote(b"\x30A"), 15, "body.clusterId", Reason.BAD_LENGTH),
    "a client id beyond the end": (framed(b"\0\x34\0\2\0\0\0\6\0\7A"), 12, "header.clientId", Reason.BAD_LENGTH),
    "a negative client id": (framed(b"\0\x34\0\2\0\0\0\6\xff\xfe"), 12, "header.clientId", Reason.BAD_LENGTH),
    "an array beyond the end": (vote(b"\0\0\0\0\2\xff\xff\3"), 20, "body.topics", Reason.BAD_LENGTH),
    "null for an array": (vote(b"\0\0\0\0\2\0\0"), 20, "body.topics", Reason.NULL),
    "null for a string": (vote(b"\0\0\0\0\2\2\0\1\0\0"), 21, "body.topics[0].topicName", Reason.NULL),
    "no UTF-8": (vote(b"\0\0\0\0\2\2\3A\xff\1\0\0"), 23, "body.topics[0].topicName", Reason.BAD_UTF8),
    "a varint too long": (vote(b"\xff\xff\xff\xff\xff\1"), 15, "body.clusterId", Reason.BAD_VARINT),
    "a varint too large": (vote(b"\xff\xff\xff\xff\x7f"), 15, "body.clusterId", Reason.BAD_VARINT),
    "a varint without end": (vote(b"\x80"), 15, "body.clusterId", Reason.TRUNCATED),
    "a padded varint": (vote(b"\x80\0\0\0\0\2\1\0"), 15, "body.clusterId", Reason.NOT_CANONICAL),
    "tags in falling order": (vote(b"\0\0\0\0\2\1\2\7\0\6\0"), 24, "body (tag 6)", Reason.BAD_TAGS),
    "one tag twice": (vote(b"\0\0\0\0\2\1\2\7\0\7\0"), 24, "body (tag 7)", Reason.BAD_TAGS),
    "a tag beyond the end": (vote(b"\0\0\0\0\2\1\1\7\1"), 24, "body (tag 7)", Reason.BAD_LENGTH),
    "a bool of 2": (BOOL_OF_2, 132, f"{PARTITION}.preVote", Reason.NOT_CANONICAL),
    "a tagged default": (framed(TAGGED + b"\1\0\1\0"), 25, "body.clusterId", Reason.NOT_CANONICAL),
    "a tagged field with too much": (framed(TAGGED + b"\1\0\3\2A\0"), 29, "body.clusterId", Reason.TRAILING_BYTES),
}


@pytest.mark.parametrize(("raw", "offset", "where", "reason"), MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_frame_says_where_and_what(raw: bytes, offset: int, where: str, reason: Reason) -> None:
    with pytest.raises(WireError) as refused:
        decode_request(raw)
    assert (refused.value.offset, refused.value.where, refused.value.reason) == (offset, where, reason)


def test_an_error_is_a_sentence() -> None:
    with pytest.raises(WireError) as refused:
        decode_response(raw_of("vote-response-v1-typical"), message_of("Vote", Kind.RESPONSE), 3)
    text = "version: expected a version of VoteResponse, one of 0-2, actual 3 (unknown-version)"
    assert str(refused.value) == text


def test_a_lenient_reader_takes_any_bool_but_0_for_true() -> None:
    assert decode_request(BOOL_OF_2, is_lenient=True).document == json_of("vote-request-v2-typical")


def changed(name: str, path: str, value: Any) -> dict[str, Any]:
    """The JSON of a pair with another value at a path; without the field if it is `...`."""
    document = json_of(name)
    inner: Any = document
    *before, last = [int(step) if step.isdecimal() else step for step in path.split("/")]
    for step in before:
        inner = inner[step]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return document


P = "body/topics/0/partitions/0"
WRONG_JSON = {
    "an unknown field": (f"{P}/replicaEpo", 1, f"{PARTITION}.replicaEpo", Reason.UNKNOWN_FIELD),
    "a missing field": (f"{P}/replicaEpoch", ..., f"{PARTITION}.replicaEpoch", Reason.MISSING_FIELD),
    "a string for a number": (f"{P}/replicaEpoch", "1", f"{PARTITION}.replicaEpoch", Reason.WRONG_TYPE),
    "true for a number": (f"{P}/replicaEpoch", True, f"{PARTITION}.replicaEpoch", Reason.WRONG_TYPE),
    "1.0 for a number": (f"{P}/replicaEpoch", 1.0, f"{PARTITION}.replicaEpoch", Reason.WRONG_TYPE),
    "0 for a bool": (f"{P}/preVote", 0, f"{PARTITION}.preVote", Reason.WRONG_TYPE),
    "a number too large": (f"{P}/replicaEpoch", 2**31, f"{PARTITION}.replicaEpoch", Reason.OUT_OF_RANGE),
    "null for a number": ("body/voterId", None, "body.voterId", Reason.WRONG_TYPE),
    "null for an array": ("body/topics", None, "body.topics", Reason.NULL),
    "null for a string": ("body/topics/0/topicName", None, "body.topics[0].topicName", Reason.NULL),
    "an object for an array": ("body/topics", {}, "body.topics", Reason.WRONG_TYPE),
    "an array for an object": (P, [], f"{PARTITION}", Reason.WRONG_TYPE),
    "no uuid": (f"{P}/voterDirectoryId", "U1", f"{PARTITION}.voterDirectoryId", Reason.WRONG_TYPE),
    "a uuid with more bits": (
        f"{P}/voterDirectoryId",
        "AAAAAAAAAAAAAAAAAAAAAB",
        f"{PARTITION}.voterDirectoryId",
        Reason.WRONG_TYPE,
    ),
    "a lone surrogate": ("body/clusterId", "\ud800", "body.clusterId", Reason.BAD_UTF8),
    "a known tag as an unknown one": (
        "header/_unknownTaggedFields",
        [{"tag": 1, "data": "0"}],
        "header._unknownTaggedFields[0].data",
        Reason.NOT_HEX,
    ),
    "another api": ("header/requestApiKey", 53, "header.requestApiKey", Reason.OUT_OF_RANGE),
}


@pytest.mark.parametrize(("path", "value", "where", "reason"), WRONG_JSON.values(), ids=list(WRONG_JSON))
def test_json_that_is_no_message_is_named_by_its_path(path: str, value: Any, where: str, reason: Reason) -> None:
    with pytest.raises(WireError) as refused:
        encode_frame(VOTE, 2, changed("vote-request-v2-typical", path, value))
    assert (refused.value.where, refused.value.reason) == (where, reason)


@pytest.mark.parametrize(
    ("name", "path", "value", "text"),
    [
        (
            "vote-response-v1-typical",
            "body/_unknownTaggedFields",
            [{"tag": 0, "data": ""}],
            "body._unknownTaggedFields[0].tag: expected a tag that no other field has, actual 0 (bad-tags)",
        ),
        ("begin-quorum-epoch-request-v0-typical", "body/_unknownTaggedFields", [], "(unknown-field)"),
        (
            "vote-response-v1-typical",
            "body/_unknownTaggedFields",
            [{"tag": 2**31, "data": ""}],
            "tag: expected a number ",
        ),
        ("fetch-response-v17-typical", "body/responses/0/partitions/0/records", "%", "records in base 64"),
        (
            "vote-request-v2-minimal",
            "header/clientId",
            "x" * 2**15,
            "header.clientId (length): expected int16, from -32768 to 32767, actual 32768 (out-of-range)",
        ),
    ],
)
def test_what_one_message_cannot_hold(name: str, path: str, value: Any, text: str) -> None:
    pair = next(pair for pair in PAIRS if pair.id == name)
    with pytest.raises(WireError) as refused:
        encode_frame(messages()[pair.message], pair.version, changed(name, path, value))
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("{", "line 1, column 2: expected JSON, actual Expecting property name enclosed in double quotes (not-json)"),
        ('{"a": 1, "a": 2}', "'a': expected each field once, actual it stands there twice (not-json)"),
        ("NaN", "$: expected JSON, actual NaN (not-json)"),
        ("[" * 100_000, "$: expected JSON of a depth that can be read, actual a deeper one (not-json)"),
    ],
)
def test_what_is_no_json_is_refused(text: str, printed: str) -> None:
    with pytest.raises(WireError) as refused:
        read_json(text)
    assert str(refused.value) == printed


def with_crc(raw: bytes) -> bytes:
    """A batch with the checksum of what it holds."""
    return raw[:17] + crc32c(raw[21:]).to_bytes(4, "big") + raw[21:]


BATCH = raw_of("voters-record-v0-typical")
WRONG_BATCHES = {
    "a bad checksum": (BATCH[:-1] + b"\1", "crc", Reason.BAD_CRC, 17),
    "an old magic": (BATCH[:16] + b"\1" + BATCH[17:], "magic", Reason.BAD_BATCH, 16),
    "no control batch": (with_crc(BATCH[:21] + b"\0\0" + BATCH[23:]), "attributes", Reason.BAD_BATCH, 21),
    "another last offset": (
        with_crc(BATCH[:23] + b"\0\0\0\1" + BATCH[27:]),
        "lastOffsetDelta",
        Reason.BAD_BATCH,
        23,
    ),
    "no records": (with_crc(BATCH[:57] + b"\0\0\0\0" + BATCH[61:]), "records", Reason.BAD_LENGTH, 57),
    "too short": (BATCH[:-1], "batchLength", Reason.BAD_LENGTH, 8),
    "too long": (BATCH + b"\0", "batch", Reason.TRAILING_BYTES, len(BATCH)),
    "another type": (with_crc(BATCH[:69] + b"\x09" + BATCH[70:]), "records[0].key.type", Reason.UNKNOWN_API, 66),
    "headers": (with_crc(BATCH[:-1] + b"\2"), "records[0].headers", Reason.BAD_LENGTH, len(BATCH) - 1),
    "another version": (
        with_crc(BATCH[:73] + b"\0\1" + BATCH[75:]),
        "records[0].value.version",
        Reason.UNKNOWN_VERSION,
        73,
    ),
}


@pytest.mark.parametrize(("raw", "where", "reason", "offset"), WRONG_BATCHES.values(), ids=list(WRONG_BATCHES))
def test_a_malformed_batch_says_where(raw: bytes, where: str, reason: Reason, offset: int) -> None:
    with pytest.raises(WireError) as refused:
        decode_batch(raw)
    assert (refused.value.where, refused.value.reason, refused.value.offset) == (where, reason, offset)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"crc": 1}, "$.crc"),
        ({"magic": 1}, "magic"),
        ({"records": []}, "$.records"),
        ({"recordz": []}, "$.recordz"),
        ({"records": [{"key": {"version": 0, "type": 6}}]}, "$.records[0].value"),
        ({"records": [{"key": {"version": 0, "type": 1}, "value": {}}]}, "$.records[0].key.type"),
        ({"records": [{"key": {"version": 1, "type": 6}, "value": {}}]}, "$.records[0].key.version"),
        ({"records": [{"key": {"version": 0, "type": 6}, "value": {}}]}, "$.records[0].value.version"),
        ({"records": [{"key": {"version": 0, "type": 6}, "value": {"version": 1}}]}, "$.records[0].value.version"),
        ({"records": [7]}, "$.records[0]"),
    ],
)
def test_json_that_is_no_batch_is_named_by_its_path(change: dict[str, Any], where: str) -> None:
    with pytest.raises(WireError) as refused:
        encode_batch(json_of("voters-record-v0-typical") | change)
    assert refused.value.where == where


def test_several_records_are_one_batch() -> None:
    snapshot = {"records": []} | {  # a snapshot's beginning: header, kraft.version, voters
        "records": [
            json_of(f"{name}-v0-typical")["records"][0] | {"offsetDelta": number}
            for number, name in enumerate(("snapshot-header-record", "kraft-version-record", "voters-record"))
        ]
    }
    document, _ = decode_batch(encode_batch(snapshot))
    assert [record["key"]["type"] for record in document["records"]] == [3, 5, 6]
    assert document["lastOffsetDelta"] == 2


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[]", "$"),
        ("{}", "$.data_version"),
        ('{"data_version":2}', "$.data_version"),
        ('{"data_version":1,"clusterId":""}', "$.clusterId"),
        ('{"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"","data_version":1}', "$.leaderId"),
        ("nothing", "line 1, column 1"),
    ],
)
def test_what_is_no_quorum_state_is_named_by_its_path(text: str, where: str) -> None:
    with pytest.raises(WireError) as refused:
        decode_quorum_state(text)
    assert refused.value.where == where


def test_a_voted_directory_id_is_not_lost_in_version_0() -> None:
    """Rule: wire.quorum-state.  Version 0 has no place for it."""
    text, _ = encode_quorum_state(1, json_of("quorum-state-data-v1-typical"))
    assert json.loads(text)["votedDirectoryId"] != NULL_UUID
    whole = json_of("quorum-state-data-v0-typical") | {"votedDirectoryId": json.loads(text)["votedDirectoryId"]}
    with pytest.raises(WireError, match="UNSUPPORTED_VERSION"):
        encode_quorum_state(0, whole)


MUTATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("flip"), st.floats(0, 0.999), st.integers(0, 7)),
        st.tuples(st.just("set"), st.floats(0, 0.999), st.sampled_from((0, 1, 2, 0x7F, 0x80, 0xFF))),
        st.tuples(st.just("cut"), st.floats(0, 0.999), st.integers(1, 12)),
        st.tuples(st.just("insert"), st.floats(0, 0.999), st.binary(min_size=1, max_size=6)),
        st.tuples(st.just("twice"), st.floats(0, 0.999), st.integers(1, 40)),
    ),
    min_size=1,
    max_size=4,
)


def mutated(raw: bytes, mutations: list[tuple[str, float, Any]]) -> bytes:
    content = bytearray(raw)
    for kind, place, value in mutations:
        at = int(place * len(content))
        if kind == "flip" and content:
            content[at] ^= 1 << value
        elif kind == "set" and content:
            content[at] = value
        elif kind == "cut":
            del content[at : at + value]
        elif kind == "insert":
            content[at:at] = value
        elif kind == "twice":
            content[at:at] = content[at : at + value]
    return bytes(content)


def found_or_refused(raw: bytes, message: Message, version: int) -> Frame | WireError:
    try:
        return decode_request(raw) if message.kind is Kind.REQUEST else decode_response(raw, message, version)
    except WireError as error:
        return error


@given(st.sampled_from(FRAMES), MUTATIONS, st.booleans())
def test_a_changed_frame_is_an_error_or_another_frame(
    pair: Pair, mutations: list[tuple[str, float, Any]], has_right_length: bool
) -> None:
    raw = bytes.fromhex(str(pair.hex))
    raw = framed(mutated(raw[4:], mutations)) if has_right_length else mutated(raw, mutations)
    message = messages()[pair.message]
    result = found_or_refused(raw, message, pair.version)
    if isinstance(result, WireError):
        assert result.offset is not None
    else:
        document = json.loads(json.dumps(result.document))
        assert encode_frame(result.message, result.version, document) == (raw, [])


@given(st.sampled_from(BATCHES), MUTATIONS, st.booleans())
def test_a_changed_batch_is_an_error_or_another_batch(
    pair: Pair, mutations: list[tuple[str, float, Any]], is_right: bool
) -> None:
    raw = mutated(bytes.fromhex(str(pair.hex)), mutations)
    if is_right and len(raw) > 21:
        raw = with_crc(raw[:8] + (len(raw) - 12).to_bytes(4, "big") + raw[12:])
    try:
        document, _ = decode_batch(raw)
    except WireError:
        return
    assert encode_batch(json.loads(json.dumps(document))) == raw


@given(st.binary(max_size=60), st.sampled_from([message for message in messages().values() if message.api]))
def test_any_bytes_are_an_error_or_a_frame(content: bytes, message: Message) -> None:
    for version in message.versions:
        named = message.key.to_bytes(2, "big") + version.to_bytes(2, "big")
        result = found_or_refused(framed(named * (message.kind is Kind.REQUEST) + content), message, version)
        assert not isinstance(result, WireError) or result.offset is not None


@given(st.data())
def test_any_message_of_kio_goes_there_and_back(data: st.DataObject) -> None:
    """Random entities of kio: our bytes are kio's, and the JSON of the bytes is the same again."""
    expected = [message for message in messages().values() if message.kind is not Kind.TEXT]
    message = data.draw(st.sampled_from(expected))
    version = data.draw(st.sampled_from(list(message.versions)))
    entity = data.draw(st.from_type(entity_class(message, version)))
    document = json.loads(json.dumps(from_entity(message.fields, version, entity)))
    raw, dropped = encoded(message, version, document, "body")
    assert (raw, dropped) == (kio_bytes(message, version, document), [])
    assert kio_read(message, version, raw) == (document, len(raw))
    if message.kind in (Kind.REQUEST, Kind.RESPONSE):
        header = {"correlationId": 7} | ({"clientId": None} if message.kind is Kind.REQUEST else {})
        frame, _ = encode_frame(message, version, {"header": header, "body": document})
        assert decode_frame(message, version, frame)["body"] == document


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=5))
def test_any_value_in_any_place_is_an_error_or_a_value(value: Any) -> None:
    for path in ("header", "body", "body/voterId", "body/topics", P, f"{P}/replicaDirectoryId", f"{P}/preVote"):
        document = changed("vote-request-v2-typical", path, value)
        try:
            raw, _ = encode_frame(VOTE, 2, document)
        except WireError:
            continue
        assert encode_frame(VOTE, 2, decode_request(raw).document) == (raw, [])


def test_records_in_base_64_are_the_bytes() -> None:
    result = decode_response(raw_of("fetch-response-v17-typical"), message_of("Fetch", Kind.RESPONSE), 17)
    batch = json_of("voters-record-v0-typical") | {"baseTimestamp": 0, "maxTimestamp": 0}
    for name in ("crc", "batchLength"):
        del batch[name]
    assert result.body["responses"][0]["partitions"][0]["records"] == b64encode(encode_batch(batch)).decode()
