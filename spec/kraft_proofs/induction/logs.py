"""Actions on a log: fetched records, high watermarks, truncation, snapshots, syncs, acknowledgement, crashes."""

from collections.abc import Mapping

from z3 import And, If, Implies, Not, Or

from kraft_proofs.induction.actions import (
    Action,
    agreeing,
    answer,
    epoch,
    kept,
    leader,
    log,
    replica,
    watermark,
    watermark_log,
)
from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Expression,
    Formula,
    bootstrap,
    epoch_of,
    exists,
    forall,
    offset_of,
    prefix,
    variables,
)

_x, _f = variables(ENTRY, "x f")
(_r,) = variables(REPLICA, "r")
(_t,) = variables(NUMBER, "t")


def _has_response(s: State) -> Mapping[str, Formula]:
    """State that a follower handles a response of its leader, whose log was `answer` when it responded."""
    return {
        "leads": s.elected(epoch, leader, log),
        "follows": And(s.follows(replica, epoch), s.epoch(replica) == epoch),
        "log-of-the-leader": Or(answer == log, And(s.written(answer), epoch_of(answer) == epoch)),
    }


def _answers_last_request(s: State) -> Mapping[str, Formula]:
    """State that the response is to the last request: the leader then had the follower's entries of its epoch."""
    return {
        "answers-the-last-request": forall(
            (_x,), Implies(And(prefix(_x, s.log_end(replica)), epoch_of(_x) == epoch), prefix(_x, answer))
        ),
    }


def _agrees(own: Expression) -> Formula:
    """State that the leader has an entry with the epoch and offset of the follower's last one."""
    return And(prefix(agreeing, answer), epoch_of(agreeing) == epoch_of(own), offset_of(agreeing) == offset_of(own))


def fetch_records(s: State) -> Action:
    """A follower appends the records that its leader has after an entry with the epoch and offset of its own last one.

    Rules: fetch.leader-only, fetch.response.common.
    """
    own = s.log_end(replica)
    return Action(
        "fetch-records",
        "A follower whose last epoch and end offset agree with its leader's log appends the records after them.",
        (replica, leader, epoch, log, answer, agreeing, kept),
        {
            **_has_response(s),
            "same-epoch-and-offset": _agrees(own),
            "records-after-it": And(prefix(agreeing, kept), prefix(kept, answer)),
        },
        s.setting(replica, log_end=kept),
    )


def learn_high_watermark(s: State) -> Action:
    """A follower takes its leader's high watermark, bounded by its own log, and may apply records up to there.

    Rule: hw.follower.
    """
    own = s.log_end(replica)
    return Action(
        "learn-high-watermark",
        "A follower whose log is within its leader's applies records up to the smaller of the leader's high watermark "
        "and its own log end.",
        (replica, leader, epoch, log, answer, agreeing, watermark, watermark_log, kept),
        {
            **_has_response(s),
            "same-epoch-and-offset": _agrees(own),
            "leader-committed": s.committed(watermark, watermark_log),
            "in-the-leaders-epoch": epoch_of(watermark) == epoch,
            "up-to-the-watermark": And(prefix(kept, own), offset_of(kept) <= offset_of(watermark)),
        },
        s.adding(applied=(replica, kept)),
    )


def truncate(s: State) -> Action:
    """A follower truncates its log to the point of divergence from its leader, by epoch and offset.

    The truncation is on disk in the same step: no crash restores the truncated records.

    Rules: fetch.diverging.truncate, voters.truncation-reverts.
    """
    own = s.log_end(replica)
    return Action(
        "truncate",
        "A follower cuts its log after the largest epoch and offset that its leader says they may share.",
        (replica, leader, epoch, log, answer, agreeing, kept),
        {
            **_has_response(s),
            **_answers_last_request(s),
            "diverging-epoch": And(
                prefix(agreeing, answer),
                forall((_x,), Implies(And(prefix(_x, answer), epoch_of(_x) <= epoch_of(own)), prefix(_x, agreeing))),
            ),
            "cut": prefix(kept, own),
            "cuts-no-more": forall(
                (_x,),
                Implies(
                    And(
                        prefix(_x, own),
                        epoch_of(_x) <= epoch_of(agreeing),
                        offset_of(_x) <= offset_of(agreeing),
                    ),
                    prefix(_x, kept),
                ),
            ),
        },
        s.setting(replica, log_end=kept).updated(
            flushed=lambda r: If(And(r == replica, Not(prefix(s.flushed(r), kept))), kept, s.flushed(r)),
        ),
    )


