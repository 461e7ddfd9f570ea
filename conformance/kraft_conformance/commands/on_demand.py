"""Commands that are imported when they are asked for.

A command line answers within a second only if it does not import what other commands need: the libraries of them all
take longer than a proof.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

Sections = Mapping[str, Sequence[str]]
"""Names of commands by the heading under which the help lists them."""

EPILOG = "Exit codes: 0 conformant, 1 violation, 2 inconclusive, 3 internal error, 64 and above wrong use or input."


def app_of(package: str, sections: Sections, **options: Any) -> typer.Typer:
    """A command line of the commands in `sections`.

    The module of a command has the command's name and is in `package`; in it is `app`, or a function of that name.
    The other arguments are those of `typer.Typer`.
    """

    class CommandsOnDemand(TyperGroup):
        """The group of all commands."""

        def __init__(self, *arguments: Any, **values: Any) -> None:
            super().__init__(*arguments, **values)
            self.commands: Any = _Commands(package, sections)

        def list_commands(self, ctx: Any) -> list[str]:
            """Their names; nothing is imported for them."""
            return list(self.commands)

    return typer.Typer(
        cls=CommandsOnDemand,
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
        **options,
    )


class _Commands(Mapping[str, Any]):
    """Name to command, imported at the first look."""

    def __init__(self, package: str, sections: Sections) -> None:
        self._package = package
        self._sections = {name: section for section, names in sections.items() for name in names}

    def __getitem__(self, name: str) -> Any:
        section = self._sections[name]
        module = import_module(f"{self._package}.{name.replace('-', '_')}")
        group = typer.Typer(add_completion=False, callback=lambda: None)
        if hasattr(module, "app"):
            group.add_typer(module.app, name=name, rich_help_panel=section)
        else:
            group.command(name, rich_help_panel=section)(getattr(module, name.replace("-", "_")))
        made: Any = typer.main.get_command(group)
        return made.commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._sections)

    def __len__(self) -> int:
        return len(self._sections)
