"""Reference of the command line: every command with its arguments and options, read from the code."""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from kraft_cli.cli import COMMANDS, app
from kraft_conformance.exit_codes import ExitCode

NAMES = tuple(name for names in COMMANDS.values() for name in names)
PROGRAM = "kraft-spec"
EXAMPLES = Path(__file__).parent / "examples"
"""Shell sessions of commands, which a test runs."""

READ_MORE: Mapping[str, tuple[str, ...]] = {
    "conformance": ("conformance", "adapter-in-30-minutes"),
    "findings": ("checks", "decisions"),
    "kafka": ("kafka", "conformance"),
    "live": ("live",),
    "model": ("model",),
    "mutants": ("checks",),
    "node": ("live",),
    "pipeline": ("pipeline",),
    "prove": ("proofs",),
    "rules": ("rules",),
    "run": ("checks",),
    "scenario": ("scenarios",),
    "simulate": ("scenarios",),
    "trace": ("live", "trace-format"),
    "validate": ("trace-format", "model"),
    "view": ("trace-format",),
    "watch": ("watch", "trace-format"),
    "wire": ("wire",),
}
"""Pages about the use of each command."""

_PLACEHOLDERS = {
    "int range": "N",
    "int": "N",
    "float range": "N",
    "float": "N",
    "str": "TEXT",
    "path": "PATH",
    "Path": "PATH",
}


def command_facts() -> dict[str, Any]:
    """Return every command with its parts, and the exit codes."""
    # The class comes from a package of Typer whose place has changed.
    root: Any = typer.main.get_command(app)
    context = typer.Context(root, info_name=PROGRAM)
    commands = {}
    for name in NAMES:
        _, command, _ = root.resolve_command(context, [name])
        example = EXAMPLES / f"{name}.txt"
        commands[name] = {
            "summary": command.get_short_help_str(limit=200),
            "more": {page: _title(page) for page in READ_MORE[name]},
            "parts": list(_parts(f"{PROGRAM} {name}", command, context, 1)),
            "example": example.read_text(encoding="utf-8") if example.is_file() else "",
        }
    exit_codes = [{"code": code.value, "name": code.name, "meaning": meaning} for code, meaning in codes()]
    return {"commands": commands, "exit_codes": exit_codes}


def _parts(title: str, command: Any, context: typer.Context, depth: int) -> Iterator[dict[str, Any]]:
    """Yield a command, then the commands of a group."""
    parts: Mapping[str, Any] = getattr(command, "commands", {})
    records = [
        (parameter.param_type_name, *map(tidy_help, record))
        for parameter in command.get_params(context)
        if "--help" not in parameter.opts and (record := parameter.get_help_record(context)) is not None
    ]
    yield {
        "title": title,
        "depth": depth,
        "help": tidy_help(command.help or ""),
        "usage": " ".join([title, *command.collect_usage_pieces(context)]),
        **{
            f"{kind}s": {name: meaning for each, name, meaning in records if each == kind}
            for kind in ("argument", "option")
        },
        "commands": {name: part.get_short_help_str(limit=1000) for name, part in parts.items()},
    }
    for name, part in parts.items():
        yield from _parts(f"{title} {name}", part, context, depth + 1)


def _title(page: str) -> str:
    """Return the title of a page in docs/, worded to fit in a sentence."""
    file = Path(__file__).parents[2] / "docs" / f"{page}.md"
    title = next(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return title.removeprefix("# ")


def codes() -> tuple[tuple[ExitCode, str], ...]:
    """Return each exit code with the docstring below it, in ascending order."""
    body = ast.parse(inspect.getsource(ExitCode)).body[0]
    assert isinstance(body, ast.ClassDef)
    codes_with_text = []
    for statement, following in zip(body.body, body.body[1:], strict=False):
        match statement, following:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(said))):
                codes_with_text.append((ExitCode[name], said))
    return tuple(sorted(codes_with_text))


def tidy_help(text: str) -> str:
    """Return Typer's description of a parameter, with plain placeholders and bounds, and option names as code."""
    text = re.sub(r"<(?:list\[)?([A-Za-z]+(?: range)?)\]?>", _placeholder, text)
    text = re.sub(r"\[([^\[\]]*)\b(-?[\d.]+)<=x<=(-?[\d.]+)(?=[\];])", r"[\1\2 to \3", text)
    return re.sub(r"\bx>=(-?[\d.]+)(?=[\];])", r"\1 or more", text)


def _placeholder(match: re.Match[str]) -> str:
    return _PLACEHOLDERS.get(match.group(1), match.group(0))
