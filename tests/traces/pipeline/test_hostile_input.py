"""Files that were made to break a run: names, compressed floods, depths and markup come through, each by itself."""

import gzip
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.traces.pipeline.corpus import good, good_lines
from tests.traces.pipeline.tables import rows_of

from kraft_pipeline import runs
from kraft_pipeline.schemas import FILES, QUARANTINE, VERDICTS
from kraft_pipeline.session import SessionOptions

NAMES = (
    b"new\nline.jsonl",
    b"esc\x1b[2J\x07.jsonl",
    b"caf\xe9.jsonl",
    "\u202egnp.jsonl".encode(),
    b"<script>alert(1)<.jsonl",
    b"a=b%41 *?[x]{y}.jsonl",
    b"a:b#c.jsonl",
    b"-rf.jsonl",
    b"_hidden.jsonl",
    b"quote'\"back\\slash.jsonl",
    b"x" * 200 + b".jsonl",
)
MARKUP = '<img src=x onerror=alert(1)>"><script>alert(1)</script>\x1b[2J\u202e'


def header(**fields: object) -> bytes:
    """The header of a good trace with other fields."""
    return json.dumps(json.loads(good_lines()[0]) | fields).encode() + b"\n"


def named(name: str) -> dict[str, Any]:
    """A generator of this name, which has a workload of this name too."""
    return {"generator": {"name": name, "version": name, "seed": None, "workload": name}}


def contents() -> dict[str, tuple[bytes, str | None]]:
    """By file name: what is in it, and why it goes to quarantine."""
    first, others_raw = good_lines()[0], b"".join(good_lines()[1:])
    deep = b'{"kind":"event","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    return {
        "flood-of-one-line.jsonl.gz": (gzip.compress(b"0" * 17_000_000), "LINE_TOO_LONG"),
        "flood-of-lines.jsonl.gz": (gzip.compress(b"\n" * 100_000), "MALFORMED_JSON"),
        "deep.jsonl": (first + deep, "MALFORMED_JSON"),
        "digits.jsonl": (first + b'{"kind":"event","sequence":' + b"9" * 5_000 + b"}\n", "MALFORMED_JSON"),
        "nothing.jsonl": (b"\0" * 1_000, "TRUNCATED_FILE"),
        "half-a-pair.jsonl": (first.replace(b'"kraft-reference"', b'"\\ud800"') + others_raw, "MALFORMED_JSON"),
        "profile.jsonl": (header(profile=MARKUP) + others_raw, "UNKNOWN_PROFILE"),
        "markup.jsonl": (header(**named(MARKUP)) + others_raw, None),
    }


def test_hostile_files_are_taken_each_by_itself(shared: Any, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    written = 0
    for raw_name in NAMES:
        # A file system may refuse names that are no text.
        with suppress(OSError):
            (folder / os.fsdecode(raw_name)).write_bytes(good())
            written += 1
    for name, (content, _) in contents().items():
        (folder / name).write_bytes(content)
    runs.run(SessionOptions(), [str(folder)], tmp_path / "out")
    output = tmp_path / "out"
    assert len(rows_of(output, FILES)) == written + len(contents())
    verdicts = rows_of(output, VERDICTS)
    assert [row["verdict"] for row in verdicts] == ["accepted"] * (written + 1)
    reasons = {Path(row["source"]).name: row["reason"] for row in rows_of(output, QUARANTINE)}
    assert reasons == {name: reason for name, (_, reason) in contents().items() if reason is not None}
    page = (output / "report" / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "<script>alert" not in page
    assert all(letter.isprintable() or letter == "\n" for letter in page)
