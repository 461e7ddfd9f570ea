"""Modules that `kraft-spec` loads: a command loads only what it needs.

Times depend on the machine; the loaded modules do not.
"""

import inspect
import json
import subprocess
import sys
import tomllib
from types import ModuleType
from typing import Any

import pytest
import typer
from tests.conformance.commands import ROOT

from kraft_cli import cli
from kraft_conformance.exit_codes import ExitCode
from kraft_dev import cli as dev_cli
from kraft_dev.samples import sample_folder

LISTING = """
import json, sys
from kraft_cli.cli import main
code = main(sys.argv[1:])
print()
print(json.dumps([int(code), sorted(sys.modules)]))
"""
"""Script that runs a command, and prints its exit code and the loaded modules in the last line."""

INTERRUPTED = """
import signal, sys
from importlib.metadata import EntryPoint

class Interrupt:
    @staticmethod
    def find_spec(name, *_):
        if name == "typer":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
sys.exit(EntryPoint("kraft-spec", sys.argv[1], "console_scripts").load()())
"""
"""Script that runs a script of the package and interrupts it while it loads."""

LIBRARIES = {"crc32c", "jinja2", "jsonschema", "junitparser", "kio", "pyarrow", "pyspark", "z3"}
PLAYED = {"kraft_simulation.simulation", "kraft_simulation.scenarios", "kraft_partitions.scenarios"}
OF_OTHERS = {"kraft_spec.models", "kraft_proofs.induction", "kraft_conformance.runner", "kraft_kafka.wire"}
OF_OTHERS |= LIBRARIES | PLAYED
OF_CHECKING = {"jpype", "numpy", "kraft_simulation.world", "kraft_spec.tlc.jvm", "kraft_traces.check"}
OF_TABLES = {"msgspec", "tomllib", "kraft_reference", "kraft_mutants", "kraft_proofs", "kraft_spec.rules"}


def loaded_by(*words: str) -> set[str]:
    """Return the modules and packages that a command has loaded at its end, in a separate process."""
    ended = subprocess.run([sys.executable, "-c", LISTING, *words], capture_output=True, text=True, check=True)
    code, loaded = json.loads(ended.stdout.splitlines()[-1])
    assert code == 0, ended.stderr
    return set(loaded)


def test_help_loads_no_command_and_nothing_of_one() -> None:
    loaded = loaded_by("--help")
    commands = {name for name in loaded if name.startswith("kraft_cli.commands.")}
    assert commands == {"kraft_cli.commands.on_demand"}
    assert loaded & (OF_OTHERS | OF_CHECKING | OF_TABLES) == set()


def test_a_rule_is_shown_without_what_plays_and_checks() -> None:
    """The command searches scenarios for tests of a rule that they name; no scenario names this one."""
    assert loaded_by("rules", "metric.current-state") & (OF_OTHERS | OF_CHECKING) == set()


def test_a_trace_is_checked_without_what_plays() -> None:
    assert loaded_by("validate", str(sample_folder() / "ping-pong.jsonl")) & OF_OTHERS == set()


def test_an_interrupt_while_the_command_loads_ends_it_as_one_does_later() -> None:
    script = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["kraft-spec"]
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED, script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (ExitCode.INTERRUPTED, "interrupted: no result\n")


@pytest.mark.parametrize("of", [cli, dev_cli], ids=["kraft-spec", "kraft_dev"])
def test_help_says_of_a_command_what_the_command_says_first(of: ModuleType) -> None:
    root: Any = typer.main.get_command(of.app)
    context = typer.Context(root)
    for name, line in (pair for lines in of.COMMANDS.values() for pair in lines.items()):
        _, command, _ = root.resolve_command(context, [name])
        first, _, _ = inspect.cleandoc(command.help).partition("\n\n")
        assert line == " ".join(first.split()), name
