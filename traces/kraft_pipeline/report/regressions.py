"""What is worse than in an earlier run, from the figures of both reports."""

from kraft_pipeline.report.figures import Document

_GROUP = ("rule", "event", "field", "kind")


def regressions(before: Document, now: Document) -> Document:
    """Failures that are new, what was seen and is not any more, and the speed of both.

    Groups of failures are those that the reports list, the largest ones.
    """
    known = {tuple(one[name] for name in _GROUP) for one in before["failures"]}
    broken = {one["property"] for one in before["violations"]}
    speed = {one["stage"]: one["events_per_second"] for one in before["throughput"]}
    return {
        "failures": [
            {name: one[name] for name in (*_GROUP, "traces")}
            for one in now["failures"]
            if tuple(one[name] for name in _GROUP) not in known
        ],
        "violations": [one["property"] for one in now["violations"] if one["property"] not in broken],
        "coverage": {kind: sorted(_seen(before, kind) - _seen(now, kind)) for kind in now["coverage"]["kinds"]},
        "throughput": [
            {"stage": one["stage"], "before": speed[one["stage"]], "now": one["events_per_second"]}
            for one in now["throughput"]
            if one["events_per_second"] and speed.get(one["stage"])
        ],
    }


def _seen(document: Document, kind: str) -> set[str]:
    counts = document["coverage"]["kinds"].get(kind, {"events": {}})["events"]
    return {name for name, cells in counts.items() if any(cells)}
