"""Translation of TLA+ expressions, from SANY's tree, into terms of Z3.

The value of an unsupported construct is left open: any value, or any that satisfies the recorded facts. So a translated
action allows at least the steps of the action, and proofs about it apply to the action.
Left open are the operators of `LEFT_OPEN`, the switches `May...`, which a configuration replaces, recursion, and the
order of a set; the only facts about a cardinality are those derived from `counted`.
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
from kraft_spec.tlc.records import is_record_type, like, named_record
from kraft_spec.tlc.specification import Specification

LEFT_OPEN: Mapping[str, str] = {
    "Ascending": "the order in which a replica sends to several others",
    "PreferredCandidates": "an order of voters, which only helps the next election",
}
"""Operators whose value is left open, and why that loses nothing."""


class Counted(NamedTuple):
    """A set that the model counts."""

    number: Expression
    """Number of its members."""
    members: Set


@dataclass(frozen=True)
class _Operator:
    parameters: tuple[JavaObject, ...]
    body: JavaObject
    scope: "Scope"


class Scope(dict[int, Value]):
    """Meaning of names, by the id of their node."""


class Translator:
    """Translates expressions, in one state.

    Attributes:
        variables: Values of the variables.
        facts: Facts about the values that it created.
        counted: The sets that the model counts.
        compared: Numbers that the model compares with the majority of a voter set, each with the set.
        texts: The strings in the model, as constants.
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

    def call(self, operator: str, *arguments: Value) -> Value:
        """Return the value of an operator of the model.

        Raises:
            KeyError: There is none of that name.
        """
        definition = self._definition(operator)
        return self._call(operator, _Operator(tuple(definition.getParams()), definition.getBody(), Scope()), arguments)

    def forget(self) -> None:
        """Release all values except facts and texts, after the translation.

        Scopes and sets refer to themselves, so only Python's cyclic collector would free them. With Java running, it
        may do so in a Java thread in the middle of a proof, which crashes Z3.
        """
        for scope in self._scopes:
            scope.clear()
        self.variables.clear()
        self.counted.clear()
        self.compared.clear()
        self._is_empty.clear()

    def conjuncts(self, action: str, *arguments: Value) -> tuple[list[JavaObject], Scope]:
        """Return the conjuncts of an action, and the scope of its parameters."""
        definition = self._definition(action)
        body = definition.getBody()
        is_list = any(nodes.is_application(body, connective) for connective in ("$ConjList", "\\land"))
        scope = _binding(definition.getParams(), arguments, Scope())
        return (nodes.arguments(body) if is_list else [body]), scope

    def _definition(self, name: str) -> JavaObject:
        definition = self._root.getOpDef(name)
        if definition is None:
            raise KeyError(name)
        return definition

    # Created values.

    def fresh(self, name: str, shape: Shape) -> Value:
        """Return a new value without known facts."""
        self._made += 1
        return unknown(f"{name}!{self._made}", shape)

    def text(self, written: str) -> Expression:
        """Return the constant of a string."""
        constant = self.texts.setdefault(written, z3.Const(f'"{written}"', TEXT))
        self._written.add(constant.get_id())
        return constant

    def truth(self, value: Value) -> Formula:
        """Return a value as a formula; an open one as an arbitrary formula."""
        return value if isinstance(value, z3.BoolRef) else self.fresh("truth", TRUTH)

    def number(self, value: Value) -> Expression:
        """Return a value as a number; an open one as an arbitrary number."""
        return value if isinstance(value, z3.ArithRef) else self.fresh("number", NUMBER)

    def set(self, value: Value) -> Set:
        if isinstance(value, Set):
            return value
        return Set(None, lambda _: self.fresh("member", TRUTH))

    # Expressions.

    def value(self, node: JavaObject, scope: Scope) -> Value:
        """Return the value of an expression."""
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
                for local in node.getLets():
                    inner[int(local.getUid())] = _Operator(tuple(local.getParams()), local.getBody(), inner)
                return self.value(node.getBody(), inner)
            case nodes.APPLICATION:
                return self._application(node, scope)
        raise UnsupportedError(str(node.getClass().getSimpleName()), node)

    def _application(self, node: JavaObject, scope: Scope) -> Value:
        symbol, args = node.getOperator(), nodes.arguments(node)
        uid, name = int(symbol.getUid()), nodes.name(symbol)
        if uid in scope:
            meaning = scope[uid]
            if not isinstance(meaning, _Operator):
                return meaning
            made = self._call(name, meaning, [self._argument(arg, scope) for arg in args])
            if not args:
                meaning.scope[uid] = scope[uid] = made
            return made
        if nodes.kind(symbol) == nodes.VARIABLE:
            return self.variables[name]
        if nodes.is_user_defined(symbol):
            if name.startswith("May"):
                return self.fresh(name, TRUTH)
            arguments = [self._argument(arg, scope) for arg in args]
            return self._call(name, _Operator(tuple(symbol.getParams()), symbol.getBody(), Scope()), arguments)
        if name == "$IfThenElse":
            condition, then, otherwise = args
            return self._choose_arm([(condition, then)], otherwise, scope)
        if name == "$Case":
            arms = [nodes.arguments(arm) for arm in args]
            *earlier_arms, (_, last) = arms
            return self._choose_arm(earlier_arms, last, scope)
        if name in nodes.BINDERS:
            return self._bind(name, node, args[0], scope)
        if name == "$RcdConstructor":
            pairs = (nodes.arguments(pair) for pair in args)
            entries = {nodes.text(field): self.value(value_node, scope) for field, value_node in pairs}
            return named_record(entries) or entries
        if name == "$RcdSelect":
            record = self.value(args[0], scope)
            if is_record_type(type(record)):
                record = record._asdict()
            return record.get(nodes.text(args[1]), OPEN) if isinstance(record, Mapping) else OPEN
        if name == "$Except":
            return self._update(args, scope)
        if name in _CONNECTIVES:
            return _CONNECTIVES[name]([self.truth(self.value(arg, scope)) for arg in args])
        if name in _OPERATIONS:
            return _OPERATIONS[name](self, *(self._argument(arg, scope) for arg in args))
        raise UnsupportedError(f"operator {name}", node)

    def _argument(self, node: JavaObject, scope: Scope) -> Value:
        if nodes.kind(node) != nodes.OPERATOR_ARGUMENT:
            return self.value(node, scope)
        symbol = node.getOp()
        meaning = scope.get(int(symbol.getUid()))
        return meaning or _Operator(tuple(symbol.getParams()), symbol.getBody(), scope)

    def applied(self, operator: Value, *arguments: Value) -> Value:
        """Return the value of an operator that was an argument."""
        return self._call("", operator, arguments)

    def _call(self, name: str, operator: _Operator, arguments: Several[Value]) -> Value:
        if name in LEFT_OPEN:
            return OPEN
        if name == "Max":
            return self._choose_largest(self.set(arguments[0]))
        if name == "IsMajority":
            self.compared.append((arguments[0], self.set(self.call("Voters", arguments[1]))))
        return self.value(operator.body, _binding(operator.parameters, arguments, operator.scope))

    def _choose_arm(self, arms: Several[Several[JavaObject]], otherwise: JavaObject, scope: Scope) -> Value:
        """Return the value of the first arm whose condition holds; the last arm of a CASE is the default."""
        result = self.value(otherwise, scope)
        for condition, branch in reversed(arms):
            test = z3.simplify(self.truth(self.value(condition, scope)))
            if z3.is_false(test):
                continue
            result = conditional(test, self.value(branch, scope), result)
        return result

    # Records and functions with changed places.

    def _update(self, args: Several[JavaObject], scope: Scope) -> Value:
        value = self.value(args[0], scope)
        for pair in args[1:]:
            path, new = nodes.arguments(pair)
            places = [self.value(step, scope) for step in nodes.arguments(path)]
            value = self._update_along(value, places, partial(self._new_value, new, int(pair.getUid()), scope))
        return value

    def _new_value(self, node: JavaObject, at: int, scope: Scope, old: Value) -> Value:
        """Return the new value of an EXCEPT, in which @ is the old value."""
        return self.value(node, Scope({**scope, at: old}))

    def _update_along(self, value: Value, places: Several[Value], new: Callable[[Value], Value]) -> Value:
        if not places:
            return new(value)
        place, *later_places = places
        if isinstance(value, Mapping):
            name = next(written for written, constant in self.texts.items() if constant is place or constant.eq(place))
            return {**value, name: self._update_along(value.get(name, OPEN), later_places, new)}
        if isinstance(value, Function):
            changed = self._update_along(value.at(place), later_places, new)
            return Function(value.domain, lambda at: conditional(self.equal(at, place), changed, value.at(at)))
        return OPEN

    # Sets and bound variables.

    def _bind(self, name: str, node: JavaObject, body: JavaObject, scope: Scope) -> Value:
        (symbol, bound, is_tuple), *more_symbols = nodes.bound_symbols(node)
        if more_symbols or is_tuple:
            return self.fresh(name, TRUTH) if name in ("$BoundedForall", "$BoundedExists") else OPEN
        uid = int(symbol.getUid())
        over = self.value(bound, scope)

        def at(element: Value) -> Value:
            return self.value(body, Scope({**scope, uid: element}))

        if name == "$FcnConstructor":
            return self._function(over, at)
        members = self.set(over)
        match name:
            case "$SubsetOf":
                return Set(members.shape, lambda element: z3.And(members.has(element), self.truth(at(element))))
            case "$SetOfAll":
                return self._image(members, at)
            case "$BoundedExists":
                return self._exists(members, lambda element: self.truth(at(element)))
            case "$BoundedForall":
                return z3.Not(self._exists(members, lambda element: z3.Not(self.truth(at(element)))))
        return self._choose(members, lambda element: self.truth(at(element)))

    def _function(self, over: Value, at: Callable[[Value], Value]) -> Value:
        if isinstance(over, Interval):
            if over.items is not None:
                return listed(tuple((there, at(place)) for there, place in over.items))
            return Sequence(over.end, at)
        return Function(self.set(over), at)

    def _image(self, members: Set, at: Callable[[Value], Value]) -> Value:
        if members.members is not None:
            return self.enumerated(*(at(element) for element in members.members))
        if members.shape is None:
            return OPEN

        def has(element: Value) -> Formula:
            return self._exists(members, lambda member: self.equal(at(member), element))

        witness = at(self.fresh("member", members.shape))
        return Set(_shape_of(witness), has)

    def enumerated(self, *members: Value) -> Set:
        """Return the set of these members."""
        shape = _shape_of(members[0]) if members else None
        return Set(shape, lambda element: _any_of([self.equal(element, member) for member in members]), members)

    def _exists(self, members: Set, test: Callable[[Value], Formula]) -> Formula:
        """State that a member passes a test, with a witness if so, and its denial for all members if not."""
        if members.members is not None:
            return _any_of([test(element) for element in members.members])
        if members.shape is None:
            return self.fresh("exists", TRUTH)
        if isinstance(members, Interval) and members.items is not None:
            return _any_of([z3.And(there, test(place)) for there, place in members.items])
        element = self.fresh("one", members.shape)
        made = self._made
        body, bound = z3.And(members.has(element), test(element)), list(scalars(element))
        if made != self._made:
            # The test created values, which may depend on the member.
            return self.fresh("exists", TRUTH)
        exists = self.fresh("exists", TRUTH)
        witness = self.fresh("witness", members.shape)
        there = z3.substitute(body, *zip(bound, scalars(witness), strict=True))
        self.facts += [z3.Implies(exists, there), z3.ForAll(bound, z3.Implies(body, exists))]
        return exists

    def _choose(self, members: Set, test: Callable[[Value], Formula]) -> Value:
        """Return a member that passes a test, if there is one."""
        if members.shape is None:
            return OPEN
        chosen = self.fresh("chosen", members.shape)
        made = self._made
        body = z3.And(members.has(chosen), test(chosen))
        if made == self._made:
            self.facts.append(z3.Implies(self._exists(members, test), body))
        return chosen

    def _choose_largest(self, members: Set) -> Value:
        """Return a member, if there is one; that none is larger is left open."""
        largest = self.fresh("largest", NUMBER if members.shape is None else members.shape)
        self.facts.append(z3.Or(self.is_empty(members), members.has(largest)))
        return largest

    def is_empty(self, members: Set) -> Formula:
        """State that a set has no member."""
        if members.members is not None:
            return z3.BoolVal(not members.members)
        if members.shape is None:
            return self.fresh("is_empty", TRUTH)
        # Keyed by object: a set of created values has another formula each time.
        if members not in self._is_empty:
            there, witness = self.fresh("has_some", TRUTH), self.fresh("some", members.shape)
            self.facts.append(z3.Implies(there, members.has(witness)))
            self._is_empty[members] = z3.Not(there)
        return self._is_empty[members]

    def count(self, members: Set) -> Expression:
        """Return the number of members of a set; equal sets have the same number."""
        if members.members is not None and len(members.members) < 2:
            number: Expression = z3.IntVal(len(members.members))
        elif members.shape is None:
            return self.fresh("number", NUMBER)
        else:
            number = self.fresh("cardinality", NUMBER)
        counted = (
            self.counted.setdefault(self.key(members), Counted(number, members)) if members.shape is not None else None
        )
        if counted is not None and counted.number is number:
            self.facts.append(number >= 0)
        return number if counted is None else counted.number

    def key(self, members: Set) -> int:
        """Return a key that is equal for two sets with the same formula."""
        canonical = unknown("canonical", members.shape)
        formula = z3.simplify(members.has(canonical))
        self._kept.append(formula)
        return int(formula.get_id())

    def equal(self, first: Value, second: Value) -> Formula:
        """State that two values are equal; open for functions or sets with different formulas."""
        if first is second:
            return z3.BoolVal(True)
        if isinstance(first, z3.ExprRef) and isinstance(second, z3.ExprRef):
            written = [first.get_id() in self._written, second.get_id() in self._written]
            return z3.BoolVal(first.eq(second)) if all(written) else z3.simplify(first == second)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            return z3.And(first.keys() == second.keys(), *(self.equal(first[name], second.get(name)) for name in first))
        if isinstance(first, tuple | Sequence) and isinstance(second, tuple | Sequence):
            if isinstance(first, tuple) and isinstance(second, tuple):
                same = [self.equal(*pair) for pair in zip(first, second, strict=False)]
                return z3.And(len(first) == len(second), *same)
            lengths = sequence(first).length == sequence(second).length
            empty = second == () or first == ()
            return lengths if empty else z3.And(lengths, self.fresh("same", TRUTH))
        if isinstance(first, Set) and isinstance(second, Set):
            if () in (first.members, second.members):
                return self.is_empty(second if first.members == () else first)
            if first.shape is not None and second.shape is not None and self.key(first) == self.key(second):
                return z3.BoolVal(True)
        return self.fresh("same", TRUTH)


