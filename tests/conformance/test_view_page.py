"""Behaviour of the page of `kraft-spec view` in a real browser."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.view_pages import SAMPLES, Page, view, write_pages

from kraft_conformance.exit_codes import ExitCode

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("pages"))


def test_a_rejected_trace_opens_at_its_first_wrong_line(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html")
    assert observed.heading == "82. HandleVoteRequest"
    assert "the recorded outcome differs from the model" in observed.text("#verdict")
    wrong = observed.text("#wrong-line")
    assert "effects[0].message.granted" in wrong
    assert observed.page.locator("#wrong-line tbody td").all_inner_texts() == ["false", "true"]
    assert "prevote.follower.rejects-after-fetch" in wrong
    assert observed.page.locator("svg path.wrong").count() == 1
    # Away from it and back by a key.
    observed.press("Home")
    assert observed.heading.startswith("1. ")
    assert not observed.page.is_visible("#wrong-line")
    observed.press("w")
    assert observed.heading == "82. HandleVoteRequest"
    assert (observed.complaints, len(observed.requests)) == ([], 1)


def test_steps_by_keys_and_buttons(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html")
    assert "accepted: each of 371 events" in observed.text("#verdict")
    assert "Compared: complete." in observed.text("#verdict")
    observed.press("ArrowRight", "ArrowRight", "l", "h")
    assert observed.heading.startswith("3. ")
    observed.press("PageDown")
    assert observed.heading.startswith("28. ")
    observed.press("End")
    assert observed.heading.startswith("371. ")
    assert observed.page.get_attribute("#on", "aria-disabled") == "true"
    observed.page.click("#first")
    assert observed.heading.startswith("1. ")
    replica = observed.text("#state h2")
    observed.press("Shift+ArrowRight")
    assert not observed.heading.startswith("1. ")
    assert observed.text("#state h2") == replica
    observed.press("r")
    assert observed.page.locator("#state tr.changed th").all_inner_texts()[0] == "▸\xa0role"
    assert observed.text("#said").startswith("Event ")
    observed.page.fill("#at", "200")
    observed.page.press("#at", "Enter")
    assert observed.heading == "200. DropMessage"
    assert "EndQuorumEpochResponse: FENCED_LEADER_EPOCH" in observed.text("#event")
    assert "Links that are cut: 2→1, 3→1, 4→1" in observed.text("#state")
    assert observed.complaints == []


def test_find_select_and_link(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html", "#178")
    assert observed.heading == "178. Crash"
    observed.press("/")
    observed.page.keyboard.type("ReplaceDisk no such thing")
    observed.press("Enter")
    assert observed.text("#notice") == "“replacedisk no such thing” is not found"
    assert observed.heading == "178. Crash"
    observed.page.fill("#find", "becomes Resigned")
    observed.press("Enter")
    assert "Resigned" in observed.text("#state tr.changed >> nth=0")
    chosen = observed.page.locator("#picture g.event:not(.chosen)").nth(5)
    place = int(chosen.get_attribute("data-index"))
    chosen.click()
    assert observed.heading.startswith(f"{place + 1}. ")
    assert observed.complaints == []


def test_a_number_without_an_event_is_said_and_the_selection_stays(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html", "#999")
    assert (observed.text("#notice"), observed.heading) == ("no event 999; the last is 312", "82. HandleVoteRequest")
    observed.press("Home")
    assert (observed.text("#notice"), observed.heading[:3]) == ("", "1. ")
    for typed, message in (("400", "no event 400"), ("1e1", "no event 1e1"), ("", "no event without a number")):
        observed.page.fill("#at", typed)
        observed.page.press("#at", "Enter")
        assert observed.text("#notice") == f"{message}; the last is 312"
        assert (observed.heading[:3], observed.page.input_value("#at")) == ("1. ", "1")
    observed.page.evaluate("location.hash = '#nonsense'")
    observed.page.wait_for_function("document.getElementById('notice').textContent.includes('nonsense')")
    assert observed.text("#notice") == "no event nonsense; the last is 312"
    observed.page.evaluate("location.hash = '#83'")
    observed.page.wait_for_function("document.getElementById('notice').textContent === ''")
    assert observed.heading.startswith("83. ")
    assert observed.complaints == []


def test_find_goes_round_and_counts(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html", "#178")
    observed.page.fill("#find", "becomes Resigned")
    places = []
    for key in ("Enter", "Enter", "Shift+Enter", "Shift+Enter"):
        observed.page.press("#find", key)
        places.append((int(observed.heading.split(".")[0]), observed.text("#notice")))
    (first, _), *_ = places
    count = int(places[0][1].split(" of ")[1].split(",")[0])
    assert count > 1
    result = [event for event in range(1, 372) if event in {place for place, _ in places}]
    assert {text.split(",")[0] for _, text in places} <= {f"{item} of {count}" for item in range(1, count + 1)}
    # Round at the end, and back again.
    for _ in range(2 * count):
        observed.page.press("#find", "Enter")
        wraps = observed.heading.startswith(f"{min(result)}. ")
        assert observed.text("#notice").endswith(", from the top again") == wraps
    while not observed.heading.startswith(f"{min(result)}. "):
        observed.page.press("#find", "Enter")
    observed.page.press("#find", "Shift+Enter")
    assert observed.text("#notice") == f"{count} of {count}, from the end again"
    assert first >= min(result)
    # An event that is the only one.
    observed.page.fill("#find", "event 178;")
    observed.page.press("#find", "Enter")
    observed.page.press("#find", "Enter")
    assert (observed.heading, observed.text("#notice")) == ("178. Crash", "1 of 1, none further")
    assert observed.complaints == []


def test_buttons_at_the_end_keep_the_focus(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "chaos.html", "#370")
    observed.page.focus("#on")
    for _ in range(3):
        observed.press("Enter")
        assert observed.page.evaluate("document.activeElement.id") == "on"
    assert observed.heading.startswith("371. ")
    observed.page.focus("#back")
    observed.press("Enter", "Enter")
    assert observed.heading.startswith("369. ")
    assert observed.page.get_attribute("#on", "aria-disabled") == "false"


def test_what_is_read_out_and_written_at_arrows(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html")
    text = "Event 82, the first wrong line; replica 2: HandleVoteRequest (Pre-Vote) from 1; "
    assert observed.text("#said") == f"{text}sends VoteResponse (Pre-Vote) to 1: granted."
    labels = observed.page.locator("svg text.label").all_text_contents()
    assert sorted(labels) == ["Vote Request (Pre-Vote)", "Vote Response: granted"]
    titles = observed.page.locator("svg path.arrow.own title").all_text_contents()
    assert titles == ["Vote Request (Pre-Vote); 1→2; delivered", "Vote Response (Pre-Vote): granted; 2→1; delivered"]
    facts = observed.text("#event")
    for fact in ("Follower of leader 3, has fetched from it", "ends at 11 in epoch 1: as far"):
        assert fact in facts
    awaited = Page(browser, pages / "mutant.html", "#80")
    assert "2: 80, 3: 80" in awaited.text("#state tr.changed:has-text('awaiting')")
    refused = Page(browser, pages / "chaos.html", "#130")
    assert "HandleVoteRequest (Pre-Vote) from 2" in refused.text("#said")
    assert refused.text("#said").endswith("sends VoteResponse (Pre-Vote) to 2: refused.")
    assert "no" in refused.page.locator("svg text.vote.refused").all_text_contents()


def test_a_rule_says_what_it_is_and_where_there_is_more(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html")
    rule = observed.page.locator("#wrong-line .rule", has_text="A Follower that fetched refuses Pre-Votes")
    command = "kraft-spec rules prevote.follower.rejects-after-fetch"
    assert rule.locator("summary").get_attribute("title") == command
    assert not rule.get_by_text(command).is_visible()
    rule.locator("summary").focus()
    observed.press("Enter")
    assert rule.get_by_text(command).is_visible()
    assert rule.get_by_text("refuses a Pre-Vote of its epoch whatever").is_visible()


def test_a_trace_that_breaks_off_says_so(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "cut-off.html")
    assert "cut-off.jsonl:12:" in observed.text("#broken")
    assert "the file stops in the middle of a line" in observed.text("#broken")
    assert "This page shows the 10 events before that" in observed.text("#broken")
    observed.press("End")
    assert observed.heading.startswith("10. ")
    assert not Page(browser, pages / "chaos.html").page.is_visible("#broken")
    assert observed.complaints == []


def test_a_trace_without_events(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "empty.html")
    assert "empty.jsonl: the trace has no event between its header and its end line" in observed.text("#broken")
    assert observed.page.locator("svg text.name").all_text_contents() == [
        "network",
        "replica 1",
        "replica 2",
        "replica 3",
    ]
    assert observed.page.text_content("#of") == ""
    observed.press("ArrowRight", "End", "r", "+", "/")
    assert not observed.page.is_visible("#panels")
    assert observed.complaints == []


def test_records_that_are_not_shown_are_one_cell(browser: Any, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (SAMPLES / "mutant.jsonl").read_text(encoding="utf-8").splitlines()]
    lines[20]["state"]["log_end_offset"] = 2**63 - 1
    (tmp_path / "huge.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert view(tmp_path / "huge.jsonl", "-o", tmp_path / "huge.html") == ExitCode.CONFORMANT
    observed = Page(browser, tmp_path / "huge.html")
    assert observed.heading.startswith("20. ")
    (cell,) = observed.page.locator(".replica.own .log .hidden-record").all_text_contents()
    assert cell == f"{2**63 - 1 - int(lines[19]['state']['log_end_offset'])} not shown"
    observed.press("ArrowLeft", "ArrowRight", "End")
    assert observed.page.locator("#cluster .log li").count() < 200
    assert observed.complaints == []


def test_a_foreign_trace_says_what_it_leaves_out(browser: Any, pages: Path, tmp_path: Path) -> None:
    lines = [json.loads(line) for line in (SAMPLES / "mutant.jsonl").read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("effects", None)
        if "state" in line:
            line["state"] = {"role": line["state"]["role"], "epoch": line["state"]["epoch"]}
    (tmp_path / "bare.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert view(tmp_path / "bare.jsonl", "-o", tmp_path / "bare.html", "--no-check") == ExitCode.CONFORMANT
    observed = Page(browser, tmp_path / "bare.html")
    assert observed.text("#about").endswith("; no arrows: the trace names no messages sent")
    # Before its first event a replica is as the format has it start.
    assert observed.page.locator("#cluster .log").all_inner_texts() == ["log not observed", "empty log", "empty log"]
    observed.press("End")
    assert observed.page.locator("#cluster .log").all_inner_texts() == ["log not observed"] * 3
    assert observed.complaints == []
    whole = Page(browser, pages / "mutant.html")
    assert "no arrows" not in whole.text("#about")
    whole.press("Home")
    assert whole.page.locator("#cluster .log").all_inner_texts() == ["empty log"] * 3


def test_no_vote_of_another_event_is_named_beside_the_mark(browser: Any, pages: Path) -> None:
    observed = Page(browser, pages / "mutant.html")
    for _ in range(3):
        assert observed.page.evaluate(_VOTES_BESIDE) == []
        observed.press("ArrowRight")
    # They are there when something else is looked at.
    assert observed.page.locator("svg text.vote:not(.covered)").count() > 0


_VOTES_BESIDE = """() => {
  const all = (selector) => [...document.querySelectorAll(selector)].map((one) => one.getBoundingClientRect());
  const middles = (selector) => all(selector).map((box) => [box.left + box.width / 2, box.top + box.height / 2]);
  const marks = middles("svg .event.chosen, svg path.wrong");
  const votes = middles("svg text.vote:not(.covered)");
  return votes.filter(([x, y]) => marks.some((mark) => Math.hypot(x - mark[0], y - mark[1]) < 30));
}"""
"""Return the positions of vote outcomes close to the chosen or the wrong mark."""
