"""`kraft-spec view`: files, messages, exit codes."""

import gzip
import shutil
import sys
from pathlib import Path

import pytest
from tests.conformance.commands import Captured
from tests.conformance.view_pages import SAMPLES, view
from tests.traces.test_view import document_in

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode

GIVEN_UP = "violates properties that its profile does not promise: CancelRestores, CompletesAsAsked, ListsAreConsistent"


@pytest.mark.parametrize(
    ("sample", "text"),
    [
        ("mutant", "rejected after 81 accepted events"),
        ("partition-override-kafka-4", f"accepted, 4 events, compared: complete, {GIVEN_UP}"),
    ],
)
def test_the_page_and_what_is_said(sample: str, text: str, tmp_path: Path, capsys: Captured) -> None:
    page = tmp_path / "page.html"
    trace = SAMPLES / f"{sample}.jsonl"
    assert view(trace, "-o", page) == ExitCode.CONFORMANT
    assert capsys.readouterr().out == f"{trace}: {text}\npage: {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.parametrize("sample", ["ping-pong", "partition-normal"])
def test_compressed(sample: str, tmp_path: Path, capsys: Captured) -> None:
    trace = SAMPLES / f"{sample}.jsonl"
    packed = tmp_path / trace.name
    packed.write_bytes(gzip.compress(trace.read_bytes()))
    assert view(trace, "-o", tmp_path / "a.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    assert capsys.readouterr().out == f"page: {tmp_path / 'a.html'}\n"
    assert view(packed, "-o", tmp_path / "b.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


def test_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = SAMPLES / "ping-pong.jsonl"
    assert view(trace, "-o", tmp_path / "a.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    with trace.open("rb") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        assert view("-", "-o", tmp_path / "b.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    first, second = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "b.html"))
    assert first.replace(trace.name, "standard input") == second


def test_the_same_trace_gives_the_same_page_wherever_it_lies(tmp_path: Path) -> None:
    pages = []
    for folder in ("a", "somewhere/else"):
        trace = tmp_path / folder / "mutant.jsonl"
        trace.parent.mkdir(parents=True)
        shutil.copy(SAMPLES / "mutant.jsonl", trace)
        assert view(trace, "-o", trace.with_suffix(".html")) == ExitCode.CONFORMANT
        pages.append(trace.with_suffix(".html").read_bytes())
    assert pages[0] == pages[1]
    assert b"mutant.jsonl:83: event 82" in pages[0]
    assert str(tmp_path).encode() not in pages[0]


def broken(name: str) -> bytes:
    """A trace that cannot be read to its end: of one of 67 events 40 lines are whole, of one of partitions 7."""
    if name == "partitions":
        return (SAMPLES / "partition-normal.jsonl").read_bytes()[:-20]
    lines = (SAMPLES / "ping-pong.jsonl").read_bytes().splitlines(keepends=True)
    whole, next_line = b"".join(lines[:40]), lines[40]
    match name:
        case "cut-off":
            return whole + next_line[:70]
        case "malformed":
            return whole + b'{"kind":"event",}\n' + b"".join(lines[40:])
        case "stranger":
            return whole + b'{"kind":"event","sequence":40,"replica":77,"event":"Poll"}\n' + b"".join(lines[41:])
        case "cut-off-gzip":
            packed = gzip.compress(b"".join(lines), mtime=0)
            return packed[: len(packed) // 2]
    raise AssertionError(name)


BROKEN = {
    "cut-off": ("41:66: the file stops in the middle of a line", 39),
    "malformed": ("41:17: not JSON: expecting property name enclosed in double quotes", 39),
    "stranger": ("41: $.replica: replica 77 is not in the header, which lists 1, 2, 3", 39),
    "cut-off-gzip": ("the gzip data is truncated: its end marker is missing", None),
    "partitions": ("8:1049: the file stops in the middle of a line", 6),
}
"""Message about each, and number of events on its page."""


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("name", BROKEN)
def test_a_trace_that_cannot_be_read_to_its_end(name: str, checked: bool, tmp_path: Path, capsys: Captured) -> None:
    trace, page = tmp_path / f"{name}.jsonl", tmp_path / "page.html"
    trace.write_bytes(broken(name))
    assert view(trace, "-o", page, *([] if checked else ["--no-check"])) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    text, count = BROKEN[name]
    document = document_in(page.read_text(encoding="utf-8"))
    count = len(document["events"]) if count is None else count
    assert 0 < count == len(document["events"]) < 67
    assert f"The page holds {count} events, those before the first line that cannot be read:" in err
    assert f"{trace}:" in err
    assert text in err.replace("\n", "")
    assert text in document["broken"]
    assert document["broken"].startswith(f"{name}.jsonl:")
    verdict = document["verdict"]
    if checked:
        assert verdict["kind"] == "inconclusive"
        assert verdict["reason"].endswith("cannot be read; every event before it conforms")
        assert out.startswith(f"{trace}: inconclusive after {count} accepted events")
        assert out.endswith(f": {verdict['reason']}\npage: {page}\n")
    else:
        assert (verdict, out) == (None, f"page: {page}\n")
    # What the checker says of the same file has the same exit code.
    assert main(["validate", str(trace), "--prefixes", str(tmp_path)]) == ExitCode.BAD_INPUT


END = b'{"kind":"end","events":0,"complete":true}\n'


@pytest.mark.parametrize(
    ("sample", "remainder", "reason", "text"),
    [
        ("ping-pong", END, "the trace has no event", "the trace has no event between its header and its end line"),
        ("partition-normal", b"", "the trace has no event", "the trace has a header, but no event"),
        ("partition-normal", b"{\n", "line 2 cannot be read; every event before it conforms", ":2:"),
    ],
)
def test_a_trace_without_events(
    sample: str, remainder: bytes, reason: str, text: str, tmp_path: Path, capsys: Captured
) -> None:
    trace, page = tmp_path / "empty.jsonl", tmp_path / "page.html"
    trace.write_bytes((SAMPLES / f"{sample}.jsonl").read_bytes().splitlines(keepends=True)[0] + remainder)
    assert view(trace, "-o", page) == ExitCode.BAD_INPUT
    out, err = capsys.readouterr()
    assert out == f"{trace}: inconclusive after 0 accepted events: {reason}\npage: {page}\n"
    assert text in err.replace("\n", "")
    assert document_in(page.read_text(encoding="utf-8"))["verdict"]["reason"] == reason


def test_a_trace_that_is_wrong_before_it_breaks_off(tmp_path: Path, capsys: Captured) -> None:
    trace, page = tmp_path / "wrong.jsonl", tmp_path / "page.html"
    trace.write_bytes((SAMPLES / "mutant.jsonl").read_bytes()[:150_000])
    assert view(trace, "-o", page) == ExitCode.BAD_INPUT
    assert "rejected after 81 accepted events" in capsys.readouterr().out
    document = document_in(page.read_text(encoding="utf-8"))
    assert document["verdict"]["rejection"]["sequence"] == 82
    assert document["broken"] is not None
    assert len(document["events"]) > 82


@pytest.mark.parametrize(
    ("name", "content", "code", "text"),
    [
        ("broken.jsonl", b"{\n", ExitCode.BAD_INPUT, "broken.jsonl:1"),
        ("partitions.jsonl", b'{"schema":"kraft-partition-trace/1"}\n', ExitCode.BAD_INPUT, "partitions.jsonl:1"),
        ("missing.jsonl", None, ExitCode.NO_INPUT, "missing.jsonl: No such file"),
    ],
)
def test_bad_input(
    name: str, content: bytes | None, code: ExitCode, text: str, tmp_path: Path, capsys: Captured
) -> None:
    trace = tmp_path / name
    if content is not None:
        trace.write_bytes(content)
    assert view(trace, "-o", tmp_path / "page.html") == code
    assert text in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("sample", ["ping-pong.jsonl", "partition-normal.jsonl"])
def test_an_output_that_cannot_be_written(sample: str, tmp_path: Path, capsys: Captured) -> None:
    page = tmp_path / "no-such-folder" / "page.html"
    assert view(SAMPLES / sample, "-o", page, "--no-check") == ExitCode.CANNOT_WRITE
    assert f"{page}: No such file or directory" in capsys.readouterr().err


@pytest.mark.parametrize("sample", ["ping-pong.jsonl", "partition-mutant.jsonl"])
@pytest.mark.parametrize("name", ["same", "other-spelling", "symbolic-link", "hard-link"])
def test_a_trace_is_not_replaced_by_its_page(name: str, sample: str, tmp_path: Path, capsys: Captured) -> None:
    trace = tmp_path / "trace.jsonl"
    shutil.copy(SAMPLES / sample, trace)
    before = trace.read_bytes()
    output = tmp_path / "link"
    match name:
        case "same":
            output = trace
        case "other-spelling":
            output = tmp_path / ".." / tmp_path.name / "trace.jsonl"
        case "symbolic-link":
            output.symlink_to(trace)
        case "hard-link":
            output.hardlink_to(trace)
    assert view(trace, "-o", output, "--no-check") == ExitCode.USAGE
    assert f"--output names the trace itself, {output}" in capsys.readouterr().err.replace("\n", "")
    assert (trace.read_bytes(), output.read_bytes()) == (before, before)


def test_an_output_without_a_name(capsys: Captured) -> None:
    assert view(SAMPLES / "ping-pong.jsonl", "-o", "", "--no-check") == ExitCode.USAGE
    assert "--output names no file" in capsys.readouterr().err
