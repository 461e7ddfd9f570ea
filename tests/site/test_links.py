"""The links of a built site."""

from pathlib import Path

import pytest
from tools.site.links import dead_links, main

GOOD = """<h1 id="top">x</h1><a href="#top">a</a><a href="sub/b.html#there">b</a><a href="https://example.org/y">c</a>
<a href="sub/">d</a><img src="x.png"><a href="mailto:x@example.org">e</a>"""


def site(folder: Path, page: str = GOOD) -> Path:
    (folder / "sub").mkdir()
    (folder / "a.html").write_text(page, encoding="utf-8")
    (folder / "sub/b.html").write_text('<p id="there"><a href="../a.html">up</a></p>', encoding="utf-8")
    (folder / "sub/index.html").write_text("", encoding="utf-8")
    (folder / "x.png").write_bytes(b"")
    return folder


def test_a_site_whose_links_lead_somewhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert list(dead_links(site(tmp_path))) == []
    assert main(["links", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "3 pages, 0 internal links that lead nowhere\n"


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("missing.html", "no such file"),
        ("sub/b.html#nowhere", "no such anchor"),
        ("#nowhere", "no such anchor"),
        ("y.png", "no such file"),
    ],
)
def test_a_link_that_leads_nowhere(tmp_path: Path, capsys: pytest.CaptureFixture[str], link: str, problem: str) -> None:
    assert main(["links", str(site(tmp_path, f'<a href="{link}">x</a>'))]) == 1
    assert capsys.readouterr().out == f"a.html: {link}: {problem}\n3 pages, 1 internal links that lead nowhere\n"


def test_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["links"]) == 64
    assert capsys.readouterr().err == "usage: python -m tools.site.links FOLDER\n"