def _binding(parameters: Several[JavaObject], values: Several[Value], scope: Scope) -> Scope:
    return Scope({**scope, **{int(symbol.getUid()): value for symbol, value in zip(parameters, values, strict=True)}})


def _shape_of(value: Value) -> Shape | None:
    if isinstance(value, z3.ExprRef):
        return value.sort()
    if not isinstance(value, tuple):
        return None
    parts = [_shape_of(part) for part in value]
    return None if None in parts else like(value, parts)


def _any_of(formulas: Several[Formula]) -> Formula:
    return z3.Or(*formulas) if formulas else z3.BoolVal(False)


# Operators of TLA+ and its standard modules.


def _join_sets(first: Set, second: Set, connective: Callable[..., Formula]) -> Set:
    members = None
    if connective is z3.Or and first.members is not None and second.members is not None:
        members = (*first.members, *second.members)
    shape = second.shape if first.shape is None else first.shape
    return Set(shape, lambda value: connective(first.has(value), second.has(value)), members)


def _join_by(connective: Callable[..., Formula]) -> Callable[..., Value]:
    def join(translator: Translator, first: Value, second: Value) -> Value:
        return _join_sets(translator.set(first), translator.set(second), connective)

    return join


def _apply(translator: Translator, function: Value, place: Value) -> Value:
    if isinstance(function, Sequence | Function):
        return function.at(place)
    if isinstance(function, tuple):
        if z3.is_int_value(place) and 1 <= place.as_long() <= len(function):
            return function[place.as_long() - 1]
        return sequence(function).at(place) if function else OPEN
    if isinstance(function, Mapping):
        result = OPEN
        for number, (name, value) in enumerate(function.items()):
            result = conditional(translator.equal(place, translator.text(name)), value, result) if number else value
        return result
    return OPEN


