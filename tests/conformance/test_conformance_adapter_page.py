"""The commands of docs/adapter-in-30-minutes.md, with their output.

`python -m tests.conformance.test_conformance_adapter_page` from the root of the repository renews the output.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.conformance.adapter_builds import ToolchainMissing, skipped_if_missing, toolchain
from tests.conformance.commands import DOCS

from kraft_cli.commands.conformance_template import Language

PAGE = DOCS / "adapter-in-30-minutes.md"
_BLOCK = re.compile(r"^```(\w*)(?: (\S+))?\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_INSTALL = "pip install 'kraft-spec[conformance]'\n"
"""The only command that is not run, because it installs the program under test."""
_TIMEOUT_S = 300


class Block(NamedTuple):
    """A fenced block: commands (`sh`), a file to save (with a name), or output of the commands before it."""

    language: str
    file: str
    text: str


def sections(page: str) -> dict[str, list[Block]]:
    """Return the blocks below each heading of the second level; sections are independent."""
    return {
        part.partition("\n")[0]: [Block(*match.groups()) for match in _BLOCK.finditer(part)]
        for part in page.split("\n## ")
    }


class Reader:
    """A reader who follows the page in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        programs = folder / "bin"
        programs.mkdir()
        for name, words in {"python": "", "kraft-spec": " -m kraft_cli.cli"}.items():
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n')
            (programs / name).chmod(0o755)
        result = [programs, *_toolchains(), os.environ["PATH"]]
        self._variables = os.environ | {"PATH": os.pathsep.join(map(str, result))}

    def outputs(self, blocks: list[Block]) -> Iterator[tuple[str | None, str]]:
        """Yield the output on the page, if it has one, and the actual output of commands."""
        for block, following in zip_longest(blocks, blocks[1:]):
            if block.file:
                (self._folder / block.file).write_text(block.text)
            elif block.language == "sh" and block.text != _INSTALL:
                is_shown = following is not None and not following.language
                yield following.text if is_shown else None, self._printed(block.text)

    def _printed(self, commands: str) -> str:
        done = subprocess.run(
            ["sh", "-c", commands],
            cwd=self._folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
        # Maven sets the colour back at its end, although it has set none.
        printed = [
            line for line in done.stderr.splitlines() if not line.startswith("vectors ...") and line != "\x1b[0m"
        ]
        assert not printed, f"{commands}says on standard error: {done.stderr}"
        return done.stdout


def _toolchains() -> Iterator[Path]:
    for language in Language:
        with suppress(ToolchainMissing):
            yield toolchain(language)


def _needs(section: str) -> Language | None:
    return next((language for language in Language if language == section.lower()), None)


ANY_LANGUAGE = "Any language"


@pytest.mark.slow
def test_the_first_adapter_and_the_reports_of_the_second_print_what_stands_there(tmp_path: Path) -> None:
    """Its runs of the whole smoke group are the night's."""
    blocks = sections(PAGE.read_text(encoding="utf-8"))[ANY_LANGUAGE]
    groups = {place for place, block in enumerate(blocks) if block.language == "sh" and " smoke " in block.text}
    assert len(groups) == 2
    left = [block for place, block in enumerate(blocks) if not {place, place - 1} & groups]
    compared = 0
    for expected, printed in Reader(tmp_path).outputs(left):
        if expected is not None:
            assert printed == expected
            compared += 1
    assert compared >= 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "section",
    [
        pytest.param(section, marks=pytest.mark.nightly if section == ANY_LANGUAGE or _needs(section) else ())
        for section in sections(PAGE.read_text(encoding="utf-8"))
    ],
)
def test_the_commands_print_what_stands_there(section: str, tmp_path: Path) -> None:
    needed = _needs(section)
    if needed is not None:
        with skipped_if_missing():
            toolchain(needed)
            if needed is Language.JAVA and shutil.which("mvn") is None:
                raise ToolchainMissing(needed, "NO MAVEN ON PATH")
    blocks = sections(PAGE.read_text(encoding="utf-8"))[section]
    for expected, printed in Reader(tmp_path).outputs(blocks):
        if expected is not None:
            assert printed == expected


def test_every_language_of_the_templates_has_a_section() -> None:
    assert {item for item in map(_needs, sections(PAGE.read_text(encoding="utf-8"))) if item} == set(Language)


@pytest.mark.parametrize("language", list(Language))
def test_the_readme_of_a_template_builds_as_the_page_does(language: Language) -> None:
    """Return the same commands, run inside of the folder."""
    readme = (Path(str(files("kraft_conformance"))) / "templates" / language / "README.md").read_text(encoding="utf-8")
    folder = f"{language}-adapter"
    there = [block.text for block in sections(readme)["# An adapter in " + language.title()]]
    page = [block.text for block in sections(PAGE.read_text(encoding="utf-8"))[language.title()][1 : 1 + len(there)]]
    inside = [item.replace(f"-C {folder} ", "").replace(f"{folder}/kraft", "./kraft") for item in page]
    without = (f"{folder}/", " --quiet --manifest-path Cargo.toml")
    assert there == [item.replace(without[0], "").replace(without[1], "") for item in inside]


def rewritten(page: str) -> str:
    """Return the page with the current output of its commands."""
    outputs = []
    for blocks in sections(page).values():
        with tempfile.TemporaryDirectory() as folder:
            outputs += [printed for example, printed in Reader(Path(folder)).outputs(blocks) if example is not None]
    left = iter(outputs)
    return _BLOCK.sub(lambda block: block[0] if block[1] or block[2] else f"```\n{next(left)}```\n", page)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
