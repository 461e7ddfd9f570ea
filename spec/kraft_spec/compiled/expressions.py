"""Compilation of TLA+ expressions to Java.

The tables at the end list the supported constructs; any other is an `UnsupportedError` with its place.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from kraft_spec.compiled import nodes
from kraft_spec.compiled.terms import Kind, Scope, Term, UnsupportedError
from kraft_spec.tlc.jvm import JavaObject

if TYPE_CHECKING:
    from kraft_spec.compiled.compiler import Compiler

Body = Callable[[Scope], str]
"""Generates the body of a binder, in the scope of its bound variables."""


class Expressions:
    """Generates Java for expressions; operators and constants are left to the compiler."""

    def __init__(self, compiler: "Compiler") -> None:
        self._compiler = compiler

    def term(self, node: JavaObject, scope: Scope) -> Term:
        """Return an expression as one Java term."""
        match nodes.kind(node):
            case nodes.NUMERAL:
                return Term(str(int(node.val())), Kind.INT, is_name=True)
            case nodes.STRING:
                return Term(self._compiler.string(nodes.text(node)), Kind.VALUE, is_name=True)
            case nodes.AT:
                term = scope.term(node.getExceptComponentRef())
                if term is None:
                    raise UnsupportedError("@ outside EXCEPT", node)
                return term
            case nodes.LABEL:
                return self.term(node.getBody(), scope)
            case nodes.LET:
                kind = self.kind(node)
                return Term(f"Values.{_SUPPLIERS[kind]}(() -> {{ {self.statements(node, scope, kind)} }})", kind)
            case nodes.APPLICATION:
                return self._application(node, scope)
        raise UnsupportedError(str(node.getClass().getSimpleName()), node)

    def kind(self, node: JavaObject) -> Kind:
        """Return the Java type of an expression."""
        match nodes.kind(node):
            case nodes.NUMERAL:
                return Kind.INT
            case nodes.LET | nodes.LABEL:
                return self.kind(node.getBody())
            case nodes.APPLICATION:
                symbol = self._compiler.resolved(node.getOperator())
                operator = nodes.name(symbol)
                if nodes.is_standard(symbol):
                    return _STANDARD[operator][0] if operator in _STANDARD else Kind.VALUE
                if nodes.is_user_defined(symbol):
                    return self._compiler.kind_of(symbol)
                if operator == "$IfThenElse":
                    return self._common(*(self.kind(branch) for branch in nodes.arguments(node)[1:]))
                if operator == "$Case":
                    return self._common(*(self.kind(nodes.arguments(arm)[1]) for arm in nodes.arguments(node)))
                if operator == "'":
                    return self.kind(nodes.arguments(node)[0])
                if operator in _BUILT_IN:
                    return _BUILT_IN[operator][0]
        return Kind.VALUE

    @staticmethod
    def _common(*kinds: Kind) -> Kind:
        return kinds[0] if len(set(kinds)) == 1 else Kind.VALUE

    # -----------------------------------------------------------------------------------------------------
    # Statements.
    # -----------------------------------------------------------------------------------------------------

    def statements(self, node: JavaObject, scope: Scope, kind: Kind) -> str:
        """Return statements that return the value of an expression as this type."""
        if nodes.kind(node) == nodes.LABEL:
            return self.statements(node.getBody(), scope, kind)
        if nodes.kind(node) == nodes.LET:
            written, inner = self.definitions(node, scope)
            return written + self.statements(node.getBody(), inner, kind)
        if nodes.is_application(node, "$IfThenElse"):
            condition, first, second = nodes.arguments(node)
            then = self.statements(first, scope, kind)
            return f"if ({self.term(condition, scope).as_bool()}) {{ {then} }} {self.statements(second, scope, kind)}"
        if nodes.is_application(node, "$Case"):
            written = ""
            for arm in nodes.arguments(node):
                guard, value = nodes.arguments(arm)
                if guard is None:
                    return written + self.statements(value, scope, kind)
                written += f"if ({self.term(guard, scope).as_bool()}) {{ {self.statements(value, scope, kind)} }} "
            return written + f"throw Values.noCase({_quoted(str(node.getLocation()))});"
        return f"return {self.term(node, scope).as_kind(kind)};"

    def definitions(self, let: JavaObject, scope: Scope) -> tuple[str, Scope]:
        """Return statements for the definitions of a LET, and the scope after them.

        A definition is evaluated lazily and at most once: in place if it is used once, otherwise at its first use.
        """
        written = ""
        lets = list(let.getLets())
        for number, definition in enumerate(lets):
            later_bodies = [*(later.getBody() for later in lets[number + 1 :]), let.getBody()]
            body = definition.getBody()
            parameters = list(definition.getParams())
            if parameters:
                function = self._compiler.fresh(nodes.name(definition))
                lambda_ = self._lambda(definition, scope)
                written += f"final Values.F{len(parameters)} {function} = {lambda_}; "
                scope = scope.defining(definition, function)
                continue
            places = [place for later_body in later_bodies for place in nodes.uses(later_body, definition)]
            if any(primed for _, primed in places) and int(definition.getLevel()) > nodes.CONSTANT_LEVEL:
                raise UnsupportedError(f"{nodes.name(definition)}, which is used under a prime,", definition)
            kind = self.kind(body)
            if len(places) == 1 and not places[0][0]:
                scope = scope.binding(definition, self.term(body, scope))
                continue
            name = self._compiler.fresh(nodes.name(definition))
            lazy = _LAZY[kind]
            written += f"final {lazy} {name} = new {lazy}(() -> {{ {self.statements(body, scope, kind)} }}); "
            scope = scope.binding(definition, Term(f"{name}.get()", kind, is_name=True))
        return written, scope

    def _lambda(self, operator: JavaObject, scope: Scope) -> str:
        """Return an operator with parameters as a Java function."""
        names: list[str] = []
        for parameter in operator.getParams():
            if int(parameter.getArity()) > 0:
                raise UnsupportedError("a local operator that takes operators", operator)
            names.append(self._compiler.fresh(nodes.name(parameter)))
            scope = scope.binding(parameter, Term(names[-1], Kind.VALUE, is_name=True))
        return f"({', '.join(names)}) -> {{ {self.statements(operator.getBody(), scope, Kind.VALUE)} }}"

    # -----------------------------------------------------------------------------------------------------
    # Applications.
    # -----------------------------------------------------------------------------------------------------

    def _application(self, node: JavaObject, scope: Scope) -> Term:
        symbol = node.getOperator()
        args = nodes.arguments(node)
        bound_term = scope.term(symbol)
        if bound_term is not None and not args:
            return bound_term
        function = scope.function(symbol)
        if function is not None:
            values = ", ".join(self.term(argument, scope).as_value() for argument in args)
            return Term(f"{function}.apply({values})", Kind.VALUE)
        if nodes.kind(symbol) == nodes.VARIABLE:
            return Term(f"{scope.now}.{nodes.name(symbol)}", Kind.VALUE, is_name=True)
        value = self._compiler.value(symbol)
        if value is not None:
            return Term(self._compiler.literal(value, node), Kind.VALUE, is_name=True)
        resolved = self._compiler.resolved(symbol)
        operator = nodes.name(resolved)
        if nodes.is_standard(resolved):
            if operator not in _STANDARD:
                raise UnsupportedError(f"operator {operator}", node)
            kind, write = _STANDARD[operator]
            return Term(write(self, args, scope, node), kind)
        if nodes.is_user_defined(resolved):
            method = self._compiler.operator(resolved)
            return Term(
                f"{method}({self._compiler.arguments(resolved, args, scope)})", self._compiler.kind_of(resolved)
            )
        if operator in ("$IfThenElse", "$Case"):
            return self._choice(node, operator, scope)
        if operator == "'":
            if not scope.later:
                raise UnsupportedError("a prime within a prime", node)
            return self.term(args[0], scope.primed())
        if operator not in _BUILT_IN:
            raise UnsupportedError(f"operator {operator}", node)
        kind, write = _BUILT_IN[operator]
        return Term(write(self, args, scope, node), kind)

    def argument(self, node: JavaObject, scope: Scope) -> str:
        """Return an argument: a value, or an operator as a function."""
        if nodes.kind(node) != nodes.OPERATOR_ARGUMENT:
            return self.term(node, scope).as_value()
        symbol = node.getOp()
        function = scope.function(symbol)
        if function is not None:
            return function
        operator = self._compiler.resolved(symbol)
        if nodes.name(operator) == "LAMBDA":
            return self._lambda(operator, scope)
        if any(self._compiler.is_used_later(operator, parameter) for parameter in operator.getParams()):
            raise UnsupportedError(f"{nodes.name(operator)} as an argument, which primes a parameter,", node)
        names = [self._compiler.fresh("x") for _ in operator.getParams()]
        called = f"{self._compiler.operator(operator)}({', '.join([scope.now, scope.later or 'null', *names])})"
        return f"({', '.join(names)}) -> {Term(called, self._compiler.kind_of(operator)).as_value()}"

    def _choice(self, node: JavaObject, operator: str, scope: Scope) -> Term:
        kind = self.kind(node)
        args = nodes.arguments(node)
        if operator == "$IfThenElse":
            condition, first, second = args
            then, otherwise = self.term(first, scope).as_kind(kind), self.term(second, scope).as_kind(kind)
            return Term(f"({self.term(condition, scope).as_bool()} ? {then} : {otherwise})", kind)
        return Term(f"Values.{_SUPPLIERS[kind]}(() -> {{ {self.statements(node, scope, kind)} }})", kind)

    def bound(self, function: str, node: JavaObject, scope: Scope, body: Body) -> str:
        """Return calls of the runtime's `function`, nested for the bound variables in their order, around the body."""
        symbols = list(nodes.bound_symbols(node))
        return self._bound(function, symbols, scope, body, node)

    def _bound(
        self,
        function: str,
        symbols: Sequence[tuple[JavaObject, JavaObject, bool]],
        scope: Scope,
        body: Body,
        node: JavaObject,
    ) -> str:
        (symbol, bound, is_tuple), *inner_symbols = symbols
        if is_tuple:
            raise UnsupportedError("a tuple of bound variables", node)
        name = self._compiler.fresh(nodes.name(symbol))
        interval = nodes.is_application(bound, "..") and nodes.is_standard(bound.getOperator())
        inner = scope.binding(symbol, Term(name, Kind.INT if interval else Kind.VALUE, is_name=True))
        written = self._bound(function, inner_symbols, inner, body, node) if inner_symbols else body(inner)
        if interval:
            low, high = (self.term(end, scope).as_int() for end in nodes.arguments(bound))
            call = f"Values.{function}({low}, {high}, (int {name}) -> {written})"
        else:
            call = f"Values.{function}({self.term(bound, scope).as_value()}, (Value {name}) -> {written})"
        return f"Values.union({call})" if function == "map" and inner_symbols else call

    def member(self, element: Term, of: JavaObject, scope: Scope) -> str:
        """Return a membership test, without building the set if its form allows."""
        if nodes.kind(of) == nodes.APPLICATION:
            symbol = self._compiler.resolved(of.getOperator())
            operator, args = nodes.name(symbol), nodes.arguments(of)
            if operator in _BY_PARTS and not element.is_name:
                name = self._compiler.fresh("element")
                test = self.member(Term(name, Kind.VALUE, is_name=True), of, scope)
                return f"Values.holds({element.as_value()}, (Value {name}) -> {test})"
            if operator == "$SetEnumerate":
                return f"({' || '.join(equal(element, self.term(member, scope)) for member in args) or 'false'})"
            if operator in ("\\union", "\\cup"):
                return f"({self.member(element, args[0], scope)} || {self.member(element, args[1], scope)})"
            if operator == "\\":
                return f"({self.member(element, args[0], scope)} && !{self.member(element, args[1], scope)})"
            if operator == "DOMAIN":
                return f"Values.inDomain({element.as_value()}, {self.term(args[0], scope).as_value()})"
            if operator == ".." and nodes.is_standard(symbol):
                low, high = (self.term(end, scope).as_int() for end in args)
                return f"Values.between({element.as_int()}, {low}, {high})"
            if operator in _TYPES:
                return f"Values.{_TYPES[operator]}({element.as_value()})"
        value = element.code if element.kind is Kind.INT else element.as_value()
        return f"Values.in({value}, {self.term(of, scope).as_value()})"

    def equality(self, first: JavaObject, second: JavaObject, scope: Scope) -> str:
        """Return a test that two expressions are equal."""
        if nodes.is_application(second, "$SetEnumerate") and not nodes.arguments(second):
            return f"Values.isEmpty({self.term(first, scope).as_value()})"
        if nodes.is_application(second, "$Tuple") and not nodes.arguments(second):
            return f"Values.isEmptySequence({self.term(first, scope).as_value()})"
        return equal(self.term(first, scope), self.term(second, scope))

    def unchanged(self, node: JavaObject, scope: Scope) -> str:
        """Return a test that variables have the same values in both states."""
        same = (f"Values.equal({scope.now}.{name}, {scope.later}.{name})" for name in self._compiler.variables(node))
        return f"({' && '.join(same)})"

    def values(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return arguments as TLC values."""
        return ", ".join(self.term(arg, scope).as_value() for arg in args)

    def filtered(self, test: JavaObject, scope: Scope, node: JavaObject) -> str:
        """Return the subset of the elements that pass a test."""
        written = self.bound("filter", node, scope, lambda inner: self.term(test, inner).as_bool())
        symbols = [symbol for symbol, _, _ in nodes.bound_symbols(node)]
        same = list(
            takewhile(
                lambda conjunct: not any(True for symbol in symbols for _ in nodes.uses(conjunct, symbol)),
                nodes.conjuncts(test),
            )
        )
        if not same:
            return written
        # Conjuncts that are the same for all elements are tested first: often no element needs to be looked at.
        return self._compiler.guarded([self.term(conjunct, scope).as_bool() for conjunct in same], written)

    def enumerated(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return a set that is given by its elements."""
        written = f"Values.set({self.values(args, scope)})"
        is_constant = all(nodes.kind(arg) in (nodes.NUMERAL, nodes.STRING) for arg in args)
        return self._compiler.constant(written) if is_constant else written

    def record(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return a record constructor."""
        pairs = [nodes.arguments(pair) for pair in args]
        shape = self._compiler.shape([nodes.text(field) for field, _ in pairs])
        return f"{shape}.of({self.values([value for _, value in pairs], scope)})"

    def updated(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return an EXCEPT: the base, then one update for each changed place."""
        written = f"new Values.Update({self.term(args[0], scope).as_value()})"
        for pair in args[1:]:
            path, value = nodes.arguments(pair)
            steps = nodes.arguments(path)
            at = self._compiler.fresh("at")
            new = self.term(value, scope.binding(pair, Term(at, Kind.VALUE, is_name=True))).as_value()
            if len(steps) == 1 and nodes.kind(steps[0]) == nodes.STRING:
                field = self._compiler.field(nodes.text(steps[0]))
                written += f".with({field}, {at} -> {new})" if at in new else f".with({field}, {new})"
            else:
                keys = ", ".join(
                    self._compiler.field(nodes.text(step))
                    if nodes.kind(step) == nodes.STRING
                    else f"Values.key({self.term(step, scope).as_value()})"
                    for step in steps
                )
                written += f".along({at} -> {new}, {keys})"
        return f"{written}.done()"

    def selected(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return the selection of a record's field."""
        return f"{self._compiler.field(nodes.text(args[1]))}.of({self.term(args[0], scope).as_value()})"

    def applied(self, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return a function application."""
        function, at = self.term(args[0], scope), self.term(args[1], scope)
        return f"Values.at({function.as_value()}, {at.code if at.kind is Kind.INT else at.as_value()})"


def equal(first: Term, second: Term) -> str:
    """Return a test that two terms are equal, by the cheapest comparison for their types."""
    kinds = {first.kind, second.kind}
    if kinds == {Kind.VALUE}:
        return f"Values.equal({first.code}, {second.code})"
    if Kind.INT in kinds and Kind.BOOL not in kinds:
        return f"({first.as_int()} == {second.as_int()})"
    return f"({first.as_bool()} == {second.as_bool()})"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_SUPPLIERS = {Kind.VALUE: "value", Kind.INT: "integer", Kind.BOOL: "bool"}
_LAZY = {Kind.VALUE: "Values.Lazy", Kind.INT: "Values.LazyInt", Kind.BOOL: "Values.LazyBool"}
_TYPES = {"STRING": "isString", "BOOLEAN": "isBoolean", "Nat": "isNatural", "Int": "isInteger"}

_BY_PARTS = frozenset(("$SetEnumerate", "\\union", "\\cup", "\\"))
"""Sets whose membership is tested part by part."""

Writer = Callable[[Expressions, list[JavaObject], Scope, JavaObject], str]


def _join(mark: str) -> Writer:
    def write(x: Expressions, args: list[JavaObject], scope: Scope, node: JavaObject) -> str:
        return f"({f' {mark} '.join(x.term(arg, scope).as_bool() for arg in args)})"

    return write


def _call(function: str) -> Writer:
    """Return a writer of a call of the runtime, whose arguments are values."""

    def write(x: Expressions, args: list[JavaObject], scope: Scope, node: JavaObject) -> str:
        return f"Values.{function}({x.values(args, scope)})"

    return write


def _arithmetic(form: str) -> Writer:
    def write(x: Expressions, args: list[JavaObject], scope: Scope, node: JavaObject) -> str:
        return form.format(*(x.term(arg, scope).as_int() for arg in args))

    return write


def _quantify(function: str) -> Writer:
    def write(x: Expressions, args: list[JavaObject], scope: Scope, node: JavaObject) -> str:
        return x.bound(function, node, scope, lambda inner: x.term(args[0], inner).as_bool())

    return write


def _map(function: str) -> Writer:
    def write(x: Expressions, args: list[JavaObject], scope: Scope, node: JavaObject) -> str:
        if function == "function" and len(list(nodes.bound_symbols(node))) > 1:
            raise UnsupportedError("a function of several variables", node)
        return x.bound(function, node, scope, lambda inner: x.term(args[0], inner).as_value())

    return write


_BUILT_IN: Mapping[str, tuple[Kind, Writer]] = {
    "TRUE": (Kind.BOOL, lambda x, args, scope, node: "true"),
    "FALSE": (Kind.BOOL, lambda x, args, scope, node: "false"),
    "$ConjList": (Kind.BOOL, _join("&&")),
    "\\land": (Kind.BOOL, _join("&&")),
    "$DisjList": (Kind.BOOL, _join("||")),
    "\\lor": (Kind.BOOL, _join("||")),
    "\\lnot": (Kind.BOOL, lambda x, args, scope, node: f"!({x.term(args[0], scope).as_bool()})"),
    "=>": (
        Kind.BOOL,
        lambda x, args, scope, node: f"(!({x.term(args[0], scope).as_bool()}) || {x.term(args[1], scope).as_bool()})",
    ),
    "\\equiv": (Kind.BOOL, _join("==")),
    "=": (Kind.BOOL, lambda x, args, scope, node: x.equality(args[0], args[1], scope)),
    "/=": (Kind.BOOL, lambda x, args, scope, node: f"!{x.equality(args[0], args[1], scope)}"),
    "\\in": (Kind.BOOL, lambda x, args, scope, node: x.member(x.term(args[0], scope), args[1], scope)),
    "\\notin": (Kind.BOOL, lambda x, args, scope, node: f"!{x.member(x.term(args[0], scope), args[1], scope)}"),
    "\\subseteq": (Kind.BOOL, _call("isSubset")),
    "\\union": (Kind.VALUE, _call("cup")),
    "\\cup": (Kind.VALUE, _call("cup")),
    "\\intersect": (Kind.VALUE, _call("cap")),
    "\\cap": (Kind.VALUE, _call("cap")),
    "\\": (Kind.VALUE, _call("minus")),
    "$CartesianProd": (Kind.VALUE, _call("product")),
    "UNION": (Kind.VALUE, _call("union")),
    "SUBSET": (Kind.VALUE, _call("subsets")),
    "DOMAIN": (Kind.VALUE, _call("domain")),
    "$Tuple": (Kind.VALUE, _call("tuple")),
    "$SetEnumerate": (Kind.VALUE, lambda x, args, scope, node: x.enumerated(args, scope)),
    "$RcdConstructor": (Kind.VALUE, lambda x, args, scope, node: x.record(args, scope)),
    "$RcdSelect": (Kind.VALUE, lambda x, args, scope, node: x.selected(args, scope)),
    "$FcnApply": (Kind.VALUE, lambda x, args, scope, node: x.applied(args, scope)),
    "$Except": (Kind.VALUE, lambda x, args, scope, node: x.updated(args, scope)),
    "$BoundedForall": (Kind.BOOL, _quantify("all")),
    "$BoundedExists": (Kind.BOOL, _quantify("any")),
    "$SubsetOf": (Kind.VALUE, lambda x, args, scope, node: x.filtered(args[0], scope, node)),
    "$BoundedChoose": (Kind.VALUE, _quantify("choose")),
    "$SetOfAll": (Kind.VALUE, _map("map")),
    "UNCHANGED": (Kind.BOOL, lambda x, args, scope, node: x.unchanged(args[0], scope)),
    "$SquareAct": (
        Kind.BOOL,
        lambda x, args, scope, node: f"({x.unchanged(args[1], scope)} || {x.term(args[0], scope).as_bool()})",
    ),
    "$FcnConstructor": (Kind.VALUE, _map("function")),
}
"""Compiled constructs of TLA+ itself, in addition to IF, CASE, LET, primes and actions."""

_STANDARD: Mapping[str, tuple[Kind, Writer]] = {
    "+": (Kind.INT, _arithmetic("Math.addExact({}, {})")),
    "-": (Kind.INT, _arithmetic("Math.subtractExact({}, {})")),
    "*": (Kind.INT, _arithmetic("Math.multiplyExact({}, {})")),
    "-.": (Kind.INT, _arithmetic("Math.negateExact({})")),
    "\\div": (Kind.INT, _arithmetic("Math.floorDiv({}, {})")),
    "%": (Kind.INT, _arithmetic("Math.floorMod({}, {})")),
    "<": (Kind.BOOL, _arithmetic("({} < {})")),
    ">": (Kind.BOOL, _arithmetic("({} > {})")),
    "\\leq": (Kind.BOOL, _arithmetic("({} <= {})")),
    "\\geq": (Kind.BOOL, _arithmetic("({} >= {})")),
    "..": (Kind.VALUE, _arithmetic("Values.interval({}, {})")),
    "Len": (Kind.INT, _call("length")),
    "Cardinality": (Kind.INT, _call("size")),
    "Append": (Kind.VALUE, _call("append")),
    "\\o": (Kind.VALUE, _call("concat")),
    "Head": (Kind.VALUE, _call("head")),
    "Tail": (Kind.VALUE, _call("tail")),
    "SubSeq": (
        Kind.VALUE,
        lambda x, args, scope, node: (
            f"Values.subSequence({x.term(args[0], scope).as_value()}, "
            f"{x.term(args[1], scope).as_int()}, {x.term(args[2], scope).as_int()})"
        ),
    ),
    "SelectSeq": (
        Kind.VALUE,
        lambda x, args, scope, node: (
            f"Values.select({x.term(args[0], scope).as_value()}, {x.argument(args[1], scope)})"
        ),
    ),
    "@@": (Kind.VALUE, _call("combined")),
    ":>": (Kind.VALUE, _call("singleFunction")),
}
"""Compiled operators of the standard modules."""

SUPPORTED = (*_BUILT_IN, "$IfThenElse", "$Case", "LET", "'", *_STANDARD, *_TYPES)
"""Names of all compiled constructs, as in SANY."""
