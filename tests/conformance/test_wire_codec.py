"""Bytes that are no frame, JSON that is no message, and what random changes of a frame lead to."""

import json
from base64 import b64encode
from typing import Any

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st
from kio.static.primitive import Records

from kraft_conformance.wire.batches import decode_batch, encode_batch
from kraft_conformance.wire.documents import read_json
from kraft_conformance.wire.encoding import encoded
from kraft_conformance.wire.errors import Reason, WireError
from kraft_conformance.wire.format import Pair
from kraft_conformance.wire.frames import Frame, decode_request, decode_response, encode_frame
from kraft_conformance.wire.generate import decode_frame, read_files
from kraft_conformance.wire.kio_entities import entity_class, from_entity, kio_bytes, kio_read
from kraft_conformance.wire.quorum_state import decode_quorum_state, encode_quorum_state
from kraft_conformance.wire.schema import NULL_UUID, Kind, Message, message_of, messages

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


PARTITION = "body.topics[0].partitions[0]"
TOPIC = b"\x02\x02A"
MALFORMED = {
    "no length": (b"\0\0", "byte 0: length: expected 4 bytes of int32, actual 2 (truncated)"),
    "a negative length": (
        b"\xff\xff\xff\xff",
        "byte 0: length: expected a length of 0 or more, actual -1 (bad-length)",
    ),
    "too few bytes": (
        raw_of("vote-request-v0-minimal")[:-1],
        "byte 4: frame: expected 14 bytes, as its length says, actual 13 (truncated)",
    ),
    "too many bytes": (
        raw_of("vote-request-v0-minimal") + b"\0\0",
        "byte 18: frame: expected nothing more after 14 bytes, actual 2 bytes more (trailing-bytes)",
    ),
    "too many within": (
        vote(b"\0\0\0\0\2\1\0\7"),
        "byte 22: body: expected nothing more, actual 1 bytes more (trailing-bytes)",
    ),
    "no api": (framed(b"\0"), "byte 4: header: expected 4 bytes of API key and version, actual 1 (truncated)"),
    "an unknown api": (
        framed(b"\0\x03\0\0"),
        "byte 4: header.requestApiKey: expected an API key, one of 1, 18, 45, 46, 52, 53, 54, 55, 57, 59, 80, 81, 82, "
        "actual 3 (unknown-api)",
    ),
    "an unknown version": (
        vote(b"", version=3),
        "byte 6: header.requestApiVersion: expected a version of VoteRequest, one of 0-2, actual 3 (unknown-version)",
    ),
    "no end of a number": (vote(b"\0\0\0"), "byte 16: body.voterId: expected 4 bytes of int32, actual 2 (truncated)"),
    "a string beyond the end": (
        vote(b"\x30A"),
        "byte 15: body.clusterId: expected string of up to 1 bytes, actual 47 (bad-length)",
    ),
    "a client id beyond the end": (
        framed(b"\0\x34\0\2\0\0\0\6\0\7A"),
        "byte 12: header.clientId: expected string of up to 1 bytes, actual 7 (bad-length)",
    ),
    "a negative client id": (
        framed(b"\0\x34\0\2\0\0\0\6\xff\xfe"),
        "byte 12: header.clientId: expected a length of 0 or more, or -1 for null, actual -2 (bad-length)",
    ),
    "an array beyond the end": (
        vote(b"\0\0\0\0\2\xff\xff\3"),
        "byte 20: body.topics: expected an array of up to 0 elements, actual 65534 (bad-length)",
    ),
    "null for an array": (vote(b"\0\0\0\0\2\0\0"), "byte 20: body.topics: expected an array, actual null (null)"),
    "null for a string": (
        vote(b"\0\0\0\0\2\2\0\1\0\0"),
        "byte 21: body.topics[0].topicName: expected string, actual null (null)",
    ),
    "no UTF-8": (
        vote(b"\0\0\0\0\2\2\3A\xff\1\0\0"),
        "byte 23: body.topics[0].topicName: expected UTF-8, actual ff (bad-utf8)",
    ),
    "a varint too long": (
        vote(b"\xff\xff\xff\xff\xff\1"),
        "byte 15: body.clusterId: expected a varint of up to 5 bytes, a length, plus 1, actual ffffffffff01 "
        "(bad-varint)",
    ),
    "a varint too large": (
        vote(b"\xff\xff\xff\xff\x7f"),
        "byte 15: body.clusterId: expected a length, plus 1 up to 2147483647, actual 34359738367 (bad-varint)",
    ),
    "a varint without end": (
        vote(b"\x80"),
        "byte 15: body.clusterId: expected a whole varint, a length, plus 1, actual 1 (truncated)",
    ),
    "a padded varint": (
        vote(b"\x80\0\0\0\0\2\1\0"),
        "byte 15: body.clusterId: expected a varint without padding, actual 8000 (not-canonical)",
    ),
    "tags in falling order": (
        vote(b"\0\0\0\0\2\1\2\7\0\6\0"),
        "byte 24: body (tag 6): expected a tag above 7, actual 6 (bad-tags)",
    ),
    "one tag twice": (
        vote(b"\0\0\0\0\2\1\2\7\0\7\0"),
        "byte 24: body (tag 7): expected a tag above 7, actual 7 (bad-tags)",
    ),
    "a tag beyond the end": (
        vote(b"\0\0\0\0\2\1\1\7\1"),
        "byte 24: body (tag 7): expected a length of up to 0, actual 1 (bad-length)",
    ),
    "a bool of 2": (
        raw_of("vote-request-v2-typical")[:-4] + b"\2\0\0\0",
        f"byte 132: {PARTITION}.preVote: expected a bool, 0 or 1, actual 2 (not-canonical)",
    ),
    "a tagged default": (
        framed(b"\0\x3b\0\1\0\0\0\6\xff\xff\0" + b"\xff\xff\xff\xff" + b"\x7f\xff\xff\xff" + b"\1" + b"\1\0\1\0"),
        "byte 25: body.clusterId: expected no tagged field that has its default, actual None (not-canonical)",
    ),
    "a tagged field with too much": (
        framed(b"\0\x3b\0\1\0\0\0\6\xff\xff\0" + b"\xff\xff\xff\xff" + b"\x7f\xff\xff\xff" + b"\1" + b"\1\0\3\2A\0"),
        "byte 29: body.clusterId: expected nothing more, actual 1 bytes more (trailing-bytes)",
    ),
}


