"""Facts about single actions that their obligations share, each proved once."""

from z3 import And, Implies, Or

from kraft_spec.proofs.induction.actions import agreeing, answer, candidate, epoch, kept, log, replica, watermark
from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.script import Facts, Script, one_step
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import ENTRY, Formula, epoch_of, forall, prefix, variables

(_x,) = variables(ENTRY, "x")

_LOGS = ("log-ends-written", "logs-have-no-gaps", "epochs-ascend")


def nothing_written_before(s: State) -> Formula:
    """No entry of the new leader's epoch was written, unless it had been elected already."""
    return forall((_x,), Implies(And(s.written(_x), epoch_of(_x) == epoch), s.elected(epoch, candidate, log)))


def prove_nothing_written_before(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """Each entry has a leader, and the epoch has no other."""
    using = (
        "new-leader-is-the-only-one",
        "entries-have-leaders",
        "stood",
        "candidate-log-is-older",
        "epochs-natural",
        "bootstrap-has-voters",
    )
    return one_step(name, facts, nothing_written_before(s), using)


def answer_was_written(s: State) -> Formula:
    """The log that the leader answered from was written, begins with the one it was elected with, and ends there."""
    return And(s.written(answer), epoch_of(answer) <= epoch, prefix(log, answer))


def prove_answer_was_written(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """It is the log that the leader was elected with, or one of its epoch."""
    using = (
        "leads",
        "log-of-the-leader",
        "leader-has-majority",
        "candidate-log-is-older",
        "entries-have-leaders",
        "election-safety",
        "prefix-reflexive",
        "bootstrap-has-voters",
        "epochs-natural",
    )
    return one_step(name, facts, answer_was_written(s), using)


def agreeing_is_the_log_end(s: State) -> Formula:
    """The leader's entry with the epoch and offset of the follower's last one is the follower's last one."""
    return agreeing == s.log_end(replica)


def prove_agreeing_is_the_log_end(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """Log matching."""
    script = Script(name, facts, agreeing_is_the_log_end(s))
    own = s.log_end(replica)
    script.have(
        "one-has-the-other",
        Or(prefix(agreeing, own), prefix(own, agreeing)),
        (
            "same-epoch-and-offset",
            "follows",
            "answer-was-written",
            "log-matching",
            "log-ends-written",
            "logs-have-no-gaps",
        ),
    )
    return script.contradiction(("denied", "one-has-the-other", "same-epoch-and-offset", "offsets-ascend"))


def watermark_and_answer(s: State) -> Formula:
    """The leader's high watermark and the log that it answered from are of one log."""
    return And(s.written(watermark), Or(prefix(answer, watermark), prefix(watermark, answer)))


def prove_watermark_and_answer(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """Both are of the leader's epoch, or the leader answered from the log that it was elected with."""
    using = (
        "leads",
        "log-of-the-leader",
        "leader-committed",
        "in-the-leaders-epoch",
        "answer-was-written",
        "committed-by-majority",
        "logs-have-no-gaps",
        "entries-have-leaders",
        "election-safety",
        "log-matching",
        "bootstrap-has-voters",
    )
    return one_step(name, facts, watermark_and_answer(s), using)


def keeps_what_they_share(s: State) -> Formula:
    """The follower keeps all that is in its log and in the leader's."""
    return forall((_x,), Implies(And(prefix(_x, s.log_end(replica)), prefix(_x, answer)), prefix(_x, kept)))


def prove_cut_keeps_what_they_share(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """What they share ends before the diverging epoch and offset."""
    using = (
        "diverging-epoch",
        "cuts-no-more",
        "answer-was-written",
        *_LOGS,
        "offsets-ascend",
    )
    return one_step(name, facts, keeps_what_they_share(s), using)


def prove_snapshot_has_what_they_share(s: State, name: str, facts: Facts) -> tuple[Obligation, ...]:
    """What they share ends before the snapshot does."""
    using = (
        "needs-it",
        "prefix-of-the-leader",
        "answer-was-written",
        *_LOGS,
        "prefixes-comparable",
        "prefix-transitive",
        "offsets-ascend",
    )
    return one_step(name, facts, keeps_what_they_share(s), using)
