"""Accessibility: axe-core reports nothing serious on the site, on the viewer's page and on the reports."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.commands import REFERENCE
from tests.conformance.view_pages import write_pages
from tests.site.test_search import served

from kraft_cli.cli import main

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "index.html",
    "guided-reading.html",
    "kafka.html",
    "pipeline.html",
    "trace-format.html",
    "commands/run.html",
    "model/Elections.html",
    "model/quorums.html",
    "model/roles.html",
    "results/kafka.html",
    "results/mutants.html",
    "results/profiles.html",
    "rules/index.html",
    "rules/vote.log-check.html",
    "scenarios/s8-catch-up-first.html",
    "of-a-trace/mutant.html",
    "of-a-trace/chaos.html",
    "of-a-run.html",
)
"""One page of each kind."""


@pytest.fixture(scope="module")
def address(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of the site, with the other pages in its folders, if a browser is available."""
    pytest.importorskip("axe_playwright_python", reason="pages are looked at with the extra `browser`")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "-b", "html", str(DOCS), str(built)]
    subprocess.run(command, check=True, capture_output=True, timeout=900)
    (built / "of-a-trace").mkdir()
    write_pages(built / "of-a-trace")
    main(["conformance", "run", "--adapter", REFERENCE, "-k", "vote.", "--html", str(built / "of-a-run.html")])
    with served(built) as address:
        yield address


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_accessible(browser: Any, address: str, path: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme, viewport={"width": 1000, "height": 800})
    page.goto(f"{address}/{path}")
    violations = [
        (violation["impact"], violation["id"], violation["nodes"][0]["html"])
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in ("serious", "critical")
    ]
    page.close()
    assert violations == []
