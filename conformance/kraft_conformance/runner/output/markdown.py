"""Markdown report, small enough for the summary of a GitHub job."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.run import reasons
from kraft_conformance.runner.output.wording import clip, visible
from kraft_conformance.runner.reports import details
from kraft_spec.rules import Registry, load_registry
from kraft_vectors.profiles import shown_profile
from kraft_vectors.texts import counted

BYTES_MAX = 1_000_000
"""Maximum size; GitHub's limit for a job summary is 1 MiB."""

_FAILURES_BYTES_MAX = 800_000
_DIFFERENCES_MAX = 20
_VALUE_MAX = 300
_REASONS_MAX = 100

MARKS = {
    Status.PASS: "✅",
    Status.FAIL: "❌",
    Status.ERROR: "💥",
    Status.INCONCLUSIVE: "❔",
    Status.UNOBSERVED: "👁️",
    Status.UNSUPPORTED: "🚫",
    Status.SKIPPED: "⏭️",
    Status.EXPECTED_FAILURE: "🟠",
    Status.UNEXPECTED_PASS: "❗",
}
"""Marks beside the status, never instead of it."""


def markdown(results: Results) -> bytes:
    """Return the document."""
    head = [*_head(results), *_by_group(results)]
    tail = list(_reasons(results))
    failures = list(_failures(results))
    return "\n".join([*head, *failures, *tail, ""]).encode()


def _head(results: Results) -> Iterator[str]:
    about = results.about
    kips = ", ".join([f"{kip} {level}" for kip, level in sorted(about.kip_levels.items())])
    yield f"# KRaft conformance: {in_line(results.implementation)}"
    yield ""
    if note := results.other_suite:
        yield from ("> [!WARNING]", f"> {note}", "")
    profile = in_line(shown_profile(about.profile))
    yield f"Profile {profile}, observability `{about.observability}`; {in_line(kips or 'no KIP')}."
    if about.note:
        yield f"{in_line(about.note)}."
    if about.unsupported:
        yield f"Not supported: {', '.join(map(in_line, about.unsupported))}."
    if about.unobserved:
        yield f"Never shown: {', '.join(map(in_line, about.unobserved))}."
    suite, number = about.suite, counted(len(results.outcomes), "vector")
    yield f"{number} of {suite.vectors}; {suite}, manifest `{suite.manifest_sha256[:12]}`."
    yield ""


def _by_group(results: Results) -> Iterator[str]:
    statuses = [status for status in Status if str(status) in results.counts]
    groups: dict[str, Counter[Status]] = {}
    for outcome in results.outcomes:
        groups.setdefault(outcome.id.partition(".")[0], Counter())[outcome.status] += 1
    heads = [f"{MARKS[status]} {status}" for status in statuses]
    yield _row("group", *heads, "vectors")
    yield f"|---|{'---:|' * (len(statuses) + 1)}"
    for group, tally in sorted(groups.items()):
        yield _row(in_line(group), *[str(tally[status] or "") for status in statuses], str(tally.total()))
    totals = [f"**{results.counts[str(status)]}**" for status in statuses]
    yield _row("**all**", *totals, f"**{len(results.outcomes)}**")
    yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _failures(results: Results) -> Iterator[str]:
    failing = results.of_status(*FAILING)
    if not failing:
        return
    registry, written = load_registry(), 0
    yield from ("## Failures", "")
    for number, outcome in enumerate(failing):
        lines = list(_failure(outcome, results, registry))
        written += sum(len(line.encode()) + 1 for line in lines)
        if written > _FAILURES_BYTES_MAX:
            yield from (f"{counted(len(failing) - number, 'more failure')}; the report in HTML has all of them.", "")
            return
        yield from lines


def _failure(outcome: Outcome, results: Results, registry: Registry) -> Iterator[str]:
    vector = results.asked(outcome.id)
    level = "" if outcome.rule_level is None else f" ({outcome.rule_level})"
    yield f"### {MARKS[outcome.status]} {outcome.status}{level}: {in_line(outcome.id)}"
    yield from ("", escaped(vector.title) + ".", "")
    where = details(outcome, "").splitlines()[0] if outcome.differences else outcome.reason
    yield from (in_line(where), "")
    for rule_id in outcome.rules or vector.rules:
        rule = registry[rule_id]
        yield f"- {rule.level} `{rule.id}`: {escaped(rule.title)}"
    yield ""
    if outcome.differences:
        yield from ("| field | expected | actual |", "|---|---|---|")
        for difference in outcome.differences[:_DIFFERENCES_MAX]:
            yield f"| {cell(difference.field)} | {cell(difference.expected)} | {cell(difference.actual)} |"
        yield ""
        if len(outcome.differences) > _DIFFERENCES_MAX:
            yield from (f"{counted(len(outcome.differences) - _DIFFERENCES_MAX, 'more difference')}.", "")
    if outcome.stderr:
        yield from ("Standard error:", "", *block(outcome.stderr.rstrip()), "")
    yield from (*block(results.repetition(outcome), "sh"), "")


def _reasons(results: Results) -> Iterator[str]:
    """Yield the vectors that neither pass nor fail, by reason."""
    listed = reasons(results)
    if not listed:
        return
    yield from ("## Neither passed nor failed", "", "| status | reason | vectors | such as |", "|---|---|---:|---|")
    for reason in listed[:_REASONS_MAX]:
        status = f"{MARKS[reason.status]} {reason.status}"
        yield f"| {status} | {cell(reason.reason)} | {len(reason.ids)} | {in_line(reason.ids[0])} |"
    if len(listed) > _REASONS_MAX:
        yield f"| | {counted(len(listed) - _REASONS_MAX, 'more reason')} | | |"
    yield ""


# -------------------------------------------------------------------------------------------------------------
# Texts.
# -------------------------------------------------------------------------------------------------------------

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~&@$]")


def escaped(text: str) -> str:
    """Return a text of the suite with escaped markup."""
    return _SPECIAL.sub(r"\\\g<0>", visible(text))


def in_line(text: str, most: int = _VALUE_MAX) -> str:
    """Return any text as inline code without markup."""
    clipped = clip(text, most)
    fence = "`" * (max(map(len, re.findall("`+", clipped)), default=0) + 1)
    pad = " " if clipped.startswith("`") or clipped.endswith("`") or not clipped.strip() else ""
    return f"{fence}{pad}{clipped}{pad}{fence}"


def cell(text: str) -> str:
    """Return any text as inline code in a table cell.

    Markdown programs differ in how they treat bars and backslashes in cells, so such characters become entities.
    """
    clipped = clip(text, _VALUE_MAX)
    if not re.search(r"[|\\`]", clipped):
        return in_line(text)
    return f"<code>{_SPECIAL.sub(lambda match: f'&#{ord(match[0])};', clipped)}</code>"


def block(text: str, language: str = "") -> Sequence[str]:
    """Return the lines of a code block."""
    visible_text = visible(text, keep="\n")
    fence = "`" * max(3, max(map(len, re.findall("`+", visible_text)), default=0) + 1)
    return f"{fence}{language}", *visible_text.split("\n"), fence