def load_snapshot(s: State) -> Action:
    """A follower whose log ends before its leader's snapshot, or differs from it, replaces its log by the snapshot.

    A leader serves a snapshot that it took at or below its own high watermark, or loaded itself.

    Rules: snapshot.load-resets-history, fetch.snapshot.install.
    """
    own = s.log_end(replica)
    return Action(
        "load-snapshot",
        "A follower puts its leader's snapshot, a prefix of what the leader applied of its log, in place of its whole "
        "log.",
        (replica, leader, epoch, log, answer, kept),
        {
            **_has_response(s),
            **_answers_last_request(s),
            "prefix-of-the-leader": prefix(kept, answer),
            "leader-applied-it": exists((_f,), And(s.applied(leader, _f), prefix(kept, _f))),
            "needs-it": Or(
                offset_of(own) < offset_of(kept),
                epoch_of(own) < epoch_of(kept),
                And(offset_of(own) == offset_of(kept), epoch_of(own) != epoch_of(kept)),
            ),
        },
        s.setting(replica, log_end=kept, flushed=kept).adding(applied=(replica, kept)),
    )


def sync(s: State) -> Action:
    """A replica has more of its log on disk: the content of its own snapshot, or all of it before any Fetch.

    Rules: durable.flush-before-fetch, snapshot.control-records-first.
    """
    return Action(
        "sync",
        "A replica puts any more of its log on disk, at any time.",
        (replica, kept),
        {"on-disk-stays": prefix(s.flushed(replica), kept), "of-its-log": prefix(kept, s.log_end(replica))},
        s.setting(replica, flushed=kept),
    )


def acknowledge(s: State) -> Action:
    """A follower syncs its log and sends a Fetch, whose offset acknowledges its entries of the leader's epoch.

    Rule: durable.flush-before-fetch.
    """
    own = s.log_end(replica)
    return Action(
        "acknowledge",
        "A follower syncs its log and fetches from its end: that acknowledges its entries of the leader's epoch.",
        (replica, epoch),
        {"follows": And(s.follows(replica, epoch), s.epoch(replica) == epoch)},
        s.setting(replica, flushed=own).updated(
            acknowledged=lambda r, e: Or(s.acknowledged(r, e), And(r == replica, epoch_of(e) == epoch, prefix(e, own))),
        ),
    )


def crash(s: State) -> Action:
    """A crash loses any part of the log that was not synced.  Rule: durable.flush-before-fetch."""
    return Action(
        "crash",
        "A replica crashes and loses any part of its log that is not on disk.",
        (replica, kept),
        {"on-disk-is-kept": prefix(s.flushed(replica), kept), "nothing-new": prefix(kept, s.log_end(replica))},
        s.setting(replica, log_end=kept, flushed=kept),
    )


def replace_disk(s: State) -> Action:
    """A replica starts on an empty disk under a new replica key.

    Rules: identity.directory-id-at-format, identity.replica-key.
    """
    return Action(
        "replace-disk",
        "A replica starts with an empty disk under a replica key that has done nothing yet.",
        (replica,),
        {
            "key-is-new": And(
                forall((_t, _f), Not(s.asked(replica, _t, _f))),
                forall((_t, _r, _f), Not(s.granted(replica, _t, _r, _f))),
                forall((_t, _f), Not(s.elected(_t, replica, _f))),
                forall((_t,), Not(s.follows(replica, _t))),
                forall((_f,), Not(s.acknowledged(replica, _f))),
            ),
        },
        s.setting(replica, epoch=0, log_end=bootstrap, flushed=bootstrap),
    )


ALL = (fetch_records, learn_high_watermark, truncate, load_snapshot, sync, acknowledge, crash, replace_disk)
