"""HTML report of a run: one page without scripts and without external files."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.drawing import drawing
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.rule_table import WORST_FIRST, Verdict, passes_of, rule_rows
from kraft_conformance.runner.output.run import Run, reasons
from kraft_conformance.runner.output.sequence import sequence
from kraft_conformance.runner.output.wording import clip, output_words, visible
from kraft_conformance.runner.plain import plain
from kraft_spec.rules import Registry, Rule, load_registry
from kraft_vectors.features import LEVELS
from kraft_vectors.format import Vector
from kraft_vectors.texts import counted, event_line

GLYPHS = {
    Status.PASS: "✓",
    Status.FAIL: "✗",
    Status.ERROR: "‼",
    Status.INCONCLUSIVE: "?",
    Status.UNOBSERVED: "○",
    Status.UNSUPPORTED: "⊘",
    Status.SKIPPED: "»",
    Status.EXPECTED_FAILURE: "≈",
    Status.UNEXPECTED_PASS: "!",
    Verdict.NOT_RUN: "»",
    Verdict.NO_VECTOR: "·",
}
"""Marks beside a status or verdict, for readers who do not see the colours."""

_DIFFERENCES_MAX = 50
_TEMPLATES = ("report.html.j2", "matrix.html.j2", "parts.html.j2", "style.css")


class _Failure(NamedTuple):
    outcome: Outcome
    title: str
    level: str
    where: str
    why: str
    """Reason of the implementer for an expected failure."""
    event: str
    rules: Sequence[Rule]
    expected: Sequence[str]
    actual: Sequence[str] | None
    refusal: str | None
    differences: Sequence[Any]
    more: int
    command: str
    diagram: Markup | None


def page(run: Run) -> bytes:
    """Return the page; the same results give the same bytes."""
    registry = load_registry()
    vectors = run if isinstance(run, Results) else None
    failing, expected = run.of_status(*FAILING), run.of_status(Status.EXPECTED_FAILURE)
    articles = [_failure(number, outcome, run, registry) for number, outcome in enumerate((*failing, *expected))]
    rows = sorted(rule_rows(run), key=lambda row: (WORST_FIRST.index(row.verdict), row.is_whole))
    verdicts = Counter(row.verdict for row in rows)
    return rendered(
        "report.html.j2",
        run=run,
        about=None if vectors is None else vectors.about,
        passes="" if vectors is None else passes_of(vectors),
        note="" if vectors is None else vectors.other_suite,
        counts=[(status, run.counts.get(str(status), 0)) for status in run.statuses],
        number=len(run.outcomes),
        levels=() if vectors is None else _levels(vectors),
        sections=[
            ("failures", "Failures", articles[: len(failing)]),
            ("expected", "Expected failures", articles[len(failing) :]),
        ],
        reasons=reasons(run),
        rows=rows,
        verdicts=[(verdict, verdicts[verdict]) for verdict in WORST_FIRST if verdicts[verdict]],
        statuses=[status for status in run.statuses if str(status) in run.counts],
        asked=[(outcome, run.asked(outcome.id)) for outcome in run.outcomes],
    )


def rendered(template: str, **values: Any) -> bytes:
    """Render a template of this folder; all values are escaped."""
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
    environment.filters["clip"] = clip
    environment.filters["visible"] = visible
    environment.filters["lines"] = lambda text: visible(text, keep="\n")
    environment.filters["counted"] = counted
    environment.globals["glyph"] = GLYPHS.__getitem__
    environment.globals["css"] = lambda status: str(status).replace(" ", "-")
    return environment


def _levels(results: Results) -> Sequence[tuple[str, int, int]]:
    """Return the passed and the run vectors of each level."""
    entries = results.catalogue.entries
    run = Counter(entries[outcome.id].level for outcome in results.outcomes if outcome.status is not Status.SKIPPED)
    passed = Counter(entries[outcome.id].level for outcome in results.of_status(Status.PASS))
    return [(level, passed[level], run[level]) for level in LEVELS if run[level]]


def _failure(number: int, outcome: Outcome, run: Run, registry: Registry) -> _Failure:
    item, where = run.asked(outcome.id), "" if outcome.differences else outcome.reason
    level, step, drawn = "", None, None
    if isinstance(run, Results):
        vector = run.asked(outcome.id)
        level = vector.level
        if outcome.differences:
            where = "Before the first step" if outcome.step == 0 else f"Step {outcome.step} of {len(vector.steps)}"
        # Vectors of partition controllers have no messages to draw.
        if isinstance(vector, Vector) and (drawn := sequence(vector, outcome, run.about)) and outcome.step:
            step = vector.steps[outcome.step - 1]
    title = f"Sequence diagram of {outcome.id}"
    return _Failure(
        outcome,
        item.title,
        level,
        where,
        outcome.reason if outcome.differences and outcome.status is Status.EXPECTED_FAILURE else "",
        "" if step is None else event_line(plain(step)),
        [registry[rule_id] for rule_id in outcome.rules or item.rules],
        [] if step is None else [output_words(plain(output)) for output in step.outputs],
        None if outcome.effects is None else [output_words(effect) for effect in outcome.effects],
        None if step is None else step.refusal,
        outcome.differences[:_DIFFERENCES_MAX],
        max(0, len(outcome.differences) - _DIFFERENCES_MAX),
        run.repetition(outcome),
        None if drawn is None else Markup(drawing(drawn, number, title)),
    )
