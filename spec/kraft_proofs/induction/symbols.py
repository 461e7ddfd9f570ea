"""Rigid vocabulary of the inductive proof: sorts, and functions on logs, voter sets and quorums.

A log is identified by its last record. So one sort, Entry, stands for records and for logs: the entry `x` is the record
and the log that ends in it. The first entry is `bootstrap`, the empty log with the voters that the cluster was
formatted with; the numbers of entries, epochs, replicas and voter sets are unbounded.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import z3

Formula: TypeAlias = z3.BoolRef
Expression: TypeAlias = z3.ExprRef
Sort: TypeAlias = z3.SortRef

REPLICA: Sort = z3.DeclareSort("Replica")
ENTRY: Sort = z3.DeclareSort("Entry")
VOTERS: Sort = z3.DeclareSort("Voters")
QUORUM: Sort = z3.DeclareSort("Quorum")
NUMBER: Sort = z3.IntSort()
TRUTH: Sort = z3.BoolSort()

SORTS: Mapping[str, str] = {
    "Replica": "A replica key: an id and a directory id. A replica with a new disk is another element.",
    "Entry": "A record, and the log that ends in it.",
    "Voters": "A voter set: a finite set of replica keys.",
    "Quorum": "A finite set of replica keys that may be a majority of a voter set.",
    "Int": "Epochs and offsets.",
}


class Symbol(NamedTuple):
    """A function that no step changes."""

    declaration: z3.FuncDeclRef
    sentence: str

    @property
    def name(self) -> str:
        """Its name, as in the exported text."""
        return str(self.declaration.name())


prefix = z3.Function("prefix", ENTRY, ENTRY, TRUTH)
epoch_of = z3.Function("epoch_of", ENTRY, NUMBER)
offset_of = z3.Function("offset_of", ENTRY, NUMBER)
is_voters_record = z3.Function("is_voters_record", ENTRY, TRUTH)
voters_record = z3.Function("voters_record", ENTRY, ENTRY)
previous_voters_record = z3.Function("previous_voters_record", ENTRY, ENTRY)
voters_of = z3.Function("voters_of", ENTRY, VOTERS)
majority = z3.Function("majority", QUORUM, VOTERS, TRUTH)
member = z3.Function("member", REPLICA, QUORUM, TRUTH)
neighbours = z3.Function("neighbours", VOTERS, VOTERS, TRUTH)
bootstrap = z3.Const("bootstrap", ENTRY)

RIGID: Mapping[str, Symbol] = {
    symbol.name: symbol
    for symbol in (
        Symbol(prefix, "The first log is a prefix of the second, or the same."),
        Symbol(epoch_of, "The epoch of the leader that wrote the entry."),
        Symbol(offset_of, "The entry's offset; that of `bootstrap` is the smallest."),
        Symbol(
            is_voters_record,
            "The entry is a VotersRecord that changes the set of voter keys, or `bootstrap`. One that repeats the "
            "set in force (at the start of an epoch, for an endpoint, for kraft.version 1) counts as any other record.",
        ),
        Symbol(voters_record, "The newest VotersRecord of the log, its last entry included: the one in force."),
        Symbol(previous_voters_record, "The newest VotersRecord strictly before a VotersRecord."),
        Symbol(voters_of, "The voter set that a VotersRecord writes."),
        Symbol(majority, "The voters among the quorum are more than half of the voter set."),
        Symbol(member, "The replica is in the quorum."),
        Symbol(neighbours, "The two voter sets differ in at most one replica key."),
        Symbol(bootstrap.decl(), "The empty log, with the voters that every replica was formatted with."),
    )
}


def in_force(log: Expression) -> Expression:
    """Return the voter set that a replica with this log uses, committed or not.  Rule: voters.effective-on-append."""
    return voters_of(voters_record(log))


def variables(sort: Sort, names: str) -> tuple[Expression, ...]:
    """Return variables of one sort, by names separated by blanks."""
    return tuple(z3.Const(name, sort) for name in names.split())


def forall(bound: tuple[Expression, ...], body: Formula, *triggers: Expression | tuple[Expression, ...]) -> Formula:
    """Return a universally quantified formula.

    Args:
        bound: The variables.
        body: The formula.
        triggers: Terms, or tuples of terms, that select instances: the formula is instantiated for matching terms. One
            matching trigger is enough; without triggers Z3 chooses. They affect which proofs are found, never truth. A
            trigger about a function that a step has changed is dropped, because it would be a formula and no term.
    """
    together = [trigger if isinstance(trigger, tuple) else (trigger,) for trigger in triggers]
    patterns = [z3.MultiPattern(*terms) for terms in together if all(_is_application(part) for part in terms)]
    return z3.ForAll(list(bound), body, patterns=patterns)


def _is_application(term: Expression) -> bool:
    """Return True if the term can be a trigger: an application of unchanged functions to such terms and sums."""
    is_sum = z3.is_int_value(term) or z3.is_add(term) or z3.is_sub(term)
    return not is_sum and all(map(_is_plain, (term, *term.children())))


def _is_plain(term: Expression) -> bool:
    is_sum = z3.is_int_value(term) or z3.is_add(term) or z3.is_sub(term)
    return (is_sum or bool(term.decl().kind() == z3.Z3_OP_UNINTERPRETED)) and all(map(_is_plain, term.children()))


def exists(bound: tuple[Expression, ...], body: Formula, *triggers: Expression) -> Formula:
    """Return an existentially quantified formula; triggers apply where it is negated, as in `forall`."""
    return z3.Exists(list(bound), body, patterns=[trigger for trigger in triggers if _is_application(trigger)])


def constants(formula: Formula) -> Iterator[tuple[str, Sort]]:
    """Yield the constants of a formula, by name and sort, possibly repeated."""
    pending, visited = [formula], set()
    while pending:
        part = pending.pop()
        if part.get_id() in visited:
            continue
        visited.add(part.get_id())
        if z3.is_const(part) and part.decl().kind() == z3.Z3_OP_UNINTERPRETED:
            yield str(part.decl().name()), part.sort()
        pending.extend([part.body()] if z3.is_quantifier(part) else part.children())
