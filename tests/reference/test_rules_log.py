"""The log against a naive one: a plain list of records, and sets read off it from the start."""

from hypothesis import given
from hypothesis import strategies as st
from tests.reference.builders import keys, states

from kraft_reference.log import (
    EpochEnd,
    Log,
    agrees,
    append,
    empty_log,
    end_of_epoch,
    flush,
    truncate,
    up_to_date,
)
from kraft_reference.records import Record, RecordKind

BASE = keys(1, 2, 3)
RECORDS = st.lists(
    st.builds(
        lambda epoch, members: (
            Record(epoch, RecordKind.VOTERS, 0, members) if members else Record(epoch, RecordKind.DATA, 0)
        ),
        st.integers(1, 4),
        st.none() | st.sets(st.integers(1, 5), min_size=1).map(lambda ids: keys(*ids)),
    ),
    max_size=8,
)


def in_epoch_order(records: list[Record]) -> list[Record]:
    """The same records in an order that a log can have."""
    return sorted(records, key=lambda record: record.epoch)


ORDERED = RECORDS.map(in_epoch_order)


def build(records: list[Record]) -> Log:
    """The log of these records, appended one by one."""
    log = empty_log(BASE)
    for record in records:
        log = append(log, [record])
    return log


def newest_set(records: list[Record]) -> object:
    """The last voters set among the records."""
    return next((record.voters for record in reversed(records) if record.kind is RecordKind.VOTERS), BASE)


@states("state.voters-set.applied-uncommitted")
@given(ORDERED, ORDERED)
def test_append(records: list[Record], more: list[Record]) -> None:
    log = append(build(records), more)
    assert log.records == (*records, *more)
    assert log.voters[-1].voters == newest_set([*records, *more])
    assert (log.end_offset, log.flushed) == (len(records) + len(more), 0)
    assert flush(log) == log._replace(flushed=log.end_offset)


@states("fetch.truncate.voters-set")
@given(ORDERED, st.data())
def test_truncate(records: list[Record], chosen: st.DataObject) -> None:
    log = flush(build(records))
    end = chosen.draw(st.integers(0, len(records)))
    assert truncate(log, end) == flush(build(records[:end]))
    half = log._replace(flushed=chosen.draw(st.integers(0, len(records))))
    assert truncate(half, end).flushed == min(half.flushed, end)


@states("fetch.diverging.truncate")
@given(ORDERED, st.integers(0, 5))
def test_end_of_epoch(records: list[Record], epoch: int) -> None:
    older = [record for record in records if record.epoch <= epoch]
    expected = EpochEnd(older[-1].epoch, len(older)) if older else EpochEnd(0, 0)
    assert end_of_epoch(build(records), epoch) == expected


@states("fetch.diverging.truncate")
@given(ORDERED, st.integers(0, 9), st.integers(0, 5))
def test_agrees(records: list[Record], offset: int, last_epoch: int) -> None:
    prefix = records[:offset]
    expected = offset == 0 or (len(prefix) == offset and prefix[-1].epoch == last_epoch)
    assert agrees(build(records), offset, last_epoch) == expected


@states("vote.log-check", "prevote.request.log-check")
@given(ORDERED, st.integers(0, 5), st.integers(0, 9))
def test_up_to_date(records: list[Record], last_epoch: int, end_offset: int) -> None:
    own_epoch = records[-1].epoch if records else 0
    expected = last_epoch > own_epoch or (last_epoch == own_epoch and end_offset >= len(records))
    assert up_to_date(last_epoch, end_offset, build(records)) == expected
