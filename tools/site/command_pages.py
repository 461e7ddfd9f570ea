"""The reference of the command line: every command with its arguments and options, from the code that reads them."""

import ast
import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from tools.site.markup import code_block, prose
from typer.cli import get_docs_for_click

from kraft_cli.cli import COMMANDS, app
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.markdown import table

FOLDER = "commands"
NAMES = tuple(name for names in COMMANDS.values() for name in names)
PROGRAM = "kraft-spec"
EXAMPLES = Path(__file__).parent / "examples"
"""A session of the shell for each command that has one: a test runs them."""

READ_MORE: Mapping[str, tuple[str, ...]] = {
    "conformance": ("conformance", "adapter-in-30-minutes"),
    "findings": ("checks", "decisions"),
    "kafka": ("kafka", "conformance"),
    "live": ("live",),
    "model": ("model",),
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
    "wire": ("wire",),
}
"""The pages that tell of a command's use."""

_PLACEHOLDERS = {
    "int range": "N",
    "int": "N",
    "float range": "N",
    "float": "N",
    "str": "TEXT",
    "path": "PATH",
    "Path": "PATH",
}


def command_pages() -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for the index and every command."""
    # Typer brings the class of it from a package of its own, whose place has changed.
    root: Any = typer.main.get_command(app)
    context = typer.Context(root, info_name=PROGRAM)
    rows = []
    for name in NAMES:
        _, command, _ = root.resolve_command(context, [name])
        rows.append((f"[{PROGRAM} {name}]({name}.md)", prose(command.get_short_help_str(limit=200))))
        words = get_docs_for_click(obj=command, ctx=context, name=name, call_prefix=PROGRAM)
        yield f"{FOLDER}/{name}.md", "\n".join(_page(name, with_whole_summaries(tidied(words), command)))
    lines = [
        "# Every command",
        "",
        "Generated from the code that reads the command line.",
        "Every command that answers more than a line takes `--json`.",
        "",
        *table(("command", "what it does"), rows),
        "",
        "## Exit codes",
        "",
        *table(("code", "name", "when"), ((str(code.value), f"`{code.name}`", prose(said)) for code, said in codes())),
    ]
    yield f"{FOLDER}/index.md", "\n".join(lines) + "\n"


def _page(name: str, words: str) -> list[str]:
    """A page: what the code says, with an example right below what the command is, and where to go on."""
    title, _, rest = words.partition("\n")
    lines = ["---", "orphan: true", "---", "", title, ""]
    first, usage, more = rest.partition("**Usage**:")
    lines += [first.strip(), ""]
    links = ", ".join(f"[{_title(page)}](../{page}.md)" for page in READ_MORE[name])
    lines += [f"More: {links}. [Exit codes](index.md#exit-codes), [every command](index.md).", ""]
    lines += [usage + more.rstrip(), ""]
    file = EXAMPLES / f"{name}.txt"
    if file.is_file():
        lines += ["## Example", "", *code_block(file.read_text(encoding="utf-8"), "console"), ""]
    return lines


def _title(page: str) -> str:
    """The title of a page in docs/, as a phrase may have it."""
    file = Path(__file__).parents[2] / "docs" / f"{page}.md"
    title = next(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("# "))
    return title.removeprefix("# ")


def codes() -> tuple[tuple[ExitCode, str], ...]:
    """Each exit code with the docstring below it, in ascending order."""
    body = ast.parse(inspect.getsource(ExitCode)).body[0]
    assert isinstance(body, ast.ClassDef)
    found = []
    for statement, following in zip(body.body, body.body[1:], strict=False):
        match statement, following:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(said))):
                found.append((ExitCode[name], said))
    return tuple(sorted(found))


def with_whole_summaries(words: str, command: Any) -> str:
    """The list of a group's commands with links, and with whole sentences where Typer cuts them.

    Args:
        words: Typer's Markdown.
        command: which may be a group; else nothing is changed.
    """
    for name, one in getattr(command, "commands", {}).items():
        said = prose(one.get_short_help_str(limit=1000))
        title = f"{PROGRAM} {command.name} {name}"
        words = re.sub(
            rf"^\* `{re.escape(name)}`: .*$",
            lambda _, name=name, title=title, said=said: f"* [`{name}`](#{title.replace(' ', '-')}): {said}",  # type: ignore[misc]
            words,
            flags=re.MULTILINE,
        )
    return words


def tidied(words: str) -> str:
    """Typer's Markdown with plain titles and placeholders, and without the help option that every command has."""
    lines = [line for line in words.splitlines() if not line.startswith("* `-h, --help`") and "`--help`:" not in line]
    text = re.sub(r"^(#+) `(.*)`$", r"\1 \2", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(r"<(?:list\[)?([A-Za-z]+(?: range)?)\]?>", _placeholder, text)
    text = re.sub(r"\[([^\[\]]*)\b(-?[\d.]+)<=x<=(-?[\d.]+)(?=[\];])", r"[\1\2 to \3", text)
    text = re.sub(r"\bx>=(-?[\d.]+)(?=[\];])", r"\1 or more", text)
    text = "\n".join(_with_options_as_code(line) for line in text.splitlines())
    text = re.sub(r"\*\*Options\*\*:\n+(?=#|\*\*|$)", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _with_options_as_code(line: str) -> str:
    """Names of options in prose as code: Sphinx would make a dash of two hyphens."""
    if line.startswith("$ "):
        return line
    parts = re.split(r"(`[^`]*`)", line)
    parts[::2] = [re.sub(r"(?<![\w-])--[a-z][\w-]*", r"`\g<0>`", part) for part in parts[::2]]
    return "".join(parts)


def _placeholder(found: re.Match[str]) -> str:
    return _PLACEHOLDERS.get(found.group(1), found.group(0))
