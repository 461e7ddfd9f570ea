"""The reference of the command line: every command with its arguments and options, from the code that reads them."""

import re
from collections.abc import Iterable

import typer
from typer.cli import get_docs_for_click

from kraft_conformance.cli import app
from kraft_conformance.commands.on_demand import COMMANDS

FOLDER = "commands"
PROGRAM = "kraft-spec"


def command_pages() -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for the index and every command."""
    root = typer.main.get_command(app)
    context = typer.Context(root, info_name=PROGRAM)
    rows = []
    for name in COMMANDS:
        command = root.get_command(context, name)  # type: ignore[attr-defined]
        rows.append(f"| [{PROGRAM} {name}]({name}.md) | {_cell(command.get_short_help_str(limit=200))} |")
        words = get_docs_for_click(obj=command, ctx=context, name=name, call_prefix=PROGRAM)
        yield f"{FOLDER}/{name}.md", f"---\norphan: true\n---\n\n{tidied(words)}"
    lines = [
        "# Every command",
        "",
        "Generated from the code that reads the command line; [the command line](../command-line.md) tells of its use.",
        "",
        "| command | what it does |",
        "|---|---|",
        *rows,
        "",
        "Exit codes: 0 conformant, 1 violation, 2 inconclusive, 3 internal error, 64 and above wrong use or input.",
    ]
    yield f"{FOLDER}/index.md", "\n".join(lines) + "\n"


def tidied(words: str) -> str:
    """Typer's Markdown with plain titles and without the help option that every command has."""
    lines = [line for line in words.splitlines() if not line.startswith("* `-h, --help`") and "`--help`:" not in line]
    text = re.sub(r"^(#+) `(.*)`$", r"\1 \2", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(r"\*\*Options\*\*:\n+(?=#|\*\*|$)", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
