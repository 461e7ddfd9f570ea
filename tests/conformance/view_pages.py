"""Pages of traces in a browser."""

from pathlib import Path
from typing import Any

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode

SAMPLES = Path("traces/kraft_traces/samples")


def view(*arguments: str | Path) -> int:
    """Return the exit code of `kraft-spec view`."""
    return main(["view", *map(str, arguments)])


def write_pages(folder: Path) -> Path:
    """A page of a rejected trace, of an accepted one, of one that breaks off, of one without events."""
    for sample in ("mutant", "chaos"):
        assert view(SAMPLES / f"{sample}.jsonl", "-o", folder / f"{sample}.html") == ExitCode.CONFORMANT
    lines = (SAMPLES / "ping-pong.jsonl").read_bytes().splitlines(keepends=True)
    end = b'{"kind":"end","events":0,"complete":true}\n'
    for name, content in (("cut-off", b"".join(lines[:12])[:-20]), ("empty", lines[0] + end)):
        (folder / f"{name}.jsonl").write_bytes(content)
        assert view(folder / f"{name}.jsonl", "-o", folder / f"{name}.html", "--no-check") == ExitCode.BAD_INPUT
    return folder


class Page:
    """A page in the browser, with its errors."""

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
