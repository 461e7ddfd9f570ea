"""Expressions of TLA+, read off SANY's tree, as values in terms of Z3.

What the translator does not know it leaves open: the value may be any, or any of which the noted facts hold. So what it
makes of an action allows all that the action allows, and perhaps more: proved of all of that is proved of the action.
Left open are the operators of `LEFT_OPEN`, the switches `May...`, which a configuration replaces, and what needs
recursion or the order of a set; of a cardinality only what `counted` is asked for is known.
"""

from collections.abc import Callable, Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import z3

from kraft_proofs.induction.symbols import NUMBER, TRUTH, Expression, Formula
from kraft_proofs.translation.values import (
    OPEN,
    TEXT,
    Function,
    Interval,
    Sequence,
    Set,
    Shape,
    Value,
    conditional,
    interval,
    joined,
    listed,
    scalars,
    sequence,
    unknown,
)
from kraft_spec.compiled import nodes
from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

LEFT_OPEN: Mapping[str, str] = {
    "Ascending": "the order in which a replica sends to several others",
    "PreferredCandidates": "an order of voters, which only helps the next election",
}
"""Operators whose value may be any, and why that leaves out nothing."""


class Counted(NamedTuple):
    """A set that the model counts."""

    number: Expression
    """How many members it has."""
    members: Set


@dataclass(frozen=True)
class _Operator:
    parameters: tuple[JavaObject, ...]
    body: JavaObject
    scope: "Scope"


class Scope(dict[int, Value]):
    """What names stand for, by the id of their node."""


