"""Which tool killed a seeded mutant the last time: asked first, it spares the mutant the tools that find nothing."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec


class KillersError(ValueError):
    """The file of killers is wrong."""


def load_killers() -> Mapping[str, str]:
    """Mutant to tool, for the mutants that the first tool does not kill.

    Raises:
        KillersError: The file is malformed, or names a mutant twice.
    """
    return read_killers((files("kraft_dev") / "mutation" / "killers.toml").read_text(encoding="utf-8"))


def read_killers(text: str) -> Mapping[str, str]:
    """As `load_killers`, from a text: tables of mutants by tool.

    Raises:
        KillersError: The text is malformed, or names a mutant twice.
    """
    try:
        by_tool = msgspec.toml.decode(text, type=dict[str, list[str]])
    except msgspec.DecodeError as error:
        raise KillersError(f"killers.toml: {error}") from error
    killers: dict[str, str] = {}
    for tool, mutants in by_tool.items():
        for mutant in mutants:
            if mutant in killers:
                raise KillersError(f"killers.toml: {mutant} stands under {killers[mutant]} and under {tool}")
            killers[mutant] = tool
    return killers
