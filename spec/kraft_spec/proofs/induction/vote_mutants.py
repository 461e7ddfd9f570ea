"""Mutants of the proof that are about candidates, votes and who leads."""

from z3 import And, Implies, Or

from kraft_reference.profile import KAFKA_4
from kraft_spec.proofs.induction.actions import candidate, epoch, log, voter
from kraft_spec.proofs.induction.changes import does_not, other_guard, together, without_guard
from kraft_spec.proofs.induction.mutant import Mutant, ScriptedRun
from kraft_spec.proofs.induction.replays import append, commit, elect, move, replicate
from kraft_spec.proofs.induction.simulator import Cluster
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    REPLICA,
    Formula,
    epoch_of,
    exists,
    forall,
    offset_of,
    variables,
)
from kraft_spec.proofs.induction.theory import theory
from kraft_spec.proofs.induction.worlds import bootstrapped

(_f,) = variables(ENTRY, "f")
(_r,) = variables(REPLICA, "r")


def _no_vote_for_another(s: State) -> Formula:
    return forall((_r, _f), Implies(s.granted(voter, epoch, _r, _f), _r == candidate))


def _log_is_up_to_date_or_vote_repeated(s: State) -> Formula:
    own = s.log_end(voter)
    return Or(
        epoch_of(own) < epoch_of(log),
        And(epoch_of(own) == epoch_of(log), offset_of(own) <= offset_of(log)),
        exists((_f,), s.granted(voter, epoch, candidate, _f)),
    )


_LONGER_LOG = (
    *elect(1, 2),
    append(1),
    append(1),
    *elect(2, 3),
    append(2),
    *replicate(2, 3),
    commit(2),
    *elect(1, 3),
)
_EMPTY = bootstrapped(frozenset({1, 2, 3}))
_CANDIDATE_CRASHES = (
    *elect(1, 2),
    append(1),
    *replicate(1, 2),
    move("learn-leader", replica=3, leader=1),
    move("fetch-records", replica=3),
    commit(1),
    move("stand", candidate=3),
    move("vote", voter=2, candidate=3),
    move("crash", replica=3, kept=_EMPTY),
    move("stand-again", candidate=3),
    move("vote", voter=2, candidate=3, log=_EMPTY),
    move("become-leader", candidate=3, log=_EMPTY),
)
_SOLE_VOTER_RESTARTS = (
    move("stand", candidate=2),
    move("stand", candidate=3, epoch=1),
    move("vote", voter=1, candidate=2),
    move("become-leader", candidate=2),
    append(2),
    *replicate(2, 3),
    commit(2),
    append(2, 2, 3),
    *replicate(2, 3),
    commit(2),
    append(2, 3),
    move("learn-leader", replica=3, leader=2),
    move("fetch-records", replica=3),
    move("acknowledge", replica=3),
    move("stand-again", candidate=3),
    move("become-leader", candidate=3, epoch=1),
    append(2),
    append(3),
    move("stand", candidate=3),
    move("become-leader", candidate=3),
    append(3),
    commit(3),
    move("learn-leader", replica=2, leader=3, epoch=2),
    move("learn-high-watermark", replica=2),
)
"""Replica 3 votes for itself in epoch 1 and follows replica 2, which removes replica 1 and then itself. Replica 3 reads
that it is the sole voter, restarts, and is leader of epoch 1 with its own vote. Both append, and 2 takes its own record
for the one that 3 commits."""

