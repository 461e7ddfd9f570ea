"""Source around a line: a Python definition or a TLA+ operator with its comment."""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WHOLE_CLASS_LINES_MAX = 45
"""Maximum length of a class shown whole; a longer one is shown up to its docstring, or by the cited attribute."""

_WHOLE_FUNCTION_LINES_MAX = 90
"""Maximum length of a function shown whole; of a longer one only the statement is shown."""

_WHOLE_STATEMENT_LINES_MAX = 60
"""Maximum length of a statement shown whole; of a longer one, mostly a table, only the entry is shown."""

OPERATOR = re.compile(r"^(?:LOCAL\s+)?(\w+)(?:\([^=]*\))?\s*==")
"""Start of a definition in a module of the model, with its name."""
_MODULE_LINE = re.compile(r"^-{4,}\s*MODULE\b|^={4,}\s*$|^-{4,}\s*$")


@dataclass(frozen=True, slots=True, order=True)
class Piece:
    """Lines of a file, shown together.

    Attributes:
        path: Path in the repository, with forward slashes.
        first: First line, from 1.
        last: Last line.
        name: Defined name; empty for a comment on its own.
        cited: Lines that the piece is shown for.
    """

    path: str
    first: int
    last: int
    name: str
    cited: tuple[int, ...] = ()


def pieces(path: str, text: str, lines: Iterable[int]) -> tuple[Piece, ...]:
    """Return the pieces that contain these lines of a file, each once, in the order of the file.

    Args:
        path: Path of the file; its suffix selects the language.
        text: Contents of the file.
        lines: Line numbers from 1.

    Raises:
        SyntaxError: A Python file cannot be parsed.
    """
    lines_of_piece: dict[tuple[int, int, str], list[int]] = {}
    blocks = tla_blocks(path, text) if path.endswith(".tla") else ()
    tree = ast.parse(text, filename=path) if path.endswith(".py") else None
    for line in sorted(set(lines)):
        if tree is not None:
            piece = _in_body(tree.body, text.splitlines(), line, "")
        else:
            piece = next(
                ((block.first, block.last, block.name) for block in blocks if block.first <= line <= block.last),
                (line, line, ""),
            )
        lines_of_piece.setdefault(piece, []).append(line)
    return tuple(sorted(Piece(path, *piece, tuple(cited)) for piece, cited in lines_of_piece.items()))


def tla_blocks(path: str, text: str) -> tuple[Piece, ...]:
    """Split a TLA+ module into definitions, each with the comment above it, and the blocks between them.

    A block begins at a line that follows an empty one and is not indented; the module's first and last lines are
    in none.  Its name is the last operator that it defines, because earlier ones are local forms of it.
    """
    blocks: list[Piece] = []
    start: int | None = None
    name = ""
    last = 0
    after_gap = True
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            after_gap = True
            continue
        if _MODULE_LINE.match(line):
            after_gap = True
            if start is not None:
                blocks.append(Piece(path, start, last, name))
                start, name = None, ""
            continue
        if start is None or (after_gap and not line[0].isspace()):
            if start is not None:
                blocks.append(Piece(path, start, last, name))
            start, name = number, ""
        if operator := OPERATOR.match(line):
            name = operator.group(1)
        last, after_gap = number, False
    if start is not None:
        blocks.append(Piece(path, start, last, name))
    return tuple(blocks)


def operators_of(text: str, block: Piece) -> tuple[str, ...]:
    """Return the operators that a block of a module defines."""
    lines = text.splitlines()[block.first - 1 : block.last]
    return tuple(match.group(1) for line in lines if (match := OPERATOR.match(line)))


def _in_body(body: Sequence[ast.stmt], lines: Sequence[str], line: int, owner: str) -> tuple[int, int, str]:
    """Return the first line, last line and name of the definition around a line in a module or class body."""
    for statement, text in _with_text_below(body):
        first = _comment_above(lines, _first_line(statement))
        last = (text or statement).end_lineno or first
        if first <= line <= last:
            return _statement(statement, first, last, lines, line, owner)
    return line, line, owner


def _with_text_below(body: Sequence[ast.stmt]) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """Yield each statement, an assignment together with the docstring under it."""
    described = False
    for statement, following in zip_longest(body, body[1:]):
        if described:
            described = False
            continue
        described = isinstance(statement, ast.Assign | ast.AnnAssign) and following is not None and _is_text(following)
        yield statement, following if described else None


def _statement(
    statement: ast.stmt, first: int, last: int, lines: Sequence[str], line: int, owner: str
) -> tuple[int, int, str]:
    """Return the part of a statement around a line; the statement is on the lines `first` to `last`."""
    name = _name(statement, owner)
    if isinstance(statement, ast.ClassDef) and last - first >= _WHOLE_CLASS_LINES_MAX:
        head = statement.body[0]
        if line <= (head.end_lineno or 0) and _is_text(head):
            return first, head.end_lineno or last, name
        return _in_body(statement.body, lines, line, name)
    if isinstance(statement, _DEFINITIONS):
        is_long = last - first >= _WHOLE_FUNCTION_LINES_MAX and line > statement.body[0].lineno
        if not is_long:
            return first, last, name
        inner = _in_body(statement.body, lines, line, name)
        return inner[0], inner[1], name
    if last - first >= _WHOLE_STATEMENT_LINES_MAX:
        entry = _entry(statement, line)
        return entry[0], entry[1], name
    return first, last, name


def _entry(statement: ast.stmt, line: int) -> tuple[int, int]:
    """Return the largest short expression around a line; for a table, its entry."""
    spans = [
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(statement)
        if isinstance(node, ast.expr) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    short = [span for span in spans if span[1] - span[0] < _WHOLE_STATEMENT_LINES_MAX]
    return max(short, key=lambda span: span[1] - span[0], default=(line, line))


def _first_line(statement: ast.stmt) -> int:
    """Return the line on which a statement begins, decorators included."""
    decorators = statement.decorator_list if isinstance(statement, _DEFINITIONS) else []
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def _comment_above(lines: Sequence[str], first: int) -> int:
    """Return the first line of the comment right above a line; the line itself if there is none."""
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first


def _is_text(statement: ast.stmt) -> bool:
    """True if a statement is a docstring."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _name(statement: ast.stmt, owner: str) -> str:
    """Return the defined name, qualified by the class around it."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            pass
        case ast.Assign(targets=[ast.Name(id=name), *_]) | ast.AnnAssign(target=ast.Name(id=name)):
            pass
        case _:
            return owner
    return f"{owner}.{name}" if owner else name
