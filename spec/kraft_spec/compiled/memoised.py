"""Compiler for the explorer: operators on the explorer's own values, with memos of all that they read."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from kraft_spec.compiled import nodes
from kraft_spec.compiled.compiler import Compiler
from kraft_spec.compiled.paths import Applied, Literal, Parameter, Path, Selected, Variable, key_of
from kraft_spec.compiled.reads import Analysis, OpenExpression
from kraft_spec.compiled.terms import Kind, Scope
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

PACKAGE = "kraftexplorer"
"""Java package of the explorer."""

COST_MIN = 12
"""Size of the smallest operator with a memo; see `Summary.cost`."""

_JAVA_RESULT = {
    Kind.VALUE: ("Value", "{}"),
    Kind.INT: ("int", "Values.number({})"),
    Kind.BOOL: ("boolean", "Values.truth({})"),
}


class MemoisingCompiler(Compiler):
    """Compiles a specification for the explorer; one `Model` and its memos belong to one thread."""

    _HEADER: ClassVar[tuple[str, ...]] = (f"package {PACKAGE};",)
    _STATIC: ClassVar[str] = ""

    def __init__(self, specification: Specification) -> None:
        super().__init__(specification)
        self._analysis = Analysis(self)
        self._shared: dict[str, str] = {}
        self._constants["memos"] = "final Memo.All memos = new Memo.All();"

    def _keep_results(self, definition: JavaObject, method: str, parameters: Sequence[str], scope: Scope) -> str:
        if any(int(parameter.getArity()) for parameter in definition.getParams()):
            return method
        key = self._analysis.key(definition)
        if not key or self._analysis.summary(definition).cost < COST_MIN:
            return method
        self._add_memo(nodes.name(definition), method, self.kind_of(definition), key, parameters, scope)
        return f"raw_{method}"

    def _add_memo(
        self, name: str, method: str, kind: Kind, key: Sequence[Path], parameters: Sequence[str], scope: Scope
    ) -> None:
        """Add the method that asks the memo first, and otherwise the method `raw_...` that evaluates."""
        memo, evaluating = f"M_{method}", f"raw_{method}"
        self._constants[memo] = f'final Memo {memo} = memos.memo("{name}", {len(key)});'
        signature = ", ".join(["State now", "State later", *parameters])
        call = f"{evaluating}({', '.join(['now', 'later', *(declared.split()[1] for declared in parameters)])})"
        keys = ", ".join(f"k{number}" for number in range(len(key)))
        declared = " ".join(f"final Value k{number} = {self._path(path, scope)};" for number, path in enumerate(key))
        result, unboxed = _JAVA_RESULT[kind]
        boxed = call if kind is Kind.VALUE else f"Values.box({call})"
        self._methods.append(
            f"  {result} {method}({signature}) {{ if ({memo}.off) return {call}; {declared} "
            f"Value kept = {memo}.get({keys}); if (kept == null) {{ final long begun = {memo}.begin(); "
            f"kept = {memo}.put({boxed}, begun, {keys}); }} "
            f"else if (Memo.BOTH) {memo}.require(kept, {boxed}); "
            f"return {unboxed.format('kept')}; }}"
        )

    def bound_set(self, bound: JavaObject, scope: Scope) -> str:
        """Return the set of the elements that an action is quantified over; one that names no local is kept."""
        try:
            summary = self._analysis.closed_summary(bound)
        except OpenExpression:
            return super().bound_set(bound, scope)
        key = key_of(summary.reads.paths)
        if not key or summary.cost < COST_MIN or (scope.now, scope.later) != ("now", "later"):
            return super().bound_set(bound, scope)
        method = self.fresh("set")
        self._add_memo(str(bound.getLocation()), method, Kind.VALUE, key, (), scope)
        body = self._expressions.statements(bound, Scope(), Kind.VALUE)
        self._methods.append(f"  Value raw_{method}(State now, State later) {{ {body} }}")
        return f"{method}({scope.now}, {scope.later})"

    def opened_by_guards(self, node: JavaObject, scope: Scope) -> tuple[str, str]:
        """Return a test of the first conjuncts of the action, as far as they are the same for all elements."""
        varying = [symbol for symbol, _, _ in nodes.bound_symbols(node)]
        guards = list(self._guards(nodes.arguments(node)[0], varying, scope))
        return (f"if (Values.mayHold(() -> {' && '.join(guards)})) {{ ", " }") if guards else ("", "")

    def _guards(self, action: JavaObject, varying: Sequence[JavaObject], scope: Scope) -> Iterator[str]:
        for conjunct in nodes.conjuncts(action):
            if int(conjunct.getLevel()) < nodes.ACTION_LEVEL:
                if any(True for symbol in varying for _ in nodes.uses(conjunct, symbol)):
                    return
                yield self._expressions.term(conjunct, scope).as_bool()
                continue
            if nodes.kind(conjunct) == nodes.APPLICATION:
                definition = self.resolved(conjunct.getOperator())
                if nodes.is_user_defined(definition) and nodes.name(conjunct.getOperator()) not in nodes.BINDERS:
                    yield from self._guards_within(definition, nodes.arguments(conjunct), varying, scope)
            return

    def _guards_within(
        self, definition: JavaObject, arguments: Sequence[JavaObject], varying: Sequence[JavaObject], scope: Scope
    ) -> Iterator[str]:
        """Yield the guards of an action that is called with arguments; those that are no names count as varying."""
        inner, varying_inside = Scope(scope.now, scope.later), []
        for parameter, argument in zip(definition.getParams(), arguments, strict=True):
            term = None if nodes.kind(argument) != nodes.APPLICATION else scope.term(argument.getOperator())
            names_element = any(True for symbol in varying for _ in nodes.uses(argument, symbol))
            if term is None or names_element or nodes.arguments(argument):
                varying_inside.append(parameter)
            else:
                inner = inner.binding(parameter, term)
        yield from self._guards(definition.getBody(), varying_inside, inner)

    def guarded(self, guards: Sequence[str], code: str) -> str:
        """Return a term that tests the guards first."""
        return f"(Values.mayHold(() -> {' && '.join(guards)}) ? {code} : Values.none())"

    def constant(self, code: str) -> str:
        """Return the name of a constant, which is computed once."""
        if code not in self._shared:
            self._shared[code] = f"C{len(self._shared)}"
            self._constants[self._shared[code]] = f"static final Value {self._shared[code]} = Values.normal({code});"
        return self._shared[code]

    def _path(self, path: Path, scope: Scope) -> str:
        """Return the Java term of a path in the method of its operator."""
        match path:
            case Parameter(uid, later):
                return (scope.later_terms if later else scope.terms)[uid].code
            case Variable(name, later):
                return f"{scope.later if later else scope.now}.{name}"
            case Literal(value):
                return f"Values.box({value})" if isinstance(value, int) else self.string(value)
            case Selected(record, name):
                return f"Memo.field({self.field(name)}, {self._path(record, scope)})"
            case Applied(function, argument):
                return f"Memo.at({self._path(function, scope)}, {self._path(argument, scope)})"

    def state_java(self) -> str:
        """Return the class of a state, with one field for each variable."""
        variables = self._specification.variables
        listed = ", ".join(f'"{name}"' for name in variables)
        return "\n".join(
            (
                *self._HEADER,
                "public final class State {",
                f"  public static final String[] VARIABLES = {{{listed}}};",
                f"  public Value {', '.join(variables)};",
                "  public State copy() { State copy = new State(); copy.set(this); return copy; }",
                "  public void set(State other) {",
                *(f"    {name} = other.{name};" for name in variables),
                "  }",
                "  public void clear() {",
                *(f"    {name} = null;" for name in variables),
                "  }",
                "  public boolean isWhole() {",
                f"    return {' && '.join(f'{name} != null' for name in variables)};",
                "  }",
                "  public Value get(int variable) {",
                "    switch (variable) {",
                *(f"      case {number}: return {name};" for number, name in enumerate(variables)),
                "      default: throw new IllegalArgumentException();",
                "    }",
                "  }",
                "  public void put(int variable, Value value) {",
                "    switch (variable) {",
                *(f"      case {number}: {name} = value; return;" for number, name in enumerate(variables)),
                "      default: throw new IllegalArgumentException();",
                "    }",
                "  }",
                "}\n",
            )
        )
