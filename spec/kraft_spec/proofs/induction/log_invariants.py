"""What holds of logs: what is written, acknowledged and committed, and by which voters."""

from z3 import And, Implies, Not, Or

from kraft_spec.proofs.induction.invariant import Invariant, all_of, overtaken
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    QUORUM,
    REPLICA,
    bootstrap,
    epoch_of,
    exists,
    forall,
    in_force,
    is_voters_record,
    majority,
    neighbours,
    prefix,
    previous_voters_record,
    variables,
    voters_of,
    voters_record,
)

(_r,) = variables(REPLICA, "r")
_e, _g, _x, _y, _c, _d, _f = variables(ENTRY, "e g x y c d f")
(_t,) = variables(NUMBER, "t")
(_q,) = variables(QUORUM, "q")

LOGS: tuple[Invariant, ...] = (
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
        "A committed entry is acknowledged by a majority of the voters set of the log of the leader that committed it.",
        lambda s: forall(
            (_e, _g),
            Implies(
                s.committed(_e, _g),
                And(
                    s.written(_g),
                    prefix(_e, _g),
                    epoch_of(_e) == epoch_of(_g),
                    _e != bootstrap,
                    exists((_q,), And(majority(_q, in_force(_g)), all_of(_q, lambda v: s.acknowledged(v, _e)))),
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
