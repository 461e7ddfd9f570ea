"""The page of a report: complete in itself, made of the figures alone, and safe whatever a trace says."""

import re
from html.parser import HTMLParser
from typing import Any

from kraft_pipeline.coverage import KINDS
from kraft_pipeline.report.page import page, short_names
from kraft_pipeline.report.writing import commands, safe_name

HOSTILE = "<script>alert(1)</script>\x07 $\\frac$ 語"


def document(**changes: Any) -> dict[str, Any]:
    """Figures with one of each thing, all of whose texts are hostile."""
    example = {
        "trace_id": "0123456789",
        "source": HOSTILE,
        "line": 7,
        "sequence": 6,
        "replica": 2,
        "role": "Follower",
        "rules": ["prevote.follower.rejects-after-fetch"],
        "explained_by": ["prevote.follower.rejects-after-fetch"],
        "conjunct": HOSTILE,
        "properties": [],
        "differences": [{"field": HOSTILE, "expected": HOSTILE, "actual": HOSTILE}],
        "command": "kraft-spec simulate --seed 1",
        "reason": None,
        "prefix": "failing/one.failing.jsonl",
        "commands": ["kraft-spec validate failing/one.failing.jsonl"],
    }
    group = {
        "rule": "prevote.follower.rejects-after-fetch",
        "event": "HandleVoteRequest",
        "field": HOSTILE,
        "kind": "mismatch",
        "traces": 3,
        "example": example,
    }
    seen = {"seen": 1, "names": 2}
    kinds = {kind: seen | {"never": [f"{kind}-b"], "events": {f"{kind}-a": [3], f"{kind}-b": [0]}} for kind in KINDS}
    source = {"generator": HOSTILE, "workload": "", "profile": "kip"}
    counts = {"accepted": 1, "rejected": 3, "inconclusive": 1, "events": 100}
    return {
        "parameters": {"input": [HOSTILE]},
        "account": {
            "files": 6,
            "lines_in": 120,
            "other_lines": 10,
            "events": 100,
            "lines_quarantined": 10,
            "traces_in": 6,
            "accepted": 1,
            "rejected": 3,
            "inconclusive": 1,
            "traces_quarantined": 1,
        },
        "sweep": None,
        "earlier": None,
        "regressions": None,
        "other_model": 1,
        "sources": [source | counts],
        "compared": [
            {
                "generator": HOSTILE,
                "traces": {"complete": 1, "partial": 2, "names only": 0},
                "shown": [{"name": "high_watermark", "shown": 1234, "events": 5678}],
            }
        ],
        "failures": [group],
        "failure_groups": 1,
        "violations": [{"property": HOSTILE, "traces": 1, "example": HOSTILE, "command": HOSTILE}],
        "inconclusive": [{"reason": HOSTILE, "defect": False, "traces": 1, "example": HOSTILE}],
        "quarantine": [
            {
                "reason": "MALFORMED_JSON",
                "traces": 1,
                "lines": 10,
                "example": {"source": HOSTILE, "line": 5, "field": None, "detail": HOSTILE},
            }
        ],
        "coverage": {
            "sources": [source],
            "kinds": kinds,
            "never": [{"generator": HOSTILE, "profile": "kip", "never": {kind: [f"{kind}-b"] for kind in KINDS}}],
        },
        "throughput": [{"stage": "validate", "seconds": 2.0, "events": 100, "events_per_second": 50.0}],
    } | changes


class _Read(HTMLParser):
    """Parts of a page: resources and scripts, ids, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]
        if any(name.startswith("on") for name, _ in attrs):
            self.tags.add("script")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_page_fetches_nothing_and_runs_nothing() -> None:
    read = _Read(page(document()))
    assert not read.tags & {"script", "iframe", "img", "link", "object", "embed"}
    outside = [link for link in read.links if not link.startswith("#")]
    assert outside == ["failing/one.failing.jsonl"]
    assert not re.search(r"url\((?!#)|@import", page(document()))


def test_a_hostile_trace_is_shown_as_it_is() -> None:
    text = "".join(_Read(page(document())).text)
    assert "<script>alert(1)</script>\\x07" in text
    assert "\x07" not in page(document())


def test_failures_lead_with_the_rule_and_link_to_the_prefix() -> None:
    drawn = page(document())
    failure = drawn[drawn.index('<section class="failure">') : drawn.index("</section>")]
    assert failure.index("prevote.follower.rejects-after-fetch") < failure.index("HandleVoteRequest")
    assert '<a href="failing/one.failing.jsonl">shortest failing prefix</a>' in failure
    assert "kraft-spec validate failing/one.failing.jsonl" in failure


def test_what_was_never_seen_is_listed_by_name() -> None:
    text = "".join(_Read(page(document())).text)
    for kind in KINDS:
        assert f"{kind}-b" in text


def test_the_same_figures_give_the_same_page() -> None:
    assert page(document()) == page(document())


def test_nothing_at_all_makes_a_page_too() -> None:
    nothing = {kind: {"seen": 0, "names": 0, "never": [], "events": {}} for kind in KINDS}
    empty = document(
        sources=[],
        failures=[],
        failure_groups=0,
        violations=[],
        inconclusive=[],
        quarantine=[],
        coverage={"sources": [], "kinds": nothing, "never": []},
        throughput=[],
    )
    text = "".join(_Read(page(empty)).text)
    assert "No trace is rejected. None is inconclusive. None is in quarantine." in text
    assert "No trace was checked." in text
    assert "Nothing was timed." in text


def test_columns_say_what_tells_the_sources_apart() -> None:
    sources = [{"generator": "kraft", "workload": name, "profile": "kip"} for name in ("calm", "chaos", "")]
    assert short_names(sources) == ["calm", "chaos", "kraft · kip"]
    assert short_names(sources[:1]) == ["kraft · calm · kip"]


def test_commands_for_a_shell() -> None:
    simulated = {"command": "kraft-spec simulate --seed 1"}
    assert commands(simulated, "failing/a b.jsonl") == [
        "kraft-spec simulate --seed 1 -o trace.jsonl",
        "kraft-spec validate trace.jsonl",
        "kraft-spec validate 'failing/a b.jsonl'",
    ]
    assert commands({"command": None}, None) == []
    assert safe_name("../a b/ü<x>") == "a-b-x"


def test_what_was_compared_stands_under_its_words() -> None:
    text = page(
        document(
            compared=[
                {
                    "generator": "their-kraft",
                    "traces": {"names only": 1, "partial": 2, "complete": 3},
                    "shown": [{"name": "high_watermark", "shown": 4, "events": 5}],
                }
            ]
        )
    )
    compared = text.partition("<h2>Compared</h2>")[2].partition("<h2>")[0]
    words = re.findall(r'<th(?: class="n")?>(.*?)</th>|<td(?: class="n")?>(.*?)</td>', compared)
    assert [word or other for word, other in words] == [
        *("generator", "complete", "partial", "names only", "their-kraft", "3", "2", "1"),
        *("group of fields, property", "events that show enough", "of", "<code>high_watermark</code>", "4", "5"),
    ]
