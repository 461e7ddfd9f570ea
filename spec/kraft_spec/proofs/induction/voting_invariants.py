"""What holds of Candidates, votes and leaders."""

from z3 import And, Implies, Not, Or

from kraft_spec.proofs.induction.invariant import Invariant, all_of, overtaken
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    QUORUM,
    REPLICA,
    epoch_of,
    exists,
    forall,
    in_force,
    majority,
    prefix,
    variables,
)

_r, _v, _l, _r2 = variables(REPLICA, "r v l r2")
_e, _g, _f, _f2 = variables(ENTRY, "e g f f2")
(_t,) = variables(NUMBER, "t")
(_q,) = variables(QUORUM, "q")

VOTING: tuple[Invariant, ...] = (
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
        "A leader stood for its epoch, and a majority of the voters set of its own log voted for it.",
        lambda s: forall(
            (_t, _r, _f),
            Implies(
                s.elected(_t, _r, _f),
                And(
                    s.asked(_r, _t, _f),
                    exists(
                        (_q,),
                        And(majority(_q, in_force(_f)), all_of(_q, lambda v: s.granted(v, _t, _r, _f))),
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