@pytest.mark.parametrize(("raw", "said"), MALFORMED.values(), ids=list(MALFORMED))
def test_a_malformed_frame_says_where_and_what(raw: bytes, said: str) -> None:
    with pytest.raises(WireError) as refused:
        decode_request(raw)
    assert str(refused.value) == said


def test_a_response_of_another_version_is_no_such_response() -> None:
    with pytest.raises(WireError) as refused:
        decode_response(raw_of("vote-response-v1-typical"), message_of("Vote", Kind.RESPONSE), 3)
    said = "version: expected a version of VoteResponse, one of 0-2, actual 3 (unknown-version)"
    assert str(refused.value) == said


def test_a_lenient_reader_takes_what_kafka_reads_and_says_so() -> None:
    found = decode_request(vote(b"\x80\0\0\0\0\2\1\0"), is_lenient=True)
    assert found.body == {"clusterId": None, "voterId": 2, "topics": []}
    said = "byte 15: body.clusterId: expected a varint without padding, actual 8000 (not-canonical)"
    assert found.notes == (said,)
    bool_of_2 = decode_request(raw_of("vote-request-v2-typical")[:-4] + b"\2\0\0\0", is_lenient=True)
    assert bool_of_2.document == json_of("vote-request-v2-typical")


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
    "an unknown field": (
        f"{P}/replicaEpo",
        1,
        f"{PARTITION}.replicaEpo: expected one of _unknownTaggedFields, lastOffset, lastOffsetEpoch, partitionIndex, "
        "preVote, replicaDirectoryId, replicaEpoch, replicaId, voterDirectoryId, actual another field (unknown-field)",
    ),
    "a missing field": (
        f"{P}/replicaEpoch",
        ...,
        f"{PARTITION}.replicaEpoch: expected a field that version 2 has, actual none (missing-field)",
    ),
    "a string for a number": (
        f"{P}/replicaEpoch",
        "1",
        f"{PARTITION}.replicaEpoch: expected int32, a whole number, actual a string (wrong-type)",
    ),
    "true for a number": (
        f"{P}/replicaEpoch",
        True,
        f"{PARTITION}.replicaEpoch: expected int32, a whole number, actual true or false (wrong-type)",
    ),
    "1.0 for a number": (
        f"{P}/replicaEpoch",
        1.0,
        f"{PARTITION}.replicaEpoch: expected int32, a whole number, actual a decimal number (wrong-type)",
    ),
    "0 for a bool": (
        f"{P}/preVote",
        0,
        f"{PARTITION}.preVote: expected true or false, actual a whole number (wrong-type)",
    ),
    "a number too large": (
        f"{P}/replicaEpoch",
        2**31,
        f"{PARTITION}.replicaEpoch: expected int32, from -2147483648 to 2147483647, actual 2147483648 (out-of-range)",
    ),
    "null for a number": (
        "body/voterId",
        None,
        "body.voterId: expected int32, a whole number, actual null (wrong-type)",
    ),
    "null for an array": ("body/topics", None, "body.topics: expected an array, actual null (null)"),
    "null for a string": (
        "body/topics/0/topicName",
        None,
        "body.topics[0].topicName: expected a string, actual null (null)",
    ),
    "an object for an array": ("body/topics", {}, "body.topics: expected an array, actual an object (wrong-type)"),
    "an array for an object": (P, [], f"{PARTITION}: expected an object, actual an array (wrong-type)"),
    "no uuid": (
        f"{P}/voterDirectoryId",
        "U1",
        f"{PARTITION}.voterDirectoryId: expected a uuid: 22 characters of base 64 for URLs, actual 'U1' (wrong-type)",
    ),
    "a uuid with more bits": (
        f"{P}/voterDirectoryId",
        "AAAAAAAAAAAAAAAAAAAAAB",
        f"{PARTITION}.voterDirectoryId: expected a uuid: 22 characters of base 64 for URLs, "
        "actual 'AAAAAAAAAAAAAAAAAAAAAB' (wrong-type)",
    ),
    "a lone surrogate": (
        "body/clusterId",
        "\ud800",
        "body.clusterId: expected text without lone surrogates, actual '\\ud800' (bad-utf8)",
    ),
    "a known tag as an unknown one": (
        "header/_unknownTaggedFields",
        [{"tag": 1, "data": "0"}],
        "header._unknownTaggedFields[0].data: expected an even number of hex digits, actual 1 (not-hex)",
    ),
    "another api": (
        "header/requestApiKey",
        53,
        "header.requestApiKey: expected 52 of VoteRequest, actual 53 (out-of-range)",
    ),
}


