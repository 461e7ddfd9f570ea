"""Releases of Apache Kafka by rule and by decision: results of runs, and what was read in the source."""

from collections import Counter
from typing import Any

from msgspec import to_builtins
from tools.site.names import attributes

from kraft_conformance.runner.outcome import FAILING, Status
from kraft_kafka.differences import known_differences
from kraft_kafka.recorded import RecordedRun, load_recorded
from kraft_reference.profile import KAFKA_4
from kraft_spec.rules import Registry
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.profiles import REPOSITORY, Difference, read_kafka_file

_COUNTED = ((Status.PASS,), (Status.EXPECTED_FAILURE,), FAILING, (Status.UNOBSERVED,))
"""Columns of counts: passing vectors, known differences, other differences, not observable."""


def kafka_facts(registry: Registry) -> dict[str, Any]:
    """Return the recorded runs by release, the known differences by number, and each release's results by rule."""
    recorded = load_recorded()
    vectors: dict[str, list[str]] = {}
    for entry in Catalogue().manifest.vectors:
        if entry.subject == "replica":
            for rule in entry.rules:
                vectors.setdefault(rule, []).append(entry.id)
    return {
        "is_current": recorded.is_current,
        "releases": {
            run.version: {**attributes(run, "version profile date commit command"), "counts": counts(run)}
            for run in recorded.releases
        },
        "differences": {
            f"K{number}": {
                **attributes(difference, "says where rules is_finding"),
                "seen_on": [run.version for run in recorded.releases if _is_seen(difference.vectors, run)],
            }
            for number, difference in enumerate(known_differences(), 1)
        },
        "rules": {
            rule.id: {run.version: _conformance(rule.id, vectors[rule.id], run) for run in recorded.releases}
            for rule in registry
            if rule.is_active and rule.id in vectors
        },
    }


def counts(run: RecordedRun) -> list[int]:
    """Return the numbers of passing vectors, known differences, other differences, and unobservable vectors."""
    number = Counter(run.statuses.values())
    return [sum(number[status] for status in statuses) for statuses in _COUNTED]


def _is_seen(vectors: tuple[str, ...], run: RecordedRun) -> bool:
    return any(run.statuses.get(vector) is Status.EXPECTED_FAILURE for vector in vectors)


def _conformance(rule: str, vectors: list[str], run: RecordedRun) -> dict[str, Any]:
    """Return a rule's unexplained failing vectors, its number of passing ones, and the known differences."""
    return {
        "unexplained": [vector for vector in vectors if run.statuses.get(vector) in FAILING],
        "decisions": [
            decision.decision
            for decision in read_kafka_file().difference
            if decision.subject == "replica" and rule in decision.rules and decision.differs_under(run.profile)
        ],
        "differences": [
            f"K{number}"
            for number, difference in enumerate(known_differences(), 1)
            if rule in difference.rules and _is_seen(difference.vectors, run)
        ],
        "passed": sum(run.statuses.get(vector) is Status.PASS for vector in vectors),
    }


def profile_facts() -> dict[str, Any]:
    """Return the differences of the profiles by decision, and every known difference outside the profiles."""
    file = read_kafka_file()
    return {
        "newest": KAFKA_4.name,
        "repository": REPOSITORY,
        "revisions": to_builtins(file.revision),
        "differences": {decision.decision: _decision(decision) for decision in file.difference},
        "alike": [{**to_builtins(decision), "verified": decision.verified} for decision in file.alike],
        "unexpressed": to_builtins(file.unexpressed),
        "agreeing": file.agreeing,
    }


def _decision(decision: Difference) -> dict[str, Any]:
    """Return a decision with its vectors' variants under kip, and each release's setting with its vector."""
    releases = load_recorded().releases if decision.subject == "replica" else ()
    return {
        **to_builtins(decision),
        "verified": decision.verified,
        "subject": decision.subject,
        "variants": {vector: decision.kip_variant(vector) or "" for vector in decision.vectors},
        "releases": {
            run.version: {
                "answer": decision.answers[run.profile],
                "shown_by": next(iter(decision.shown_on(run.statuses)), ""),
            }
            for run in releases
        },
    }
