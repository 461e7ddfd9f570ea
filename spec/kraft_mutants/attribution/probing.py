"""Source of the reference with a probe around each expression that may have another result."""

import ast
from typing import NamedTuple

PROBE = "_probe"
"""Name that the altered modules call: `value` around an expression, `replaced` in place of `_replace`."""


class Place(NamedTuple):
    """A line of the reference."""

    file: str
    """Path with its package, such as "kraft_reference/elections.py"."""
    line: int


class Probing(ast.NodeTransformer):
    """Puts probes around comparisons, conditions, sums, calls, and keyword arguments.

    Probe numbers continue after the places that the list already has; each new probe appends its place.
    """

    def __init__(self, file: str, places: list[Place]) -> None:
        self._file = file
        self._places = places

    def _called(self, function: str, node: ast.expr, *arguments: ast.expr, keywords: list[ast.keyword]) -> ast.expr:
        self._places.append(Place(self._file, node.lineno))
        number = ast.Constant(len(self._places) - 1)
        called = ast.Attribute(ast.Name(PROBE, ast.Load()), function, ast.Load())
        return ast.copy_location(ast.Call(called, [number, *arguments], keywords), node)

    def _probed(self, node: ast.expr, *instead: ast.expr) -> ast.expr:
        """Wrap the node in a probe; the values of `instead` are tried in its place."""
        return self._called("value", node, node, *instead, keywords=[])

    def _condition(self, node: ast.expr) -> ast.expr:
        return node if _is_probe(node) else self._probed(node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        # Of a comparison with an error code only the left side can vary.
        node.left = self.visit(node.left)
        node.comparators = [child if _is_error(child) else self.visit(child) for child in node.comparators]
        return self._probed(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        return self._probed(node) if _is_error(node) else node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        node.values = [self._condition(child) for child in node.values]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        node.test = self._condition(node.test)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        node.test = self._condition(node.test)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        return self._probed(node, node.left, node.right)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        for keyword in node.keywords:
            keyword.value = keyword.value if keyword.arg is None else self._probed(keyword.value)
        if any(isinstance(arg, ast.Starred) for arg in node.args) or any(arg.arg is None for arg in node.keywords):
            return node
        if isinstance(node.func, ast.Attribute) and node.func.attr == "_replace":
            return self._called("replaced", node, node.func.value, keywords=node.keywords)
        simple = [arg for arg in node.args if isinstance(arg, ast.Name | ast.Attribute | ast.Constant)]
        return self._probed(node, *simple)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.body = [self.visit(child) for child in node.body]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        node.body = [self.visit(child) if isinstance(child, ast.FunctionDef) else child for child in node.body]
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        # Patterns are not expressions.
        node.guard = None if node.guard is None else self.visit(node.guard)
        node.body = [self.visit(child) for child in node.body]
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        node.value = None if node.value is None else self.visit(node.value)
        return node

    def _untouched(self, node: ast.AST) -> ast.AST:
        return node

    visit_JoinedStr = visit_Assert = visit_Raise = _untouched  # noqa: N815


def _is_error(node: ast.expr) -> bool:
    """Return True for an error code, such as `Error.FENCED_LEADER_EPOCH`."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Error"


def _is_probe(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == PROBE
