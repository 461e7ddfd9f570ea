"""Sessions on README.md and on pages without a test of their own equal the real output of their commands."""

import re
from itertools import zip_longest
from pathlib import Path

import pytest
from tests.site.test_command_examples import comparable, session

REPOSITORY = Path(__file__).parents[2]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_PREFIX = ".venv/bin/"


def sessions(page: str) -> list[str]:
    """Return blocks that begin with a prompt, and single commands (`sh`, not `shell`) before a block of output."""
    texts = []
    blocks = [(match[1], match[2]) for match in _FENCED.finditer(page)]
    for (language, text), following in zip_longest(blocks, blocks[1:]):
        if text.startswith("$ kraft-spec"):
            texts.append(text)
        elif language == "sh" and following is not None and not following[0]:
            command = text.replace("\\\n", " ").replace(_PREFIX, "")
            if command.startswith("kraft-spec") and command.count("\n") == 1:
                texts.append(f"$ {' '.join(command.split())}\n{following[1].replace(_PREFIX, '')}")
    return texts


PAGES = {
    "README.md": ["validate"],
    "docs/conformance.md": ["conformance", "conformance"],
    "docs/conformance-partitions.md": ["conformance", "conformance"],
    "docs/proofs.md": ["prove"],
    "docs/scenarios.md": ["scenario", "scenario"],
}
"""Pages and the commands whose output they show in full, in order.

`make run` is an example of a command, which is compared at night.

`make run` is among the examples of commands that are compared at night."""


def whole_sessions(page: str) -> list[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    return [block for block in sessions(text) if "\n  ...\n" not in block]


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_have_sessions(page: str) -> None:
    assert [text.split()[2] for text in whole_sessions(page)] == PAGES[page]


@pytest.mark.slow
@pytest.mark.parametrize("text", sorted({text for page in PAGES for text in whole_sessions(page)}))
def test_a_session_is_what_the_commands_print(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    printed, expected = comparable(session(text)), comparable(text)
    if text.startswith("$ kraft-spec conformance explain"):
        # Pages show the end of the output of these commands.
        printed = "\n".join([printed.splitlines()[0], *printed.splitlines()[1 - len(expected.splitlines()) :]]) + "\n"
    assert printed == expected
