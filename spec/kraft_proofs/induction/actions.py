"""Actions: each with its parameters, its guard in named conjuncts, and the state after it.

An action allows at least the steps of the TLA+ actions that it abstracts: a replica may stand for any later epoch and
vote although it is no voter, and a leader that resigned may continue to append. There are no messages; their content is
in the parts of the state that only grow, so delay, loss and duplication of messages change nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

from z3 import And, Implies, Not, Or

from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    QUORUM,
    REPLICA,
    Expression,
    Formula,
    epoch_of,
    forall,
    in_force,
    is_voters_record,
    majority,
    member,
    neighbours,
    offset_of,
    prefix,
    variables,
    voters_of,
    voters_record,
)


class Action(NamedTuple):
    """A step, from one state to another."""

    name: str
    sentence: str
    parameters: tuple[Expression, ...]
    guard: Mapping[str, Formula]
    """Conjuncts by name."""
    after: State

    def without(self, *conjuncts: str) -> "Action":
        """Return the action without some conjuncts of its guard.

        Raises:
            KeyError: the guard has no such conjunct.
        """
        for name in conjuncts:
            self.guard[name]
        return self._replace(guard={name: part for name, part in self.guard.items() if name not in conjuncts})


replica, voter, candidate, leader = variables(REPLICA, "the_replica the_voter the_candidate the_leader")
(epoch,) = variables(NUMBER, "the_epoch")
log, entry, answer, agreeing, kept, watermark, watermark_log = variables(
    ENTRY, "the_log the_entry the_answer the_agreeing the_kept the_watermark the_watermark_log"
)
(quorum,) = variables(QUORUM, "the_quorum")

_x, _f, _e = variables(ENTRY, "x f e")
_r, _v = variables(REPLICA, "r v")
(_t,) = variables(NUMBER, "t")


def stand(s: State) -> Action:
    """A replica becomes Candidate and votes for itself; its log is on disk before it sends requests.

    Rules: state.candidate.entry, vote.request.contents.
    """
    own = s.log_end(candidate)
    return Action(
        "stand",
        "A replica becomes Candidate of a new epoch and votes for itself, with its whole log on disk.",
        (candidate, epoch),
        {"epoch-is-new": s.epoch(candidate) < epoch},
        s.setting(candidate, epoch=epoch, flushed=own).adding(
            asked=(candidate, epoch, own), granted=(candidate, epoch, candidate, own)
        ),
    )


def stand_again(s: State) -> Action:
    """A replica that restarts as Candidate requests votes again, with the log after the crash.

    Rule: durable.restart.voted-self.
    """
    own = s.log_end(candidate)
    return Action(
        "stand-again",
        "A Candidate that crashed restarts as Candidate of the same epoch and asks again, with the log it has now.",
        (candidate, epoch, log),
        {
            "voted-for-itself": s.asked(candidate, epoch, log),
            "same-epoch": s.epoch(candidate) == epoch,
            "follows-nobody": Not(s.follows(candidate, epoch)),
            "was-not-leader": forall((_f,), Not(s.elected(epoch, candidate, _f))),
        },
        s.adding(asked=(candidate, epoch, own), granted=(candidate, epoch, candidate, own)),
    )


def vote(s: State) -> Action:
    """A replica grants its vote; it need not be a voter.

    Rules: vote.decision-order, vote.once-per-epoch, vote.known-leader.rejects, vote.log-check,
    vote.membership-not-checked, vote.persist-before-reply.
    """
    own = s.log_end(voter)
    return Action(
        "vote",
        "A replica grants its vote to a Candidate whose log is at least as long as its own.",
        (voter, candidate, epoch, log),
        {
            "was-asked": s.asked(candidate, epoch, log),
            "epoch-not-stale": s.epoch(voter) <= epoch,
            "knows-no-leader": Not(s.follows(voter, epoch)),
            "no-other-vote": forall(
                (_r, _f), Implies(s.granted(voter, epoch, _r, _f), And(_r == candidate, _f == log))
            ),
            "log-is-up-to-date": Or(
                epoch_of(own) < epoch_of(log),
                And(epoch_of(own) == epoch_of(log), offset_of(own) <= offset_of(log)),
            ),
        },
        s.setting(voter, epoch=epoch).adding(granted=(voter, epoch, candidate, log)),
    )


def become_leader(s: State) -> Action:
    """A Candidate with the votes of a majority of its own voter set becomes leader.

    Rules: state.candidate.to-leader, state.voters-set.own-majority.
    """
    return Action(
        "become-leader",
        "A Candidate with the votes of a majority of the voter set of its own log becomes leader.",
        (candidate, epoch, log, quorum),
        {
            "stood": s.asked(candidate, epoch, log),
            "same-epoch": s.epoch(candidate) == epoch,
            "same-log": s.log_end(candidate) == log,
            "follows-nobody": Not(s.follows(candidate, epoch)),
            "majority-of-own-voters": majority(quorum, in_force(log)),
            "majority-voted": forall((_v,), Implies(member(_v, quorum), s.granted(_v, epoch, candidate, log))),
        },
        s.adding(elected=(epoch, candidate, log)),
    )


def append(s: State) -> Action:
    """A leader appends a record of its epoch; a VotersRecord only if the last one and its own epoch are committed.

    Rules: voters.at-most-one-difference, voters.one-change-at-a-time, voters.epoch-committed-before-change,
    voters.effective-on-append.
    """
    own = s.log_end(leader)
    changes = is_voters_record(entry)
    return Action(
        "append",
        "A leader appends a record to its log and has it on disk before it counts itself.",
        (leader, epoch, log, entry, watermark, watermark_log),
        {
            "leads": s.elected(epoch, leader, log),
            "same-epoch": s.epoch(leader) == epoch,
            "entry-is-new": Not(s.written(entry)),
            "entry-of-the-epoch": epoch_of(entry) == epoch,
            "after-the-log-end": And(prefix(own, entry), own != entry),
            "next-entry": forall((_x,), Implies(prefix(_x, entry), Or(_x == entry, prefix(_x, own)))),
            "one-voter-differs": Implies(changes, neighbours(voters_of(voters_record(own)), voters_of(entry))),
            "has-high-watermark": Implies(changes, s.committed(watermark, watermark_log)),
            "epoch-is-committed": Implies(changes, epoch_of(watermark) == epoch),
            "voters-set-is-committed": Implies(changes, prefix(voters_record(own), watermark)),
        },
        s.setting(leader, log_end=entry, flushed=entry).adding(written=(entry,), acknowledged=(leader, entry)),
    )


def commit(s: State) -> Action:
    """A leader's high watermark passes an entry of its epoch.

    Rules: hw.majority, hw.own-epoch, voters.commit-by-new-set, hw.leader-excluded.
    """
    own = s.log_end(leader)
    return Action(
        "commit",
        "A leader counts an entry of its epoch as committed: a majority of the voter set of its log acknowledged it.",
        (leader, epoch, log, entry, quorum),
        {
            "leads": s.elected(epoch, leader, log),
            "same-epoch": s.epoch(leader) == epoch,
            "entry-in-its-log": prefix(entry, own),
            "entry-of-the-epoch": epoch_of(entry) == epoch,
            "majority-of-own-voters": majority(quorum, in_force(own)),
            "majority-acknowledged": forall((_v,), Implies(member(_v, quorum), s.acknowledged(_v, entry))),
        },
        s.adding(committed=(entry, own), applied=(leader, entry)),
    )


def learn_epoch(s: State) -> Action:
    """A replica learns of a larger epoch.  Rule: state.learn-higher-epoch.no-leader."""
    return Action(
        "learn-epoch",
        "A replica learns of a larger epoch.",
        (replica, epoch),
        {"epoch-is-new": s.epoch(replica) < epoch},
        s.setting(replica, epoch=epoch),
    )


def learn_leader(s: State) -> Action:
    """A replica learns the leader of an epoch, stores it on disk, and votes for no other replica in that epoch.

    Rules: state.learn-higher-epoch.leader, state.unattached.leader, state.same-epoch-preserves.
    """
    return Action(
        "learn-leader",
        "A replica learns who leads an epoch, its own or a larger one.",
        (replica, leader, epoch, log),
        {
            "leads": s.elected(epoch, leader, log),
            "is-another": replica != leader,
            "epoch-not-stale": s.epoch(replica) <= epoch,
        },
        s.setting(replica, epoch=epoch).adding(follows=(replica, epoch)),
    )


ALL = (stand, stand_again, vote, become_leader, append, commit, learn_epoch, learn_leader)
