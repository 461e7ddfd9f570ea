"""The walk-throughs of docs/command-line.md, command by command, with the output that stands there.

`python -m tests.conformance.test_quorum_walkthrough` from the root of the repository writes the output anew.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraft_conformance.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
_BLOCK = re.compile(r"```(properties|console|json)(?: (\S+))?\n(.*?)```\n", re.DOTALL)
_REQUEST = re.compile(r"\(request ([0-9]+)\)")
_AT = re.compile(r"--at [0-9]+")
_OTHERS = {"3": ("1", "2"), "4": ("5", "6")}
"""By the node whose properties the page shows: those whose properties it leaves to the reader."""


def _commands(block: str) -> list[str]:
    return [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]


class Shell:
    """Just what the page uses: kraft-spec, `rm -r`, `cat` and `echo $?`, in one folder."""

    def __init__(self) -> None:
        self.last_code = 0
        self.first_request: str | None = None
        """The number of the first request that a leader took on: the line that the page looks back at."""

    def command(self, text: str) -> str:
        """A command with the number that `--at` means in this run."""
        return _AT.sub(f"--at {self.first_request}", text)

    def output(self, command: str) -> str:
        words = shlex.split(command)
        match words:
            case ["kraft-spec", *arguments]:
                with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
                    self.last_code = int(main(arguments))
                found = _REQUEST.search(out.getvalue())
                self.first_request = self.first_request or (found and found[1])
                return out.getvalue()
            case ["rm", "-r", folder]:
                shutil.rmtree(folder)
                return ""
            case ["cat", file]:
                return Path(file).read_text()
            case ["echo", "$?"]:
                return f"{self.last_code}\n"
            case _:
                raise AssertionError(f"the page uses {command!r}, which this shell does not know")


def _write_properties(text: str) -> None:
    name = text.splitlines()[0].removeprefix("# ")
    Path(name).write_text(text)
    shown = name.removesuffix(".properties")
    for other in _OTHERS.get(shown, ()):
        own = text.replace(f"node.id={shown}", f"node.id={other}").replace(f"node-{shown}", f"node-{other}")
        for listener in ("CONTROLLER://h", "controller.listener=h"):
            own = own.replace(f"{listener}{shown}", f"{listener}{other}")
        Path(f"{other}.properties").write_text(own)


def written_anew(page: str) -> str:
    """The page with the output that its commands have in this folder."""
    shell = Shell()

    def block(found: re.Match[str]) -> str:
        kind, name, text = found.groups()
        if kind == "properties":
            _write_properties(text)
            return found[0]
        if kind == "json":
            Path(name).write_text(text)
            return found[0]
        shown = []
        for given in _commands(text):
            command = shell.command(given)
            shown.append(f"$ {command}\n{shell.output(command)}")
        return f"```console\n{''.join(shown)}```\n"

    return _BLOCK.sub(block, page)


@contextlib.contextmanager
def _in(folder: str | Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@pytest.mark.slow
def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(_BLOCK.findall(page)) >= 12, "the page has its walk-throughs"
    with _in(tmp_path):
        again = written_anew(page)
    assert again == page, "python -m tests.conformance.test_quorum_walkthrough"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, _in(folder):
        anew = written_anew(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(anew, encoding="utf-8")
