"""The command line `kraft-spec`."""

import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer

from kraft_cli.commands.on_demand import app_of
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode, interrupted
from kraft_conformance.failure import EXTRAS, CommandError, library_missing, trace_error_code
from kraft_spec.tlc.jar import JarMismatch, JarMissing, JavaMissing
from kraft_traces.errors import TraceError

_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Typer has its own copy of Click, and exports only this subclass of its UsageError."""

COMMANDS = {
    "The specification": {
        "run": "Run the scenarios and simulations on the reference, check every trace, "
        "and model-check the smoke slice.",
        "rules": "Show the rules: all of them in a table, or one with everything that is known about it.",
        "mutants": "List the mutants: rules broken on purpose in the model and the reference, for --mutant "
        "and for the checks.",
        "scenario": "Run a named scenario on the reference, with the deciding rule and without it, "
        "and check its trace.",
        "simulate": "Run a cluster of the reference in virtual time, with faults and then without, "
        "and check its invariants.",
        "model": "Model-check the specification with TLC: one named check, or a group of them.",
        "prove": "Prove that majorities intersect: of two voter sets, along a plan, of sets of any size.",
        "findings": "List the findings, or show one: its schedule played and checked again, "
        "and TLC's recorded counterexample.",
    },
    "Your implementation": {
        "conformance": "Run the conformance vectors on an implementation, through its adapter.",
        "kafka": "Run the suite on Apache Kafka's own KafkaRaftClient: a release, or a build of your own.",
        "live": "Judge running implementations over the wire, or record what passes between them.",
        "validate": "Check traces line by line against the TLA+ model: those of the quorum, "
        "and those of partition reassignment.",
        "watch": "Check traces while they grow: an alert about a second after a wrong line.",
        "node": "Run the reference as a voter or observer over TCP: a specification to talk to, not a product.",
        "wire": "Kafka's bytes of the quorum's messages and records, to and from JSON.",
    },
    "Traces": {
        "view": "Write a page that shows a trace: replicas as lanes over virtual time, messages, logs, "
        "and the state at each step.",
        "trace": "Join the traces of several processes into one.",
        "pipeline": "Many traces: verdicts, coverage and a report, on Spark.",
    },
}
"""Commands and their help lines, by purpose; each command is a module of its name."""

app = app_of(
    "kraft_cli.commands",
    COMMANDS,
    name="kraft-spec",
    help="The executable specification of KRaft's elections: reference, model and traces checked between them.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        # Imported on demand, because it takes as long as the help.
        from importlib.metadata import version

        print(f"kraft-spec {version('kraft-spec')}")
        raise typer.Exit(ExitCode.CONFORMANT)


@app.callback()
def _root(
    show_version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show it, exit."),
) -> None:
    """The executable specification of KRaft's elections: reference, model and traces checked between them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: see `ExitCode`."""
    return run_app(app, "kraft-spec", arguments)


def run_app(app: typer.Typer, name: str, arguments: Sequence[str] | None = None) -> int:
    """Run a command of an app with this name and return its exit code: see `ExitCode`."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    try:
        code = app(args=words, prog_name=name, standalone_mode=False)
    except _USAGE_ERROR as error:
        error.show()
        return ExitCode.USAGE
    except (typer.Abort, KeyboardInterrupt):
        return interrupted()
    except SystemExit as ended:
        # Typer exits with 1 when the reader of standard output has closed it, and with 0 after shell completion.
        return ExitCode.CANNOT_WRITE if ended.code else ExitCode.CONFORMANT
    except CommandError as error:
        say(error, "red", stderr)
        return error.code
    except TraceError as error:
        say(error, console=stderr)
        return trace_error_code(error)
    except ModuleNotFoundError as error:
        library, _, _ = (error.name or "").partition(".")
        for extra, libraries in EXTRAS.items():
            if library in libraries:
                say(library_missing("this command", library, extra), "red", stderr)
                return ExitCode.UNAVAILABLE
        return _report_defect()
    except (JavaMissing, JarMissing, JarMismatch) as error:
        say(error, console=stderr)
        return ExitCode.UNAVAILABLE
    except BrokenPipeError:
        return ExitCode.CANNOT_WRITE
    except OSError as error:
        say(error if error.filename is None else f"{error.filename}: {error.strerror}", console=stderr)
        return ExitCode.CANNOT_WRITE
    except Exception:
        return _report_defect()
    if code == ExitCode.INTERRUPTED:
        return interrupted()
    return code if isinstance(code, int) else ExitCode.CONFORMANT


def _report_defect() -> ExitCode:
    stderr.print("This is a defect of kraft-spec, please report it:", markup=False)
    stderr.print(traceback.format_exc(), markup=False)
    return ExitCode.INTERNAL_ERROR


if __name__ == "__main__":
    sys.exit(main())