class Translator:
    """Translates what it is asked for, in one state.

    Attributes:
        variables: The values of the variables.
        facts: What holds of the values that it made up.
        counted: The sets that the model counts.
        compared: The numbers that the model compares with the majority of a voters set, each with the set.
        texts: The strings that the model writes, as constants.
    """

    def __init__(self, specification: Specification) -> None:
        self._root = specification.tool.getSpecProcessor().getRootModule()
        self.variables: dict[str, Value] = {}
        self.facts: list[Formula] = []
        self.counted: dict[int, Counted] = {}
        self.compared: list[tuple[Expression, Set]] = []
        self.texts: dict[str, Expression] = {}
        self._written: set[int] = set()
        self._made = 0
        self._scopes: list[Scope] = []
        self._is_empty: dict[Set, Formula] = {}
        self._kept: list[Expression] = []
        self.places: dict[int, tuple[tuple[Formula, Expression], ...]] = {}

    def call(self, operator: str, *given: Value) -> Value:
        """The value of an operator of the model.

        Raises:
            KeyError: There is none of that name.
        """
        definition = self._definition(operator)
        return self._called(operator, _Operator(tuple(definition.getParams()), definition.getBody(), Scope()), given)

    def forget(self) -> None:
        """Let go of all but facts and texts, once everything is said.

        Scopes and sets refer to themselves. What does, Python's collector frees, and where Java runs it may do so in a
        thread of Java's in the middle of a proof: Z3 does not bear that.
        """
        for scope in self._scopes:
            scope.clear()
        self.variables.clear()
        self.counted.clear()
        self.compared.clear()
        self._is_empty.clear()

    def conjuncts(self, action: str, *given: Value) -> tuple[list[JavaObject], Scope]:
        """The conjuncts of an action, and what its parameters stand for."""
        definition = self._definition(action)
        body = definition.getBody()
        is_list = any(nodes.is_application(body, one) for one in ("$ConjList", "\\land"))
        scope = _binding(definition.getParams(), given, Scope())
        return (nodes.arguments(body) if is_list else [body]), scope

    def _definition(self, name: str) -> JavaObject:
        found = self._root.getOpDef(name)
        if found is None:
            raise KeyError(name)
        return found

    # Values that are made up.

    def fresh(self, name: str, shape: Shape) -> Value:
        """A value of which nothing is known yet."""
        self._made += 1
        return unknown(f"{name}!{self._made}", shape)

    def text(self, written: str) -> Expression:
        """The constant of a string."""
        found = self.texts.setdefault(written, z3.Const(f'"{written}"', TEXT))
        self._written.add(found.get_id())
        return found

    def truth(self, value: Value) -> Formula:
        """A value as a formula; one of any truth if it is open."""
        return value if isinstance(value, z3.BoolRef) else self.fresh("truth", TRUTH)

    def number(self, value: Value) -> Expression:
        """A value as a number; any if it is open."""
        return value if isinstance(value, z3.ArithRef) else self.fresh("number", NUMBER)

    def set(self, value: Value) -> Set:
        if isinstance(value, Set):
            return value
        return Set(None, lambda _: self.fresh("member", TRUTH))

    # Expressions.

    def value(self, node: JavaObject, scope: Scope) -> Value:
        """What an expression comes to."""
        match nodes.kind(node):
            case nodes.NUMERAL:
                return z3.IntVal(int(node.val()))
            case nodes.STRING:
                return self.text(nodes.text(node))
            case nodes.AT:
                return scope[int(node.getExceptComponentRef().getUid())]
            case nodes.LABEL:
                return self.value(node.getBody(), scope)
            case nodes.LET:
                inner = Scope(scope)
                self._scopes.append(inner)
                for one in node.getLets():
                    inner[int(one.getUid())] = _Operator(tuple(one.getParams()), one.getBody(), inner)
                return self.value(node.getBody(), inner)
            case nodes.APPLICATION:
                return self._application(node, scope)
        raise UnsupportedError(str(node.getClass().getSimpleName()), node)

    def _application(self, node: JavaObject, scope: Scope) -> Value:
        symbol, given = node.getOperator(), nodes.arguments(node)
        uid, name = int(symbol.getUid()), nodes.name(symbol)
        if uid in scope:
            known = scope[uid]
            if not isinstance(known, _Operator):
                return known
            made = self._called(name, known, [self._argument(one, scope) for one in given])
            if not given:
                known.scope[uid] = scope[uid] = made
            return made
        if nodes.kind(symbol) == nodes.VARIABLE:
            return self.variables[name]
        if nodes.is_user_defined(symbol):
            if name.startswith("May"):
                return self.fresh(name, TRUTH)
            arguments = [self._argument(one, scope) for one in given]
            return self._called(name, _Operator(tuple(symbol.getParams()), symbol.getBody(), Scope()), arguments)
        if name == "$IfThenElse":
            condition, one, other = given
            return self._choice([(condition, one)], other, scope)
        if name == "$Case":
            arms = [nodes.arguments(arm) for arm in given]
            *others, (_, last) = arms
            return self._choice(others, last, scope)
        if name in nodes.BINDERS:
            return self._bound(name, node, given[0], scope)
        if name == "$RcdConstructor":
            pairs = (nodes.arguments(pair) for pair in given)
            return {nodes.text(field): self.value(one, scope) for field, one in pairs}
        if name == "$RcdSelect":
            record = self.value(given[0], scope)
            return record.get(nodes.text(given[1]), OPEN) if isinstance(record, Mapping) else OPEN
        if name == "$Except":
            return self._updated(given, scope)
        if name in _CONNECTIVES:
            return _CONNECTIVES[name]([self.truth(self.value(one, scope)) for one in given])
        if name in _OPERATIONS:
            return _OPERATIONS[name](self, *(self._argument(one, scope) for one in given))
        raise UnsupportedError(f"operator {name}", node)

    def _argument(self, node: JavaObject, scope: Scope) -> Value:
        if nodes.kind(node) != nodes.OPERATOR_ARGUMENT:
            return self.value(node, scope)
        symbol = node.getOp()
        known = scope.get(int(symbol.getUid()))
        return known or _Operator(tuple(symbol.getParams()), symbol.getBody(), scope)

    def applied(self, operator: Value, *given: Value) -> Value:
        """The value of an operator that was given as an argument."""
        return self._called("", operator, given)

    def _called(self, name: str, operator: _Operator, given: Several[Value]) -> Value:
        if name in LEFT_OPEN:
            return OPEN
        if name == "Max":
            return self._largest(self.set(given[0]))
        if name == "IsMajority":
            self.compared.append((given[0], self.set(self.call("Voters", given[1]))))
        return self.value(operator.body, _binding(operator.parameters, given, operator.scope))

    def _choice(self, arms: Several[Several[JavaObject]], otherwise: JavaObject, scope: Scope) -> Value:
        """The value of the first arm whose condition holds; the last arm of a CASE is what is left."""
        found = self.value(otherwise, scope)
        for condition, one in reversed(arms):
            test = z3.simplify(self.truth(self.value(condition, scope)))
            if z3.is_false(test):
                continue
            found = conditional(test, self.value(one, scope), found)
        return found

    # Records and functions with changed places.

    def _updated(self, given: Several[JavaObject], scope: Scope) -> Value:
        value = self.value(given[0], scope)
        for pair in given[1:]:
            path, new = nodes.arguments(pair)
            places = [self.value(one, scope) for one in nodes.arguments(path)]
            value = self._along(value, places, partial(self._instead, new, int(pair.getUid()), scope))
        return value

    def _instead(self, node: JavaObject, at: int, scope: Scope, old: Value) -> Value:
        """What an EXCEPT puts in a place, of which @ is what was there."""
        return self.value(node, Scope({**scope, at: old}))

    def _along(self, value: Value, places: Several[Value], new: Callable[[Value], Value]) -> Value:
        if not places:
            return new(value)
        place, *rest = places
        if isinstance(value, Mapping):
            name = next(written for written, one in self.texts.items() if one is place or one.eq(place))
            return {**value, name: self._along(value.get(name, OPEN), rest, new)}
        if isinstance(value, Function):
            changed = self._along(value.at(place), rest, new)
            return Function(value.domain, lambda at: conditional(self.equal(at, place), changed, value.at(at)))
        return OPEN

    # Sets, and what is bound to their members.

    def _bound(self, name: str, node: JavaObject, body: JavaObject, scope: Scope) -> Value:
        (symbol, bound, is_tuple), *others = nodes.bound_symbols(node)
        if others or is_tuple:
            return self.fresh(name, TRUTH) if name in ("$BoundedForall", "$BoundedExists") else OPEN
        uid = int(symbol.getUid())
        over = self.value(bound, scope)

        def at(one: Value) -> Value:
            return self.value(body, Scope({**scope, uid: one}))

        if name == "$FcnConstructor":
            return self._function(over, at)
        members = self.set(over)
        match name:
            case "$SubsetOf":
                return Set(members.shape, lambda one: z3.And(members.has(one), self.truth(at(one))))
            case "$SetOfAll":
                return self._image(members, at)
            case "$BoundedExists":
                return self._exists(members, lambda one: self.truth(at(one)))
            case "$BoundedForall":
                return z3.Not(self._exists(members, lambda one: z3.Not(self.truth(at(one)))))
        return self._chosen(members, lambda one: self.truth(at(one)))

    def _function(self, over: Value, at: Callable[[Value], Value]) -> Value:
        if isinstance(over, Interval):
            if over.items is not None:
                return listed(tuple((there, at(place)) for there, place in over.items))
            return Sequence(over.end, at)
        return Function(self.set(over), at)

    def _image(self, members: Set, at: Callable[[Value], Value]) -> Value:
        if members.members is not None:
            return self.enumerated(*(at(one) for one in members.members))
        if members.shape is None:
            return OPEN

        def has(one: Value) -> Formula:
            return self._exists(members, lambda member: self.equal(at(member), one))

        witness = at(self.fresh("member", members.shape))
        return Set(_shape_of(witness), has)

    def enumerated(self, *members: Value) -> Set:
        """The set of these."""
        shape = _shape_of(members[0]) if members else None
        return Set(shape, lambda one: _any_of([self.equal(one, member) for member in members]), members)

    def _exists(self, members: Set, test: Callable[[Value], Formula]) -> Formula:
        """Whether a member passes a test: if so there is a witness, and if not it is denied of all."""
        if members.members is not None:
            return _any_of([test(one) for one in members.members])
        if members.shape is None:
            return self.fresh("exists", TRUTH)
        if isinstance(members, Interval) and members.items is not None:
            return _any_of([z3.And(there, test(place)) for there, place in members.items])
        one = self.fresh("one", members.shape)
        made = self._made
        body, bound = z3.And(members.has(one), test(one)), list(scalars(one))
        if made != self._made:
            # It may depend on the member.
            return self.fresh("exists", TRUTH)
        found = self.fresh("exists", TRUTH)
        witness = self.fresh("witness", members.shape)
        there = z3.substitute(body, *zip(bound, scalars(witness), strict=True))
        self.facts += [z3.Implies(found, there), z3.ForAll(bound, z3.Implies(body, found))]
        return found

    def _chosen(self, members: Set, test: Callable[[Value], Formula]) -> Value:
        """A member that passes a test, if there is one."""
        if members.shape is None:
            return OPEN
        one = self.fresh("chosen", members.shape)
        made = self._made
        body = z3.And(members.has(one), test(one))
        if made == self._made:
            self.facts.append(z3.Implies(self._exists(members, test), body))
        return one

    def _largest(self, members: Set) -> Value:
        """A member, if there is one; that none is larger is left open."""
        one = self.fresh("largest", NUMBER if members.shape is None else members.shape)
        self.facts.append(z3.Or(self.is_empty(members), members.has(one)))
        return one

    def is_empty(self, members: Set) -> Formula:
        """Whether a set has no member."""
        if members.members is not None:
            return z3.BoolVal(not members.members)
        if members.shape is None:
            return self.fresh("is_empty", TRUTH)
        # By the object: one that is made of what was made up is written in another way each time.
        if members not in self._is_empty:
            there, witness = self.fresh("has_some", TRUTH), self.fresh("some", members.shape)
            self.facts.append(z3.Implies(there, members.has(witness)))
            self._is_empty[members] = z3.Not(there)
        return self._is_empty[members]

    def count(self, members: Set) -> Expression:
        """How many members a set has: of the same sets the same number."""
        if members.members is not None and len(members.members) < 2:
            number: Expression = z3.IntVal(len(members.members))
        elif members.shape is None:
            return self.fresh("number", NUMBER)
        else:
            number = self.fresh("cardinality", NUMBER)
        found = (
            self.counted.setdefault(self.key(members), Counted(number, members)) if members.shape is not None else None
        )
        if found is not None and found.number is number:
            self.facts.append(number >= 0)
        return number if found is None else found.number

    def key(self, members: Set) -> int:
        """The same for two sets that are written in the same way."""
        canonical = unknown("canonical", members.shape)
        formula = z3.simplify(members.has(canonical))
        self._kept.append(formula)
        return int(formula.get_id())

    def equal(self, one: Value, other: Value) -> Formula:
        """Whether two values are the same; open where they are functions or sets that are written in different ways."""
        if one is other:
            return z3.BoolVal(True)
        if isinstance(one, z3.ExprRef) and isinstance(other, z3.ExprRef):
            written = [one.get_id() in self._written, other.get_id() in self._written]
            return z3.BoolVal(one.eq(other)) if all(written) else z3.simplify(one == other)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            return z3.And(one.keys() == other.keys(), *(self.equal(one[name], other.get(name)) for name in one))
        if isinstance(one, tuple | Sequence) and isinstance(other, tuple | Sequence):
            if isinstance(one, tuple) and isinstance(other, tuple):
                same = [self.equal(*pair) for pair in zip(one, other, strict=False)]
                return z3.And(len(one) == len(other), *same)
            lengths = sequence(one).length == sequence(other).length
            empty = other == () or one == ()
            return lengths if empty else z3.And(lengths, self.fresh("same", TRUTH))
        if isinstance(one, Set) and isinstance(other, Set):
            if () in (one.members, other.members):
                return self.is_empty(other if one.members == () else one)
            if one.shape is not None and other.shape is not None and self.key(one) == self.key(other):
                return z3.BoolVal(True)
        return self.fresh("same", TRUTH)


