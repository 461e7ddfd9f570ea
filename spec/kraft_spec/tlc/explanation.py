"""Diagnosis of an action without successor: the first false conjunct, found by walking TLC's syntax tree.

TLC evaluates an action from left to right, and each conjunct narrows the set of partly assigned next states. The walk
evaluates one conjunct at a time; the conjunct after which no state remains is the false one. It enters definitions,
LET, IF, CASE and quantifiers; of several failing branches it follows the one that got furthest.

Slow (a reflective call for each conjunct): for failures only.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import jpype

from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.parsing import SpecificationError
from kraft_spec.tlc.specification import Action, Specification

_CANDIDATES_MAX = 1_000
"""Limit of partly assigned next states; an action that leaves more open is not explained."""


@dataclass(frozen=True, slots=True)
class FalseConjunct:
    """A conjunct that no next state satisfies.

    Attributes:
        text: Its source text, with white space collapsed.
        module: Its module.
        line: First line, from 1.
        column: First column, from 1.
        end_line: Last line.
        end_column: Last column.
        operators: Definitions entered on the way to it, outermost first.
        operands: Values of its operands, as TLA+ text, if it is an operator with one or two.
        held: Number of true conjuncts before it.
    """

    text: str
    module: str
    line: int
    column: int
    end_line: int
    end_column: int
    operators: tuple[str, ...]
    operands: tuple[str, ...]
    held: int


@dataclass(frozen=True, slots=True)
class _Place:
    """Position of the walk: an expression, its context, and the candidates to evaluate it in."""

    node: JavaObject
    context: JavaObject
    candidates: tuple[JavaObject, ...]
    operators: tuple[str, ...]
    held: int


def false_conjunct(specification: Specification, action: Action, state: JavaObject) -> FalseConjunct | None:
    """Return the first conjunct of `action` that is false in `state`; None if the action has a successor.

    Raises:
        SpecificationError: TLC cannot evaluate the action, or it leaves too many next states open.
    """
    walk = _Walk(specification, action.instances[0], state)
    empty = jpype.JClass("tlc2.tool.TLCState").Empty.createEmpty()
    furthest: _Place | None = None
    try:
        for instance in action.instances:
            place = _Place(instance.pred, instance.con, (empty,), (action.name,), 0)
            if walk.advance(place):
                return None
            failure = walk.descend(place)
            if furthest is None or failure.held > furthest.held:
                furthest = failure
        assert furthest is not None, "an action has an instance"
        return walk.described(furthest)
    except jpype.JException as cause:
        instances = action.instances
        raise specification.failure(
            f"action {action.name}",
            cause,
            lambda tool: [tool.getNextStates(instance, state) for instance in instances],
        ) from cause


class _Walk:
    """A walk over the expression of an action, in one state."""

    def __init__(self, specification: Specification, action: JavaObject, state: JavaObject) -> None:
        self._specification = specification
        self._tool = specification.tool
        self._action = action
        self._state = state
        java_class = jpype.JClass
        self._no_items = java_class("tlc2.tool.impl.ActionItemList").Empty
        self._no_costs = java_class("tlc2.tool.coverage.CostModel").DO_NOT_RECORD
        self._state_vector = java_class("tlc2.tool.StateVec")
        self._definition_class = java_class("tla2sany.semantic.OpDefNode")
        self._application_class = java_class("tla2sany.semantic.OpApplNode")
        self._let_class = java_class("tla2sany.semantic.LetInNode")
        self._label_class = java_class("tla2sany.semantic.LabelNode")
        self._operation_code = java_class("tlc2.tool.BuiltInOPs").getOpCode
        self._code = java_class("tlc2.tool.ToolGlobals")

    def advance(self, place: _Place) -> tuple[JavaObject, ...]:
        """Return the partly assigned next states in which the expression holds."""
        method = _next_states_method()
        next_states = self._state_vector(0)
        for candidate in place.candidates:
            # TLC binds variables in its argument, so pass a copy.
            arguments = (self._action, place.node, self._no_items, place.context, self._state, candidate.copy())
            method.invoke(self._tool, *arguments, next_states, self._no_costs)
        if next_states.size() > _CANDIDATES_MAX:
            raise SpecificationError(f"{next_states.size()} next states after one conjunct: too many to follow")
        return tuple(next_states.elementAt(index) for index in range(next_states.size()))

    def descend(self, place: _Place) -> _Place:
        """Return the innermost false conjunct of an expression that no candidate satisfies."""
        node = place.node
        if isinstance(node, self._let_class | self._label_class):
            return self.descend(replace(place, node=node.getBody()))
        if not isinstance(node, self._application_class):
            return place
        operator = node.getOperator()
        code = self._operation_code(operator.getName())
        codes = self._code
        if code in (codes.OPCODE_cl, codes.OPCODE_land):
            return self._in_conjunction(place, [replace(place, node=part) for part in self._conjuncts(node)])
        if code == codes.OPCODE_bf:
            return self._in_conjunction(place, self._quantified(place))
        if code in (codes.OPCODE_dl, codes.OPCODE_lor):
            return self._in_furthest(place, [replace(place, node=part) for part in node.getArgs()])
        if code == codes.OPCODE_be:
            return self._in_furthest(place, self._quantified(place))
        if code == codes.OPCODE_ite:
            condition, then, otherwise = node.getArgs()
            return self.descend(replace(place, node=then if self._is_true(condition, place) else otherwise))
        if code == codes.OPCODE_case:
            return self._in_case(place)
        if code == 0:
            return self._in_definition(place, operator)
        return place

    def _conjuncts(self, node: JavaObject) -> list[JavaObject]:
        r"""Flatten A /\\ B /\\ C, which the parser nests in pairs, and lists of conjuncts inside it."""
        if isinstance(node, self._application_class):
            code = self._operation_code(node.getOperator().getName())
            if code in (self._code.OPCODE_cl, self._code.OPCODE_land):
                return [conjunct for part in node.getArgs() for conjunct in self._conjuncts(part)]
        return [node]

    def _in_conjunction(self, place: _Place, parts: list[_Place]) -> _Place:
        """Follow the conjuncts in order, each with the candidates that remain after the previous one."""
        candidates = place.candidates
        for index, part in enumerate(parts):
            reached = replace(part, candidates=candidates, held=place.held + index)
            left = self.advance(reached)
            if not left:
                return self.descend(reached)
            candidates = left
        return place

    def _in_furthest(self, place: _Place, branches: list[_Place]) -> _Place:
        """Follow the branch with the most true conjuncts; return the whole if they all fail at once."""
        failures = [self.descend(branch) for branch in branches]
        if not failures:
            return place
        furthest = max(failures, key=lambda failure: failure.held)
        return place if len(failures) > 1 and furthest.held == place.held else furthest

    def _in_case(self, place: _Place) -> _Place:
        """Follow the first arm whose guard is true; OTHER has no guard."""
        for arm in place.node.getArgs():
            guard, body = arm.getArgs()
            if guard is None or self._is_true(guard, place):
                return self.descend(replace(place, node=body))
        return place

    def _in_definition(self, place: _Place, operator: JavaObject) -> _Place:
        """Follow an operator of the specification into its definition, with its parameters bound."""
        meaning = self._tool.lookup(operator, place.context, False)
        if not isinstance(meaning, self._definition_class) or self._operation_code(meaning.getName()) != 0:
            return place
        if meaning.getBody() is None or meaning.isStandardModule():
            return place
        context = self._tool.getOpContext(meaning, place.node.getArgs(), place.context, True)
        operators = (*place.operators, str(meaning.getName()))
        return self.descend(replace(place, node=meaning.getBody(), context=context, operators=operators))

    def _quantified(self, place: _Place) -> list[_Place]:
        """Return the body of a quantifier for each element of its range."""
        body = place.node.getArgs()[0]
        contexts = self._tool.contexts(place.node, place.context, self._state, place.candidates[0], 0)
        places: list[_Place] = []
        while (context := contexts.nextElement()) is not None:
            places.append(replace(place, node=body, context=context))
        return places

    def _value(self, node: JavaObject, place: _Place) -> JavaObject:
        return self._tool.eval(node, place.context, self._state, place.candidates[0], 0)

    def _is_true(self, node: JavaObject, place: _Place) -> bool:
        return str(self._value(node, place).toString()) == "TRUE"

    def described(self, place: _Place) -> FalseConjunct:
        """Return the description of a place."""
        location = place.node.getLocation()
        module = str(location.source())
        coordinates = (location.beginLine(), location.beginColumn(), location.endLine(), location.endColumn())
        line, column, end_line, end_column = (int(number) for number in coordinates)
        text = _source_text(self._specification.directory / f"{module}.tla", line, column, end_line, end_column)
        return FalseConjunct(
            text=text if text is not None else str(place.node.getTreeNode().getHumanReadableImage()),
            module=module,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            operators=place.operators,
            operands=self._operands(place),
            held=place.held,
        )

    def _operands(self, place: _Place) -> tuple[str, ...]:
        """Return the values of a comparison's operands; empty if they cannot be evaluated."""
        if not isinstance(place.node, self._application_class):
            return ()
        arguments = list(place.node.getArgs())
        code = self._operation_code(place.node.getOperator().getName())
        quantifiers = (self._code.OPCODE_be, self._code.OPCODE_bf, self._code.OPCODE_dl, self._code.OPCODE_lor)
        if len(arguments) not in (1, 2) or code in quantifiers:
            return ()
        try:
            return tuple(str(self._value(argument, place).toString()) for argument in arguments)
        except (jpype.JException, TypeError):
            return ()


@cache
def _next_states_method() -> JavaObject:
    """Return TLC's non-public method that evaluates a part of an action from a partly assigned state."""
    expected = "Action SemanticNode ActionItemList Context TLCState TLCState INextStateFunctor CostModel"
    for method in jpype.JClass("tlc2.tool.impl.Tool").class_.getDeclaredMethods():
        parameters = " ".join(str(kind.getSimpleName()) for kind in method.getParameterTypes())
        if str(method.getName()) == "getNextStates" and parameters == expected:
            method.setAccessible(True)
            return method
    raise SpecificationError("this tla2tools.jar evaluates actions in another way: no conjunct can be named")


def _source_text(path: Path, line: int, column: int, end_line: int, end_column: int) -> str | None:
    """Return the text of an expression, without comments and line breaks; None if there is no such file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()[line - 1 : end_line]
    except OSError:
        return None
    if not lines:
        return None
    lines[-1] = lines[-1][:end_column]
    lines[0] = lines[0][column - 1 :]
    return " ".join(" ".join(part.split("\\*", 1)[0] for part in lines).split())
