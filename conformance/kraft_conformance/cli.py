"""The command line `kraft-spec`."""

import sys
import traceback
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import typer

from kraft_conformance.commands.on_demand import app_of
from kraft_conformance.console import say, stderr
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, trace_error_code
from kraft_reference.cluster.world import ImpossibleMoveError
from kraft_spec.tlc.jar import JarMismatch, JarMissing, JavaMissing
from kraft_traces.errors import TraceError

_USAGE_ERROR: Any = typer.BadParameter.__mro__[1]
"""Typer brings its own copy of Click and exports only this subclass of its UsageError."""

COMMANDS = {
    "The specification": ("run", "rules", "scenario", "simulate", "model", "prove", "findings"),
    "Your implementation": ("conformance", "validate", "wire"),
    "Traces": ("view", "describe", "pipeline"),
    "Kafka's tools, on a simulated cluster": ("admin",),
}
"""The commands, by what they are for."""

app = app_of(
    "kraft_conformance.commands",
    COMMANDS,
    name="kraft-spec",
    help="The executable specification of KRaft's elections: reference, model and traces checked between them.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
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
    """Run a command of an app that goes by this name and return its exit code: see `ExitCode`."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        code = app(args=words, prog_name=name, standalone_mode=False)
    except _USAGE_ERROR as error:
        error.show()
        return ExitCode.USAGE
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted()
    except SystemExit:
        # Typer leaves this way, with 1, when whoever reads standard output is gone.
        return ExitCode.CANNOT_WRITE
    except CommandError as error:
        say(error, "red", stderr)
        return error.code
    except TraceError as error:
        say(error, console=stderr)
        return trace_error_code(error)
    except (JavaMissing, JarMissing, JarMismatch) as error:
        say(error, console=stderr)
        return ExitCode.UNAVAILABLE
    except BrokenPipeError:
        return ExitCode.CANNOT_WRITE
    except OSError as error:
        say(error, console=stderr)
        return ExitCode.CANNOT_WRITE
    except (Exception, ImpossibleMoveError):
        stderr.print("This is a defect of kraft-spec, please report it:", markup=False)
        stderr.print(traceback.format_exc(), markup=False)
        return ExitCode.INTERNAL_ERROR
    if code == ExitCode.INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else ExitCode.CONFORMANT


def _interrupted() -> ExitCode:
    stderr.print("interrupted: this call has decided nothing")
    return ExitCode.INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
