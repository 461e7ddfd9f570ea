"""A history that discards records judges like one that keeps them: a voter with an empty disk starts below them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.records import Record, RecordKind
from kraft_simulation.history import History, Part
from kraft_simulation.violation import BrokenProperty

ONE, TWO = ReplicaKey(1, "U1"), ReplicaKey(2, "U2")
VOTERS = (frozenset({ONE}), frozenset({ONE, TWO}))


def record(epoch: int, value: int) -> Record:
    return Record(epoch, RecordKind.DATA, value)


def voters(epoch: int, which: int) -> Record:
    return Record(epoch, RecordKind.VOTERS, 0, VOTERS[which])


@st.composite
def logs(draw: st.DrawFn) -> tuple[Record, ...]:
    """Draw a log in which the epoch or the voter set changes occasionally."""
    log, epoch = [record(1, 0)], 1
    for step in draw(st.lists(st.integers(0, 5), min_size=1, max_size=12)):
        epoch += step // 4
        log.append(voters(epoch, step) if step < 2 else record(epoch, len(log)))
    return tuple(log)


def led(log: tuple[Record, ...], put_away: int) -> History:
    """Let replica 1 lead each epoch of a log, commit all of it, and discard this many records."""
    history = History()
    previous = 0
    for offset, entry in enumerate(log):
        history.write(offset, entry, previous)
        if entry.epoch != previous:
            history.lead(ONE, entry.epoch)
            history.lead_with(entry.epoch, Part(0, log[: offset + 1]))
        previous = entry.epoch
    history.commit(ONE, previous, 0, len(log), Part(0, log))
    history.forget(put_away, [ONE, TWO])
    return history


def judged(history: History, claim: str, log: tuple[Record, ...], epoch: int) -> str | None:
    """Return the property that is violated when replica 2 appears with a log, leads or follows."""
    try:
        match claim:
            case "lead":
                history.lead(TWO, epoch)
                history.lead_with(epoch, Part(0, log))
            case "lead again":
                history.lead(ONE, epoch)
                history.lead_with(epoch, Part(0, log))
            case "follow":
                history.follow(TWO, epoch, 2)
            case "commit":
                history.commit(TWO, epoch, 0, len(log), Part(0, log))
            case "write":
                for offset in range(1, len(log)):
                    history.write(offset, log[offset], log[offset - 1].epoch)
            case "is committed":
                if not all(history.is_committed(offset, entry) for offset, entry in enumerate(log)):
                    return "OnePendingChange"
            case "snapshot":
                sets = [entry.voters for entry in log if entry.kind is RecordKind.VOTERS]
                given_set = sets[-1] if sets else VOTERS[0]
                history.snapshot(TWO, Snapshot(len(log), log[-1].epoch, 1, given_set))
    except BrokenProperty as broken:
        return broken.property_name
    return None


CLAIMS = ("lead", "lead again", "follow", "commit", "write", "is committed", "snapshot")


@given(logs(), st.data())
def test_violations_below_discarded_records_are_detected(log: tuple[Record, ...], data: st.DataObject) -> None:
    put_away = data.draw(st.integers(1, len(log)))
    length = data.draw(st.integers(1, len(log)))
    # A different log of records that the protocol can write: an epoch that had a leader has only that leader's records.
    other = list(log[:length])
    if data.draw(st.booleans()):
        changed = data.draw(st.integers(0, length - 1))
        unled = data.draw(st.sampled_from(sorted(set(range(1, 30)) - {entry.epoch for entry in log})))
        other[changed:] = [record(max(unled, entry.epoch) + 30, 99) for entry in other[changed:]]
    epoch = data.draw(st.integers(1, log[-1].epoch + 1))
    for claim in CLAIMS:
        whole, kept = (judged(led(log, number), claim, tuple(other), epoch) for number in (0, put_away))
        assert kept == whole, claim


@pytest.mark.parametrize(
    ("claim", "log", "epoch", "broken"),
    [
        ("lead", (record(1, 0),), 1, "ElectionSafety"),
        ("follow", (record(1, 0),), 1, "ElectionSafety"),
        ("commit", (record(2, 0),), 2, "StateMachineSafety"),
        ("snapshot", (record(1, 0), record(2, 1)), 2, "StateMachineSafety"),
        ("snapshot", (record(1, 0), record(1, 1), voters(1, 1)), 1, "ConfigFollowsLog"),
    ],
)
def test_discarded_records_still_count(claim: str, log: tuple[Record, ...], epoch: int, broken: str) -> None:
    history = led((record(1, 0), record(1, 1), voters(1, 0), record(3, 3), record(4, 4)), put_away=5)
    assert judged(history, claim, log, epoch) == broken
