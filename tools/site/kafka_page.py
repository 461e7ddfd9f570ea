"""Releases of Apache Kafka, rule by rule: what running them showed."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tools.site.markup import counted

from kraft_conformance.runner.outcome import FAILING, Status
from kraft_dev.markdown import table
from kraft_kafka.differences import Difference, known_differences
from kraft_kafka.recorded import Recorded, RecordedRun, load_recorded
from kraft_spec.rules import Registry
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.profiles import Difference as Decision
from kraft_vectors.profiles import read_kafka_file

PAGE = "results/kafka.md"

NOT_OBSERVABLE = "not observable"


def kafka_page(registry: Registry) -> str:
    """The page, from the recorded runs."""
    recorded = load_recorded()
    vectors = _vectors_of_rules()
    decisions = [one for one in read_kafka_file().difference if one.subject == "replica"]
    lines = [
        "# Apache Kafka, rule by rule",
        "",
        *_head(recorded),
        "## Differences that a profile says",
        "",
        "Each is an answer of a [profile](../results/profiles.md), which has the classes and methods too.",
        "",
        *table(("decision", *_versions(recorded)), [_decision_row(one, recorded) for one in decisions]),
        "",
        "## Other differences",
        "",
        "`kraft-spec kafka run` prints these beside the vectors that fail because of them; a failure that none of them "
        "explains is what its exit code is about.",
        "*Finding*: it breaks what a rule asks for where a cluster may get to; the others are allowed, or come "
        "of how the suite drives a replica.",
        "A vector ends at the first step that differs: what comes after it there, the release has not shown.",
        "",
        *table(
            ("", "what Kafka does", "where", "finding", "seen on"),
            [_difference_row(number, one, recorded) for number, one in enumerate(known_differences(), 1)],
        ),
        "",
        "## Rules",
        "",
        "*conforms*: so many vectors that the rule decides pass, and nothing above is about it.",
        f"*{NOT_OBSERVABLE}*: no vector of the rule applies to the release and shows enough.",
        "",
    ]
    for group in registry.groups:
        rules = [rule for rule in registry if rule.group == group and rule.is_active and rule.id in vectors]
        if rules:
            rows = [
                (f"`{rule.id}`", *[_cell(rule.id, vectors[rule.id], run, decisions) for run in recorded.releases])
                for rule in rules
            ]
            lines += [f"### {group}", "", *table(("rule", *_versions(recorded)), rows), ""]
    return "\n".join(lines) + "\n"


def release_rows(recorded: Recorded) -> list[tuple[str, ...]]:
    """A row for each release: how many vectors pass, differ as is known, differ otherwise, and do not show."""
    rows = []
    for run in recorded.releases:
        number = Counter(run.statuses.values())
        unexplained = sum(number[status] for status in FAILING)
        shown = (number[Status.PASS], number[Status.EXPECTED_FAILURE], unexplained, number[Status.UNOBSERVED])
        rows.append((run.version, *map(str, shown)))
    return rows


def _head(recorded: Recorded) -> Iterator[str]:
    said = "" if recorded.is_current else " **Older than the vectors**, which have changed since."
    yield (
        "What releases of Apache Kafka did when the [vectors](../conformance.md) ran on their own `KafkaRaftClient`."
        f"{said}"
    )
    yield "[Kafka itself](../kafka.md) says how to run a branch, and which parts of Kafka are stood in for."
    yield ""
    rows = [
        (row[0], f"`{run.profile}`", *row[1:], f"{run.date}, commit {run.commit}", f"`{run.command}`")
        for run, row in zip(recorded.releases, release_rows(recorded), strict=True)
    ]
    yield from table(
        (
            *("release", "profile", "pass", "differ as below", "unexplained", "not seen", "run on"),
            "the command that repeats it",
        ),
        rows,
    )
    yield ""


def _versions(recorded: Recorded) -> list[str]:
    return [run.version for run in recorded.releases]


def _vectors_of_rules() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for entry in Catalogue().manifest.vectors:
        if entry.subject == "replica":
            for rule in entry.rules:
                found.setdefault(rule, []).append(entry.id)
    return found


def _decision_row(one: Decision, recorded: Recorded) -> tuple[str, ...]:
    cells = []
    for run in recorded.releases:
        shown = one.shown_on(run.statuses)
        answer = one.answers[run.profile]
        cells.append(f"{answer}: `{shown[0]}`" if shown else f"{answer}: only read")
    return (f"`{one.decision}`", *cells)


def _difference_row(number: int, one: Difference, recorded: Recorded) -> tuple[str, ...]:
    seen = [run.version for run in recorded.releases if _is_seen(one, run)]
    return (f"K{number}", one.says, one.where, "yes" if one.is_finding else "no", ", ".join(seen) or "none")


def _is_seen(one: Difference, run: RecordedRun) -> bool:
    return any(run.statuses.get(vector) is Status.EXPECTED_FAILURE for vector in one.vectors)


def _cell(rule: str, vectors: Sequence[str], run: RecordedRun, decisions: Sequence[Decision]) -> str:
    """What a release makes of a rule."""
    unexplained = [vector for vector in vectors if run.statuses.get(vector) in FAILING]
    if unexplained:
        return f"unexplained: `{unexplained[0]}`"
    differs = [
        f"`{one.decision}`" + ("" if one.shown_on(run.statuses) else " (only read)")
        for one in decisions
        if rule in one.rules and one.differs_under(run.profile)
    ]
    for number, known in enumerate(known_differences(), 1):
        if rule in known.rules and _is_seen(known, run):
            differs.append(f"K{number}")
    if differs:
        return f"differs: {', '.join(differs)}"
    passed = sum(run.statuses.get(vector) is Status.PASS for vector in vectors)
    return f"conforms, {counted(passed, 'vector')}" if passed else NOT_OBSERVABLE
