"""Commands that are imported when they are asked for.

A command line answers within a second only if it does not import what other commands need: the libraries of them all
take longer than a proof.
"""

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

Commands = Mapping[str, Mapping[str, str]]
"""Names of commands, each with the line that the help of all says of it, by the heading below which it is listed."""

EPILOG = (
    "Exit codes: 0 conformant, 1 violation, 2 inconclusive, 3 internal error, 4 nothing judged, 64 and above wrong use "
    "or input."
)


def app_of(package: str, commands: Commands, **options: Any) -> typer.Typer:
    """A command line of these commands.

    The module of a command has the command's name and is in `package`; in it is `app`, or a function of that name.
    The other arguments are those of `typer.Typer`.
    """

    class CommandsOnDemand(TyperGroup):
        """The commands as the table has them; one is imported when it is run, or its own help asked."""

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """The name, the imported command and the words that are left, of these words."""
            name, listed, words = super().resolve_command(ctx, args)
            return name, listed and _imported(package, listed.name), words

    app = typer.Typer(
        cls=CommandsOnDemand,
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
        **options,
    )
    for heading, lines in commands.items():
        for name, line in lines.items():
            app.command(name, help=line, rich_help_panel=heading)(_listed)
    return app


def _listed() -> None:
    """Stands for a command in the help of all."""


def _imported(package: str, name: Any) -> Any:
    module = import_module(f"{package}.{name.replace('-', '_')}")
    group = typer.Typer(add_completion=False, callback=lambda: None)
    if hasattr(module, "app"):
        group.add_typer(module.app, name=name)
    else:
        group.command(name)(getattr(module, name.replace("-", "_")))
    made: Any = typer.main.get_command(group)
    for command in _with_all_below(made.commands[name]):
        # A terminal has another width than a docstring, and typer joins the lines of the first paragraph alone.
        paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
        command.help = "\n\n".join(" ".join(paragraph.splitlines()) for paragraph in paragraphs)
    return made.commands[name]


def _with_all_below(command: Any) -> Iterator[Any]:
    yield command
    for one in getattr(command, "commands", {}).values():
        yield from _with_all_below(one)
