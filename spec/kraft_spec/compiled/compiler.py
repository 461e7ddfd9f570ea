"""Compiler from a parsed specification to a Java class: its state, its operators, its actions.

Actions are in continuation-passing style: a conjunct tests, or assigns a primed variable, and then continues, so the
code after it runs once for each successor.
"""

import json
from collections.abc import Iterable, Sequence
from typing import ClassVar

from kraft_spec.compiled import nodes
from kraft_spec.compiled.expressions import Expressions
from kraft_spec.compiled.terms import Kind, Scope, Term, UnsupportedError
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

PACKAGE = "kraftspec"
"""Java package of the class and of its runtime."""

_RESULTS = {Kind.VALUE: "Value", Kind.INT: "int", Kind.BOOL: "boolean"}


class Compiler:
    """Compiles the requested operators and actions, and their dependencies."""

    _HEADER: ClassVar[tuple[str, ...]] = (f"package {PACKAGE};", "import tlc2.value.impl.Value;")
    """First lines of a generated class."""
    _STATIC: ClassVar[str] = "static "
    """Modifier of the generated methods."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self._tool = specification.tool
        self._root = self._tool.getSpecProcessor().getRootModule()
        self._expressions = Expressions(self)
        self._methods: list[str] = []
        self._constants: dict[str, str] = {}
        self._strings: dict[str, str] = {}
        self._shapes: dict[tuple[str, ...], str] = {}
        self._literals: dict[str, str] = {}
        self._operators: dict[int, str] = {}
        self._steps: dict[int, str] = {}
        self._actions: dict[int, str] = {}
        self._kinds: dict[int, Kind] = {}
        self._resolved: dict[int, JavaObject] = {}
        self._names: set[str] = set()
        self._used_later: dict[int, bool] = {}
        self._fresh = 0
        self._fields = 0

    def java(self, class_name: str, actions: Sequence[str], invariants: Sequence[str], operators: Sequence[str]) -> str:
        """Return the class for trace checking: actions, invariants and operators, all without parameters.

        Raises:
            UnsupportedError: they use a construct that is not compiled.
            SpecificationError: there is no such action or operator.
        """
        cases = []
        for number, name in enumerate(actions):
            method = self.action(self._definition(name))
            cases.append(f"      case {number}: {method}(now, later, next); return;")
        evaluations = []
        for name in (*operators, *invariants):
            definition = self._definition(name)
            called = Term(f"{self.operator(definition)}(now, later)", self.kind_of(definition))
            evaluations.append(f'      case "{name}": return {called.as_value()};')
        return "\n".join(
            (
                f"package {PACKAGE};",
                "import tlc2.value.impl.Value;",
                f"public final class {class_name} {{",
                f"  public static final String[] ACTIONS = {{{_quoted(actions)}}};",
                f"  public static final String[] INVARIANTS = {{{_quoted(invariants)}}};",
                *(f"  {constant}" for constant in self._constants.values()),
                "  public static void act(int action, State now, State later, Runnable next) {",
                "    switch (action) {",
                *cases,
                '      default: throw new IllegalArgumentException("no such action");',
                "    }",
                "  }",
                "  public static Value evaluate(String operator, State now, State later) {",
                "    switch (operator) {",
                *evaluations,
                "      default: throw new IllegalArgumentException(operator);",
                "    }",
                "  }",
                *self._methods,
                "}\n",
            )
        )

    def checked_java(self) -> str:
        """Return the class for a model check: the expressions that TLC evaluates in every state, numbered as in TLC.

        Raises:
            UnsupportedError: they use a construct that is not compiled.
        """
        tool = self._tool
        steps = [f"      case {number}: {self._step(step)} return;" for number, step in enumerate(tool.getActions())]
        properties = [property_.pred for property_ in (*tool.getInvariants(), *tool.getImpliedActions())]
        bounds = [*tool.getModelConstraints(), *tool.getActionConstraints()]
        view = [] if tool.getViewSpec() is None else [tool.getViewSpec()]
        values = [
            f"      case {number}: return {self._expressions.term(expression, Scope()).as_value()};"
            for number, expression in enumerate((*properties, *bounds, *view))
        ]
        return "\n".join(
            (
                *self._HEADER,
                "public final class Model {",
                *(f"  {constant}" for constant in self._constants.values()),
                f"  public {self._STATIC}void step(int action, State now, State later, Runnable next) {{",
                "    switch (action) {",
                *steps,
                '      default: throw new IllegalArgumentException("no such action");',
                "    }",
                "  }",
                f"  public {self._STATIC}Value value(int expression, State now, State later) {{",
                "    switch (expression) {",
                *values,
                '      default: throw new IllegalArgumentException("no such expression");',
                "    }",
                "  }",
                *self._methods,
                "}\n",
            )
        )

    def _step(self, action: JavaObject) -> str:
        """Return a call that takes a step of a TLC action, which is an expression and the values bound around it."""
        bound = list(nodes.context(action.con))
        uid = int(action.pred.getUid())
        if uid not in self._steps:
            scope, declared = Scope(), []
            for symbol, _ in bound:
                name = self.fresh(nodes.name(symbol))
                declared.append(f"Value {name}")
                term = Term(name, Kind.VALUE, is_name=True)
                scope = scope.binding(symbol, term, term)
            method = self._steps[uid] = self.fresh("step")
            signature = ", ".join(["State now", "State later", *declared, "Runnable next"])
            body = self._action(action.pred, scope, "next.run();")
            self._methods.append(f"  {self._STATIC}void {method}({signature}) {{ {body} }}")
        args = [self.literal(value, action.pred) for _, value in bound]
        return f"{', '.join([f'{self._steps[uid]}(now, later', *args, 'next'])});"

    def literal(self, value: JavaObject, node: JavaObject) -> str:
        """Return the constant of a value that TLC has evaluated."""
        text = str(value)
        if text not in self._literals:
            written = _literal(value, node)
            name = self._literals[text] = f"V{len(self._literals)}"
            self._constants[name] = f"static final Value {name} = Values.normal({written});"
        return self._literals[text]

    def state_java(self) -> str:
        """Return the class of a state, with one field for each variable."""
        variables = self._specification.variables
        declared = ", ".join(variables)
        return "\n".join(
            (
                f"package {PACKAGE};",
                "import tlc2.tool.TLCState;",
                "import tlc2.value.impl.Value;",
                "import util.UniqueString;",
                "public final class State {",
                f"  public Value {declared};",
                *(
                    f'  static final UniqueString N_{name} = UniqueString.uniqueStringOf("{name}");'
                    for name in variables
                ),
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
                "  public boolean same(State other) {",
                f"    return {' && '.join(f'Values.equal({name}, other.{name})' for name in variables)};",
                "  }",
                "  public static State of(String[] names, Value[] values) {",
                "    State made = new State();",
                "    for (int i = 0; i < names.length; i++) {",
                "      switch (names[i]) {",
                *(f'        case "{name}": made.{name} = values[i]; break;' for name in variables),
                "        default: throw new IllegalArgumentException(names[i]);",
                "      }",
                "    }",
                "    return made;",
                "  }",
                "  public static State of(TLCState state) {",
                "    State copy = new State();",
                *(f"    copy.{name} = (Value) state.lookup(N_{name});" for name in variables),
                "    return copy;",
                "  }",
                "  public TLCState in(TLCState like) {",
                "    TLCState state = like.copy();",
                *(f"    state = state.bind(N_{name}, {name});" for name in variables),
                "    return state;",
                "  }",
                "}\n",
            )
        )

    # -----------------------------------------------------------------------------------------------------
    # Names.
    # -----------------------------------------------------------------------------------------------------

    def fresh(self, like: str) -> str:
        """Return a new Java name."""
        self._fresh += 1
        return f"{_java_name(like)}{self._fresh}"

    def string(self, text: str) -> str:
        """Return the constant of a string."""
        if text not in self._strings:
            name = self._strings[text] = f"S{len(self._strings)}"
            escaped = text.replace("\\", "\\\\").replace('"', '\\"')
            self._constants[name] = f'static final Value {name} = Values.string("{escaped}");'
        return self._strings[text]

    def field(self, name: str) -> str:
        """Return a constant for one use of a field; it caches the field's last position in a record."""
        self._fields += 1
        constant = f"F{self._fields}_{name}"
        self._constants[constant] = f'static final Values.Field {constant} = new Values.Field("{name}");'
        return constant

    def shape(self, names: Sequence[str]) -> str:
        """Return the constant of a record's fields, in the order of the text."""
        key = tuple(names)
        if key not in self._shapes:
            constant = self._shapes[key] = f"H{len(self._shapes)}"
            listed = ", ".join(f'"{name}"' for name in names)
            self._constants[constant] = f"static final Values.Shape {constant} = new Values.Shape({listed});"
        return self._shapes[key]

    def guarded(self, guards: Sequence[str], code: str) -> str:
        """Return a term for a filtered set, which is empty if one of the guards is false."""
        return code

    def constant(self, code: str) -> str:
        """Return a term for a constant expression, whose code is given."""
        return code

    def value(self, symbol: JavaObject) -> JavaObject | None:
        """Return the value that the configuration assigns to a constant; None for other symbols."""
        if nodes.kind(symbol) != nodes.CONSTANT:
            return None
        value = self._tool.lookup(symbol)
        return None if value is None or hasattr(value, "getUid") else value

    def resolved(self, symbol: JavaObject) -> JavaObject:
        """Return the definition of a symbol, after the replacements of the configuration."""
        uid = int(symbol.getUid())
        if uid not in self._resolved:
            definition = self._tool.lookup(symbol)
            self._resolved[uid] = definition if definition is not None and hasattr(definition, "getUid") else symbol
        return self._resolved[uid]

    def _definition(self, name: str) -> JavaObject:
        definition = self._root.getOpDef(name)
        if definition is None:
            raise KeyError(name)
        return self.resolved(definition)

    def _method_name(self, prefix: str, definition: JavaObject) -> str:
        name = f"{prefix}_{_java_name(nodes.name(definition))}"
        if name in self._names:
            name = f"{name}_{definition.getUid()}"
        self._names.add(name)
        return name

    # -----------------------------------------------------------------------------------------------------
    # Operators.
    # -----------------------------------------------------------------------------------------------------

    def kind_of(self, definition: JavaObject) -> Kind:
        """Return the Java type of an operator's result."""
        uid = int(definition.getUid())
        if uid not in self._kinds:
            self._kinds[uid] = Kind.VALUE
            self._kinds[uid] = self._expressions.kind(definition.getBody())
        return self._kinds[uid]

    def operator(self, definition: JavaObject) -> str:
        """Return the name of an operator's method; generate it if needed."""
        uid = int(definition.getUid())
        if uid in self._operators:
            return self._operators[uid]
        if bool(definition.getInRecursive()):
            raise UnsupportedError(f"the recursive operator {nodes.name(definition)}", definition)
        method = self._operators[uid] = self._method_name("op", definition)
        scope, parameters = self._parameters(definition, may_take_operators=True)
        kind = self.kind_of(definition)
        signature = ", ".join(["State now", "State later", *parameters])
        body = self._expressions.statements(definition.getBody(), scope, kind)
        if not parameters and int(definition.getLevel()) == nodes.CONSTANT_LEVEL and kind is Kind.VALUE:
            self._constants[method] = f"static volatile Value K_{method};"
            self._methods.append(f"  {self._STATIC}Value once_{method}({signature}) {{ {body} }}")
            once = f"K_{method} = Values.normal(once_{method}(now, later));"
            body = f"if (K_{method} == null) {{ {once} }} return K_{method};"
            evaluating = method
        else:
            evaluating = self._keep_results(definition, method, parameters, scope)
        self._methods.append(f"  {self._STATIC}{_RESULTS[kind]} {evaluating}({signature}) {{ {body} }}")
        return method

    def _keep_results(self, definition: JavaObject, method: str, parameters: Sequence[str], scope: Scope) -> str:
        """Return the name for the method that evaluates an operator; another one is called if results are kept."""
        return method

    def _parameters(self, definition: JavaObject, *, may_take_operators: bool) -> tuple[Scope, list[str]]:
        scope = Scope()
        declared: list[str] = []
        for parameter in definition.getParams():
            name = self.fresh(nodes.name(parameter))
            arity = int(parameter.getArity())
            if arity and not may_take_operators:
                raise UnsupportedError(f"action {nodes.name(definition)} with an operator as parameter", definition)
            if arity:
                declared.append(f"Values.F{arity} {name}")
                scope = scope.defining(parameter, name)
            else:
                declared.append(f"Value {name}")
                later = None
                if self.is_used_later(definition, parameter):
                    declared.append(f"Value {name}_later")
                    later = Term(f"{name}_later", Kind.VALUE, is_name=True)
                scope = scope.binding(parameter, Term(name, Kind.VALUE, is_name=True), later)
        return scope, declared

    def is_used_later(self, definition: JavaObject, parameter: JavaObject) -> bool:
        """Return True if an operator uses a parameter under a prime, and so needs its value in the next state too."""
        uid = int(parameter.getUid())
        if uid not in self._used_later:
            self._used_later[uid] = any(primed for _, primed in nodes.uses(definition.getBody(), parameter))
        return self._used_later[uid]

    def arguments(self, definition: JavaObject, args: Sequence[JavaObject], scope: Scope) -> str:
        """Return the arguments of a call of an operator or action, states first."""
        written = [scope.now, scope.later or "null"]
        for parameter, argument in zip(definition.getParams(), args, strict=True):
            written.append(self._expressions.argument(argument, scope))
            if int(parameter.getArity()) == 0 and self.is_used_later(definition, parameter):
                written.append(self._expressions.argument(argument, scope.primed()) if scope.later else "null")
        return ", ".join(written)

    # -----------------------------------------------------------------------------------------------------
    # Actions.
    # -----------------------------------------------------------------------------------------------------

    def action(self, definition: JavaObject) -> str:
        """Return the name of an action's method; generate it if needed."""
        uid = int(definition.getUid())
        if uid not in self._actions:
            method = self._actions[uid] = self._method_name("act", definition)
            scope, parameters = self._parameters(definition, may_take_operators=False)
            signature = ", ".join(["State now", "State later", *parameters, "Runnable next"])
            body = self._action(definition.getBody(), scope, "next.run();")
            self._methods.append(f"  {self._STATIC}void {method}({signature}) {{ {body} }}")
        return self._actions[uid]

    def _action(self, node: JavaObject, scope: Scope, then: str) -> str:
        """Return statements that run `then` for each way to take an action."""
        if nodes.kind(node) == nodes.LABEL:
            return self._action(node.getBody(), scope, then)
        if nodes.kind(node) == nodes.LET:
            written, inner = self._expressions.definitions(node, scope)
            return f"{{ {written}{self._action(node.getBody(), inner, then)} }}"
        if nodes.kind(node) != nodes.APPLICATION or int(node.getLevel()) < nodes.ACTION_LEVEL:
            return f"if ({self._expressions.term(node, scope).as_bool()}) {{ {then} }}"
        symbol = self.resolved(node.getOperator())
        operator, args = nodes.name(symbol), nodes.arguments(node)
        if nodes.is_user_defined(symbol):
            if int(symbol.getLevel()) < nodes.ACTION_LEVEL:
                return f"if ({self._expressions.term(node, scope).as_bool()}) {{ {then} }}"
            return f"{self.action(symbol)}({self.arguments(symbol, args, scope)}, () -> {{ {then} }});"
        match operator:
            case "$ConjList" | "\\land":
                for conjunct in reversed(args):
                    then = self._action(conjunct, scope, then)
                return then
            case "$DisjList" | "\\lor":
                return self._either(args, scope, then)
            case "$IfThenElse":
                condition, first, second = args
                go = self.fresh("go")
                tested = self._expressions.term(condition, scope).as_bool()
                yes, no = (self._action(branch, scope, f"{go}.run();") for branch in (first, second))
                return f"{{ final Runnable {go} = () -> {{ {then} }}; if ({tested}) {{ {yes} }} else {{ {no} }} }}"
            case "$Case":
                return self._case(node, scope, then)
            case "$BoundedExists":
                return self._each(node, scope, then)
            case "UNCHANGED":
                return self._unchanged(args[0], scope, then)
            case "=" if nodes.is_application(args[0], "'"):
                return self._assigned(args, scope, then)
        return f"if ({self._expressions.term(node, scope).as_bool()}) {{ {then} }}"

    def _either(self, branches: Iterable[JavaObject], scope: Scope, then: str) -> str:
        go = self.fresh("go")
        written = f"final Runnable {go} = () -> {{ {then} }}; "
        for branch in branches:
            before = self.fresh("before")
            tried = self._action(branch, scope, f"{go}.run();")
            written += f"{{ final State {before} = {scope.later}.copy(); {tried} {scope.later}.set({before}); }} "
        return f"{{ {written}}}"

    def _case(self, node: JavaObject, scope: Scope, then: str) -> str:
        go = self.fresh("go")
        written, closed = f"final Runnable {go} = () -> {{ {then} }}; ", ""
        for arm in nodes.arguments(node):
            guard, taken = nodes.arguments(arm)
            branch = self._action(taken, scope, f"{go}.run();")
            if guard is None:
                return f"{{ {written}{branch}{closed} }}"
            written += f"if ({self._expressions.term(guard, scope).as_bool()}) {{ {branch} }} else {{ "
            closed += " }"
        where = str(node.getLocation()).replace('"', "'")
        return f'{{ {written}throw Values.noCase("{where}");{closed} }}'

    def _each(self, node: JavaObject, scope: Scope, then: str) -> str:
        symbols = list(nodes.bound_symbols(node))
        opened, closed = self.opened_by_guards(node, scope)
        for symbol, bound, is_tuple in symbols:
            if is_tuple:
                raise UnsupportedError("a tuple of bound variables", node)
            name, before = self.fresh(nodes.name(symbol)), self.fresh("before")
            elements = self.bound_set(bound, scope)
            opened += f"Values.each({elements}, (Value {name}) -> {{ final State {before} = {scope.later}.copy(); "
            closed = f" {scope.later}.set({before}); }});" + closed
            scope = scope.binding(symbol, Term(name, Kind.VALUE, is_name=True))
        return opened + self._action(nodes.arguments(node)[0], scope, then) + closed

    def opened_by_guards(self, node: JavaObject, scope: Scope) -> tuple[str, str]:
        """Return the beginning and end of a block around an action that is quantified over elements."""
        return "", ""

    def bound_set(self, bound: JavaObject, scope: Scope) -> str:
        """Return the set of the elements that an action is quantified over."""
        return self._expressions.term(bound, scope).as_value()

    def _assigned(self, equation: Sequence[JavaObject], scope: Scope, then: str) -> str:
        variable = nodes.arguments(equation[0])[0].getOperator()
        if nodes.kind(variable) != nodes.VARIABLE:
            raise UnsupportedError("an equation of a primed expression that is no variable", equation[0])
        place = f"{scope.later}.{nodes.name(variable)}"
        value, is_open = self.fresh("value"), self.fresh("open")
        new = self._expressions.term(equation[1], scope).as_value()
        return (
            f"{{ final Value {value} = {new}; final boolean {is_open} = {place} == null; "
            f"if ({is_open}) {{ {place} = {value}; }} "
            f"if ({is_open} || Values.equal({place}, {value})) {{ {then} }} }}"
        )

    def _unchanged(self, node: JavaObject, scope: Scope, then: str) -> str:
        written = ""
        tests = []
        for variable in self.variables(node):
            place, old = f"{scope.later}.{variable}", f"{scope.now}.{variable}"
            written += f"if ({place} == null) {{ {place} = {old}; }} "
            tests.append(f"({place} == {old} || Values.equal({place}, {old}))")
        return f"{written}if ({' && '.join(tests)}) {{ {then} }}"

    def variables(self, node: JavaObject) -> Iterable[str]:
        """Yield the variables that an expression of variables and tuples names."""
        symbol = node.getOperator()
        if nodes.kind(symbol) == nodes.VARIABLE:
            yield nodes.name(symbol)
        elif nodes.name(symbol) == "$Tuple":
            for element in nodes.arguments(node):
                yield from self.variables(element)
        else:
            yield from self.variables(self.resolved(symbol).getBody())


def _literal(value: JavaObject, node: JavaObject) -> str:
    match str(value.getClass().getSimpleName()):
        case "IntValue":
            return f"Values.box({value.val})"
        case "BoolValue":
            return f"Values.box({str(bool(value.val)).lower()})"
        case "StringValue":
            return f"Values.string({json.dumps(str(value.val))})"
        case "IntervalValue":
            return f"Values.interval({value.low}, {value.high})"
        case "TupleValue":
            return f"Values.tuple({', '.join(_literal(element, node) for element in value.elems)})"
        case "SetEnumValue":
            members = [_literal(value.elems.elementAt(number), node) for number in range(value.elems.size())]
            return f"Values.set({', '.join(members)})"
    raise UnsupportedError(f"the value {value}", node)


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _java_name(text: str) -> str:
    return "".join(mark if mark.isalnum() and mark.isascii() else "_" for mark in text)