def _binding(parameters: Several[JavaObject], given: Several[Value], scope: Scope) -> Scope:
    return Scope({**scope, **{int(one.getUid()): value for one, value in zip(parameters, given, strict=True)}})


def _shape_of(value: Value) -> Shape | None:
    if isinstance(value, z3.ExprRef):
        return value.sort()
    parts = tuple(_shape_of(one) for one in value) if isinstance(value, tuple) else (None,)
    return None if None in parts else parts


def _any_of(formulas: Several[Formula]) -> Formula:
    return z3.Or(*formulas) if formulas else z3.BoolVal(False)


# What TLA+ and its standard modules have.


def _join(one: Set, other: Set, connective: Callable[..., Formula]) -> Set:
    members = None
    if connective is z3.Or and one.members is not None and other.members is not None:
        members = (*one.members, *other.members)
    shape = other.shape if one.shape is None else one.shape
    return Set(shape, lambda value: connective(one.has(value), other.has(value)), members)


def _joining(connective: Callable[..., Formula]) -> Callable[..., Value]:
    def join(translator: Translator, one: Value, other: Value) -> Value:
        return _join(translator.set(one), translator.set(other), connective)

    return join


def _apply(translator: Translator, function: Value, place: Value) -> Value:
    if isinstance(function, Sequence | Function):
        return function.at(place)
    if isinstance(function, tuple):
        if z3.is_int_value(place) and 1 <= place.as_long() <= len(function):
            return function[place.as_long() - 1]
        return sequence(function).at(place) if function else OPEN
    if isinstance(function, Mapping):
        found = OPEN
        for number, (name, value) in enumerate(function.items()):
            found = conditional(translator.equal(place, translator.text(name)), value, found) if number else value
        return found
    return OPEN


