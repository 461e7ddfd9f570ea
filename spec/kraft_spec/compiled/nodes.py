"""Queries of SANY's tree."""

from collections.abc import Iterator

from kraft_spec.tlc.jvm import JavaObject

# Values of tla2sany.semantic.ASTConstants.
CONSTANT = 2
VARIABLE = 3
BOUND_SYMBOL = 4
USER_DEFINED = 5
OPERATOR_ARGUMENT = 8
APPLICATION = 9
LET = 10
FORMAL_PARAMETER = 11
NUMERAL = 16
STRING = 18
AT = 19
LABEL = 29

STANDARD_MODULES = frozenset(("Naturals", "Integers", "Sequences", "FiniteSets", "TLC"))
"""Modules whose operators the compiler knows by name."""

BINDERS = frozenset(
    (
        "$BoundedForall",
        "$BoundedExists",
        "$BoundedChoose",
        "$SetOfAll",
        "$SubsetOf",
        "$FcnConstructor",
    )
)
"""Constructs whose body is evaluated for each element."""

CONSTANT_LEVEL, STATE_LEVEL, ACTION_LEVEL = 0, 1, 2


def kind(node: JavaObject) -> int:
    """Return the kind of a node: one of the numbers above."""
    return int(node.getKind())


def name(symbol: JavaObject) -> str:
    """Return the name of an operator, a parameter or a variable."""
    return str(symbol.getName())


def arguments(node: JavaObject) -> list[JavaObject]:
    """Return the arguments of an application; None stands for the OTHER of a CASE."""
    return list(node.getArgs())


def is_application(node: JavaObject, of: str) -> bool:
    """Return True for an application of the built-in or standard operator of that name."""
    return node is not None and kind(node) == APPLICATION and name(node.getOperator()) == of


def conjuncts(node: JavaObject) -> Iterator[JavaObject]:
    """Yield the conjuncts of an expression, in their order; the expression itself if it is no conjunction."""
    if is_application(node, "$ConjList") or is_application(node, "\\land"):
        for argument in arguments(node):
            yield from conjuncts(argument)
    else:
        yield node


def is_standard(symbol: JavaObject) -> bool:
    """Return True for an operator of a standard module."""
    if not hasattr(symbol, "getOriginallyDefinedInModuleNode"):
        return False
    module = symbol.getOriginallyDefinedInModuleNode()
    return module is not None and name(module) in STANDARD_MODULES


def is_user_defined(symbol: JavaObject) -> bool:
    """Return True for an operator of the specification's own modules."""
    return kind(symbol) == USER_DEFINED and not is_standard(symbol)


def text(node: JavaObject) -> str:
    """Return the content of a string."""
    return str(node.getRep().toString())


def bound_symbols(node: JavaObject) -> Iterator[tuple[JavaObject, JavaObject, bool]]:
    """Yield (symbol, bound, is of a tuple) for each bound variable of a quantifier or constructor, outermost first."""
    for symbols, bound, is_tuple in zip(
        node.getBdedQuantSymbolLists(), node.getBdedQuantBounds(), node.isBdedQuantATuple(), strict=True
    ):
        for symbol in symbols:
            yield symbol, bound, bool(is_tuple)


def context(bound: JavaObject) -> Iterator[tuple[JavaObject, JavaObject]]:
    """Yield (symbol, value) for the context of an expression, which TLC keeps in private fields."""
    fields = {field: bound.getClass().getDeclaredField(field) for field in ("name", "value", "next")}
    for field in fields.values():
        field.setAccessible(True)
    while bound is not None:
        symbol = fields["name"].get(bound)
        if symbol is not None:
            yield symbol, fields["value"].get(bound)
        bound = fields["next"].get(bound)


def uses(
    node: JavaObject, symbol: JavaObject, repeated: bool = False, primed: bool = False
) -> Iterator[tuple[bool, bool]]:
    """Yield (evaluated any number of times, under a prime) for each place at which an expression names a symbol."""
    if node is None:
        return
    match kind(node):
        case code if code == APPLICATION:
            operator = node.getOperator()
            if int(operator.getUid()) == int(symbol.getUid()):
                yield repeated, primed
            inner = repeated or name(operator) in BINDERS
            for argument in arguments(node):
                yield from uses(argument, symbol, inner, primed or name(operator) == "'")
            if name(operator) in BINDERS:
                for number, bound in enumerate(node.getBdedQuantBounds()):
                    yield from uses(bound, symbol, repeated or number > 0, primed)
        case code if code == LET:
            for definition in node.getLets():
                yield from uses(definition.getBody(), symbol, True, primed)
            yield from uses(node.getBody(), symbol, repeated, primed)
        case code if code == LABEL:
            yield from uses(node.getBody(), symbol, repeated, primed)
        case code if code == OPERATOR_ARGUMENT:
            operator = node.getOp()
            if int(operator.getUid()) == int(symbol.getUid()):
                yield True, primed
            elif name(operator) == "LAMBDA":
                yield from uses(operator.getBody(), symbol, True, primed)
