"""The command line `python -m kraft_dev`."""

from collections.abc import Sequence

from kraft_cli.cli import run_app
from kraft_cli.commands.on_demand import app_of

COMMANDS = {
    "Detection of faults": {
        "mutants": "Run tools on mutants: each must be detected as detected_by.toml lists.",
        "edges": "Replay every edge of a small model's complete state graph on the reference (a minute or two).",
        "own-traces": "Check the reference's own traces: each workload under each profile with 3, 5 and 7 voters.",
        "starts": "Search a path from the initial state to the start of each model check that starts in the middle "
        "(minutes).",
    },
    "Apache Kafka": {
        "kafka-add": "Pin a release of Apache Kafka, and record the result of running it.",
        "kafka-bugs": "Run the vectors that Apache Kafka passes on each mutant of Kafka's own classes.",
        "kafka-matrix": "Run the vectors and play the findings on the pinned releases of Apache Kafka.",
        "kafka-seeds": "Run random schedules on releases of Apache Kafka, or on a mutant until the first failure.",
    },
    "Speed": {
        "bench": "Measure the speed of checking and of simulating, beside the targets.",
    },
    "Everything": {
        "nightly": "Run every check in its long form, and go on where the last run of the same night stopped.",
    },
}
"""Commands by purpose: each is a module of the same name, and the text is its line in the help."""

app = app_of("kraft_dev.commands", COMMANDS, name="kraft_dev", help="Tools for the developers of kraft-spec.")


@app.callback()
def _root() -> None:
    """Tools for the developers of kraft-spec."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: see `kraft_conformance.exit_codes.ExitCode`."""
    return run_app(app, "kraft_dev", arguments)
