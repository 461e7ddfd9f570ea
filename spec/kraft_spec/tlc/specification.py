"""A parsed specification, with evaluation of successors, invariants and values.

This is the hot path of trace checking: a method makes only a few calls into Java. The explanation of failures
(`kraft_spec.tlc.explanation`) is separate, and may be slow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import jpype

from kraft_spec.tlc import jvm
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.parsing import SpecificationError, evaluation_error, parsed_tool
from kraft_spec.tlc.values import TlaValue, codec


@dataclass(frozen=True, slots=True)
class Action:
    """A named sub-action of the next-state relation.

    Attributes:
        name: Name of the operator in the TLA+ module.
        module: Module that defines it.
        line: Line of its definition, from 1.
        instances: TLC's own actions; several if Next applies the operator to each element of a set.
    """

    name: str
    module: str
    line: int
    instances: tuple[JavaObject, ...]


class Specification:
    """A parsed specification; because of TLC's static fields, a process can only load edited copies besides it.

    States are TLC's own objects: pass them back, look variables up in them, and never change one.

    Attributes:
        directory: Folder of the modules.
        name: Name of the root module.
        actions: Named sub-actions of Next, by name.
        variables: Names of the variables, by module and in the order of their declaration.
        invariants: Names of the INVARIANT entries of the configuration, and of PROPERTY clauses `[]P`.
        action_properties: Names of the PROPERTY clauses of the form `[][A]_v`.
    """

    def __init__(self, directory: Path, module: str, configuration: str | None = None) -> None:
        """Parse `directory`/`module`.tla with `directory`/`configuration`.cfg.

        Args:
            directory: Folder that holds the root module and those it extends.
            module: Name of the root module, without .tla.
            configuration: Name of the configuration, without .cfg; by default that of the module.

        Raises:
            SpecificationError: A file is missing, or TLC rejects it; the message has its line.
            JvmError: This process has loaded another specification, or a copy that declares other names.
            JarMissing, JarMismatch, JavaMissing: A prerequisite of TLC is missing.
        """
        self.directory = directory.resolve()
        self.name = module
        configuration = configuration or module
        for file in (self.directory / f"{module}.tla", self.directory / f"{configuration}.cfg"):
            if not file.is_file():
                raise SpecificationError(f"no such file: {file}")
        jvm.start()
        jvm.claim_for(f"{module}.tla with {configuration}.cfg")
        self.tool = parsed_tool(self.directory, module, configuration)
        # Without this, TLC's hash polynomial is zero, and all fingerprints are equal.
        jpype.JClass("tlc2.util.FP64").Init(0)
        self._codec = codec()
        unique_string = jpype.JClass("util.UniqueString").uniqueStringOf
        # TLC's own order is that of a hash table.
        nodes = sorted(self.tool.getSpecProcessor().getVariablesNodes(), key=_declaration_place)
        self._java_names: dict[str, JavaObject] = {
            str(node.getName()): unique_string(str(node.getName())) for node in nodes
        }
        self.variables = tuple(self._java_names)
        operators = self.tool.getSpecProcessor().getRootModule().getOpDefs()
        jvm.declare(frozenset((*self.variables, *(str(node.getName()) for node in operators))))
        declared = self.tool.getSpecProcessor().getRootModule().getConstantDecls()
        self._constants: dict[str, JavaObject] = {str(node.getName()): node for node in declared}
        self.actions: Mapping[str, Action] = MappingProxyType(_grouped_actions(self.tool))
        self._invariants = _group_by_name(self.tool.getInvNames(), self.tool.getInvariants())
        self._action_properties = _group_by_name(self.tool.getImpliedActNames(), self.tool.getImpliedActions())
        self.invariants = tuple(self._invariants)
        self.action_properties = tuple(self._action_properties)
        self._bodies: dict[str, JavaObject] = {}
        self._node_class = jpype.JClass("tla2sany.semantic.SemanticNode")
        self._empty_context = jpype.JClass("tlc2.util.Context").Empty
        self._empty_state = jpype.JClass("tlc2.tool.TLCState").Empty

    def initial_states(self) -> list[JavaObject]:
        """Return the states that satisfy Init.

        Raises:
            SpecificationError: TLC cannot evaluate it.
        """
        try:
            states = self.tool.getInitStates()
            return [states.elementAt(index) for index in range(states.size())]
        except jpype.JException as cause:
            raise self.failure("Init", cause, lambda tool: tool.getInitStates()) from cause

    def bind(self, state: JavaObject, variable: str, value: object) -> JavaObject:
        """Return a copy of `state` in which `variable` has the given value (Python's or TLC's own).

        Raises:
            SpecificationError: The specification has no such variable.
            ValueConversionError: The value has no TLA+ counterpart.
        """
        encoded = value if isinstance(value, jpype.JObject) else self._codec.encode(value)
        return state.copy().bind(self._java_name(variable), encoded)

    def lookup(self, state: JavaObject, variable: str) -> JavaObject:
        """Return the TLC value of a variable; None if the state leaves it open.

        Raises:
            SpecificationError: The specification has no such variable.
        """
        return state.lookup(self._java_name(variable))

    def decoded(self, state: JavaObject, variable: str) -> TlaValue:
        """Return the value of a variable as a Python value.

        Raises:
            SpecificationError: There is no such variable, or the state leaves it open.
            ValueConversionError: It is not finite data.
        """
        value = self.lookup(state, variable)
        if value is None:
            raise SpecificationError(f"the state has no value for {variable}")
        return self._codec.decode(value)

    def successors(self, action: Action, state: JavaObject) -> list[JavaObject]:
        """Return the states after one step of `action`; a state reached in several ways is repeated.

        Raises:
            SpecificationError: TLC cannot evaluate the action.
        """
        try:
            if len(action.instances) == 1:
                next_states = self.tool.getNextStates(action.instances[0], state)
                size = next_states.size()
                return [next_states.elementAt(0)] if size == 1 else [next_states.elementAt(i) for i in range(size)]
            states: list[JavaObject] = []
            for instance in action.instances:
                next_states = self.tool.getNextStates(instance, state)
                states.extend(next_states.elementAt(index) for index in range(next_states.size()))
            return states
        except jpype.JException as cause:
            instances = action.instances
            raise self.failure(
                f"action {action.name}",
                cause,
                lambda tool: [tool.getNextStates(instance, state) for instance in instances],
            ) from cause

    def step(self, action: Action, state: JavaObject, variable: str, value: object) -> list[JavaObject]:
        """Bind a variable and return the successors."""
        return self.successors(action, self.bind(state, variable, value))

    def is_valid(self, invariant: str, state: JavaObject) -> bool:
        """Return True if an invariant of the configuration holds in a state.

        Raises:
            SpecificationError: The configuration has no such invariant, or TLC cannot evaluate it.
        """
        clauses = self._invariants.get(invariant)
        if clauses is None:
            raise SpecificationError(f"no invariant {invariant}; there are: {', '.join(self.invariants)}")
        try:
            return all(self.tool.isValid(clause, state) for clause in clauses)
        except jpype.JException as cause:
            raise self.failure(
                f"invariant {invariant}",
                cause,
                lambda tool: [tool.isValid(clause, state) for clause in clauses],
            ) from cause

    def action_property(self, name: str, state: JavaObject, next_state: JavaObject) -> bool:
        """Return True if a property `[][A]_v` of the configuration holds for a step.

        Raises:
            SpecificationError: The configuration has no such property, or TLC cannot evaluate it.
        """
        clauses = self._action_properties.get(name)
        if clauses is None:
            raise SpecificationError(f"no action property {name}; there are: {', '.join(self.action_properties)}")
        try:
            return all(self.tool.isValid(clause, state, next_state) for clause in clauses)
        except jpype.JException as cause:
            raise self.failure(
                f"action property {name}",
                cause,
                lambda tool: [tool.isValid(clause, state, next_state) for clause in clauses],
            ) from cause

    def evaluate(self, name: str, state: JavaObject, next_state: JavaObject | None = None) -> JavaObject:
        """Return the TLC value of a constant or of an operator without parameters, in a state or on a step.

        Raises:
            SpecificationError: There is no such operator, it takes parameters, or TLC cannot evaluate it.
        """
        body = self._bodies.get(name)
        if body is None:
            body = self._body_or_value(name)
            if not isinstance(body, self._node_class):
                return body
            self._bodies[name] = body
        after = self._empty_state if next_state is None else next_state
        try:
            return self.tool.eval(body, self._empty_context, state, after, 0)
        except jpype.JException as cause:
            raise self.failure(
                name, cause, lambda tool: tool.eval(body, self._empty_context, state, after, 0)
            ) from cause

    def _body_or_value(self, name: str) -> JavaObject:
        """Return the expression of an operator; its value if TLC has already evaluated it.

        TLC evaluates constants, constant-level definitions and overrides of the configuration in advance.
        """
        declared = self._constants.get(name)
        if declared is not None:
            return self.tool.lookup(declared, self._empty_context, False)
        definition = self.tool.getSpecProcessor().getRootModule().getOpDef(name)
        if definition is None:
            raise SpecificationError(f"module {self.name} defines no {name}")
        if definition.getArity() != 0:
            raise SpecificationError(f"{name} takes {definition.getArity()} parameters")
        evaluated = self.tool.lookup(definition, self._empty_context, False)
        return evaluated.getBody() if isinstance(evaluated, type(definition)) else evaluated

    def holds(self, name: str, state: JavaObject, next_state: JavaObject | None = None) -> bool:
        """Return True if an operator without parameters is TRUE: `evaluate` for predicates.

        Raises:
            SpecificationError: As `evaluate`, or it is no BOOLEAN.
        """
        value = self._codec.decode(self.evaluate(name, state, next_state))
        if not isinstance(value, bool):
            raise SpecificationError(f"{name} is no BOOLEAN: {value!r}")
        return value

    def fingerprint(self, state: JavaObject) -> int:
        """Return TLC's 64-bit fingerprint, equal for equal states. The cost is proportional to the state's size."""
        return int(state.fingerPrint())

    def failure(self, subject: str, cause: JavaObject, again: Callable[[JavaObject], object]) -> SpecificationError:
        """Return the error after a second evaluation that keeps a call stack, with TLC's position."""
        tracing = jpype.JClass("tlc2.tool.impl.CallStackTool")(self.tool)
        try:
            again(tracing)
        except jpype.JException:
            return evaluation_error(subject, cause, positions=str(tracing.toString()))
        return evaluation_error(subject, cause)

    def _java_name(self, variable: str) -> JavaObject:
        try:
            return self._java_names[variable]
        except KeyError:
            raise SpecificationError(f"no variable {variable}; there are: {', '.join(self.variables)}") from None


def _declaration_place(node: JavaObject) -> tuple[str, int, int]:
    """Return a sort key of a variable's place of declaration."""
    location = node.getLocation()
    return (str(location.source()), int(location.beginLine()), int(location.beginColumn()))


def _grouped_actions(tool: JavaObject) -> dict[str, Action]:
    """Group TLC's actions by name: it has one for each element of a constant quantifier's range."""
    grouped: dict[str, list[JavaObject]] = {}
    for instance in tool.getActions():
        grouped.setdefault(str(instance.getName()), []).append(instance)
    actions: dict[str, Action] = {}
    for name, instances in grouped.items():
        location = instances[0].getDeclaration()
        actions[name] = Action(
            name=name,
            module=str(location.source()),
            line=int(location.beginLine()),
            instances=tuple(instances),
        )
    return actions


def _group_by_name(names: JavaObject, clauses: JavaObject) -> dict[str, tuple[JavaObject, ...]]:
    """Group TLC's clauses by the name in the configuration: TLC splits a conjunction into several."""
    grouped: dict[str, tuple[JavaObject, ...]] = {}
    for name, clause in zip(names, clauses, strict=True):
        grouped[str(name)] = (*grouped.get(str(name), ()), clause)
    return grouped
