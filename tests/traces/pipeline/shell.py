"""`kraft-spec pipeline` in a process of its own: one process has one session of Spark."""

import subprocess
import sys
from pathlib import Path

from tests.traces.pipeline.conftest import QUICK


def words(command: str, *options: object) -> list[str]:
    """The command line of a run that does little."""
    settings = [word for name, setting in QUICK.items() for word in ("--conf", f"{name}={setting}")]
    return [sys.executable, "-m", "kraft_cli.cli", "pipeline", command, *map(str, options), *settings]


def pipeline(command: str, *options: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(words(command, *options), capture_output=True, text=True, check=False, cwd=folder)
