"""Apache Kafka's restart by its own vote, in the cases in which it is safe.

A replica that follows the leader of an epoch in which it voted for itself restarts as Candidate of that epoch.
This proof shows that it is safe while its log has no entry of the epoch: no majority elects it, because a majority
elected the leader that it followed.
With such an entry other replicas refuse it, because its Vote request is malformed, and it leads if it is the only
voter: the finding own-vote-before-known-leader.
Its log may differ from the log of its first Vote requests; its earlier voters vote for it again without comparing logs.
"""

from z3 import And, Implies, Not, Or

from kraft_proofs.induction.actions import Action, candidate, epoch, log, voter
from kraft_proofs.induction.invariants import Invariant, overtaken
from kraft_proofs.induction.state import State
from kraft_proofs.induction.symbols import (
    ENTRY,
    NUMBER,
    REPLICA,
    Expression,
    Formula,
    epoch_of,
    exists,
    forall,
    prefix,
    variables,
)
from kraft_proofs.induction.theory import Theory, theory

_r, _v, _r2, _l = variables(REPLICA, "r v r2 l")
_e, _f, _f2, _g = variables(ENTRY, "e f f2 g")
(_t,) = variables(NUMBER, "t")
(earlier,) = variables(ENTRY, "the_earlier")


def repeat_vote(s: State) -> Action:
    """A replica grants its vote again to the same Candidate, without comparing logs.

    Rule: vote.repeat-grant.
    """
    return Action(
        "repeat-vote",
        "A replica that voted for a Candidate votes for it again, without a look at the log.",
        (voter, candidate, epoch, log, earlier),
        {
            "voted-for-it": s.granted(voter, epoch, candidate, earlier),
            "was-asked": s.asked(candidate, epoch, log),
            "asks-now": And(s.epoch(candidate) == epoch, s.log_end(candidate) == log),
        },
        s.adding(granted=(voter, epoch, candidate, log)),
    )


def led_by_another(s: State, entry: Expression, of_epoch: Expression, replica: Expression) -> Formula:
    """State that another replica leads the epoch, and was elected without the entry."""
    return exists((_l, _g), And(s.elected(of_epoch, _l, _g), _l != replica, Not(prefix(entry, _g))))


_INSTEAD = {
    "one-log-per-candidacy": Invariant(
        "candidacies-share",
        "What a Candidate asked with is still on its disk, or the leader of the epoch was elected without it.",
        lambda s: forall(
            (_r, _t, _f, _e),
            Implies(
                And(s.asked(_r, _t, _f), s.epoch(_r) == _t, prefix(_e, _f)),
                Or(prefix(_e, s.flushed(_r)), led_by_another(s, _e, _t, _r)),
            ),
            (s.asked(_r, _t, _f), prefix(_e, _f)),
        ),
    ),
    "vote-once-per-epoch": Invariant(
        "vote-once-per-epoch",
        "A replica votes for one Candidate in an epoch.",
        lambda s: forall(
            (_v, _t, _r, _f, _r2, _f2),
            Implies(And(s.granted(_v, _t, _r, _f), s.granted(_v, _t, _r2, _f2)), _r == _r2),
        ),
    ),
    "votes-respect-acknowledged": Invariant(
        "votes-respect-acknowledged",
        "A Candidate has what its voter acknowledged before, unless a leader between the two epochs lacks it, or "
        "another leader of the Candidate's.",
        lambda s: forall(
            (_v, _t, _r, _f, _e),
            Implies(
                And(s.granted(_v, _t, _r, _f), s.acknowledged(_v, _e), epoch_of(_e) < _t),
                Or(prefix(_e, _f), overtaken(s, _e, _t, itself=False), led_by_another(s, _e, _t, _r)),
            ),
        ),
    ),
}
"""Invariants that are different in this theory."""


def where_safe() -> Theory:
    """Return the theory of Kafka's restart, restricted to logs without an entry of the epoch."""
    about = theory()
    before = about.before
    own = before.log_end(candidate)
    again = about.action("stand-again").without("follows-nobody")
    # After a crash the whole remaining log is on disk.
    narrower = {"on-disk": before.flushed(candidate) == own, "log-is-older": epoch_of(own) < epoch}
    again = again._replace(guard={**again.guard, **narrower})
    leads = about.action("become-leader").without("follows-nobody")
    for action in (again, leads, repeat_vote(before)):
        about = about.with_action(action)
    return about._replace(invariants=tuple(_INSTEAD.get(invariant.name, invariant) for invariant in about.invariants))
