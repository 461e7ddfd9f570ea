"""Values of the model as Z3 terms: a record by its fields, a set by its members, a log by its length and places.

Sizes are unbounded. `OPEN` is an unknown value, and so are all values derived from it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from kraft_proofs.induction.symbols import NUMBER, TRUTH, Expression, Formula
from kraft_spec.tlc.records import like

TEXT = z3.DeclareSort("Text")
"""Strings of TLA+: a distinct constant for each string in the model."""

Value: TypeAlias = Any
"""A Z3 expression, a tuple, a record as a mapping or a named tuple, a `Sequence`, `Set` or `Function`, or `OPEN`."""


class Open:
    """An unknown value."""


OPEN = Open()


@dataclass(frozen=True, eq=False)
class Sequence:
    """A sequence.

    Attributes:
        length: Its length.
        at: Returns the entry at a place, counted from 1.
        items: For a fixed number of candidates: each in order, with the condition of its presence.
    """

    length: Expression
    at: Callable[[Expression], Value]
    items: tuple[tuple[Formula, Value], ...] | None = None


@dataclass(frozen=True, eq=False)
class Set:
    """A set.

    Attributes:
        shape: Shape of its members; None if unknown.
        has: Returns the formula that a value is a member.
        members: All members, if they are listed.
    """

    shape: "Shape | None"
    has: Callable[[Value], Formula]
    members: tuple[Value, ...] | None = None


@dataclass(frozen=True, eq=False)
class Interval(Set):
    """The numbers from 1 on; places of a sequence with candidates, each with the condition of its presence."""

    end: Expression = None
    items: tuple[tuple[Formula, Expression], ...] | None = None


def interval(end: Expression, items: tuple[tuple[Formula, Expression], ...] | None) -> Interval:
    """Return the numbers from 1 up to the end."""
    return Interval(NUMBER, lambda number: z3.And(number >= 1, number <= end), None, end, items)


@dataclass(frozen=True, eq=False)
class Function:
    """A function: its domain, and its value at each place."""

    domain: Set
    at: Callable[[Value], Value]


@dataclass(frozen=True)
class SequenceOf:
    """Shape of sequences."""

    entries: "Shape"


@dataclass(frozen=True)
class SetOf:
    """Shape of sets."""

    members: "Shape"


@dataclass(frozen=True)
class FunctionOf:
    """Shape of functions."""

    places: "Shape"
    values: "Shape"


Shape: TypeAlias = Any
"""Kind of a value: a sort of Z3, a tuple or mapping of shapes, `SequenceOf`, `SetOf` or `FunctionOf`."""


def unknown(name: str, shape: Shape, *args: Expression) -> Value:
    """Return a value of which only the shape is known, which may depend on other values.

    Args:
        name: Name of its Z3 functions.
        shape: Its shape.
        args: Values that it depends on.
    """
    if isinstance(shape, z3.SortRef):
        return z3.Function(name, *(arg.sort() for arg in args), shape)(*args) if args else z3.Const(name, shape)
    if isinstance(shape, tuple):
        return like(shape, [unknown(f"{name}.{number}", part, *args) for number, part in enumerate(shape, start=1)])
    if isinstance(shape, Mapping):
        return {field: unknown(f"{name}.{field}", part, *args) for field, part in shape.items()}
    if isinstance(shape, SequenceOf):
        entries = shape.entries
        return Sequence(unknown(f"{name}.length", NUMBER, *args), lambda place: unknown(name, entries, *args, place))
    if isinstance(shape, SetOf):
        return Set(shape.members, lambda member: unknown(f"{name}.has", TRUTH, *args, *scalars(member)))
    domain = unknown(f"{name}.domain", SetOf(shape.places), *args)
    return Function(domain, lambda place: unknown(name, shape.values, *args, *scalars(place)))


def scalars(value: Value) -> Iterator[Expression]:
    """Yield the expressions of a tuple."""
    if isinstance(value, tuple):
        for part in value:
            yield from scalars(part)
    else:
        yield value


def conditional(condition: Formula, then: Value, otherwise: Value) -> Value:
    """Return `then` if the condition holds, otherwise `otherwise`."""
    if then is otherwise or z3.is_true(condition):
        return then
    if z3.is_false(condition):
        return otherwise
    if isinstance(then, Open) or isinstance(otherwise, Open):
        return OPEN
    if isinstance(then, z3.ExprRef) and isinstance(otherwise, z3.ExprRef):
        return then if then.eq(otherwise) else z3.If(condition, then, otherwise)
    if isinstance(then, Mapping) and isinstance(otherwise, Mapping):
        # A field that only one record has is never read from the other.
        fields = dict.fromkeys((*then, *otherwise))
        return {
            name: conditional(condition, then.get(name, otherwise.get(name)), otherwise.get(name, then.get(name)))
            for name in fields
        }
    if isinstance(then, tuple) and isinstance(otherwise, tuple) and len(then) == len(otherwise):
        return like(then, [conditional(condition, *pair) for pair in zip(then, otherwise, strict=True)])
    if isinstance(then, Set) and isinstance(otherwise, Set):
        shape = otherwise.shape if then.shape is None else then.shape
        return Set(shape, lambda member: z3.If(condition, then.has(member), otherwise.has(member)))
    if isinstance(then, Function) and isinstance(otherwise, Function):
        domain = conditional(condition, then.domain, otherwise.domain)
        return Function(domain, lambda place: conditional(condition, then.at(place), otherwise.at(place)))
    if isinstance(then, tuple | Sequence) and isinstance(otherwise, tuple | Sequence):
        return _conditional_sequence(condition, sequence(then), sequence(otherwise))
    return OPEN


def _conditional_sequence(condition: Formula, then: Sequence, otherwise: Sequence) -> Sequence:
    if then.items is not None and otherwise.items is not None:
        chosen = [(z3.And(condition, there), value) for there, value in then.items]
        return listed((*chosen, *((z3.And(z3.Not(condition), there), value) for there, value in otherwise.items)))
    length = conditional(condition, then.length, otherwise.length)
    return Sequence(length, lambda place: conditional(condition, then.at(place), otherwise.at(place)))


def sequence(value: tuple[Value, ...] | Sequence) -> Sequence:
    """Return a tuple as a sequence."""
    return listed(tuple((z3.BoolVal(True), entry) for entry in value)) if isinstance(value, tuple) else value


def listed(items: tuple[tuple[Formula, Value], ...]) -> Sequence:
    """Return the sequence of the items that are present."""
    before: list[Expression] = [z3.IntVal(0)]
    for there, _ in items:
        before.append(z3.simplify(before[-1] + z3.If(there, 1, 0)))

    def at(place: Expression) -> Value:
        result: Value = OPEN if not items else items[-1][1]
        for (there, value), number in zip(reversed(items[:-1]), reversed(before[: len(items) - 1]), strict=True):
            result = conditional(z3.simplify(z3.And(there, number + 1 == place)), value, result)
        return result

    return Sequence(before[-1], at, items)


def joined(head: Value, tail: Value) -> Value:
    """Return the concatenation of two sequences."""
    if isinstance(head, tuple) and isinstance(tail, tuple):
        return (*head, *tail)
    if not (isinstance(head, tuple | Sequence) and isinstance(tail, tuple | Sequence)):
        return OPEN
    first, second = sequence(head), sequence(tail)
    if first.items is not None and second.items is not None:
        return listed((*first.items, *second.items))
    if second.items == ():
        return first
    return Sequence(
        first.length + second.length,
        lambda place: conditional(place <= first.length, first.at(place), second.at(place - first.length)),
    )
