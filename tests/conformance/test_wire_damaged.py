"""Bytes from outside that are no message: an error that names the place, whatever lengths and counts they have."""

from concurrent.futures.process import BrokenProcessPool

import pytest
from kio.index import load_request_schema
from kio.serial import entity_reader
from tests.conformance.fuzzing import decode_damaged_frames, decode_damaged_logs, limit_address_space, with_checksums
from tests.spec.own_process import in_own_process

from kraft_kafka.node import apis
from kraft_kafka.wire.encoding import varint
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.frames import decode_request
from kraft_kafka.wire.log_records import batches_of, data_batch, values_of
from kraft_kafka.wire.other_requests import OtherRequest, decode_other_request, decode_other_response
from kraft_kafka.wire.reading import ELEMENTS_MAX

SAMPLE_AND_ALL = [60, pytest.param(100_000, marks=pytest.mark.nightly)]
_API_VERSIONS_4 = "0012 0004 00000001 ffff 00 "
_LENGTH, _VARINT = Reason.BAD_LENGTH, Reason.BAD_VARINT
_REASONS = {
    "array of 2^31 topics": ("0013 0007 00000001 0001 78 00 ffffffff0f", _VARINT),
    "array of 2^31 - 2 topics": ("0013 0007 00000001 0001 78 00 ffffffff07", _LENGTH),
    "array of 2^31 configs in a topic": (
        "0013 0007 00000001 ffff 00 02 02 61 00000001 0001 01 ffffffff07",
        Reason.BAD_LENGTH,
    ),
    "array of 2^31 topics, version 3": (
        "0038 0003 00000001 ffff 00 00000001 0000000000000001 ffffffff07",
        Reason.BAD_LENGTH,
    ),
    "array of -2 resources": ("002c 0000 00000001 ffff fffffffe 00", _LENGTH),
    "array of 2^31 - 1 resources": ("002c 0000 00000001 ffff 7fffffff 00", _LENGTH),
    "string of 2^31 - 2 bytes": (_API_VERSIONS_4 + "ffffffff07", _LENGTH),
    "string length of ten bytes": (_API_VERSIONS_4 + "ffffffffffffffffff01", _VARINT),
    "2^31 - 1 tagged fields": ("0012 0004 00000001 ffff ffffffff07", _LENGTH),
    "tagged field of 2^31 - 1 bytes": ("0012 0004 00000001 ffff 01 00 ffffffff07", _LENGTH),
    "client id of -2 bytes": ("0012 0004 00000001 fffe 00 01 01 00", _LENGTH),
}
"""Requests without their length."""


def framed(text: str) -> bytes:
    content = bytes.fromhex(text)
    return len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize(("text", "reason"), _REASONS.values(), ids=list(_REASONS))
def test_a_length_that_does_not_fit_is_an_error(text: str, reason: Reason) -> None:
    raw = framed(text)
    expected = apis.versions(apis.CONTROLLER)
    is_other = int.from_bytes(raw[4:6], "big") in expected
    with pytest.raises(WireError) as refused:
        decode_other_request(raw, expected) if is_other else decode_request(raw, is_lenient=True)
    assert refused.value.reason is reason


def test_the_elements_of_a_frame_are_bounded_in_all() -> None:
    half = varint(ELEMENTS_MAX // 2 + 1)
    # Two topics, each with that many partitions of 4 bytes.
    topic = b"\x02a" + half + bytes(4 * (ELEMENTS_MAX // 2)) + b"\0"
    for count, is_accepted in ((1, True), (2, False)):
        body = bytes.fromhex("002e 0000 00000001 ffff 00 00000001") + varint(count + 1) + topic * count + b"\0"
        raw = len(body).to_bytes(4, "big") + body
        if is_accepted:
            decode_other_request(raw, {46: range(1)})
            continue
        with pytest.raises(WireError, match="elements"):
            decode_other_request(raw, {46: range(1)})


def test_a_response_of_another_request_is_an_error() -> None:
    heartbeat = OtherRequest(63, 1, 5, None)
    with pytest.raises(WireError, match="correlationId: expected 5, actual 6"):
        decode_other_response(heartbeat, framed("00000006 00 00000000 0000 01 00 00 00"))
    with pytest.raises(WireError, match="error code"):
        decode_other_response(heartbeat, framed("00000005 00 00000000 7fff 01 00 00 00"))
    with pytest.raises(WireError):
        decode_other_response(OtherRequest(19, 7, 5, None), framed("00000005 00 00000000 ffffffff0f"))


def test_a_batch_with_fewer_records_than_offsets_is_an_error() -> None:
    raw = bytearray(data_batch(0, 1, [b"a", b"b"], 0))
    for count in (b"\0\0\0\1", b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\0\0\0\0"):
        raw[57:61] = count
        with pytest.raises(WireError, match="2 records, as lastOffsetDelta says"):
            list(batches_of(with_checksums(bytes(raw))))


def test_compressed_records_are_refused_and_not_unpacked() -> None:
    raw = bytearray(data_batch(0, 1, [b"a"], 0))
    raw[22] = 1
    with pytest.raises(WireError, match="without compression"):
        values_of(next(batches_of(with_checksums(bytes(raw)))))


@pytest.mark.parametrize("count", SAMPLE_AND_ALL)
def test_damaged_frames_of_every_api_are_decoded_or_an_error(count: int) -> None:
    decoded = in_own_process(decode_damaged_frames, count, 1)
    assert sum(decoded.values()) > len(decoded), "some damage leaves a message"


@pytest.mark.parametrize("count", SAMPLE_AND_ALL)
def test_damaged_logs_and_snapshots_are_decoded_or_an_error(count: int) -> None:
    assert 0 < in_own_process(decode_damaged_logs, count, 1) < count


def read_with_kio(raw: bytes) -> None:
    limit_address_space()
    entity_reader(load_request_schema(19, 7))(raw, 0)


def test_kio_aborts_where_an_array_is_too_long() -> None:
    """The reason why its readers see no bytes from outside; `docs/wire.md` lists it."""
    with pytest.raises(BrokenProcessPool):
        in_own_process(read_with_kio, bytes.fromhex("ffffffff0f"))
