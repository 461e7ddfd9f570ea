"""Commands that are imported when they are asked for.

A command line answers within a second only if it does not import what other commands need: the libraries of them all
take longer than a proof.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

COMMANDS = (
    "run",
    "simulate",
    "scenario",
    "validate",
    "describe",
    "view",
    "model",
    "edges",
    "rules",
    "load-bearing",
    "findings",
    "prove",
    "mutants",
    "detectors",
    "probes",
    "nightly",
    "bench",
    "pipeline",
    "storage",
    "quorum",
    "features",
    "topics",
    "reassign",
    "conformance",
    "wire",
)
"""Every command in the order of the help; its module has the same name, and in it `app` or a function of that name."""


class CommandsOnDemand(TyperGroup):
    """The group of all commands."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.commands: Any = _Loaded()

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; nothing is imported for them."""
        return list(COMMANDS)


class _Loaded(Mapping[str, Any]):
    """Name to command, imported at the first look."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        module = import_module(f"kraft_conformance.commands.{name.replace('-', '_')}")
        group = typer.Typer(add_completion=False, callback=lambda: None)
        if hasattr(module, "app"):
            group.add_typer(module.app, name=name)
        else:
            group.command(name)(getattr(module, name.replace("-", "_")))
        made: Any = typer.main.get_command(group)
        return made.commands[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)
