"""Regressions since an earlier run, from the figures of both reports."""

from kraft_pipeline.report.figures import Document

_GROUP = ("rule", "event", "field", "kind")


def regressions(before: Document, now: Document) -> Document:
    """Return new failures, lost coverage, and the speed of both runs.

    Only the groups of failures in the reports are compared, which are the largest ones.
    """
    earlier = {tuple(entry[name] for name in _GROUP) for entry in before["failures"]}
    broken = {entry["property"] for entry in before["violations"]}
    speed = {entry["stage"]: entry["events_per_second"] for entry in before["throughput"]}
    return {
        "failures": [
            {name: entry[name] for name in (*_GROUP, "traces")}
            for entry in now["failures"]
            if tuple(entry[name] for name in _GROUP) not in earlier
        ],
        "violations": [entry["property"] for entry in now["violations"] if entry["property"] not in broken],
        "coverage": {kind: sorted(_covered(before, kind) - _covered(now, kind)) for kind in now["coverage"]["kinds"]},
        "throughput": [
            {"stage": entry["stage"], "before": speed[entry["stage"]], "now": entry["events_per_second"]}
            for entry in now["throughput"]
            if entry["events_per_second"] and speed.get(entry["stage"])
        ],
    }


def _covered(document: Document, kind: str) -> set[str]:
    counts = document["coverage"]["kinds"].get(kind, {"events": {}})["events"]
    return {name for name, cells in counts.items() if any(cells)}
