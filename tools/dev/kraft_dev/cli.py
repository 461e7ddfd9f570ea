"""The command line `python -m kraft_dev`."""

from collections.abc import Sequence

from kraft_cli.cli import run_app
from kraft_cli.commands.on_demand import app_of

COMMANDS = {
    "Is a mistake noticed?": {
        "mutants": "Ask tools about mutants: each has to be detected as detected_by.toml lists.",
        "edges": "Replay every edge of a small model's complete state graph on the reference (a minute or two).",
        "own-traces": "Check the reference's own traces: each workload under each profile with 3, 5 and 7 voters.",
        "starts": "Search a way of the protocol from the first start to each start in the middle of the model's slices "
        "(minutes).",
    },
    "What does Apache Kafka do?": {
        "kafka-add": "Pin a release of Apache Kafka, and record what running it shows.",
        "kafka-bugs": "Plant bugs in Apache Kafka's own classes, one at a time, and run the vectors that pass without "
        "them.",
        "kafka-matrix": "Run the vectors and play the findings on the releases of Apache Kafka that are pinned.",
        "kafka-seeds": "Run random schedules on releases of Apache Kafka, with a bug up to the first that fails.",
    },
    "How fast is it?": {
        "bench": "Measure the speed of checking and of simulating, beside the targets.",
    },
    "All of it": {
        "nightly": "Run every check in its long form, and go on where the last run of the same night stopped.",
    },
}
"""The commands, by what they are for: each is a module of its name, and this line is what help says of it."""

app = app_of("kraft_dev.commands", COMMANDS, name="kraft_dev", help="What only the developers of kraft-spec run.")


@app.callback()
def _root() -> None:
    """What only the developers of kraft-spec run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: see `kraft_conformance.exit_codes.ExitCode`."""
    return run_app(app, "kraft_dev", arguments)