VOTE_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "vote-twice",
        "A replica votes again in an epoch, for another Candidate.",
        ("vote.once-per-epoch",),
        without_guard("vote", "no-other-vote"),
        "vote/vote-once-per-epoch",
        "vote/vote-once-per-epoch",
    ),
    Mutant(
        "vote-without-looking-at-the-log",
        "A replica votes for a Candidate whose log ends before its own.",
        ("vote.log-check",),
        without_guard("vote", "log-is-up-to-date"),
        "vote/votes-respect-acknowledged/voters-log-is-in-the-candidates",
        "vote/votes-respect-acknowledged",
    ),
    Mutant(
        "vote-by-offset-alone",
        "A replica votes for a Candidate whose log is as long as its own, whatever the epochs of the last entries.",
        ("vote.log-check",),
        other_guard("vote", "log-is-up-to-date", lambda s: offset_of(s.log_end(voter)) <= offset_of(log)),
        "vote/votes-respect-acknowledged/contradiction",
        "vote/votes-respect-acknowledged",
        ScriptedRun(Cluster(3, 3, 3, 0), _LONGER_LOG),
    ),
    Mutant(
        "vote-with-a-known-leader",
        "A replica that knows the leader of the epoch still votes in it.",
        ("vote.known-leader.rejects", "vote.follower.rejects"),
        without_guard("vote", "knows-no-leader"),
        "vote/votes-respect-acknowledged/voter-has-what-it-acknowledged",
        "vote/votes-respect-acknowledged",
    ),
    Mutant(
        "vote-in-a-past-epoch",
        "A replica votes in an epoch that it has left, and goes back to it.",
        ("vote.request.stale-epoch", "state.epoch-monotonic"),
        without_guard("vote", "epoch-not-stale"),
        "vote/leader-has-its-epoch",
        "vote/candidate-log-is-older",
    ),
    Mutant(
        "vote-not-persisted",
        "A replica grants its vote and keeps neither the epoch nor whom it voted for.",
        ("vote.persist-before-reply",),
        together(does_not("vote", "epoch"), without_guard("vote", "no-other-vote")),
        "vote/votes-were-asked-for",
        "vote/votes-were-asked-for",
    ),
    Mutant(
        "leader-without-a-majority",
        "A Candidate becomes leader without the votes.",
        ("state.candidate.to-leader",),
        without_guard("become-leader", "majority-voted"),
        "become-leader/new-leader-is-complete/not-the-same-set",
        "become-leader/leader-has-majority",
    ),
    Mutant(
        "candidate-log-not-synced",
        "A Candidate asks for votes with entries that a crash can still lose.",
        ("durable.write-before-act",),
        does_not("stand", "flushed"),
        "stand/candidate-log-on-disk",
        "stand/candidate-log-on-disk",
    ),
    Mutant(
        "candidate-log-not-synced-and-vote-repeated",
        "The same, and a voter answers a Candidate that asks again as before, without a look at its log.",
        ("durable.restart.voted-self", "vote.repeat-grant"),
        together(
            does_not("stand", "flushed"),
            other_guard("vote", "no-other-vote", _no_vote_for_another),
            other_guard("vote", "log-is-up-to-date", _log_is_up_to_date_or_vote_repeated),
        ),
        "stand/candidate-log-on-disk",
        "stand/candidate-log-on-disk",
        ScriptedRun(Cluster(3, 3, 2, 0), _CANDIDATE_CRASHES),
    ),
    Mutant(
        "own-vote-before-known-leader",
        "A replica that follows a leader restarts as Candidate of that epoch, because it voted for itself before: "
        "Kafka 4.",
        ("durable.restart.voted-self", "durable.restart.known-leader"),
        lambda _: theory(KAFKA_4),
        "stand-again/candidate-log-is-older",
        "stand-again/candidate-log-is-older",
        ScriptedRun(Cluster(3, 3, 2, 0), _SOLE_VOTER_RESTARTS),
    ),
    Mutant(
        "stand-in-an-epoch-again",
        "A replica becomes Candidate of an epoch that it is in already, in which it may have voted.",
        ("state.candidate.entry", "vote.once-per-epoch"),
        other_guard("stand", "epoch-is-new", lambda s: s.epoch(candidate) <= epoch),
        "stand/candidate-log-is-older",
        "stand/candidate-log-is-older",
    ),
    Mutant(
        "follow-anybody",
        "A replica follows a replica that was not elected.",
        ("state.learn-higher-epoch.leader", "fetch.leader-only"),
        without_guard("learn-leader", "leads"),
        "learn-leader/leader-has-its-epoch",
        "learn-leader/follower-has-leader",
    ),
)
