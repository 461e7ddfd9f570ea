"""First results of the site's search, in a real browser."""

import functools
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

SCORER = Path(__file__).parents[2] / "docs" / "_static" / "search_scorer.js"
CONFIGURATION = f"""
extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
html_theme = "basic"
html_search_scorer = {str(SCORER)!r}
suppress_warnings = ["myst.xref_missing"]
"""


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


@pytest.fixture(scope="module")
def site(made: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages of all rules up to their Python, with Sphinx's own search."""
    pytest.importorskip("myst_parser", reason="the site is built with the extra `docs`")
    source = tmp_path_factory.mktemp("source")
    (source / "conf.py").write_text(CONFIGURATION, encoding="utf-8")
    (source / "index.md").write_text("# Every rule\n\nA Follower that has fetched.\n", encoding="utf-8")
    (source / "rules").mkdir()
    for name in (path for path in made if path.startswith("rules/") and "." in Path(path).stem):
        text = made[name]
        (source / name).write_text(text.partition("\n## Python\n")[0], encoding="utf-8")
    built = tmp_path_factory.mktemp("built")
    words = [sys.executable, "-m", "sphinx", "--quiet", "-b", "html", str(source), str(built)]
    subprocess.run(words, check=True, capture_output=True, timeout=600)
    # A browser requests the icon, and reports an error if it is missing.
    (built / "favicon.ico").write_bytes(b"")
    return built


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Yield the address at which a folder is served."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "rule"),
    [
        ("prevote.follower.rejects-after-fetch", "prevote.follower.rejects-after-fetch"),
        ("rejects-after-fetch", "prevote.follower.rejects-after-fetch"),
        ("follower.rejects", "vote.follower.rejects"),
        ("pre-vote follower fetch", "prevote.follower.rejects-after-fetch"),
        ("prevote follower fetched", "prevote.follower.rejects-after-fetch"),
        ("once-per-epoch", "vote.once-per-epoch"),
        ("vote.log-check", "vote.log-check"),
        ("at most one standard vote", "vote.once-per-epoch"),
        ("Replica-Key identity", "identity.replica-key"),
    ],
)
def test_the_page_of_the_rule_comes_first(browser: Any, address: str, query: str, rule: str) -> None:
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(f"{address}/search.html?q={quote(query)}")
    first = page.locator("#search-results li a").first
    first.wait_for()
    assert str(first.get_attribute("href")).split("?")[0].split("#")[0] == f"rules/{rule}.html"
    assert complaints == []
    page.close()
