"""docs/trace-format.md: it names every field, and its small trace is as described."""

import re
from pathlib import Path
from typing import get_args

import pytest
from tools.site.field_tables import with_tables

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_traces.check.compared import GROUPS
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.state_types import TracedState

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "trace-format.md").read_text(encoding="utf-8")
_IN_EVERY_MESSAGE = {"id", "source", "destination", "correlation_id"}


def fields_of(section: str) -> set[str]:
    """Return the first column of the tables of a section."""
    text = PAGE.partition(f"# {section}\n")[2].partition("\n#")[0]
    cells = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_every_field_of_the_state_is_explained() -> None:
    assert fields_of("State") == set(TracedState.__struct_fields__)


def test_every_field_of_a_message_is_explained() -> None:
    fields = {name for message in get_args(TracedMessage) for name in message.__struct_fields__}
    assert fields - _IN_EVERY_MESSAGE - {"snapshot"} <= fields_of("Messages")
    assert fields_of("Messages") <= fields


@pytest.mark.parametrize(("section", "line"), [("Header", HeaderLine), ("Event lines", EventLine)])
def test_every_field_of_a_line_is_explained(section: str, line: type[HeaderLine | EventLine]) -> None:
    assert fields_of(section) == {"kind", *line.__struct_fields__}


def test_the_tables_of_the_code_are_in_the_page() -> None:
    assert with_tables(PAGE) == PAGE, "python -m tools.site.field_tables"
    assert "<!-- end of " in PAGE


def test_the_page_has_the_tables_of_events_messages_and_effects() -> None:
    assert all(header in PAGE for header in ("| event | cause | input |", "| type | fields |", "| kind | fields |"))


def test_the_page_states_the_fields_of_each_group() -> None:
    text = PAGE.partition("## How much was compared\n")[2].partition("\n## ")[0].partition("| group |")[2]
    groups = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert list(groups) == list(GROUPS)
    for name, fields in GROUPS.items():
        if name not in ("other", *fields, "message", "input", "sends", "writes"):
            assert tuple(re.findall(r"`([\w.]+)`", groups[name])) == fields


@pytest.mark.slow
def test_the_small_trace_is_accepted_and_rejected_where_the_page_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    example = re.search(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert example is not None
    small = tmp_path / "small.jsonl"
    small.write_text(example[1], encoding="utf-8")
    assert main(["validate", str(small)]) == ExitCode.CONFORMANT
    output = PAGE.partition("$ kraft-spec validate small.jsonl\n")[2].partition("```")[0]
    assert capsys.readouterr().out.endswith(output)
    lines = example[1].splitlines()
    wrong = re.sub(r'"voted_key":\{[^}]*\}', '"voted_key":null', lines[4])
    assert wrong != lines[4]
    small.write_text("\n".join([*lines[:4], wrong, *lines[5:]]) + "\n", encoding="utf-8")
    assert main(["validate", str(small), "--prefixes", str(tmp_path)]) == ExitCode.VIOLATION
