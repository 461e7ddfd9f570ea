"""What is proved of an action before its obligations, and which of these are proved by a script."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from z3 import And, Implies, Or

from kraft_spec.proofs.induction import own_vote, scripts
from kraft_spec.proofs.induction.actions import agreeing, answer, candidate, epoch, kept, log, replica, watermark
from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.script import Facts, Script
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import ENTRY, Formula, epoch_of, forall, prefix, variables

ProofScript: TypeAlias = Callable[[State, str, Facts, Formula], tuple[Obligation, ...]]
"""From the state before, the obligation's name, what may be used and the goal to the steps."""

(_x,) = variables(ENTRY, "x")


class Lemma(NamedTuple):
    """A fact about an action that its obligations share."""

    name: str
    says: Callable[[State], Formula]
    proof: str | ProofScript
    """The facts that it follows from in one step, or a script."""


def _nothing_written_before(s: State) -> Formula:
    """No entry of the new leader's epoch was written, unless it had been elected already."""
    return forall((_x,), Implies(And(s.written(_x), epoch_of(_x) == epoch), s.elected(epoch, candidate, log)))


def _answer_was_written(s: State) -> Formula:
    """The log that the leader answered from was written, begins with the one it was elected with, and ends there."""
    return And(s.written(answer), epoch_of(answer) <= epoch, prefix(log, answer))


def _agreeing_is_the_log_end(s: State) -> Formula:
    """The leader's entry with the epoch and offset of the follower's last one is the follower's last one."""
    return agreeing == s.log_end(replica)


def _prove_agreeing_is_the_log_end(s: State, name: str, facts: Facts, goal: Formula) -> tuple[Obligation, ...]:
    """Log matching."""
    script = Script(name, facts, goal)
    own = s.log_end(replica)
    script.have(
        "one-has-the-other",
        Or(prefix(agreeing, own), prefix(own, agreeing)),
        "same-epoch-and-offset follows answer-was-written log-matching log-ends-written logs-have-no-gaps",
    )
    return script.contradiction("denied one-has-the-other same-epoch-and-offset offsets-ascend")


def _watermark_and_answer(s: State) -> Formula:
    """The leader's high watermark and the log that it answered from are of one log."""
    return And(s.written(watermark), Or(prefix(answer, watermark), prefix(watermark, answer)))


def _keeps_what_they_share(s: State) -> Formula:
    """The follower keeps all that is in its log and in the leader's."""
    return forall((_x,), Implies(And(prefix(_x, s.log_end(replica)), prefix(_x, answer)), prefix(_x, kept)))


# It is the log that the leader was elected with, or one of its epoch.
_ANSWER = Lemma(
    "answer-was-written",
    _answer_was_written,
    "leads log-of-the-leader leader-has-majority candidate-log-is-older entries-have-leaders election-safety "
    "prefix-reflexive bootstrap-has-voters epochs-natural",
)
_AGREEING = Lemma("agreeing-is-the-log-end", _agreeing_is_the_log_end, _prove_agreeing_is_the_log_end)
# Both are of the leader's epoch, or the leader answered from the log that it was elected with.
_WATERMARK = Lemma(
    "watermark-is-in-the-leaders-log",
    _watermark_and_answer,
    "leads log-of-the-leader leader-committed in-the-leaders-epoch answer-was-written committed-by-majority "
    "logs-have-no-gaps entries-have-leaders election-safety log-matching bootstrap-has-voters",
)
# Each entry has a leader, and the epoch has no other.
_NOTHING_BEFORE = Lemma(
    "nothing-written-before",
    _nothing_written_before,
    "new-leader-is-the-only-one entries-have-leaders stood candidate-log-is-older epochs-natural bootstrap-has-voters",
)
# What they share ends before the diverging epoch and offset.
_CUT = Lemma(
    "keeps-what-they-share",
    _keeps_what_they_share,
    "diverging-epoch cuts-no-more answer-was-written log-ends-written logs-have-no-gaps epochs-ascend offsets-ascend",
)
# What they share ends before the snapshot does.
_SNAPSHOT = Lemma(
    "keeps-what-they-share",
    _keeps_what_they_share,
    "needs-it prefix-of-the-leader answer-was-written log-ends-written logs-have-no-gaps epochs-ascend "
    "prefixes-comparable prefix-transitive offsets-ascend",
)

LEMMAS: Mapping[str, tuple[Lemma, ...]] = {
    "become-leader": (
        Lemma("new-leader-is-complete", scripts.complete, scripts.new_leader_is_complete),
        Lemma("new-leader-is-the-only-one", scripts.only_leader, scripts.new_leader_is_the_only_one),
        _NOTHING_BEFORE,
    ),
    "commit": (Lemma("later-leaders-keep-it", scripts.kept_by_later_leaders, scripts.later_leaders_keep_it),),
    "fetch-records": (_ANSWER, _AGREEING),
    "learn-high-watermark": (_ANSWER, _AGREEING, _WATERMARK),
    "truncate": (_ANSWER, _CUT),
    "load-snapshot": (_ANSWER, _SNAPSHOT),
}
"""Of each action in their order; each may use those before it, and the action's obligations all."""

SCRIPTS: Mapping[str, ProofScript] = {
    "vote/votes-respect-acknowledged": scripts.voter_compares_logs,
    "repeat-vote/votes-respect-acknowledged": own_vote.repeated_vote_respects_acknowledged,
    "append/one-voter-change-at-a-time": scripts.voters_change_one_at_a_time,
}
"""Obligations that are proved in steps."""