def _interval(translator: Translator, first: Value, last: Value) -> Value:
    first, last = translator.number(first), translator.number(last)
    if not z3.is_int_value(first) or first.as_long() != 1:
        return Set(NUMBER, lambda number: z3.And(first <= number, number <= last))
    if z3.is_int_value(last):
        return interval(last, tuple((z3.BoolVal(True), z3.IntVal(number)) for number in range(1, last.as_long() + 1)))
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


def _select(translator: Translator, value: Value, test: Value) -> Value:
    items = sequence(value).items if isinstance(value, tuple | Sequence) else None
    if items is None:
        return OPEN
    return listed(
        tuple((z3.And(there, translator.truth(translator.applied(test, item))), item) for there, item in items)
    )


def _override(translator: Translator, first: Value, second: Value) -> Value:
    if not (isinstance(first, Function) and isinstance(second, Function)):
        return OPEN
    domain = _join_sets(first.domain, second.domain, z3.Or)
    return Function(domain, lambda place: conditional(first.domain.has(place), first.at(place), second.at(place)))


def _arithmetic(calculate: Callable[..., Value]) -> Callable[..., Value]:
    return lambda translator, *args: z3.simplify(calculate(*map(translator.number, args)))


_CONNECTIVES: Mapping[str, Callable[[list[Formula]], Formula]] = {
    "TRUE": lambda args: z3.BoolVal(True),
    "FALSE": lambda args: z3.BoolVal(False),
    "$ConjList": lambda args: z3.And(*args),
    "\\land": lambda args: z3.And(*args),
    "$DisjList": lambda args: z3.Or(*args),
    "\\lor": lambda args: z3.Or(*args),
    "\\lnot": lambda args: z3.Not(args[0]),
    "=>": lambda args: z3.Implies(*args),
    "\\equiv": lambda args: args[0] == args[1],
}

_OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "=": lambda t, left, right: t.equal(left, right),
    "/=": lambda t, left, right: z3.Not(t.equal(left, right)),
    "\\in": lambda t, left, right: t.set(right).has(left),
    "\\notin": lambda t, left, right: z3.Not(t.set(right).has(left)),
    "\\union": _join_by(z3.Or),
    "\\cup": _join_by(z3.Or),
    "\\intersect": _join_by(z3.And),
    "\\cap": _join_by(z3.And),
    "\\": _join_by(lambda left, right: z3.And(left, z3.Not(right))),
    "DOMAIN": lambda t, value: value.domain if isinstance(value, Function) else OPEN,
    "$Tuple": lambda t, *args: args,
    "$SetEnumerate": lambda t, *args: t.enumerated(*args),
    "$FcnApply": _apply,
    "..": _interval,
    "Len": _length,
    "Cardinality": lambda t, value: t.count(t.set(value)),
    "Append": lambda t, value, last: joined(value, (last,)),
    "\\o": lambda t, left, right: joined(left, right),
    "SubSeq": _part,
    "SelectSeq": _select,
    "@@": _override,
    ":>": lambda t, place, value: Function(t.enumerated(place), lambda _: value),
    "+": _arithmetic(lambda left, right: left + right),
    "-": _arithmetic(lambda left, right: left - right),
    "*": _arithmetic(lambda left, right: left * right),
    "-.": _arithmetic(lambda left: -left),
    "<": _arithmetic(lambda left, right: left < right),
    ">": _arithmetic(lambda left, right: left > right),
    "\\leq": _arithmetic(lambda left, right: left <= right),
    "\\geq": _arithmetic(lambda left, right: left >= right),
}
