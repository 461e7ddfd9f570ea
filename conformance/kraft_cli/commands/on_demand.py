"""Commands that are imported on demand.

A command line responds within a second only if it does not import the libraries of other commands, which together take
longer than a proof.
"""

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

Commands = Mapping[str, Mapping[str, str]]
"""Help line of each command, by heading and name."""

EPILOG = (
    "Exit codes: 0 conformant, 1 violation, 2 inconclusive, 3 internal error, 4 nothing judged, 64 and above wrong use "
    "or input."
)


def app_of(package: str, commands: Commands, **options: Any) -> typer.Typer:
    """Return a command line with these commands.

    Each command is a module of its name in `package`, which has `app` or a function of that name.
    `options` are arguments of `typer.Typer`.
    """

    class CommandsOnDemand(TyperGroup):
        """The commands of the table; each is imported when it, or its own help, runs."""

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """Return the command's name, the imported command and the remaining arguments."""
            name, listed, words = super().resolve_command(ctx, args)
            return name, listed and _import_command(package, listed.name), words

    app = typer.Typer(
        cls=CommandsOnDemand,
        epilog=EPILOG,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
        **options,
    )
    for heading, lines in commands.items():
        for name, line in lines.items():
            app.command(name, help=line, rich_help_panel=heading)(_placeholder)
    return app


def _placeholder() -> None:
    """Placeholder for a command in the list of commands."""


def _import_command(package: str, name: Any) -> Any:
    module = import_module(f"{package}.{name.replace('-', '_')}")
    group = typer.Typer(add_completion=False, callback=lambda: None)
    if hasattr(module, "app"):
        group.add_typer(module.app, name=name)
    else:
        group.command(name)(getattr(module, name.replace("-", "_")))
    parent: Any = typer.main.get_command(group)
    for command in _walk(parent.commands[name]):
        # Join the lines of each paragraph for the terminal's width; typer only joins those of the first one.
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.splitlines()) for paragraph in paragraphs)
    return parent.commands[name]


def _walk(command: Any) -> Iterator[Any]:
    yield command
    for subcommand in getattr(command, "commands", {}).values():
        yield from _walk(subcommand)
