"""Pages of recorded results: what is older than the code it is about says so."""

import subprocess

import pytest
from tools.site.result_pages import result_pages

from kraft_dev import results
from kraft_dev.results import DESCRIBES, Measured, load_result, measured_now, origin
from kraft_spec.rules import load_registry


def test_every_recorded_result_is_on_a_page_that_says_how_old_it_is() -> None:
    pages = dict(result_pages(load_registry()))
    for name in ("mutants", "grading", "detectors", "probes"):
        text = pages[f"results/{name}.md"]
        assert "**Older than the code:** " in text or "Measured at commit " in text, name
        assert text.count("\n| ") > 100, name


@pytest.mark.parametrize("name", DESCRIBES)
def test_a_result_is_of_this_code_until_the_code_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = measured_now(name)
    assert origin(name, now).startswith(f"Measured at commit {now.commit}; ")
    monkeypatch.setitem(DESCRIBES, name, (*DESCRIBES[name], "kraft_conformance.wire"))
    assert origin(name, now).startswith(f"**Older than the code:** measured at commit {now.commit}; ")


def test_a_result_carries_its_commit() -> None:
    words = ["git", "rev-parse", "--short=12", "HEAD"]
    head = subprocess.run(words, cwd=results.FOLDER, capture_output=True, text=True, check=False).stdout.strip()
    assert measured_now("probes").commit.removesuffix("-dirty") == (head or "unknown")


def test_what_is_not_measured_yet_has_no_result() -> None:
    assert load_result("nothing", Measured) is None
