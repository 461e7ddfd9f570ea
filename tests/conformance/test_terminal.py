"""Output on a terminal of 80 columns; lines of a file may be longer."""

import fcntl
import json
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from tests.conformance.commands import Captured, error, without_rule

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.samples import sample_folder

COLUMNS = 80
_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")

pytestmark = pytest.mark.usefixtures("elsewhere")


def on_terminal(*words: str) -> list[str]:
    """Return the lines of `kraft-spec` on a terminal, without colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "kraft_cli.cli", *words]
    displayed = b""
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm"}):
        os.close(theirs)
        while piece := _read(ours):
            displayed += piece
    os.close(ours)
    lines = _CONTROLS.sub("", displayed.decode()).replace("\r\n", "\n").split("\n")
    # A progress bar writes over itself.
    return [line.rpartition("\r")[2].rstrip() for line in lines]


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        # That is how Linux says that nobody is at the other end any more.
        return b""


PLANTED = str(sample_folder() / "mutant.jsonl")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("validate", PLANTED), "  related rules  prevote.follower.grants-before-fetch"),
        (("prove", "transition", "--from", "1,2,3", "--to", "1,2,3,4"), "              (voters.one-change-at-a-time)"),
        (("conformance", "explain", "vote.granted"), "  receiver to it"),
    ],
)
def test_a_long_line_is_broken_between_words(words: tuple[str, ...], text: str) -> None:
    lines = on_terminal(*words)
    # The name of the sample's folder has no blank at which it could be broken.
    assert [line for line in lines if len(line) > COLUMNS and PLANTED not in line] == []
    assert any(line.startswith(text) for line in lines), lines


def test_what_is_to_be_copied_stays_whole() -> None:
    adapter = without_rule("prevote.follower.rejects-after-fetch")
    lines = on_terminal("conformance", "run", "--adapter", adapter, "-k", "prevote.follower-refuses")
    repeat = f"kraft-spec conformance replay prevote.follower-refuses --adapter {shlex.quote(adapter)}"
    assert f"  repeat: {repeat}" in lines
    reply = json.dumps({"type": "hello", "id": 1, "said": list(range(40))})
    adapter = shlex.join([sys.executable, "-c", f"input(); print({reply!r})"])
    assert f"< {reply}" in on_terminal("conformance", "replay", "vote.granted", "--adapter", adapter)


def test_a_name_is_no_markup(tmp_path: Path, capsys: Captured) -> None:
    trace = tmp_path / "[" / "b].jsonl"
    trace.parent.mkdir()
    trace.write_bytes(Path(PLANTED).read_bytes())
    code, text = error(capsys, "view", "[/b].jsonl", "--no-check", "-o", "page.html")
    assert (code, "reading [/b].jsonl ..." in text) == (ExitCode.CONFORMANT, True), text
    assert "page: page.html" in on_terminal("view", "[/b].jsonl", "--no-check", "-o", "page.html")
