"""The parts of the state that an operator reads, found in SANY's tree.

A part is a path: a parameter or variable, then fields and arguments whose values are paths themselves, such as
`replicas[m.destination]`. The result of an operator is a function of the values of its paths, which makes them the key
of its memo in the explorer.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from kraft_spec.compiled import nodes
from kraft_spec.compiled.paths import (
    Applied,
    Literal,
    Parameter,
    Path,
    Selected,
    Variable,
    key_of,
    primed,
)
from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.jvm import JavaObject

if TYPE_CHECKING:
    from kraft_spec.compiled.compiler import Compiler

_COST_MAX = 20_000
_REPETITIONS = 3
"""Assumed number of elements of a set, for the cost of a quantifier."""


_BUILDERS = frozenset(("$Except", "$RcdConstructor", "$FcnConstructor"))
_BUILDING = 20
"""Additional cost of a new value, which has to be hashed."""


class OpenExpression(Exception):  # noqa: N818 - the name that is open is the error
    """The expression names a parameter or bound variable from around it."""


@dataclass(frozen=True, slots=True)
class Reads:
    """Parts that an expression reads.

    Attributes:
        paths: Paths that determine its value.
        path: The expression itself as a path; None if it is none.
    """

    paths: frozenset[Path] = frozenset()
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class _Local:
    """A local operator with parameters, and the scope of its definition."""

    definition: JavaObject
    scope: "_Scope"


_Scope: TypeAlias = Mapping[int, "Reads | _Local"]


@dataclass(frozen=True, slots=True)
class Summary:
    """Parts that an operator reads, in terms of its parameters.

    Attributes:
        reads: Its paths.
        cost: Size of its tree with those of the operators that it uses, for each assumed repetition.
    """

    reads: Reads
    cost: int


class Analysis:
    """Summaries of operators, computed once each."""

    def __init__(self, compiler: "Compiler") -> None:
        self._compiler = compiler
        self._summaries: dict[int, Summary] = {}
        self._cost = 0

    def summary(self, definition: JavaObject) -> Summary:
        """Return the summary of an operator of the specification.

        Raises:
            UnsupportedError: It has a prime within a prime.
        """
        uid = int(definition.getUid())
        if uid not in self._summaries:
            scope = {
                int(parameter.getUid()): _NOTHING
                if int(parameter.getArity())
                else _of(Parameter(int(parameter.getUid())))
                for parameter in definition.getParams()
            }
            outer, self._cost = self._cost, 0
            reads = self._reads(definition.getBody(), scope)
            self._summaries[uid] = Summary(reads, min(self._cost, _COST_MAX))
            self._cost = outer
        return self._summaries[uid]

    def closed_summary(self, node: JavaObject) -> Summary:
        """Return the summary of an expression.

        Raises:
            OpenExpression: It names a parameter or bound variable from around it.
        """
        outer, self._cost = self._cost, 0
        try:
            return Summary(self._reads(node, {}), min(self._cost, _COST_MAX))
        finally:
            self._cost = outer

    def key(self, definition: JavaObject) -> tuple[Path, ...] | None:
        """Return the paths that the key of an operator's memo consists of; None if there are too many."""
        return key_of(self.summary(definition).reads.paths)

    # -----------------------------------------------------------------------------------------------------
    # Expressions.
    # -----------------------------------------------------------------------------------------------------

    def _reads(self, node: JavaObject, scope: _Scope) -> Reads:
        self._cost += 1
        match nodes.kind(node):
            case nodes.NUMERAL:
                return Reads(path=Literal(int(node.val())))
            case nodes.STRING:
                return Reads(path=Literal(nodes.text(node)))
            case nodes.AT:
                # A part of the base of the EXCEPT, which is read as a whole.
                return _NOTHING
            case nodes.LABEL:
                return self._reads(node.getBody(), scope)
            case nodes.LET:
                return self._reads(node.getBody(), self._defined(node, scope))
            case nodes.OPERATOR_ARGUMENT:
                return self._reads_of_operator(node.getOp(), scope)
            case nodes.APPLICATION:
                return self._reads_of_application(node, scope)
        raise UnsupportedError(str(node.getClass().getSimpleName()), node)

    def _defined(self, let: JavaObject, scope: _Scope) -> _Scope:
        extended = dict(scope)
        for definition in let.getLets():
            uid = int(definition.getUid())
            if list(definition.getParams()):
                extended[uid] = _Local(definition, dict(extended))
            else:
                extended[uid] = self._reads(definition.getBody(), extended)
        return extended

    def _reads_of_operator(self, symbol: JavaObject, scope: _Scope) -> Reads:
        """Return what an operator that is passed as an argument reads besides its arguments."""
        known = scope.get(int(symbol.getUid()))
        if isinstance(known, Reads):
            return known
        if known is not None:
            return self._called(known, [_NOTHING for _ in known.definition.getParams()])
        definition = self._compiler.resolved(symbol)
        nothing = [_NOTHING for _ in definition.getParams()]
        if nodes.name(definition) == "LAMBDA":
            return _without_path(self._called(_Local(definition, scope), nothing))
        return _without_path(self._substituted(definition, nothing))

    def _reads_of_application(self, node: JavaObject, scope: _Scope) -> Reads:
        symbol = node.getOperator()
        known = scope.get(int(symbol.getUid()))
        if isinstance(known, Reads) and not nodes.arguments(node):
            return known
        if nodes.kind(symbol) == nodes.VARIABLE:
            return _of(Variable(nodes.name(symbol)))
        if known is None and self._compiler.value(symbol) is not None:
            return _NOTHING
        operator = nodes.name(symbol)
        if operator in nodes.BINDERS:
            return self._bound(node, scope)
        arguments = [self._reads(argument, scope) for argument in nodes.arguments(node) if argument is not None]
        if isinstance(known, _Local):
            return self._called(known, arguments)
        if isinstance(known, Reads):
            return _union(known, *arguments)
        resolved = self._compiler.resolved(symbol)
        if nodes.kind(resolved) in (nodes.FORMAL_PARAMETER, nodes.BOUND_SYMBOL):
            raise OpenExpression(nodes.name(resolved))
        if nodes.is_user_defined(resolved):
            return self._substituted(resolved, arguments)
        if operator in _BUILDERS:
            self._cost += _BUILDING
        match operator:
            case "$RcdSelect":
                return _selected(arguments[0], nodes.text(nodes.arguments(node)[1]))
            case "$FcnApply":
                return _applied(*arguments)
            case "'":
                return _later(arguments[0], node)
            case "UNCHANGED":
                return _union(arguments[0], _later(arguments[0], node))
            case "$SquareAct":
                return _union(*arguments, _later(arguments[1], node))
        return _union(*arguments)

    def _bound(self, node: JavaObject, scope: _Scope) -> Reads:
        bounds, inner = [], dict(scope)
        for symbol, bound, _ in nodes.bound_symbols(node):
            bounds.append(self._reads(bound, scope))
            inner[int(symbol.getUid())] = _NOTHING
        outer, self._cost = self._cost, 0
        body = [self._reads(argument, inner) for argument in nodes.arguments(node)]
        self._cost = outer + self._cost * _REPETITIONS
        return _union(*bounds, *body)

    def _called(self, local: _Local, arguments: Iterable[Reads]) -> Reads:
        """Return what a call of a local operator reads: of its body, with the arguments in their place."""
        arguments = list(arguments)
        parameters = [int(parameter.getUid()) for parameter in local.definition.getParams()]
        reads = self._reads(
            local.definition.getBody(), {**local.scope, **dict(zip(parameters, arguments, strict=True))}
        )
        # An argument is evaluated in any case.
        return replace(reads, paths=_union(reads, *arguments).paths) if reads.path is None else reads

    def _substituted(self, definition: JavaObject, arguments: Iterable[Reads]) -> Reads:
        """Return what a call of an operator reads."""
        arguments = list(arguments)
        summary = self.summary(definition)
        self._cost += summary.cost
        places = {int(p.getUid()): reads for p, reads in zip(definition.getParams(), arguments, strict=True)}
        paths = frozenset[Path]()
        for path in summary.reads.paths:
            paths |= _replaced(path, places, definition).paths
        # What an operator that is passed along reads; the other arguments count where they are used.
        for parameter, reads in zip(definition.getParams(), arguments, strict=True):
            if int(parameter.getArity()):
                paths |= reads.paths
        whole = None if summary.reads.path is None else _replaced(summary.reads.path, places, definition).path
        return Reads(paths, whole)


