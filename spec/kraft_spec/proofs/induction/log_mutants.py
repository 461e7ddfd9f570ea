"""Mutants of the proof that are about logs, commitment and disks."""

from z3 import And, If, Or

from kraft_spec.proofs.induction.actions import Action, epoch, replica
from kraft_spec.proofs.induction.changes import does, does_not, other_guard, together, with_action, without_guard
from kraft_spec.proofs.induction.mutant import Mutant, ScriptedRun
from kraft_spec.proofs.induction.replays import append, commit, elect, move, replicate
from kraft_spec.proofs.induction.simulator import Cluster
from kraft_spec.proofs.induction.state import State, StateFunction
from kraft_spec.proofs.induction.symbols import bootstrap, prefix


def _acknowledges_all(s: State) -> StateFunction:
    own = s.log_end(replica)
    return lambda r, e: Or(s.acknowledged(r, e), And(r == replica, prefix(e, own), e != bootstrap))


def _lose_disk(s: State) -> Action:
    return Action(
        "lose-disk",
        "A replica starts with an empty disk under the replica key that it had.",
        (replica,),
        {},
        s.updated(
            epoch=lambda r: If(r == replica, 0, s.epoch(r)),
            log_end=lambda r: If(r == replica, bootstrap, s.log_end(r)),
            flushed=lambda r: If(r == replica, bootstrap, s.flushed(r)),
        ),
    )


_FIGURE_8 = (
    *elect(1, 2, 3),
    append(1),
    *replicate(1, 2),
    *elect(5, 3, 4),
    append(5),
    *elect(1, 2, 3),
    *replicate(1, 3),
    commit(1),
    *elect(5, 3, 4),
)
_LOST_DISK = (*elect(1, 2), append(1), *replicate(1, 2), commit(1), move("lose-disk", replica=2), *elect(3, 2))

