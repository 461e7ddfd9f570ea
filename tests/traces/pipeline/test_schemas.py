"""docs/pipeline.md names every reason for which a trace is in quarantine."""

from pathlib import Path

from kraft_traces import errors

PAGE = Path(__file__).resolve().parents[3] / "docs" / "pipeline.md"


def test_the_page_names_every_reason_of_quarantine() -> None:
    text = PAGE.read_text(encoding="utf-8")
    problems = ("MISSING", "UNKNOWN", "DUPLICATE", "WRONG_VALUE", "INCONSISTENT")
    own = [kind for kind in errors.TraceError.__subclasses__() if kind.__module__.startswith("kraft_traces.")]
    codes = {kind.code for kind in own} - {"FIELD", "NO_TRACES"}
    for code in codes | {f"FIELD_{problem}" for problem in problems}:
        assert f"`{code}`" in text, code