@pytest.mark.parametrize(("path", "value", "said"), WRONG_JSON.values(), ids=list(WRONG_JSON))
def test_json_that_is_no_message_is_named_by_its_path(path: str, value: Any, said: str) -> None:
    with pytest.raises(WireError) as refused:
        encode_frame(VOTE, 2, changed("vote-request-v2-typical", path, value))
    assert str(refused.value) == said


def test_an_unknown_tag_must_not_be_one_of_the_version() -> None:
    document = changed("vote-response-v1-typical", "body/_unknownTaggedFields", [{"tag": 0, "data": ""}])
    with pytest.raises(WireError) as refused:
        encode_frame(message_of("Vote", Kind.RESPONSE), 1, document)
    said = "body._unknownTaggedFields[0].tag: expected a tag that no other field has, actual 0 (bad-tags)"
    assert str(refused.value) == said


def test_a_version_without_tags_has_no_unknown_ones() -> None:
    document = changed("begin-quorum-epoch-request-v0-typical", "body/_unknownTaggedFields", [])
    with pytest.raises(WireError, match="unknown-field"):
        encode_frame(message_of("BeginQuorumEpoch", Kind.REQUEST), 0, document)


def test_records_are_base_64() -> None:
    document = changed("fetch-response-v17-typical", "body/responses/0/partitions/0/records", "%")
    with pytest.raises(WireError, match="records in base 64"):
        encode_frame(message_of("Fetch", Kind.RESPONSE), 17, document)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "line 1, column 2: expected JSON, actual Expecting property name enclosed in double quotes (not-json)"),
        ('{"a": 1, "a": 2}', "'a': expected each field once, actual it stands there twice (not-json)"),
        ("NaN", "$: expected JSON, actual NaN (not-json)"),
        ("[" * 100_000, "$: expected JSON of a depth that can be read, actual a deeper one (not-json)"),
    ],
)
def test_what_is_no_json_is_refused(text: str, said: str) -> None:
    with pytest.raises(WireError) as refused:
        read_json(text)
    assert str(refused.value) == said


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
    assert [one["key"]["type"] for one in document["records"]] == [3, 5, 6]
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
    found = found_or_refused(raw, message, pair.version)
    if isinstance(found, WireError):
        assert found.offset is not None
    else:
        document = json.loads(json.dumps(found.document))
        assert encode_frame(found.message, found.version, document) == (raw, [])


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


@given(st.binary(max_size=60), st.sampled_from([one for one in messages().values() if one.api]))
def test_any_bytes_are_an_error_or_a_frame(content: bytes, message: Message) -> None:
    for version in message.versions:
        named = message.key.to_bytes(2, "big") + version.to_bytes(2, "big")
        found = found_or_refused(framed(named * (message.kind is Kind.REQUEST) + content), message, version)
        assert not isinstance(found, WireError) or found.offset is not None


@given(st.data())
def test_any_message_of_kio_goes_there_and_back(data: st.DataObject) -> None:
    """Random entities of kio: our bytes are kio's, and the JSON of the bytes is the same again."""
    known = [one for one in messages().values() if one.kind is not Kind.TEXT]
    message = data.draw(st.sampled_from(known))
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


def test_a_long_string_needs_a_longer_length() -> None:
    header = {"correlationId": 0, "clientId": "x" * 2**15}
    with pytest.raises(WireError) as refused:
        encode_frame(VOTE, 2, {"header": header, "body": json_of("vote-request-v2-minimal")["body"]})
    said = "header.clientId (length): expected int16, from -32768 to 32767, actual 32768 (out-of-range)"
    assert str(refused.value) == said


def test_records_in_base_64_are_the_bytes() -> None:
    found = decode_response(raw_of("fetch-response-v17-typical"), message_of("Fetch", Kind.RESPONSE), 17)
    batch = json_of("voters-record-v0-typical") | {"baseTimestamp": 0, "maxTimestamp": 0}
    for name in ("crc", "batchLength"):
        del batch[name]
    assert found.body["responses"][0]["partitions"][0]["records"] == b64encode(encode_batch(batch)).decode()
