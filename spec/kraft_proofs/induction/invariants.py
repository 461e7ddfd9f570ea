"""Invariants of all reachable states, each with a name, a sentence and its formula.

Safety for Kafka's users is ElectionSafety and LeaderCompleteness, and StateMachineSafety, which follows from the
others. The other invariants make these three inductive.
"""

from collections.abc import Callable
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
    bootstrap,
    epoch_of,
    exists,
    forall,
    in_force,
    is_voters_record,
    majority,
    member,
    neighbours,
    prefix,
    previous_voters_record,
    variables,
    voters_of,
    voters_record,
)

_r, _v, _l, _r2, _l2 = variables(REPLICA, "r v l r2 l2")
_e, _g, _x, _y, _c, _d, _f, _f2 = variables(ENTRY, "e g x y c d f f2")
_t, _u = variables(NUMBER, "t u")
(_q,) = variables(QUORUM, "q")


class Invariant(NamedTuple):
    """A named property of states."""

    name: str
    sentence: str
    formula: Callable[[State], Formula]


def overtaken(state: State, entry: Expression, epoch: Expression, *, itself: bool) -> Formula:
    """State that a leader of an epoch after the entry's and before `epoch` (or of `epoch` itself) lacks the entry."""
    before = _u <= epoch if itself else _u < epoch
    return exists(
        (_u, _l2, _f2),
        And(state.elected(_u, _l2, _f2), epoch_of(entry) < _u, before, Not(prefix(entry, _f2))),
    )


def _for_each_in(quorum: Expression, what: Callable[[Expression], Formula]) -> Formula:
    """State that a condition holds for each replica of the quorum."""
    return forall((_v,), Implies(member(_v, quorum), what(_v)))