def _interval(translator: Translator, first: Value, last: Value) -> Value:
    first, last = translator.number(first), translator.number(last)
    if not z3.is_int_value(first) or first.as_long() != 1:
        return Set(NUMBER, lambda one: z3.And(first <= one, one <= last))
    if z3.is_int_value(last):
        return interval(last, tuple((z3.BoolVal(True), z3.IntVal(one)) for one in range(1, last.as_long() + 1)))
    return interval(last, translator.places.get(last.get_id()))


def _length(translator: Translator, value: Value) -> Value:
    if isinstance(value, tuple):
        return z3.IntVal(len(value))
    if not isinstance(value, Sequence):
        return OPEN
    if value.items is not None:
        before, places = z3.IntVal(0), []
        for there, _ in value.items:
            places.append((there, z3.simplify(before + 1)))
            before = before + z3.If(there, 1, 0)
        translator.places[value.length.get_id()] = tuple(places)
    return value.length


def _part(translator: Translator, value: Value, first: Value, last: Value) -> Value:
    if not isinstance(value, tuple | Sequence):
        return OPEN
    whole, first, last = sequence(value), translator.number(first), translator.number(last)
    length = z3.If(last < first, 0, last - first + 1)
    return Sequence(length, lambda place: whole.at(place + first - 1))


