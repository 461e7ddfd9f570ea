"""Compiler for the explorer: operators on the explorer's own values, with memos of all that they read."""

from collections.abc import Sequence
from typing import ClassVar

from kraft_spec.compiled import nodes
from kraft_spec.compiled.compiler import Compiler
from kraft_spec.compiled.reads import Analysis, Applied, Literal, Parameter, Path, Selected, Variable
from kraft_spec.compiled.terms import Kind, Scope
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

PACKAGE = "kraftexplorer"
"""Java package of the explorer."""

COST_MIN = 30
"""Size of the smallest operator with a memo; see `Summary.cost`."""

_JAVA_RESULT = {Kind.VALUE: ("Value", "{}"), Kind.INT: ("int", "Values.number({})"), Kind.BOOL: ("boolean", "Values.truth({})")}


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
        kind = self.kind_of(definition)
        memo, evaluating = f"M_{method}", f"raw_{method}"
        self._constants[memo] = f'final Memo {memo} = memos.memo("{nodes.name(definition)}", {len(key)});'
        signature = ", ".join(["State now", "State later", *parameters])
        call = f"{evaluating}({', '.join(['now', 'later', *(declared.split()[1] for declared in parameters)])})"
        keys = ", ".join(f"k{number}" for number in range(len(key)))
        declared = " ".join(f"final Value k{number} = {self._path(path, scope)};" for number, path in enumerate(key))
        result, unboxed = _JAVA_RESULT[kind]
        boxed = call if kind is Kind.VALUE else f"Values.box({call})"
        self._methods.append(
            f"  {result} {method}({signature}) {{ if ({memo}.off) return {call}; {declared} "
            f"Value kept = {memo}.get({keys}); if (kept == null) kept = {memo}.put({boxed}, {keys}); "
            f"else if (Memo.BOTH) {memo}.require(kept, {boxed}); "
            f"return {unboxed.format('kept')}; }}"
        )
        return evaluating

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
