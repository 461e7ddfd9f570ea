"""`kraft-spec view`, and its page in a real browser."""

import gzip
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode

SAMPLES = Path("traces/kraft_traces/samples")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def view(*arguments: str | Path) -> int:
    return main(["view", *map(str, arguments)])


def test_the_page_and_what_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    trace = SAMPLES / "planted-bug.jsonl"
    assert view(trace, "-o", page) == ExitCode.CONFORMANT
    assert capsys.readouterr().out == f"{trace}: rejected, 81 events\npage: {page}\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_compressed_and_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = (SAMPLES / "ping-pong.jsonl").read_bytes()
    packed = tmp_path / "ping-pong.jsonl.gz"
    packed.write_bytes(gzip.compress(raw))
    assert view(packed, "-o", tmp_path / "a.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    with (SAMPLES / "ping-pong.jsonl").open("rb") as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        assert view("-", "-o", tmp_path / "b.html", "--no-check", "--title", "T") == ExitCode.CONFORMANT
    first, second = ((tmp_path / name).read_text(encoding="utf-8") for name in ("a.html", "b.html"))
    assert first.replace(str(packed), "-") == second


@pytest.mark.parametrize(
    ("name", "content", "code", "said"),
    [
        ("broken.jsonl", b"{\n", ExitCode.BAD_INPUT, "broken.jsonl:1"),
        ("missing.jsonl", None, ExitCode.NO_INPUT, "missing.jsonl: No such file"),
        ("partition.jsonl", SAMPLES / "partition-normal.jsonl", ExitCode.BAD_INPUT, "expected a kraft-trace/1 of the"),
    ],
)
def test_bad_input(
    name: str, content: Any, code: ExitCode, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / name
    if content is not None:
        trace.write_bytes(content if isinstance(content, bytes) else content.read_bytes())
    assert view(trace, "-o", tmp_path / "page.html") == code
    assert said in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_an_output_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "no-such-folder" / "page.html"
    assert view(SAMPLES / "ping-pong.jsonl", "-o", page, "--no-check") == ExitCode.CANNOT_WRITE
    assert f"{page}: No such file or directory" in capsys.readouterr().err


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    driver = pytest.importorskip("playwright.sync_api", reason="the page is looked at with the extra `browser`")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium to look at the page with")
    with driver.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield started
        started.close()


class Page:
    """A page in the browser, and what it complained of."""

    def __init__(self, browser: Any, path: Path, where: str = "", **context: Any) -> None:
        self.page = browser.new_page(**context)
        self.complaints: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.requests: list[str] = []
        self.page.goto(f"{path.resolve().as_uri()}{where}")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    @property
    def heading(self) -> str:
        return self.text("#event h2")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for sample in ("planted-bug", "chaos"):
        assert view(SAMPLES / f"{sample}.jsonl", "-o", folder / f"{sample}.html") == ExitCode.CONFORMANT
    return folder


@pytest.mark.slow
def test_a_rejected_trace_opens_at_its_first_wrong_line(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "planted-bug.html")
    assert seen.heading == "82. HandleVoteRequest"
    assert "possible but shows something else" in seen.text("#verdict")
    wrong = seen.text("#wrong-line")
    assert "effects[0].message.granted" in wrong
    assert seen.page.locator("#wrong-line tbody td").all_inner_texts() == ["false", "true"]
    assert "prevote.follower.rejects-after-fetch" in wrong
    assert seen.page.locator("svg path.wrong").count() == 1
    # Away from it and back by a key.
    seen.press("Home")
    assert seen.heading.startswith("1. ")
    assert not seen.page.is_visible("#wrong-line")
    seen.press("w")
    assert seen.heading == "82. HandleVoteRequest"
    assert (seen.complaints, len(seen.requests)) == ([], 1)


@pytest.mark.slow
def test_steps_by_keys_and_buttons(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "chaos.html")
    assert "accepted: each of 371 events" in seen.text("#verdict")
    seen.press("ArrowRight", "ArrowRight", "l", "h")
    assert seen.heading.startswith("3. ")
    seen.press("PageDown")
    assert seen.heading.startswith("28. ")
    seen.press("End")
    assert seen.heading.startswith("371. ")
    assert seen.page.is_disabled("#on")
    seen.page.click("#first")
    assert seen.heading.startswith("1. ")
    replica = seen.text("#state h2")
    seen.press("Shift+ArrowRight")
    assert not seen.heading.startswith("1. ")
    assert seen.text("#state h2") == replica
    seen.press("r")
    assert seen.page.locator("#state tr.changed th").all_inner_texts()[0] == "▸ role"
    assert seen.text("#said").startswith("Event ")
    seen.page.fill("#at", "200")
    seen.page.press("#at", "Enter")
    assert seen.heading == "200. DropMessage"
    assert "EndQuorumEpochResponse" in seen.text("#event")
    assert "Links that are cut: 2→1, 3→1, 4→1" in seen.text("#state")
    assert seen.complaints == []


@pytest.mark.slow
def test_find_select_and_link(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "chaos.html", "#178")
    assert seen.heading == "178. Crash"
    seen.press("/")
    seen.page.keyboard.type("ReplaceDisk no such thing")
    seen.press("Enter")
    assert seen.text("#found") == "none further"
    seen.page.fill("#find", "becomes Resigned")
    seen.press("Enter")
    assert "Resigned" in seen.text("#state tr.changed >> nth=0")
    chosen = seen.page.locator("#picture g.event:not(.chosen)").nth(5)
    place = int(chosen.get_attribute("data-index"))
    chosen.click()
    assert seen.heading.startswith(f"{place + 1}. ")
    assert seen.complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_readable_in_light_and_dark_and_narrow(browser: Any, pages: Path, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 900}
    seen = Page(browser, pages / "chaos.html", "#178", color_scheme=scheme, viewport=viewport)
    seen.press("?")
    assert seen.page.is_visible("#legend")
    overflow = seen.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    for selector in ("body", "#about", "#state td", "#state tr.changed td", "dt"):
        contrast = seen.page.evaluate(_CONTRAST, selector)
        assert contrast >= 4.5, (selector, contrast)
    assert seen.complaints == []


_CONTRAST = """(selector) => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (text) => parts(text).slice(0, 3).map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  let behind = document.querySelector(selector);
  const ink = light(getComputedStyle(behind).color);
  while (parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement;
  const paper = light(getComputedStyle(behind).backgroundColor);
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""
"""The contrast of an element's text with what is behind it, as WCAG computes it."""


@pytest.mark.slow
def test_thousands_of_events(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "--seed", "7", "--steps", "5000", "--replicas", "5", "-o", "long.jsonl"]) == 0
    assert view("long.jsonl", "-o", "long.html", "--no-check") == ExitCode.CONFORMANT
    seen = Page(browser, Path("long.html"), "#3000")
    assert seen.heading.startswith("3000. ")
    # Only what is in view is drawn, wherever that is.
    for key in ("End", "PageUp", "Home", "+", "+", "-"):
        seen.press(key)
        assert seen.page.locator("#picture *").count() < 1500
    assert seen.complaints == []
