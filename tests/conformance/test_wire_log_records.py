"""The bytes of Kafka's log as records of the reference, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_kafka.wire.batches import decode_batch
from kraft_kafka.wire.errors import Reason, WireError
from kraft_kafka.wire.log_records import batches_of, control_batch, data_batch, number_of, records_of, values_of
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.records import Record, RecordKind

_VOTERS = frozenset({ReplicaKey(1, "AAAAAAAAAAAAAAAAAAABAQ"), ReplicaKey(4, "D")})
_DETAILS = (VoterDetails(1, "one:9093", 0, 1), VoterDetails(4, "four:9094", 0, 0))
_CONTROL = (
    Record(7, RecordKind.LEADER_CHANGE, 4),
    Record(7, RecordKind.KRAFT_VERSION, 1),
    Record(7, RecordKind.VOTERS, 0, _VOTERS, _DETAILS),
)


def test_a_control_batch_comes_back() -> None:
    raw = control_batch(5, _CONTROL, 1_000, voters=(4, 1))
    (batch,) = batches_of(raw)
    assert (batch.base_offset, batch.end_offset, batch.epoch, batch.is_control) == (5, 8, 7, True)
    assert records_of(batch) == _CONTROL
    assert [voter["voterId"] for voter in decode_batch(raw)[0]["records"][0]["value"]["voters"]] == [1, 4]


@given(
    st.lists(st.lists(st.binary(max_size=200), min_size=1, max_size=5), min_size=1, max_size=4), st.integers(0, 2**40)
)
def test_data_batches_come_back(lists: list[list[bytes]], base: int) -> None:
    raw, offset = b"", base
    for values in lists:
        raw += data_batch(offset, 3, values, 1)
        offset += len(values)
    results = list(batches_of(raw))
    assert [values_of(batch) for batch in results] == [tuple(values) for values in lists]
    assert [record for batch in results for record in records_of(batch)] == [
        Record(3, RecordKind.DATA, number_of(value)) for values in lists for value in values
    ]
    assert results[-1].end_offset == offset


@given(st.integers(1, 99))
def test_a_torn_batch_is_left_out(cut: int) -> None:
    first, second = data_batch(0, 1, [b"kept"], 1), data_batch(1, 1, [b"torn" * 20], 1)
    torn = second[: len(second) * cut // 100]
    assert [batch.raw for batch in batches_of(first + torn)] == [first]


@given(st.data())
def test_a_damaged_byte_is_an_error(data: st.DataObject) -> None:
    raw = bytearray(data_batch(0, 1, [b"value"], 1))
    raw[data.draw(st.integers(16, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(WireError) as caught:
        list(batches_of(bytes(raw)))
    assert caught.value.reason in (Reason.BAD_CRC, Reason.BAD_BATCH)


def test_kafka_has_no_voter_assignment() -> None:
    with pytest.raises(WireError):
        control_batch(0, [Record(1, RecordKind.VOTER_ASSIGNMENT, 0, _VOTERS, _DETAILS)], 0)
