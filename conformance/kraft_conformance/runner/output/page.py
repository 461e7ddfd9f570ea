"""One page in HTML: a run to be looked at, without scripts or anything to fetch."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from kraft_conformance.protocol.features import LEVELS
from kraft_conformance.runner.explanation import counted, happening
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.badge import badge_of
from kraft_conformance.runner.output.drawing import drawing
from kraft_conformance.runner.output.results import Results, other_suite, reasons
from kraft_conformance.runner.output.rule_table import WORST_FIRST, Verdict, rule_rows
from kraft_conformance.runner.output.sequence import sequence
from kraft_conformance.runner.output.wording import output_words, said, visible
from kraft_conformance.runner.plain import plain
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.partitions.format import PartitionVectorStep
from kraft_spec.rules import Registry, Rule, load_registry

GLYPHS = {
    Status.PASS: "✓",
    Status.FAIL: "✗",
    Status.ERROR: "‼",
    Status.UNOBSERVED: "○",
    Status.UNSUPPORTED: "⊘",
    Status.SKIPPED: "»",
    Status.EXPECTED_FAILURE: "≈",
    Status.UNEXPECTED_PASS: "!",
    Verdict.NOT_RUN: "»",
    Verdict.NO_VECTOR: "·",
}
"""Beside the word of a status or verdict, so that nothing hangs on a colour."""

_DIFFERENCES_MAX = 50
_TEMPLATES = ("report.html.j2", "matrix.html.j2", "parts.html.j2", "style.css")


class _Failure(NamedTuple):
    outcome: Outcome
    title: str
    level: str
    where: str
    why: str
    """The implementer's reason for an expected failure."""
    event: str
    rules: Sequence[Rule]
    expected: Sequence[str]
    actual: Sequence[str] | None
    refusal: str | None
    differences: Sequence[Any]
    more: int
    command: str
    diagram: Markup | None


def page(results: Results, catalogue: Catalogue) -> bytes:
    """The whole page; the same results give the same bytes."""
    registry = load_registry()
    failing, expected = results.of_status(*FAILING), results.of_status(Status.EXPECTED_FAILURE)
    articles = [_failure(number, one, results, catalogue, registry) for number, one in enumerate((*failing, *expected))]
    rows = sorted(rule_rows(results, catalogue), key=lambda row: (WORST_FIRST.index(row.verdict), row.is_whole))
    verdicts = Counter(row.verdict for row in rows)
    return rendered(
        "report.html.j2",
        about=results.about,
        badge=badge_of(results, catalogue).message,
        note=other_suite(results.about, catalogue),
        counts=[(status, results.counts.get(str(status), 0)) for status in Status],
        number=len(results.outcomes),
        levels=_levels(results, catalogue),
        sections=[
            ("failures", "Failures", articles[: len(failing)]),
            ("expected", "Expected failures", articles[len(failing) :]),
        ],
        reasons=reasons(results),
        rows=rows,
        verdicts=[(verdict, verdicts[verdict]) for verdict in WORST_FIRST if verdicts[verdict]],
        statuses=[status for status in Status if str(status) in results.counts],
        vectors=[(one, catalogue.vector(one.id)) for one in results.outcomes],
    )


def rendered(template: str, **values: Any) -> bytes:
    """A template of this folder with these values, all of which are escaped."""
    drawn: str = _environment().get_template(template).render(**values)
    return drawn.encode()


@cache
def _environment() -> Environment:
    folder = files("kraft_conformance.runner.output")
    environment = Environment(
        loader=DictLoader({name: (folder / name).read_text(encoding="utf-8") for name in _TEMPLATES}),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["said"] = said
    environment.filters["visible"] = visible
    environment.filters["lines"] = lambda text: visible(text, keep="\n")
    environment.filters["counted"] = counted
    environment.globals["glyph"] = GLYPHS.__getitem__
    environment.globals["css"] = lambda status: str(status).replace(" ", "-")
    return environment


def _levels(results: Results, catalogue: Catalogue) -> Sequence[tuple[str, int, int]]:
    """By level: how many vectors of it pass, of how many that were asked."""
    run = Counter(catalogue.entries[one.id].level for one in results.outcomes if one.status is not Status.SKIPPED)
    passed = Counter(catalogue.entries[one.id].level for one in results.of_status(Status.PASS))
    return [(level, passed[level], run[level]) for level in LEVELS if run[level]]


def _failure(number: int, outcome: Outcome, results: Results, catalogue: Catalogue, registry: Registry) -> _Failure:
    vector = catalogue.vector(outcome.id)
    # Controllers of partitions have no messages to draw.
    drawn = sequence(vector, outcome, results.about) if isinstance(vector, Vector) else None
    step = vector.steps[outcome.step - 1] if drawn is not None and outcome.step else None
    assert not isinstance(step, PartitionVectorStep)
    title = f"Sequence diagram of {outcome.id}"
    where = outcome.reason
    if outcome.differences:
        where = "Before the first step" if outcome.step == 0 else f"Step {outcome.step} of {len(vector.steps)}"
    return _Failure(
        outcome,
        vector.title,
        vector.level,
        where,
        outcome.reason if outcome.differences and outcome.status is Status.EXPECTED_FAILURE else "",
        "" if step is None else happening(step),
        [registry[rule_id] for rule_id in outcome.rules or vector.rules],
        [] if step is None else [output_words(plain(output)) for output in step.outputs],
        None if outcome.effects is None else [output_words(effect) for effect in outcome.effects],
        None if step is None else step.refusal,
        outcome.differences[:_DIFFERENCES_MAX],
        max(0, len(outcome.differences) - _DIFFERENCES_MAX),
        results.repetition(outcome),
        None if drawn is None else Markup(drawing(drawn, number, title)),
    )
