"""Layout of the page of `kraft-spec view`, and the number of elements that a step draws, in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.view_pages import Page, view, write_pages

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(tmp_path_factory.mktemp("pages"))


@pytest.mark.parametrize("where", ["mutant.html", "chaos.html#1"])
@pytest.mark.parametrize("width", [390, 700, 1400])
def test_no_word_of_a_table_is_broken(browser: Any, pages: Path, width: int, where: str) -> None:
    name, _, event = where.partition("#")
    observed = Page(browser, pages / name, f"#{event}" if event else "", viewport={"width": width, "height": 900})
    observed.press("a")
    assert observed.page.locator("#state tbody tr").count() > 20
    assert observed.page.evaluate(_BROKEN_WORDS) == []


_BROKEN_WORDS = """() => {
  const found = [], words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const node = words.currentNode;
    if (!node.parentElement.closest("table") || !node.parentElement.checkVisibility()) continue;
    for (const { 0: word, index } of node.data.matchAll(/[a-zA-Z]+/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) found.push(word);
    }
  }
  return found;
}"""
"""Words within tables of which a part stands in another line."""


@pytest.mark.parametrize("width", [390, 1400])
def test_no_words_of_the_picture_stand_on_each_other(browser: Any, pages: Path, width: int) -> None:
    observed = Page(browser, pages / "chaos.html", "#178", viewport={"width": width, "height": 900})
    for keys in (["-"] * 7, ["+"] * 3, ["+"] * 10):
        observed.press(*keys)
        for key in ("PageUp", "Home", "PageDown", "PageDown", "r", "r", "End"):
            observed.press(key)
            assert observed.page.evaluate(_OVERLAPPING) == []
    assert observed.complaints == []


_OVERLAPPING = """() => {
  const margin = document.querySelector("svg .margin").getBoundingClientRect().right;
  const kinds = ["role", "label", "vote", "time", "network"].map((kind) => `svg text.${kind}`).join();
  const words = [...document.querySelectorAll(kinds)]
    .filter((text) => text.checkVisibility({ visibilityProperty: true }))
    .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
    .filter(({ box }) => box.left > margin);
  const isLeft = (one, other) => one.right <= other.left;
  const isAbove = (one, other) => one.bottom <= other.top + 4;
  const touch = ({ box: one }, { box: other }) =>
    ![isLeft, isAbove].some((apart) => apart(one, other) || apart(other, one));
  return words.flatMap((one, place) =>
    words.slice(place + 1).filter((other) => touch(one, other)).map((other) => [one.text, other.text]));
}"""
"""Pairs of texts in the picture that overlap; what has slid under the names of the lanes is not seen."""


@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_is_no_wider_than_the_window(browser: Any, pages: Path, width: int) -> None:
    observed = Page(browser, pages / "chaos.html", "#178", viewport={"width": width, "height": 900})
    observed.press("?")
    assert observed.page.is_visible("#legend")
    overflow = observed.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow <= 0
    assert observed.complaints == []


def test_thousands_of_events(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "--seed", "7", "--steps", "5000", "--replicas", "5", "-o", "long.jsonl"]) == 0
    assert view("long.jsonl", "-o", "long.html", "--no-check") == ExitCode.CONFORMANT
    observed = Page(browser, Path("long.html"), "#3000")
    assert observed.heading.startswith("3000. ")
    # Only what is in view is drawn, wherever that is.
    for key in ("End", "PageUp", "Home", "+", "+", "-"):
        observed.press(key)
        assert observed.page.locator("#picture *").count() < 1500
    # A step makes anew only what belongs to the two events, and not the picture or the cluster.
    observed.press("Home", *["ArrowRight"] * 5)
    observed.page.evaluate(_COUNT_ADDED)
    observed.press(*["ArrowRight"] * 20)
    assert 0 < observed.page.evaluate("window.added / 20") < 400
    assert observed.complaints == []


_COUNT_ADDED = """() => {
  window.added = 0;
  const size = (node) => 1 + (node.querySelectorAll?.("*").length ?? 0);
  const added = (changes) => changes.flatMap(({ addedNodes }) => [...addedNodes]);
  new MutationObserver((changes) => added(changes).forEach((node) => { window.added += size(node); }))
    .observe(document.body, { childList: true, subtree: true });
}"""
"""Counts the elements that are put into the page from now on."""
