"""Two voters sets, by cases.

Two voters sets matter where quorums meet: that of a Candidate's log, and that of the log by which an entry was
committed or another leader elected. Either they are the same, or one is the next after the other, and then two
majorities have a replica in common; or one is further behind, or they are in different logs, and then the voter changes
between them contradict what was committed before them. Z3 proves that there is no other case.
"""

from typing import NamedTuple

from z3 import And, Implies, Not, Or

from kraft_spec.proofs.induction.prover import Obligation
from kraft_spec.proofs.induction.script import Script
from kraft_spec.proofs.induction.state import State
from kraft_spec.proofs.induction.symbols import (
    Expression,
    Formula,
    bootstrap,
    epoch_of,
    is_voters_record,
    prefix,
    previous_voters_record,
    voters_record,
)

ORDER = (
    "prefix-reflexive prefix-antisymmetric prefix-transitive prefixes-comparable bootstrap-first "
    "bootstrap-has-voters epochs-natural offsets-natural offsets-ascend"
)
SETS = "in-force-is-in-log in-force-is-newest previous-is-before previous-is-newest"
CHANGES = "one-voter-change-at-a-time"


class Sides(NamedTuple):
    """What the two voters sets are of, and how each part of the argument knows what it needs."""

    one: Expression
    """The Candidate's log."""
    other: Expression
    """The log by which the entry was committed, or the other leader elected."""
    overlap: str
    """Facts that make a replica common to both majorities a contradiction."""
    reaches_one: str
    """Facts by which what was committed before the other's set is in the Candidate's log."""
    reaches_other: str
    """Facts by which what was committed before the Candidate's set is in the other log."""


def by_cases(script: Script, sides: Sides) -> tuple[Obligation, ...]:
    """A contradiction in each of the six ways in which two voters sets can be related."""
    one, other = voters_record(sides.one), voters_record(sides.other)
    before_one = script.apply(CHANGES, (one,), "candidate").named[0]
    before_other = script.apply(CHANGES, (other,), "other").named[0]
    known = f"setting {CHANGES},candidate {CHANGES},other"
    script.have(
        "before-the-candidates-set",
        Implies(one != bootstrap, And(prefix(before_one, sides.one), epoch_of(before_one) <= epoch_of(sides.one))),
        f"{known} prefix-transitive logs-have-no-gaps epochs-ascend",
    )
    script.have(
        "before-the-other-set",
        Implies(
            other != bootstrap,
            And(prefix(before_other, sides.other), epoch_of(before_other) <= epoch_of(sides.other)),
        ),
        f"{known} prefix-transitive logs-have-no-gaps epochs-ascend",
    )
    script.have("not-the-same-set", one != other, f"{sides.overlap} majorities-of-one-set {known}")
    neighbours = f"{sides.overlap} majorities-of-neighbours {known}"
    script.have("other-set-is-not-next", Not(And(other != bootstrap, previous_voters_record(other) == one)), neighbours)
    script.have(
        "candidates-set-is-not-next", Not(And(one != bootstrap, previous_voters_record(one) == other)), neighbours
    )
    script.have(
        "candidate-has-what-committed-before-the-other-set",
        Implies(other != bootstrap, prefix(before_other, sides.one)),
        f"{known} before-the-other-set previous-is-before offsets-ascend {sides.reaches_one}",
    )
    script.have(
        "other-has-what-committed-before-the-candidates-set",
        Implies(one != bootstrap, prefix(before_one, sides.other)),
        f"{known} before-the-candidates-set prefix-transitive {sides.reaches_other}",
    )
    behind = (
        f"{known} not-the-same-set previous-is-before previous-is-newest in-force-is-newest bootstrap-first "
        "prefix-antisymmetric prefix-transitive"
    )
    script.have(
        "candidate-is-not-behind",
        Not(prefix(one, other)),
        f"{behind} candidate-has-what-committed-before-the-other-set other-set-is-not-next",
    )
    script.have(
        "other-is-not-behind",
        Not(prefix(other, one)),
        f"{behind} other-has-what-committed-before-the-candidates-set candidates-set-is-not-next",
    )
    script.have(
        "no-other-case",
        Or(
            one == other,
            And(other != bootstrap, previous_voters_record(other) == one),
            And(one != bootstrap, previous_voters_record(one) == other),
            prefix(one, other),
            prefix(other, one),
            And(one != bootstrap, other != bootstrap, Not(prefix(one, other)), Not(prefix(other, one))),
        ),
        "setting bootstrap-first",
    )
    script.have(
        "not-in-different-logs",
        Not(And(one != bootstrap, other != bootstrap, Not(prefix(one, other)), Not(prefix(other, one)))),
        (
            f"{known} log-matching epochs-ascend prefixes-comparable prefix-transitive "
            "candidate-has-what-committed-before-the-other-set "
            "other-has-what-committed-before-the-candidates-set"
        ),
    )
    return script.contradiction(
        "no-other-case not-the-same-set other-set-is-not-next candidates-set-is-not-next "
        "candidate-is-not-behind other-is-not-behind not-in-different-logs"
    )


def written_records(s: State, *logs: Expression) -> Formula:
    """Each log was written, and so was the VotersRecord in force in it."""
    return And(
        *(
            And(
                s.written(one),
                s.written(voters_record(one)),
                is_voters_record(voters_record(one)),
                prefix(voters_record(one), one),
            )
            for one in logs
        )
    )
