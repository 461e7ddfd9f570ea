"""The reference with a rule left out, as the README shows the suite failing."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.conformance.commands import Captured

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

MODULE = "kraft_conformance.adapters.without_rules"


def test_the_example_of_the_readme(capsys: Captured) -> None:
    text = Path("README.md").read_text(encoding="utf-8")
    found = re.search(
        rf"```sh\n(\.venv/bin/kraft-spec conformance run .*?{MODULE}.*?)```\n\n```\n(.*?)```", text, re.DOTALL
    )
    assert found is not None
    command, shown = found.groups()
    words = shlex.split(command.replace("\\\n", " ").replace(".venv/bin/python", sys.executable))
    assert main(words[1:]) == ExitCode.VIOLATION
    said = capsys.readouterr().out
    assert said == shown.replace("'.venv/bin/python", f"'{sys.executable}")


@pytest.mark.parametrize(
    ("rules", "said"), [((), "no rule, expected some of "), (("vote.no",), "no such rule: vote.no, expected some of ")]
)
def test_wrong_rules(rules: tuple[str, ...], said: str) -> None:
    ended = subprocess.run([sys.executable, "-m", MODULE, *rules], capture_output=True, text=True, env=os.environ)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(said)
