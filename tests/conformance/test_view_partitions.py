"""Behaviour of the page of a partition trace in a real browser."""

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
    observed = Page(browser, page, "#3")
    assert "empty.jsonl: the trace has a header, but no event" in observed.text("#broken")
    assert observed.page.text_content("#of") == ""
    assert not observed.page.is_visible("#panels")
    observed.press("ArrowRight", "End", "r", "+", "w")
    assert observed.complaints == []


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for sample in ("mutant", "override-kafka-4"):
        trace = SAMPLES / f"partition-{sample}.jsonl"
        assert view(trace, "-o", folder / f"{sample}.html") == ExitCode.CONFORMANT
    assert view(SAMPLES / "partition-chaos.jsonl", "-o", folder / "chaos.html", "--no-check") == ExitCode.CONFORMANT
    return folder


def changed(observed: Page) -> list[str]:
    return list(map(str, observed.page.locator("#state tr.changed th").all_inner_texts()))


def test_a_rejected_trace_opens_at_its_first_wrong_line(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html")
    assert observed.heading == "30. CompleteReassignment"
    assert "event 30 (CompleteReassignment): the recorded outcome differs from the model" in observed.text("#verdict")
    rows = [row.split("\t") for row in observed.text("#wrong-line table").splitlines()]
    assert ["field", "expected (model)", "actual (trace)"] in rows
    assert ["refusal", "NOTHING_DUE", "none"] in rows
    assert ["partitions[A-0].adding", "[5, 2]", "[]"] in rows
    assert "partition-reassign.add-before-remove" in observed.text("#wrong-line")
    assert "waited for\n5, 2 to be in sync" in observed.text("#event")
    assert changed(observed) == ["▸ AR, adding", "▸ partition epoch", "▸ waits for"]
    assert observed.page.locator("svg path.wrong").count() == 1
    assert observed.text("#said").startswith("Event 30, the first wrong line; ")
    # Away from it and back by a key.
    observed.press("Home")
    assert observed.heading.startswith("1. ")
    assert not observed.page.is_visible("#wrong-line")
    observed.press("w")
    assert observed.heading == "30. CompleteReassignment"
    assert (observed.complaints, len(observed.requests)) == ([], 1)


def test_steps_by_keys_and_buttons(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html")
    assert observed.text("#verdict") == "This trace was not checked."
    observed.press("ArrowRight", "ArrowRight", "l", "h")
    assert observed.heading.startswith("3. ")
    observed.press("PageDown")
    assert observed.heading.startswith("28. ")
    observed.press("PageUp", "End")
    assert observed.heading.startswith("150. ")
    assert observed.page.get_attribute("#on", "aria-disabled") == "true"
    observed.page.click("#first")
    assert observed.heading.startswith("1. ")
    observed.page.fill("#at", "48")
    observed.page.press("#at", "Enter")
    assert observed.heading == "48. BrokerFails"
    assert observed.text("#said").startswith("Event 48; broker 3 dies; A-1: leader 3 → none")
    assert changed(observed)[0] == "▸ alive"
    observed.page.fill("#at", "151")
    observed.page.press("#at", "Enter")
    assert observed.heading == "48. BrokerFails"
    assert "no event 151; the last is 150" in observed.text("nav")
    assert observed.complaints == []


def test_stays_with_a_partition(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html", "#60")
    # An event of A-1; the next ones of that partition, and one from which another is followed.
    headings = []
    for _ in range(3):
        observed.press("Shift+ArrowRight")
        headings.append(observed.heading)
        assert "A-1" in observed.text("#state h3 >> nth=0")
    assert headings[0] == "70. CompleteReassignment"
    observed.press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")
    assert observed.heading == "60. AlterPartition"
    observed.page.click("#cluster button:text-is('B-0')")
    assert "What changed B-0" in observed.text("#state")
    observed.press("Shift+ArrowRight")
    assert observed.heading.startswith("61. ")
    # Why it is as it is: the events that changed it, each a way to go there.
    go = observed.page.locator("#state .changes button").nth(1)
    there = go.inner_text()
    go.click()
    assert observed.heading.startswith(f"{there}. ")
    assert "B-0" in observed.text("#state h3 >> nth=0")
    assert observed.complaints == []


def test_a_reassignment_from_its_start_to_its_cancellation(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "override-kafka-4.html", "#1")
    assert "CancelRestores" in observed.text("#verdict")
    assert "A-0\nTR [3, 4, 5]" in observed.text("#event")
    assert "LeaderAndIsr to brokers 3, 4, 5, 1, 2: A-0" in observed.text("#event")
    chips = observed.page.locator("#cluster .replica-marks li > span:first-child").all_inner_texts()
    assert chips == ["3", "+4", "+5", "\N{MINUS SIGN}1", "\N{MINUS SIGN}2"]
    assert "waits for\n4, 5 to be in sync" in observed.text("#cluster")
    # From one change of AR or RR to the next: replaced, cancelled.
    observed.press("r")
    assert observed.heading.startswith("3. ")
    observed.press("r")
    assert observed.text("#said").endswith("A-0 cancel; A-0: R loses 6, AR loses 6, RR loses 2, 3, 5.")
    assert "StopReplica to broker 6" in observed.text("#event")
    observed.press("R")
    assert observed.heading.startswith("3. ")
    assert observed.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [420, 1400])
def test_readable_in_light_and_dark_and_narrow(browser: Any, pages: Path, scheme: str, width: int) -> None:
    viewport = {"width": width, "height": 900}
    observed = Page(browser, pages / "mutant.html", color_scheme=scheme, viewport=viewport)
    observed.press("?")
    assert observed.page.is_visible("#legend")
    overflow = observed.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    texts = observed.page.locator("#picture text.stretch-head").all_text_contents()
    assert any("waits for" in text for text in texts)
    for ground in ("resting", "moving", "in-sync", "paper"):
        contrast = observed.page.evaluate(_CONTRAST_WITH_INK, f"--{ground}")
        assert contrast >= 4.5, (ground, contrast)
    assert observed.complaints == []


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
"""Return the contrast of the lanes' text with a background, as WCAG computes it."""


def test_thousands_of_events(browser: Any, tmp_path: Path) -> None:
    configuration = random_configuration(7)
    trace = tmp_path / "long.jsonl"
    trace.write_bytes(b"".join(encode_trace(configuration, random_run(configuration, 7, 5000), 7)))
    assert view(trace, "-o", tmp_path / "long.html", "--no-check") == ExitCode.CONFORMANT
    observed = Page(browser, tmp_path / "long.html", "#3000")
    assert observed.heading.startswith("3000. ")
    # Only what is in view is drawn, wherever that is.
    for key in ("End", "PageUp", "Home", "+", "+", "-"):
        observed.press(key)
        assert observed.page.locator("#picture *").count() < 1500
    assert observed.complaints == []