_LOGS: tuple[Invariant, ...] = (
    Invariant("bootstrap-written", "The empty log is there from the start.", lambda s: s.written(bootstrap)),
    Invariant(
        "logs-have-no-gaps",
        "Every entry before one that was written was written.",
        lambda s: forall(
            (_x, _e), Implies(And(s.written(_e), prefix(_x, _e)), s.written(_x)), (s.written(_e), prefix(_x, _e))
        ),
    ),
    Invariant(
        "log-ends-written",
        "A replica's log is made of entries that leaders wrote, none of an epoch after the replica's own; what is on "
        "disk is a prefix of it.",
        lambda s: forall(
            (_r,),
            And(
                s.written(s.log_end(_r)),
                epoch_of(s.log_end(_r)) <= s.epoch(_r),
                prefix(s.flushed(_r), s.log_end(_r)),
            ),
            s.log_end(_r),
            s.flushed(_r),
        ),
    ),
    Invariant(
        "epochs-ascend",
        "In one log the epochs of entries never fall.",
        lambda s: forall(
            (_x, _e),
            Implies(And(s.written(_e), prefix(_x, _e)), epoch_of(_x) <= epoch_of(_e)),
            (s.written(_e), prefix(_x, _e)),
        ),
    ),
    Invariant(
        "entries-have-leaders",
        "Each entry was written by the leader of its epoch, after the log that the leader was elected with.",
        lambda s: forall(
            (_e,),
            Implies(
                And(s.written(_e), _e != bootstrap),
                exists((_r, _f), And(s.elected(epoch_of(_e), _r, _f), prefix(_f, _e), _f != _e)),
            ),
            s.written(_e),
        ),
    ),
    Invariant(
        "epoch-stands-on-its-log",
        "Before the first entry of an epoch there is only the log that its leader was elected with.",
        lambda s: forall(
            (_e, _x, _r, _f),
            Implies(
                And(s.written(_e), s.elected(epoch_of(_e), _r, _f), prefix(_x, _e)),
                Or(prefix(_x, _f), epoch_of(_x) == epoch_of(_e)),
            ),
        ),
    ),
    Invariant(
        "log-matching",
        "Of two entries of one epoch, one is in the other's log; so equal offset and epoch mean equal logs.",
        lambda s: forall(
            (_x, _y),
            Implies(
                And(s.written(_x), s.written(_y), epoch_of(_x) == epoch_of(_y)), Or(prefix(_x, _y), prefix(_y, _x))
            ),
            (s.written(_x), s.written(_y)),
        ),
    ),
    Invariant(
        "leader-has-its-epoch",
        "As long as it is in its epoch, a leader has all entries of it, and has them on disk.",
        lambda s: forall(
            (_t, _r, _f),
            Implies(
                And(s.elected(_t, _r, _f), s.epoch(_r) == _t),
                And(
                    s.log_end(_r) == s.flushed(_r),
                    prefix(_f, s.log_end(_r)),
                    Or(s.log_end(_r) == _f, epoch_of(s.log_end(_r)) == _t),
                    forall((_e,), Implies(And(s.written(_e), epoch_of(_e) == _t), prefix(_e, s.log_end(_r)))),
                ),
            ),
        ),
    ),
    Invariant(
        "committed-by-majority",
        "A committed entry is acknowledged by a majority of the voter set of the log of the leader that committed it.",
        lambda s: forall(
            (_e, _g),
            Implies(
                s.committed(_e, _g),
                And(
                    s.written(_g),
                    prefix(_e, _g),
                    epoch_of(_e) == epoch_of(_g),
                    _e != bootstrap,
                    exists((_q,), And(majority(_q, in_force(_g)), _for_each_in(_q, lambda v: s.acknowledged(v, _e)))),
                ),
            ),
        ),
    ),
    Invariant(
        "acknowledged-was-written",
        "Only entries of a leader are acknowledged, by replicas that reached their epoch.",
        lambda s: forall(
            (_r, _e),
            Implies(s.acknowledged(_r, _e), And(s.written(_e), _e != bootstrap, epoch_of(_e) <= s.epoch(_r))),
        ),
    ),
    Invariant(
        "acknowledged-is-kept",
        "A replica has on disk what it acknowledged, unless a later leader lacks it.",
        lambda s: forall(
            (_r, _e),
            Implies(
                s.acknowledged(_r, _e),
                Or(prefix(_e, s.flushed(_r)), overtaken(s, _e, s.epoch(_r), itself=True)),
            ),
        ),
    ),
    Invariant(
        "acknowledged-is-kept-to-vote",
        "A replica that may still vote in its epoch has on disk what it acknowledged, unless the leader of an earlier "
        "epoch lacks it.",
        lambda s: forall(
            (_r, _e),
            Implies(
                And(s.acknowledged(_r, _e), Not(s.follows(_r, s.epoch(_r)))),
                Or(prefix(_e, s.flushed(_r)), overtaken(s, _e, s.epoch(_r), itself=False)),
            ),
        ),
    ),
    Invariant(
        "applied-was-committed",
        "What a replica applied is in the log of a committed entry.",
        lambda s: forall(
            (_r, _e),
            Implies(
                s.applied(_r, _e),
                exists((_d, _g), And(s.committed(_d, _g), prefix(_e, _d)), s.committed(_d, _g), prefix(_d, _g)),
            ),
            s.applied(_r, _e),
        ),
    ),
    Invariant(
        "one-voter-change-at-a-time",
        "A VotersRecord differs in one voter from the one before it, which was committed by its own set, with an entry "
        "of the same epoch, before the new one was written.",
        lambda s: forall(
            (_c,),
            Implies(
                And(s.written(_c), is_voters_record(_c), _c != bootstrap),
                And(
                    neighbours(voters_of(previous_voters_record(_c)), voters_of(_c)),
                    exists(
                        (_d, _g),
                        And(
                            s.committed(_d, _g),
                            voters_record(_g) == previous_voters_record(_c),
                            prefix(previous_voters_record(_c), _d),
                            prefix(_d, _c),
                            _d != _c,
                            epoch_of(_d) == epoch_of(_c),
                        ),
                    ),
                ),
            ),
        ),
    ),
)
"""Invariants of written, acknowledged and committed entries, and their voters."""