def _selected(translator: Translator, value: Value, test: Value) -> Value:
    items = sequence(value).items if isinstance(value, tuple | Sequence) else None
    if items is None:
        return OPEN
    return listed(tuple((z3.And(there, translator.truth(translator.applied(test, one))), one) for there, one in items))


def _overriding(translator: Translator, one: Value, other: Value) -> Value:
    if not (isinstance(one, Function) and isinstance(other, Function)):
        return OPEN
    domain = _join(one.domain, other.domain, z3.Or)
    return Function(domain, lambda place: conditional(one.domain.has(place), one.at(place), other.at(place)))


def _arithmetic(calculate: Callable[..., Value]) -> Callable[..., Value]:
    return lambda translator, *given: z3.simplify(calculate(*map(translator.number, given)))


_CONNECTIVES: Mapping[str, Callable[[list[Formula]], Formula]] = {
    "TRUE": lambda given: z3.BoolVal(True),
    "FALSE": lambda given: z3.BoolVal(False),
    "$ConjList": lambda given: z3.And(*given),
    "\\land": lambda given: z3.And(*given),
    "$DisjList": lambda given: z3.Or(*given),
    "\\lor": lambda given: z3.Or(*given),
    "\\lnot": lambda given: z3.Not(given[0]),
    "=>": lambda given: z3.Implies(*given),
    "\\equiv": lambda given: given[0] == given[1],
}

_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "=": lambda t, one, other: t.equal(one, other),
    "/=": lambda t, one, other: z3.Not(t.equal(one, other)),
    "\\in": lambda t, one, other: t.set(other).has(one),
    "\\notin": lambda t, one, other: z3.Not(t.set(other).has(one)),
    "\\union": _joining(z3.Or),
    "\\cup": _joining(z3.Or),
    "\\intersect": _joining(z3.And),
    "\\cap": _joining(z3.And),
    "\\": _joining(lambda one, other: z3.And(one, z3.Not(other))),
    "DOMAIN": lambda t, value: value.domain if isinstance(value, Function) else OPEN,
    "$Tuple": lambda t, *given: given,
    "$SetEnumerate": lambda t, *given: t.enumerated(*given),
    "$FcnApply": _apply,
    "..": _interval,
    "Len": _length,
    "Cardinality": lambda t, value: t.count(t.set(value)),
    "Append": lambda t, value, last: joined(value, (last,)),
    "\\o": lambda t, one, other: joined(one, other),
    "SubSeq": _part,
    "SelectSeq": _selected,
    "@@": _overriding,
    ":>": lambda t, place, value: Function(t.enumerated(place), lambda _: value),
    "+": _arithmetic(lambda one, other: one + other),
    "-": _arithmetic(lambda one, other: one - other),
    "*": _arithmetic(lambda one, other: one * other),
    "-.": _arithmetic(lambda one: -one),
    "<": _arithmetic(lambda one, other: one < other),
    ">": _arithmetic(lambda one, other: one > other),
    "\\leq": _arithmetic(lambda one, other: one <= other),
    "\\geq": _arithmetic(lambda one, other: one >= other),
}