_NOTHING = Reads()


def _of(path: Path) -> Reads:
    return Reads(frozenset() if isinstance(path, Literal) else frozenset((path,)), path)


def _union(*reads: Reads) -> Reads:
    return Reads(frozenset(path for part in reads for path in part.paths))


def _without_path(reads: Reads) -> Reads:
    return Reads(reads.paths)


def _selected(record: Reads, name: str) -> Reads:
    return _without_path(record) if record.path is None else _of(Selected(record.path, name))


def _applied(function: Reads, argument: Reads) -> Reads:
    if function.path is None or argument.path is None:
        return _union(function, argument)
    return _of(Applied(function.path, argument.path))


def _later(reads: Reads, node: JavaObject) -> Reads:
    return Reads(
        frozenset(primed(path, node) for path in reads.paths),
        None if reads.path is None else primed(reads.path, node),
    )


def _replaced(path: Path, places: Mapping[int, Reads], node: JavaObject) -> Reads:
    """Return what a path of an operator reads at its call, where the parameters are replaced by the arguments."""
    match path:
        case Parameter(uid, later):
            return _later(places[uid], node) if later else places[uid]
        case Selected(record, name):
            return _selected(_replaced(record, places, node), name)
        case Applied(function, argument):
            return _applied(_replaced(function, places, node), _replaced(argument, places, node))
    return _of(path)
