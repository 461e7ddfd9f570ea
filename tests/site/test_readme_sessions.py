"""What README.md shows of its commands is what they print."""

import re
from pathlib import Path

import pytest
from tests.site.test_command_examples import comparable, session

REPOSITORY = Path(__file__).parents[2]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PREFIX = ".venv/bin/"


def sessions(page: str) -> list[str]:
    """The blocks of a page that begin with a prompt, and those of one command that a block of output follows."""
    found = []
    blocks = [(match[1], match[2]) for match in _FENCED.finditer(page)]
    for (language, text), following in zip(blocks, [*blocks[1:], None], strict=True):
        if text.startswith("$ kraft-spec"):
            found.append(text)
        elif language == "sh" and following is not None and not following[0]:
            command = text.replace("\\\n", " ").replace(_PREFIX, "")
            if command.startswith("kraft-spec") and command.count("\n") == 1:
                found.append(f"$ {' '.join(command.split())}\n{following[1].replace(_PREFIX, '')}")
    return found


README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CASES = [text for text in sessions(README) if not text.startswith("$ kraft-spec load-bearing")]
"""`load-bearing` and `make run` are among the examples of commands that are compared at night."""


def test_the_readme_has_sessions() -> None:
    assert [text.split()[2] for text in CASES] == ["validate", "scenario", "prove", "conformance"]


@pytest.mark.slow
@pytest.mark.parametrize("text", CASES)
def test_a_session_is_what_the_commands_print(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    assert comparable(session(text)) == comparable(text)
