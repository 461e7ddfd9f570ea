"""Logs that part: every pair of small logs against a plain reading of the rules, with snapshots and without.

The logs have up to four records of the epochs 1 to 3, and a leader of epoch 4.
Records of one epoch come from one leader, so two logs of a cluster that both have some are the same up to the end of
these in one of the two.
"""

from collections.abc import Iterator
from itertools import combinations_with_replacement, product

from tests.reference.builders import EMPTY, data, follower, leader, receive
from tests.reference.wire import fetch, fetch_reply

from kraft_reference.log import Log, append, flush, rebased, snapshot_at, up_to_date
from kraft_reference.messages import FetchRequest, FetchResponse
from kraft_reference.outcome import Refusal
from kraft_reference.state import ReplicaState

EPOCHS = (1, 2, 3)
LENGTH_MAX = 4
LEADING = 4
"""The epoch of the leader, whose log ends with one record of it."""
LOGS = [log for length in range(LENGTH_MAX + 1) for log in combinations_with_replacement(EPOCHS, length)]
"""The epochs of the records of each log."""

Epochs = tuple[int, ...]


def shared(one: Epochs, other: Epochs) -> int:
    """How many records two logs share from their beginning on."""
    lengths = range(min(len(one), len(other)) + 1)
    return max(length for length in lengths if one[:length] == other[:length])


def match(one: Epochs, other: Epochs) -> bool:
    """May these be two logs of one cluster?"""
    return set(one[shared(one, other) :]).isdisjoint(other[shared(one, other) :])


def log_of(epochs: Epochs, start: int = 0) -> Log:
    """The log with a record for each epoch, of which those before `start` are in a snapshot."""
    whole = flush(append(EMPTY, data(*epochs)))
    return whole if start == 0 else rebased(whole, snapshot_at(whole, start))


def epochs_of(log: Log, before: Epochs) -> Epochs:
    """The epochs of all records of a log; those in its snapshot are those of `before`."""
    return (*before[: log.start_offset], *[record.epoch for record in log.records])


# -------------------------------------------------------------------------------------------------------------
# Fetch by Fetch, until the logs are one.
# -------------------------------------------------------------------------------------------------------------


def fetches(leading: ReplicaState, following: ReplicaState) -> tuple[FetchResponse, ReplicaState]:
    """What the leader answers to the next Fetch, and the follower after it."""
    log = following.log
    (answer,) = receive(leading, fetch(1, 2, LEADING, log.end_offset, log.last_epoch)).sends
    assert isinstance(answer, FetchResponse)
    taken = receive(following._replace(awaiting={2: 7}), answer)
    assert taken.refusal is None, answer
    return answer, taken.state


def pairs() -> Iterator[tuple[Epochs, int, Epochs, int]]:
    """A leader's log and where it starts, and a follower's: what is in a snapshot is committed."""
    for own, other in product(LOGS, LOGS):
        led = (*own, LEADING)
        if match(led, other):
            for start in range(len(own) + 1):
                for since in range(shared(led, other) + 1):
                    yield led, start, other, since


def test_a_follower_comes_to_exactly_what_it_shares_with_its_leader() -> None:
    """Rule: fetch.diverging.truncate."""
    seen = 0
    for led, start, followed, since in pairs():
        seen += 1
        leading = leader(LEADING, 2)._replace(log=log_of(led, start))
        following = follower(LEADING, 2, 1, log=log_of(followed, since))
        common = shared(led, followed)
        for _ in range(len(set(followed)) + 2):
            before = epochs_of(following.log, followed)
            answer, following = fetches(leading, following)
            after = epochs_of(following.log, followed)
            if answer.diverging_epoch < 0:
                break
            # Something goes, and nothing that the two share.
            assert after == before[: len(after)]
            assert common <= len(after) < len(before)
        if answer.snapshot_id is not None:
            assert answer.snapshot_id == (start, led[start - 1])
            assert (common < start, len(after) >= common) == (True, True)
        else:
            assert (len(before), after) == (common, led)
    assert seen > 5000


# -------------------------------------------------------------------------------------------------------------
# Each half by itself, also for what no cluster has.
# -------------------------------------------------------------------------------------------------------------


def answered_to(leading: ReplicaState, request: FetchRequest) -> FetchResponse:
    (answer,) = receive(leading, request).sends
    assert isinstance(answer, FetchResponse)
    return answer


def test_what_a_leader_answers_to_each_log_end() -> None:
    """Rules: fetch.diverging.truncate, fetch.snapshot.bootstrap-not-served."""
    for own in LOGS:
        led = (*own, LEADING)
        for start, offset, epoch in product(range(len(led) + 1), range(len(led) + 2), range(LEADING + 1)):
            leading = leader(LEADING, 2)._replace(log=log_of(led, start))
            answer = answered_to(leading, fetch(1, 2, LEADING, offset, epoch))
            before = (0, *led)
            is_there = start <= offset <= len(led)
            if start > 0 and (offset < start or epoch < before[start] or (offset == start and epoch != before[start])):
                assert answer.snapshot_id == (start, before[start])
            elif is_there and (offset == 0 or before[offset] == epoch):
                assert answer.records == data(*led[offset:])
                assert (answer.snapshot_id, answer.diverging_epoch) == (None, -1)
            else:
                # The largest epoch that is not larger, and where it ends.
                known = [one for one in led if one <= epoch]
                assert (answer.diverging_epoch, answer.diverging_end_offset) == (max(known, default=0), len(known))


def test_where_a_follower_cuts_for_each_answer() -> None:
    """Rule: fetch.diverging.truncate."""
    for followed in LOGS:
        lengths, ends = range(len(followed) + 1), range(LENGTH_MAX + 2)
        for since, epoch, end in product(lengths, range(LEADING + 1), ends):
            following = follower(LEADING, 2, 1, log=log_of(followed, since), awaiting={2: 7})
            outcome = receive(following, fetch_reply(2, 1, LEADING, 2, diverging=(epoch, end)))
            # A snapshot counts as one epoch, that of its last record.
            known = (*followed[max(since - 1, 0) : since] * since, *followed[since:])
            older, same = sum(one < epoch for one in known), sum(one == epoch for one in known)
            # Records of that epoch agree up to its end at the leader; without any, what is older may agree.
            kept = min(older + same, end) if same else max(older, since)
            if kept < since:
                assert outcome.refusal is Refusal.TRUNCATION_BELOW_HIGH_WATERMARK
            else:
                assert epochs_of(outcome.state.log, followed) == followed[:kept]


def test_which_of_two_logs_is_at_least_as_good() -> None:
    """Rules: vote.log-check, prevote.request.log-check."""
    for own, other in product(LOGS, LOGS):
        own_epoch, other_epoch = max(own, default=0), max(other, default=0)
        expected = len(other) >= len(own) if other_epoch == own_epoch else other_epoch > own_epoch
        for start in range(len(own) + 1):
            assert up_to_date(other_epoch, len(other), log_of(own, start)) == expected