_VOTING: tuple[Invariant, ...] = (
    Invariant(
        "candidate-log-is-older",
        "A Candidate's log was written and ends before the epoch that it stands for, which it has reached.",
        lambda s: forall(
            (_r, _t, _f),
            Implies(s.asked(_r, _t, _f), And(s.written(_f), _t <= s.epoch(_r), epoch_of(_f) < _t)),
        ),
    ),
    Invariant(
        "one-log-per-candidacy",
        "A Candidate asks all voters of an epoch with one log, also after a crash.",
        lambda s: forall((_r, _t, _f, _f2), Implies(And(s.asked(_r, _t, _f), s.asked(_r, _t, _f2)), _f == _f2)),
    ),
    Invariant(
        "candidate-votes-for-itself",
        "A Candidate has spent its own vote on itself.",
        lambda s: forall((_r, _t, _f), Implies(s.asked(_r, _t, _f), s.granted(_r, _t, _r, _f))),
    ),
    Invariant(
        "candidate-log-on-disk",
        "As long as a Candidate neither won nor follows, its log is the one it asked with, and all of it is on disk.",
        lambda s: forall(
            (_r, _t, _f),
            Implies(
                And(s.asked(_r, _t, _f), s.epoch(_r) == _t, Not(s.follows(_r, _t))),
                And(prefix(_f, s.flushed(_r)), Or(s.log_end(_r) == _f, s.elected(_t, _r, _f))),
            ),
        ),
    ),
    Invariant(
        "votes-were-asked-for",
        "A vote is for a Candidate that asked with that log, and its epoch is reached.",
        lambda s: forall(
            (_v, _t, _r, _f), Implies(s.granted(_v, _t, _r, _f), And(s.asked(_r, _t, _f), _t <= s.epoch(_v)))
        ),
    ),
    Invariant(
        "vote-once-per-epoch",
        "A replica votes for one Candidate in an epoch.",
        lambda s: forall(
            (_v, _t, _r, _f, _r2, _f2),
            Implies(And(s.granted(_v, _t, _r, _f), s.granted(_v, _t, _r2, _f2)), And(_r == _r2, _f == _f2)),
        ),
    ),
    Invariant(
        "leader-has-majority",
        "A leader stood for its epoch, and a majority of the voter set of its own log voted for it.",
        lambda s: forall(
            (_t, _r, _f),
            Implies(
                s.elected(_t, _r, _f),
                And(
                    s.asked(_r, _t, _f),
                    exists(
                        (_q,),
                        And(majority(_q, in_force(_f)), _for_each_in(_q, lambda v: s.granted(v, _t, _r, _f))),
                    ),
                ),
            ),
        ),
    ),
    Invariant(
        "follower-has-leader",
        "Whom a replica follows was elected, is another replica, and its epoch is reached.",
        lambda s: forall(
            (_r, _t),
            Implies(
                s.follows(_r, _t),
                And(_t <= s.epoch(_r), exists((_l, _f), And(s.elected(_t, _l, _f), _l != _r))),
            ),
        ),
    ),
    Invariant(
        "votes-respect-acknowledged",
        "A Candidate has what its voter acknowledged before, unless a leader between the two epochs lacks it.",
        lambda s: forall(
            (_v, _t, _r, _f, _e),
            Implies(
                And(s.granted(_v, _t, _r, _f), s.acknowledged(_v, _e), epoch_of(_e) < _t),
                Or(prefix(_e, _f), overtaken(s, _e, _t, itself=False)),
            ),
        ),
    ),
    Invariant(
        "leader-completeness",
        "A leader is elected with every entry that was committed in an earlier epoch.",
        lambda s: forall(
            (_t, _r, _f, _e, _g),
            Implies(And(s.elected(_t, _r, _f), s.committed(_e, _g), epoch_of(_e) < _t), prefix(_e, _f)),
            (s.elected(_t, _r, _f), s.committed(_e, _g)),
        ),
    ),
    Invariant(
        "election-safety",
        "An epoch has one leader, elected with one log.",
        lambda s: forall(
            (_t, _r, _f, _r2, _f2),
            Implies(And(s.elected(_t, _r, _f), s.elected(_t, _r2, _f2)), And(_r == _r2, _f == _f2)),
        ),
    ),
)
"""Invariants of Candidates, votes and leaders."""

INVARIANTS: tuple[Invariant, ...] = (*_LOGS, *_VOTING)

SAFETY: tuple[Invariant, ...] = (
    Invariant(
        "committed-in-one-order",
        "Of two committed entries, one is in the other's log.",
        lambda s: forall(
            (_e, _g, _x, _y),
            Implies(And(s.committed(_e, _g), s.committed(_x, _y)), Or(prefix(_e, _x), prefix(_x, _e))),
            (s.committed(_e, _g), s.committed(_x, _y)),
        ),
    ),
    Invariant(
        "state-machine-safety",
        "No two replicas apply different records at one offset: of two entries that replicas applied, one is in the "
        "other's log.",
        lambda s: forall(
            (_r, _e, _r2, _x),
            Implies(And(s.applied(_r, _e), s.applied(_r2, _x)), Or(prefix(_e, _x), prefix(_x, _e))),
            (s.applied(_r, _e), s.applied(_r2, _x)),
        ),
    ),
)