LOG_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "append-by-a-deposed-leader",
        "A leader that has learnt of a larger epoch goes on appending records of its own.",
        ("state.leader.higher-epoch",),
        without_guard("append", "same-epoch"),
        "append/log-ends-written",
        "append/epochs-ascend",
    ),
    Mutant(
        "append-without-an-election",
        "A replica appends records of an epoch that it does not lead.",
        ("state.candidate.to-leader",),
        without_guard("append", "leads"),
        "append/entries-have-leaders",
        "append/leader-has-its-epoch",
    ),
    Mutant(
        "leader-counts-itself-before-it-syncs",
        "A leader acknowledges its own record before a crash can no longer lose it.",
        ("durable.write-before-act",),
        does_not("append", "flushed"),
        "append/leader-has-its-epoch",
        "append/leader-has-its-epoch",
    ),
    Mutant(
        "commit-in-a-past-epoch",
        "A leader commits entries of the epoch that it led, after it learnt of a larger one.",
        ("state.leader.higher-epoch",),
        without_guard("commit", "same-epoch"),
        "commit/later-leaders-keep-it/log-end-is-of-the-epoch",
        "commit/committed-by-majority",
    ),
    Mutant(
        "commit-an-older-entry",
        "A leader commits an entry of an earlier epoch because a majority has it: figure 8 of the Raft paper.",
        ("hw.own-epoch",),
        together(
            without_guard("commit", "entry-of-the-epoch"),
            does(
                "acknowledge",
                "acknowledged",
                _acknowledges_all,
            ),
        ),
        "commit/later-leaders-keep-it/log-end-is-of-the-epoch",
        "acknowledge/votes-respect-acknowledged",
        ScriptedRun(Cluster(5, 5, 4, 0), _FIGURE_8),
    ),
    Mutant(
        "acknowledge-older-entries",
        "A follower's acknowledgement counts for entries of earlier epochs as well.",
        ("hw.own-epoch",),
        does(
            "acknowledge",
            "acknowledged",
            _acknowledges_all,
        ),
        "acknowledge/votes-respect-acknowledged",
        "acknowledge/votes-respect-acknowledged",
    ),
    Mutant(
        "commit-without-a-majority",
        "A leader commits what too few have acknowledged.",
        ("hw.majority",),
        without_guard("commit", "majority-acknowledged"),
        "commit/later-leaders-keep-it/not-the-same-set",
        "commit/committed-by-majority",
    ),
    Mutant(
        "acknowledge-before-sync",
        "A follower fetches from its log end before its log is on disk.",
        ("durable.flush-before-fetch",),
        does_not("acknowledge", "flushed"),
        "acknowledge/acknowledged-is-kept",
        "acknowledge/acknowledged-is-kept",
    ),
    Mutant(
        "acknowledge-to-a-past-leader",
        "A replica that has learnt of a larger epoch still acknowledges entries of the leader that it followed.",
        ("fetch.leader-only", "state.epoch-monotonic"),
        other_guard("acknowledge", "follows", lambda s: s.follows(replica, epoch)),
        "acknowledge/votes-respect-acknowledged",
        "acknowledge/votes-respect-acknowledged",
    ),
    Mutant(
        "records-after-any-entry",
        "A follower appends what its leader sends, wherever the two logs diverge.",
        ("fetch.response.common", "fetch.diverging.truncate"),
        without_guard("fetch-records", "same-epoch-and-offset"),
        "fetch-records/agreeing-is-the-log-end/one-has-the-other",
        "fetch-records/log-ends-written",
    ),
    Mutant(
        "truncate-what-is-shared",
        "A follower cuts off more than what diverges from the leader's log.",
        ("fetch.diverging.truncate",),
        without_guard("truncate", "cuts-no-more"),
        "truncate/keeps-what-they-share",
        "truncate/acknowledged-is-kept",
    ),
    Mutant(
        "truncate-by-a-late-answer",
        "A follower truncates by an answer to an earlier request of its own.",
        ("fetch.diverging.truncate",),
        without_guard("truncate", "answers-the-last-request"),
        "truncate/acknowledged-is-kept",
        "truncate/acknowledged-is-kept",
    ),
    Mutant(
        "high-watermark-in-a-diverging-log",
        "A follower takes the leader's high watermark before its log agrees with the leader's.",
        ("hw.follower", "fetch.response.common"),
        without_guard("learn-high-watermark", "same-epoch-and-offset"),
        "learn-high-watermark/agreeing-is-the-log-end/one-has-the-other",
        "learn-high-watermark/applied-was-committed",
    ),
    Mutant(
        "apply-to-the-log-end",
        "A follower applies all that it has fetched, whatever the leader's high watermark is.",
        ("hw.follower",),
        without_guard("learn-high-watermark", "up-to-the-watermark"),
        "learn-high-watermark/applied-was-committed",
        "learn-high-watermark/applied-was-committed",
    ),
    Mutant(
        "snapshot-past-the-high-watermark",
        "A leader serves a snapshot of records that are not committed.",
        ("fetch.snapshot.install",),
        without_guard("load-snapshot", "leader-applied-it"),
        "load-snapshot/applied-was-committed",
        "load-snapshot/applied-was-committed",
    ),
    Mutant(
        "snapshot-that-is-not-needed",
        "A follower puts a snapshot in place of a longer log.",
        ("fetch.snapshot.install",),
        without_guard("load-snapshot", "needs-it"),
        "load-snapshot/keeps-what-they-share",
        "load-snapshot/acknowledged-is-kept",
    ),
    Mutant(
        "crash-loses-synced-entries",
        "A crash loses entries that were on disk.",
        ("durable.flush-before-fetch",),
        without_guard("crash", "on-disk-is-kept"),
        "crash/leader-has-its-epoch",
        "crash/acknowledged-is-kept",
    ),
    Mutant(
        "disk-lost-under-the-same-key",
        "A replica loses its disk and starts anew with the same id and directory id.",
        ("identity.directory-id-at-format", "identity.directory-id-never-silently-replaced"),
        with_action(_lose_disk),
        "lose-disk/leader-has-its-epoch",
        "lose-disk/acknowledged-was-written",
        ScriptedRun(Cluster(3, 3, 2, 0), _LOST_DISK),
    ),
    Mutant(
        "new-disk-under-a-known-key",
        "A replica is formatted with a directory id that voted or acknowledged before.",
        ("identity.replica-key",),
        without_guard("replace-disk", "key-is-new"),
        "replace-disk/leader-has-its-epoch",
        "replace-disk/acknowledged-was-written",
    ),
)
