"""The command line `python -m kraft_dev`."""

from collections.abc import Sequence

from kraft_conformance.cli import run_app
from kraft_conformance.commands.on_demand import app_of

COMMANDS = {
    "Is a mistake noticed?": ("mutants", "grade", "detectors", "load-bearing", "agreement"),
    "Is everything reached?": ("edges", "probes"),
    "How fast is it?": ("bench", "pipeline-bench"),
    "All of it": ("nightly",),
}
"""The commands, by what they are for."""

app = app_of("kraft_dev.commands", COMMANDS, name="kraft_dev", help="What only the developers of kraft-spec run.")


@app.callback()
def _root() -> None:
    """What only the developers of kraft-spec run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: see `kraft_conformance.exit_codes.ExitCode`."""
    return run_app(app, "kraft_dev", arguments)
