"""Machine-made mutants: small changes of the reference's source, made by Cosmic Ray.

The operators are the library's: all that need no arguments, but for those that compare by identity in place of by value
or the other way round, which for members of an enumeration, None and small integers is the same, and those that compare
by order in place of identity, because what is compared by identity has none but that of its letters.
Changed are the modules of the protocol; the cluster and the scenarios are the test bench, and what describes a replica
to people, DescribeQuorum and the gauges, is read by no tool.
Left out is what no behaviour depends on: annotations, type aliases, `__all__`, whether a data class has slots and may
be changed, code for type checkers only, the messages of assertions, and every change that leaves the compiled code as
it was.
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import CodeType
from typing import Any

from kraft_dev.mutants.subjects import Key, Subject
from kraft_mutants.attribution import rules_around
from kraft_spec.edits import Edit, installed_file, package_folder

_NO_CHANGE = ("Eq_Is", "Is_Eq", "IsNot_NotEq", "NotEq_IsNot")
_NO_ORDER = tuple(f"{identity}_{order}" for identity in ("Is", "IsNot") for order in ("Lt", "LtE", "Gt", "GtE"))

_VIEWS = ("describe.py", "metrics.py")

Position = tuple[int, int]
"""Line from 1 and column from 0, as in parso and `ast`."""


@dataclass(frozen=True, slots=True)
class _Candidate:
    file: str
    operator: str
    occurrence: int
    """Index among the operator's possible changes in the file."""
    start: Position

    def place_in_draw(self, seed: int) -> bytes:
        """Return the sort key of a candidate for a seed; changes in other lines do not affect it."""
        line, column = self.start
        lines = _text(installed_file(self.file)).splitlines()
        text = lines[line - 1]
        place = column - (len(text) - len(text.lstrip()))
        above = sum(earlier.strip() == text.strip() for earlier in lines[: line - 1])
        return sha256(
            f"{seed}\0{Path(self.file).name}\0{self.operator}\0{text.strip()}\0{place}\0{above}".encode()
        ).digest()


def is_available() -> bool:
    """True if Cosmic Ray is installed (extra `mutation`)."""
    return find_spec("cosmic_ray") is not None


def protocol_modules() -> tuple[Path, ...]:
    """Return the modules that are mutated, by name."""
    left_out = ("__init__.py", *_VIEWS)
    return tuple(sorted(path for path in package_folder("kraft_reference").glob("*.py") if path.name not in left_out))


def _file(path: Path) -> str:
    """Return the path of a module with its package."""
    return f"{path.parent.name}/{path.name}"


def sample(number: int, seed: int) -> tuple[tuple[Subject, ...], int]:
    """Draw mutants, each by its own source line and the seed; also return the size of the population.

    The population includes the few candidates that change nothing.

    Raises:
        ValueError: There are not so many.
    """
    candidates = [candidate for path in protocol_modules() for candidate in _candidates(path)]
    candidates.sort(key=lambda candidate: candidate.place_in_draw(seed))
    drawn: list[tuple[int, Subject]] = []
    # Two operators can make the same change (`not a is b` and `a is not b`), which counts once.
    behaviours: set[object] = {
        (_file(path), _behaviour(_compiled(_file(path), _text(path)))) for path in protocol_modules()
    }
    for candidate in candidates:
        if len(drawn) == number:
            break
        made = _made(candidate, behaviours)
        if made is not None:
            drawn.append(made)
    if len(drawn) < number:
        raise ValueError(f"there are only {len(drawn)} machine-made mutants, not {number}")
    drawn.sort(key=lambda pair: (pair[1].edits[0].file, pair[0], pair[1].key))
    return tuple(subject for _, subject in drawn), len(candidates)


def _operators() -> tuple[str, ...]:
    from cosmic_ray.plugins import get_operator, operator_names

    names = [name for name in operator_names() if not get_operator(name).arguments()]
    return tuple(sorted(name for name in names if not name.endswith((*_NO_CHANGE, *_NO_ORDER))))


@cache
def _candidates(path: Path) -> tuple[_Candidate, ...]:
    """Return every change that an operator could make in a file, in a fixed order."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.plugins import get_operator

    text = _text(path)
    excluded = tuple(_excluded(ast.parse(text)))
    candidates: list[_Candidate] = []
    nodes: list[Any] = list(ast_nodes(get_ast(text)))
    for name in _operators():
        operator = get_operator(name)()
        starts = [start for node in nodes for start, _ in operator.mutation_positions(node)]
        for occurrence, start in enumerate(starts):
            if not any(first <= start < last for first, last in excluded):
                candidates.append(_Candidate(_file(path), name, occurrence, start))
    return tuple(candidates)


def _excluded(tree: ast.Module) -> Iterator[tuple[Position, Position]]:
    """Yield the spans of the source that are not mutated."""
    for statement in tree.body:
        is_alias = isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp | ast.Subscript)
        names = {target.id for target in getattr(statement, "targets", ()) if isinstance(target, ast.Name)}
        if is_alias or "__all__" in names:
            yield _span(statement)
    for node in ast.walk(tree):
        match node:
            case ast.AnnAssign(annotation=annotation) | ast.arg(annotation=ast.expr() as annotation):
                yield _span(annotation)
            case ast.FunctionDef(returns=ast.expr() as returns):
                yield _span(returns)
            case ast.Assert(msg=ast.expr() as message):
                yield _span(message)
            case ast.Call(func=ast.Name(id="dataclass")):
                yield _span(node)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield _span(node)


def _span(node: ast.stmt | ast.expr) -> tuple[Position, Position]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _made(candidate: _Candidate, behaviours: set[object]) -> tuple[int, Subject] | None:
    """Return the changed line and the mutant; None if it does not compile, or compiles to code in `seen`."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    text = _text(installed_file(candidate.file))
    mutated: str | None = mutate_code(text, get_operator(candidate.operator)(), candidate.occurrence)
    if mutated is None:
        return None
    try:
        behaviour = (candidate.file, _behaviour(_compiled(candidate.file, mutated)))
    except SyntaxError:
        return None
    old, new = text.splitlines(), mutated.splitlines()
    at = next((index for index, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), 0)
    after = " ".join(new[at].split())
    if len(new) < len(old):
        at, after = candidate.start[0] - 1, ""
    before = old[at].strip()
    above = sum(line.strip() == before for line in old[:at])
    operator = candidate.operator.partition("/")[2]
    key = Key(candidate.file, operator, before, after, above)
    if behaviour in behaviours or key in behaviours:
        return None
    behaviours |= {behaviour, key}
    name = f"{candidate.file}:{at + 1} {operator}"
    edit = Edit(candidate.file, text, mutated)
    change = f"{before} -> {after or 'nothing'}"
    return at + 1, Subject(name, (edit,), rules_around(candidate.file, at + 1), change, key=key)


def _compiled(file: str, text: str) -> CodeType:
    with warnings.catch_warnings():
        # A mutant may cause warnings, for example for "is" with a literal.
        warnings.simplefilter("ignore")
        return compile(text, file, "exec")


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _behaviour(code: CodeType) -> tuple[object, ...]:
    """Return the behaviour of a compiled module, without line numbers."""
    constants = tuple(
        _behaviour(constant) if isinstance(constant, CodeType) else (type(constant).__name__, constant)
        for constant in code.co_consts
    )
    return (code.co_name, code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars, code.co_flags)
