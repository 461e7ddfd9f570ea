"""Values of the model in terms of Z3: a record by its fields, a set by its members, a log by its length and places.

Nothing here is bounded. Where a value is not known, `OPEN` stands for any: whatever is made of it is open as well.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import z3

from kraft_proofs.induction.symbols import NUMBER, TRUTH, Expression, Formula

TEXT = z3.DeclareSort("Text")
"""Strings of TLA+: a constant for each that the model writes, all different."""

Value: TypeAlias = Any
"""An expression of Z3, a tuple, a record as a mapping, a `Sequence`, `Set` or `Function`, or `OPEN`."""


class Open:
    """Any value at all."""


OPEN = Open()


@dataclass(frozen=True, eq=False)
class Sequence:
    """A sequence.

    Attributes:
        length: How long.
        at: What is in a place, counted from 1.
        items: Of one with a fixed number of candidates: each, in order, with whether it is there.
    """

    length: Expression
    at: Callable[[Expression], Value]
    items: tuple[tuple[Formula, Value], ...] | None = None


@dataclass(frozen=True, eq=False)
class Set:
    """A set.

    Attributes:
        shape: Of its members; None where it is not known.
        has: Whether a value is a member.
        members: All of them, where they are listed.
    """

    shape: "Shape | None"
    has: Callable[[Value], Formula]
    members: tuple[Value, ...] | None = None


@dataclass(frozen=True, eq=False)
class Interval(Set):
    """The numbers from 1 on; of the places of a sequence with candidates, those with whether they are there."""

    end: Expression = None
    items: tuple[tuple[Formula, Expression], ...] | None = None


def interval(end: Expression, items: tuple[tuple[Formula, Expression], ...] | None) -> Interval:
    """The numbers from 1 up to the end."""
    return Interval(NUMBER, lambda one: z3.And(one >= 1, one <= end), None, end, items)


@dataclass(frozen=True, eq=False)
class Function:
    """A function: its domain, and its value at each place of it."""

    domain: Set
    at: Callable[[Value], Value]


@dataclass(frozen=True)
class SequenceOf:
    """The shape of sequences."""

    entries: "Shape"


@dataclass(frozen=True)
class SetOf:
    """The shape of sets."""

    members: "Shape"


@dataclass(frozen=True)
class FunctionOf:
    """The shape of functions."""

    places: "Shape"
    values: "Shape"


Shape: TypeAlias = Any
"""What kind of value: a sort of Z3, a tuple or mapping of shapes, `SequenceOf`, `SetOf` or `FunctionOf`."""


def unknown(name: str, shape: Shape, *given: Expression) -> Value:
    """A value of which only the shape is known, which may depend on others.

    Args:
        name: Of the functions of Z3 that it consists of.
        shape: Its shape.
        given: What it depends on.
    """
    if isinstance(shape, z3.SortRef):
        return z3.Function(name, *(one.sort() for one in given), shape)(*given) if given else z3.Const(name, shape)
    if isinstance(shape, tuple):
        return tuple(unknown(f"{name}.{number}", one, *given) for number, one in enumerate(shape, start=1))
    if isinstance(shape, Mapping):
        return {field: unknown(f"{name}.{field}", one, *given) for field, one in shape.items()}
    if isinstance(shape, SequenceOf):
        entries = shape.entries
        return Sequence(unknown(f"{name}.length", NUMBER, *given), lambda place: unknown(name, entries, *given, place))
    if isinstance(shape, SetOf):
        return Set(shape.members, lambda one: unknown(f"{name}.has", TRUTH, *given, *scalars(one)))
    domain = unknown(f"{name}.domain", SetOf(shape.places), *given)
    return Function(domain, lambda place: unknown(name, shape.values, *given, *scalars(place)))


def scalars(value: Value) -> Iterator[Expression]:
    """The expressions that a tuple consists of."""
    if isinstance(value, tuple):
        for one in value:
            yield from scalars(one)
    else:
        yield value


def conditional(condition: Formula, one: Value, other: Value) -> Value:
    """One value if the condition holds, else the other."""
    if one is other or z3.is_true(condition):
        return one
    if z3.is_false(condition):
        return other
    if isinstance(one, Open) or isinstance(other, Open):
        return OPEN
    if isinstance(one, z3.ExprRef) and isinstance(other, z3.ExprRef):
        return one if one.eq(other) else z3.If(condition, one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        # A field that only one of them has nobody asks for in the other.
        fields = dict.fromkeys((*one, *other))
        return {
            name: conditional(condition, one.get(name, other.get(name)), other.get(name, one.get(name)))
            for name in fields
        }
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(conditional(condition, *pair) for pair in zip(one, other, strict=True))
    if isinstance(one, Set) and isinstance(other, Set):
        shape = other.shape if one.shape is None else one.shape
        return Set(shape, lambda member: z3.If(condition, one.has(member), other.has(member)))
    if isinstance(one, Function) and isinstance(other, Function):
        domain = conditional(condition, one.domain, other.domain)
        return Function(domain, lambda place: conditional(condition, one.at(place), other.at(place)))
    if isinstance(one, tuple | Sequence) and isinstance(other, tuple | Sequence):
        return _conditional_sequence(condition, sequence(one), sequence(other))
    return OPEN


def _conditional_sequence(condition: Formula, one: Sequence, other: Sequence) -> Sequence:
    if one.items is not None and other.items is not None:
        chosen = [(z3.And(condition, there), value) for there, value in one.items]
        return listed((*chosen, *((z3.And(z3.Not(condition), there), value) for there, value in other.items)))
    length = conditional(condition, one.length, other.length)
    return Sequence(length, lambda place: conditional(condition, one.at(place), other.at(place)))


def sequence(value: tuple[Value, ...] | Sequence) -> Sequence:
    """A tuple as a sequence."""
    return listed(tuple((z3.BoolVal(True), one) for one in value)) if isinstance(value, tuple) else value


def listed(items: tuple[tuple[Formula, Value], ...]) -> Sequence:
    """The sequence of those of the items that are there."""
    before: list[Expression] = [z3.IntVal(0)]
    for there, _ in items:
        before.append(z3.simplify(before[-1] + z3.If(there, 1, 0)))

    def at(place: Expression) -> Value:
        found: Value = OPEN if not items else items[-1][1]
        for (there, value), number in zip(reversed(items[:-1]), reversed(before[: len(items) - 1]), strict=True):
            found = conditional(z3.simplify(z3.And(there, number + 1 == place)), value, found)
        return found

    return Sequence(before[-1], at, items)


def joined(one: Value, other: Value) -> Value:
    """One sequence after the other."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return (*one, *other)
    if not (isinstance(one, tuple | Sequence) and isinstance(other, tuple | Sequence)):
        return OPEN
    first, second = sequence(one), sequence(other)
    if first.items is not None and second.items is not None:
        return listed((*first.items, *second.items))
    if second.items == ():
        return first
    return Sequence(
        first.length + second.length,
        lambda place: conditional(place <= first.length, first.at(place), second.at(place - first.length)),
    )
