"""What the page of a trace of partition reassignment does, in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.view_pages import SAMPLES, Page, view

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.partition_workload import random_configuration, random_run
from kraft_traces.partitions.encode import encode_trace

pytestmark = pytest.mark.slow


def test_the_page_of_a_trace_without_events(browser: Any, tmp_path: Path) -> None:
    trace, page = tmp_path / "empty.jsonl", tmp_path / "page.html"
    trace.write_bytes((SAMPLES / "partition-normal.jsonl").read_bytes().splitlines(keepends=True)[0])
    assert view(trace, "-o", page, "--no-check") == ExitCode.BAD_INPUT
    seen = Page(browser, page, "#3")
    assert "empty.jsonl: the trace has a header, but no event" in seen.text("#broken")
    assert seen.page.text_content("#of") == ""
    assert not seen.page.is_visible("#panels")
    seen.press("ArrowRight", "End", "r", "+", "w")
    assert seen.complaints == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for sample in ("mutant", "override-kafka-4"):
        trace = SAMPLES / f"partition-{sample}.jsonl"
        assert view(trace, "-o", folder / f"{sample}.html") == ExitCode.CONFORMANT
    assert view(SAMPLES / "partition-chaos.jsonl", "-o", folder / "chaos.html", "--no-check") == ExitCode.CONFORMANT
    return folder


def changed(seen: Page) -> list[str]:
    return list(map(str, seen.page.locator("#state tr.changed th").all_inner_texts()))


def test_a_rejected_trace_opens_at_its_first_wrong_line(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "mutant.html")
    assert seen.heading == "30. CompleteReassignment"
    assert "event 30 (CompleteReassignment): the recorded outcome differs from the model" in seen.text("#verdict")
    rows = [row.split("\t") for row in seen.text("#wrong-line table").splitlines()]
    assert ["field", "expected (model)", "actual (trace)"] in rows
    assert ["refusal", "NOTHING_DUE", "none"] in rows
    assert ["partitions[A-0].adding", "[5, 2]", "[]"] in rows
    assert "partition-reassign.add-before-remove" in seen.text("#wrong-line")
    assert "waited for\n5, 2 to be in sync" in seen.text("#event")
    assert changed(seen) == ["▸ AR, adding", "▸ partition epoch", "▸ waits for"]
    assert seen.page.locator("svg path.wrong").count() == 1
    assert seen.text("#said").startswith("Event 30, the first wrong line; ")
    # Away from it and back by a key.
    seen.press("Home")
    assert seen.heading.startswith("1. ")
    assert not seen.page.is_visible("#wrong-line")
    seen.press("w")
    assert seen.heading == "30. CompleteReassignment"
    assert (seen.complaints, len(seen.requests)) == ([], 1)


def test_steps_by_keys_and_buttons(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "chaos.html")
    assert seen.text("#verdict") == "This trace was not checked."
    seen.press("ArrowRight", "ArrowRight", "l", "h")
    assert seen.heading.startswith("3. ")
    seen.press("PageDown")
    assert seen.heading.startswith("28. ")
    seen.press("PageUp", "End")
    assert seen.heading.startswith("150. ")
    assert seen.page.get_attribute("#on", "aria-disabled") == "true"
    seen.page.click("#first")
    assert seen.heading.startswith("1. ")
    seen.page.fill("#at", "48")
    seen.page.press("#at", "Enter")
    assert seen.heading == "48. BrokerFails"
    assert seen.text("#said").startswith("Event 48; broker 3 dies; A-1: leader 3 → none")
    assert changed(seen)[0] == "▸ alive"
    seen.page.fill("#at", "151")
    seen.page.press("#at", "Enter")
    assert seen.heading == "48. BrokerFails"
    assert "no event 151; the last is 150" in seen.text("nav")
    assert seen.complaints == []


def test_stays_with_a_partition(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "chaos.html", "#60")
    # An event of A-1; the next ones of that partition, and one from which another is followed.
    headings = []
    for _ in range(3):
        seen.press("Shift+ArrowRight")
        headings.append(seen.heading)
        assert "A-1" in seen.text("#state h3 >> nth=0")
    assert headings[0] == "70. CompleteReassignment"
    seen.press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")
    assert seen.heading == "60. AlterPartition"
    seen.page.click("#cluster button:text-is('B-0')")
    assert "What changed B-0" in seen.text("#state")
    seen.press("Shift+ArrowRight")
    assert seen.heading.startswith("61. ")
    # Why it is as it is: the events that changed it, each a way to go there.
    go = seen.page.locator("#state .changes button").nth(1)
    there = go.inner_text()
    go.click()
    assert seen.heading.startswith(f"{there}. ")
    assert "B-0" in seen.text("#state h3 >> nth=0")
    assert seen.complaints == []


def test_a_reassignment_from_its_start_to_its_cancellation(browser: Any, pages: Path) -> None:
    seen = Page(browser, pages / "override-kafka-4.html", "#1")
    assert "CancelRestores" in seen.text("#verdict")
    assert "A-0\nTR [3, 4, 5]" in seen.text("#event")
    assert "LeaderAndIsr to brokers 3, 4, 5, 1, 2: A-0" in seen.text("#event")
    chips = seen.page.locator("#cluster .replica-marks li > span:first-child").all_inner_texts()
    assert chips == ["3", "+4", "+5", "\N{MINUS SIGN}1", "\N{MINUS SIGN}2"]
    assert "waits for\n4, 5 to be in sync" in seen.text("#cluster")
    # From one change of AR or RR to the next: replaced, cancelled.
    seen.press("r")
    assert seen.heading.startswith("3. ")
    seen.press("r")
    assert seen.text("#said").endswith("A-0 cancel; A-0: R loses 6, AR loses 6, RR loses 2, 3, 5.")
    assert "StopReplica to broker 6" in seen.text("#event")
    seen.press("R")
    assert seen.heading.startswith("3. ")
    assert seen.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_readable_in_light_and_dark_and_narrow(browser: Any, pages: Path, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 900}
    seen = Page(browser, pages / "mutant.html", color_scheme=scheme, viewport=viewport)
    seen.press("?")
    assert seen.page.is_visible("#legend")
    overflow = seen.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    texts = seen.page.locator("#picture text.stretch-head").all_text_contents()
    assert any("waits for" in text for text in texts)
    for ground in ("resting", "moving", "in-sync", "paper"):
        contrast = seen.page.evaluate(_CONTRAST_WITH_INK, f"--{ground}")
        assert contrast >= 4.5, (ground, contrast)
    assert seen.complaints == []


_CONTRAST_WITH_INK = """(ground) => {
  const probe = document.body.appendChild(document.createElement("span"));
  const light = (name) => {
    probe.style.color = `var(${name})`;
    const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const linear = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return linear.reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  };
  const [ink, paper] = [light("--ink"), light(ground)];
  probe.remove();
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}"""
"""The contrast of the lanes' text with a ground, as WCAG computes it."""


def test_thousands_of_events(browser: Any, tmp_path: Path) -> None:
    configuration = random_configuration(7)
    trace = tmp_path / "long.jsonl"
    trace.write_bytes(b"".join(encode_trace(configuration, random_run(configuration, 7, 5000), 7)))
    assert view(trace, "-o", tmp_path / "long.html", "--no-check") == ExitCode.CONFORMANT
    seen = Page(browser, tmp_path / "long.html", "#3000")
    assert seen.heading.startswith("3000. ")
    # Only what is in view is drawn, wherever that is.
    for key in ("End", "PageUp", "Home", "+", "+", "-"):
        seen.press(key)
        assert seen.page.locator("#picture *").count() < 1500
    assert seen.complaints == []
