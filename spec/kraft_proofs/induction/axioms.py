"""Axioms of logs, voter sets and quorums, independent of the replicas.

The whole proof relies on two facts about quorums. They are no axioms: `counting.py` derives them from the definition of
a majority, for finite sets of any size.
"""

from typing import NamedTuple

from z3 import And, Implies, Or

from kraft_proofs.induction.symbols import (
    ENTRY,
    QUORUM,
    REPLICA,
    VOTERS,
    Formula,
    bootstrap,
    epoch_of,
    exists,
    forall,
    is_voters_record,
    majority,
    member,
    neighbours,
    offset_of,
    prefix,
    previous_voters_record,
    variables,
    voters_record,
)


class Axiom(NamedTuple):
    """A named fact about the vocabulary."""

    name: str
    sentence: str
    formula: Formula


_x, _y, _z = variables(ENTRY, "x y z")
_q1, _q2 = variables(QUORUM, "q1 q2")
_v1, _v2 = variables(VOTERS, "v1 v2")
_r = variables(REPLICA, "r")

_meet = exists(_r, And(member(_r[0], _q1), member(_r[0], _q2)))

LOGS: tuple[Axiom, ...] = (
    Axiom("prefix-reflexive", "Each log is a prefix of itself.", forall((_x,), prefix(_x, _x))),
    Axiom(
        "prefix-antisymmetric",
        "Two logs that are prefixes of each other are the same.",
        forall((_x, _y), Implies(And(prefix(_x, _y), prefix(_y, _x)), _x == _y), (prefix(_x, _y), prefix(_y, _x))),
    ),
    Axiom(
        "prefix-transitive",
        "A prefix of a prefix is a prefix.",
        forall(
            (_x, _y, _z),
            Implies(And(prefix(_x, _y), prefix(_y, _z)), prefix(_x, _z)),
            (prefix(_x, _y), prefix(_y, _z)),
        ),
    ),
    Axiom(
        "prefixes-comparable",
        "Of two prefixes of one log, one is a prefix of the other.",
        forall(
            (_x, _y, _z),
            Implies(And(prefix(_x, _z), prefix(_y, _z)), Or(prefix(_x, _y), prefix(_y, _x))),
            (prefix(_x, _z), prefix(_y, _z)),
        ),
    ),
    Axiom(
        "bootstrap-first",
        "The empty log is a prefix of each log.",
        forall((_x,), prefix(bootstrap, _x), is_voters_record(_x), voters_record(_x), prefix(_x, bootstrap)),
    ),
    Axiom(
        "bootstrap-has-voters",
        "The empty log has a voter set, of epoch 0.",
        And(is_voters_record(bootstrap), epoch_of(bootstrap) == 0),
    ),
    Axiom("epochs-natural", "No epoch is negative.", forall((_x,), epoch_of(_x) >= 0, epoch_of(_x))),
    Axiom("offsets-natural", "No offset is negative.", forall((_x,), offset_of(_x) >= 0, offset_of(_x))),
    Axiom(
        "offsets-ascend",
        "In one log a later entry has a larger offset.",
        forall((_x, _y), Implies(And(prefix(_x, _y), _x != _y), offset_of(_x) < offset_of(_y)), prefix(_x, _y)),
    ),
)

VOTERS_RECORDS: tuple[Axiom, ...] = (
    Axiom(
        "in-force-is-in-log",
        "The VotersRecord in force is a VotersRecord of the log.",
        forall((_x,), And(is_voters_record(voters_record(_x)), prefix(voters_record(_x), _x)), voters_record(_x)),
    ),
    Axiom(
        "in-force-is-newest",
        "No VotersRecord of the log is newer than the one in force.",
        forall(
            (_x, _y),
            Implies(And(is_voters_record(_y), prefix(_y, _x)), prefix(_y, voters_record(_x))),
            (voters_record(_x), prefix(_y, _x)),
        ),
    ),
    Axiom(
        "previous-is-before",
        "The previous VotersRecord is a VotersRecord strictly before.",
        forall(
            (_x,),
            Implies(
                And(is_voters_record(_x), _x != bootstrap),
                And(
                    is_voters_record(previous_voters_record(_x)),
                    prefix(previous_voters_record(_x), _x),
                    previous_voters_record(_x) != _x,
                ),
            ),
            previous_voters_record(_x),
        ),
    ),
    Axiom(
        "previous-is-newest",
        "No VotersRecord strictly before is newer than the previous one.",
        forall(
            (_x, _y),
            Implies(
                And(is_voters_record(_x), is_voters_record(_y), _x != bootstrap, prefix(_y, _x), _x != _y),
                prefix(_y, previous_voters_record(_x)),
            ),
            (previous_voters_record(_x), prefix(_y, _x)),
        ),
    ),
)

QUORUMS: tuple[Axiom, ...] = (
    Axiom(
        "majorities-of-one-set",
        "Two majorities of one voter set have a replica in common.",
        forall((_q1, _q2, _v1), Implies(And(majority(_q1, _v1), majority(_q2, _v1)), _meet)),
    ),
    Axiom(
        "majorities-of-neighbours",
        "Majorities of two voter sets that differ in at most one replica have a replica in common.",
        forall(
            (_q1, _q2, _v1, _v2),
            Implies(And(majority(_q1, _v1), majority(_q2, _v2), Or(neighbours(_v1, _v2), neighbours(_v2, _v1))), _meet),
        ),
    ),
)

ALL: tuple[Axiom, ...] = (*LOGS, *VOTERS_RECORDS, *QUORUMS)
