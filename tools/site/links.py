"""Check that every link inside a built site leads to an existing file and anchor.

python -m tools.site.links build/docs
"""

import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

EXPECTED_ARGUMENTS = 2


class _Page(HTMLParser):
    """Collects the anchors and links of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.anchors: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect the ids and addresses of an element."""
        for name, content in attrs:
            if content and name == "id":
                self.anchors.add(content)
            elif content and name in ("href", "src"):
                self.links.add(content)


def dead_links(site: Path) -> Iterator[str]:
    """Yield `page: link: problem` for each dead link of a site, in the order of the pages."""
    pages = {file.relative_to(site).as_posix(): _read(file) for file in sorted(site.rglob("*.html"))}
    for name, page in pages.items():
        for link in sorted(page.links):
            if problem := _problem(site, name, link, pages):
                yield f"{name}: {link}: {problem}"


def _read(file: Path) -> _Page:
    page = _Page()
    page.feed(file.read_text(encoding="utf-8"))
    return page


def _problem(site: Path, name: str, link: str, pages: Mapping[str, _Page]) -> str:
    """Return the problem of a link, empty if it is right or leads out of the site."""
    address = urlsplit(link)
    if address.scheme or address.netloc:
        return ""
    target = (site / name).parent.joinpath(unquote(address.path)).resolve() if address.path else site / name
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "no such file"
    fragment = unquote(address.fragment)
    there = pages.get(target.relative_to(site.resolve()).as_posix() if address.path else name)
    if fragment and there is not None and fragment not in there.anchors:
        return "no such anchor"
    return ""


def main(arguments: list[str]) -> int:
    """Print the dead links of a built site; return 1 if there are any."""
    if len(arguments) != EXPECTED_ARGUMENTS or not Path(arguments[1]).is_dir():
        print("usage: python -m tools.site.links FOLDER", file=sys.stderr)
        return 64
    dead = list(dead_links(Path(arguments[1])))
    for line in dead:
        print(line)
    pages = sum(1 for _ in Path(arguments[1]).rglob("*.html"))
    print(f"{pages} pages, {len(dead)} internal links that lead nowhere")
    return 1 if dead else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv))
