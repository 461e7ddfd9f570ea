"""Mutants of the proof that are about quorums and voter changes."""

from z3 import And, Implies

from kraft_reference.state import is_majority
from kraft_spec.proofs.induction.actions import leader, quorum
from kraft_spec.proofs.induction.changes import other_guard, other_invariant, together, without_axiom, without_guard
from kraft_spec.proofs.induction.mutant import Mutant, ScriptedRun
from kraft_spec.proofs.induction.replays import (
    KIP_642_RESUME,
    SINGLE_SERVER_BUG,
    append,
    commit,
    elect,
    replicate,
)
from kraft_spec.proofs.induction.simulator import Cluster
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    ENTRY,
    Formula,
    bootstrap,
    exists,
    forall,
    is_voters_record,
    majority,
    neighbours,
    prefix,
    previous_voters_record,
    variables,
    voters_of,
    voters_record,
)
from kraft_spec.proofs.induction.worlds import Meaning, Replicas, keys

_c, _d, _g = variables(ENTRY, "c d g")


def _at_least_half(chosen: Replicas, voters: Replicas) -> bool:
    number = len(chosen & voters)
    return is_majority(number, keys(voters)) or 2 * number == len(voters) > 0


def _change_in_another_epoch(s: State) -> Formula:
    """`one-voter-change-at-a-time` without that both entries are of one epoch."""
    previous = previous_voters_record(_c)
    committed_before = exists(
        (_d, _g),
        And(s.committed(_d, _g), voters_record(_g) == previous, prefix(previous, _d), prefix(_d, _c), _d != _c),
    )
    return forall(
        (_c,),
        Implies(
            And(s.written(_c), is_voters_record(_c), _c != bootstrap),
            And(neighbours(voters_of(previous), voters_of(_c)), committed_before),
        ),
    )


_TWO_CHANGES = (
    *elect(1, 2, 3),
    append(1),
    *replicate(1, 2),
    commit(1),
    append(1, 1, 2, 3, 4),
    append(1, 1, 2, 3, 4, 5),
    *replicate(1, 4, 5),
    commit(1),
    *elect(2, 3),
)
_REPLACED_AT_ONCE = (
    *elect(1, 2),
    append(1),
    *replicate(1, 2, 3),
    commit(1),
    append(1, 1, 2, 4),
    *replicate(1, 4),
    commit(1),
    *elect(3, 2),
)
QUORUM_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "half-is-a-majority",
        "Two majorities of one voters set may have no replica in common, as when half of an even set is enough.",
        ("state.voters-set.own-majority", "hw.majority"),
        without_axiom("majorities-of-one-set"),
        "become-leader/new-leader-is-complete/not-the-same-set",
        "become-leader/leader-completeness",
        None,
        {
            "majority": Meaning("At least half of the voters of a set that is not empty.", _at_least_half),
            "neighbours": Meaning("None are: there are no voter changes.", lambda one, other: False),
        },
    ),
    Mutant(
        "neighbours-differ-in-two",
        "Majorities of neighbouring voters sets may have no replica in common, as when one voter replaces another.",
        ("voters.at-most-one-difference",),
        without_axiom("majorities-of-neighbours"),
        "become-leader/new-leader-is-complete/other-set-is-not-next",
        "become-leader/leader-completeness",
        ScriptedRun(Cluster(4, 3, 3, 0), _REPLACED_AT_ONCE),
        {"neighbours": Meaning("At most two replicas are in one set only.", lambda one, other: len(one ^ other) <= 2)},
    ),
)

VOTER_CHANGE_MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "change-before-own-epoch-commits",
        "A leader writes a VotersRecord when the last one is committed, by whichever leader.",
        ("voters.epoch-committed-before-change",),
        without_guard("append", "epoch-is-committed"),
        "append/one-voter-change-at-a-time/watermark-is-in-the-log",
        "append/one-voter-change-at-a-time",
        ScriptedRun(*SINGLE_SERVER_BUG),
    ),
    Mutant(
        "change-before-own-epoch-commits-and-invariant-agrees",
        "The same, with the invariant on voter changes weakened to what is then true.",
        ("voters.epoch-committed-before-change", "reassign.new-leader-resumes"),
        together(
            without_guard("append", "epoch-is-committed"),
            other_invariant("one-voter-change-at-a-time", _change_in_another_epoch),
        ),
        "become-leader/new-leader-is-complete/not-in-different-logs",
        "become-leader/leader-completeness",
        ScriptedRun(*KIP_642_RESUME),
    ),
    Mutant(
        "change-while-own-epoch-is-uncommitted",
        "An entry of the leader's epoch after the last VotersRecord is enough, committed or not.",
        ("voters.epoch-committed-before-change", "voters.one-change-at-a-time"),
        without_guard("append", "has-high-watermark"),
        "append/one-voter-change-at-a-time/watermark-is-in-the-log",
        "append/one-voter-change-at-a-time",
    ),
    Mutant(
        "change-while-another-is-pending",
        "A leader writes a VotersRecord while the last one is not yet committed.",
        ("voters.one-change-at-a-time",),
        without_guard("append", "voters-set-is-committed"),
        "append/one-voter-change-at-a-time/watermark-counted-by-the-set-in-force",
        "append/one-voter-change-at-a-time",
        ScriptedRun(Cluster(5, 3, 3, 0), _TWO_CHANGES),
    ),
    Mutant(
        "any-new-voters-set",
        "A VotersRecord may name any voters.",
        ("voters.at-most-one-difference",),
        without_guard("append", "one-voter-differs"),
        "append/one-voter-change-at-a-time/contradiction",
        "append/one-voter-change-at-a-time",
        ScriptedRun(Cluster(4, 3, 3, 0), _REPLACED_AT_ONCE),
    ),
    Mutant(
        "change-takes-effect-on-commit",
        "A leader counts acknowledgements by the voters set before the newest VotersRecord of its log.",
        ("voters.commit-by-new-set", "voters.effective-on-append"),
        other_guard(
            "commit",
            "majority-of-own-voters",
            lambda s: majority(quorum, voters_of(previous_voters_record(voters_record(s.log_end(leader))))),
        ),
        "commit/later-leaders-keep-it/not-the-same-set",
        "commit/committed-by-majority",
    ),
    Mutant(
        "commit-by-the-first-voters",
        "A leader counts acknowledgements by the voters that the cluster was formatted with.",
        ("voters.commit-by-new-set",),
        other_guard("commit", "majority-of-own-voters", lambda s: majority(quorum, voters_of(bootstrap))),
        "commit/later-leaders-keep-it/not-the-same-set",
        "commit/committed-by-majority",
    ),
    Mutant(
        "election-by-the-first-voters",
        "A Candidate counts the votes of the voters that the cluster was formatted with.",
        ("voters.candidate-uses-own-set", "state.voters-set.own-majority"),
        other_guard("become-leader", "majority-of-own-voters", lambda s: majority(quorum, voters_of(bootstrap))),
        "become-leader/new-leader-is-complete/not-the-same-set",
        "become-leader/leader-has-majority",
    ),
)
