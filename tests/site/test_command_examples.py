"""Examples on the pages of commands: tools/site/examples has the real output of the commands.

`python -m tests.site.test_command_examples` from the root of the repository writes them anew.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.site.command_facts import EXAMPLES

from kraft_cli.cli import main

REPOSITORY = Path(__file__).parents[2]
_SECONDS = re.compile(r"\b\d+(\.\d+)? s\b")
_SECONDS_CELL = re.compile(r"│ \d+\.\d +│")
_LONG = {"run"}
"""Slow examples."""
_NAMES = sorted(file.stem for file in EXAMPLES.glob("*.txt"))


def commands(text: str) -> list[str]:
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


@contextlib.contextmanager
def a_folder() -> Iterator[None]:
    """Provide an empty folder with the samples at the same path as in the repository."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("traces").symlink_to(REPOSITORY / "traces")
        try:
            yield
        finally:
            os.chdir(before)


def session(text: str) -> str:
    """Run the commands of an example and return them with their output."""
    lines: list[str] = []
    code = 0
    with a_folder():
        for command in commands(text):
            words = [word.replace("python -m", f"{sys.executable} -m") for word in shlex.split(command)]
            if words == ["echo", "$?"]:
                printed = f"{code}\n"
            else:
                assert words[0] == "kraft-spec", command
                with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
                    code = int(main(words[1:]))
                printed = out.getvalue().replace(f"{sys.executable} -m", "python -m")
            lines.append(f"$ {command}\n" + "".join(f"{line.rstrip()}\n" for line in printed.splitlines()))
    return "".join(lines)


def comparable(text: str) -> str:
    """Remove durations."""
    return _SECONDS_CELL.sub("│ . │", _SECONDS.sub(". s", text))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.nightly if name in _LONG else pytest.mark.slow) for name in _NAMES],
)
def test_an_example_is_what_the_command_prints(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = (EXAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    assert commands(text)
    assert comparable(session(text)) == comparable(text), "python -m tests.site.test_command_examples"


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    for file in sorted(EXAMPLES.glob("*.txt")):
        if not sys.argv[1:] or file.stem in sys.argv[1:]:
            file.write_text(session(file.read_text(encoding="utf-8")), encoding="utf-8")
