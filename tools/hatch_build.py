"""Compiles the model of traces into a jar while the package is built, where a compiler of Java is.

A package that is built without one checks traces all the same, by TLC alone.
"""

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledModel(BuildHookInterface[Any]):  # type: ignore[misc]
    """Writes the jar where the package looks for it; pyproject.toml says that the wheel takes it along."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Before a wheel is built, or the checkout installed as it lies."""
        sys.path[:0] = [str(Path(self.root) / folder) for folder in ("reference", "spec")]
        from kraft_spec.compiled.building import is_available, ship
        from kraft_spec.tlc.jar import JavaMissing

        try:
            if is_available():
                self.app.display_info(f"compiled model: {ship().name}")
                return
        except JavaMissing:
            pass
        self.app.display_warning("no Java compiler: the package is built without the compiled model")
