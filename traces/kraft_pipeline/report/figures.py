"""Figures of a report in JSON form, from which the page is made."""

from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as sf

from kraft_pipeline.coverage import KINDS
from kraft_pipeline.schemas import COVERAGE, QUARANTINE, VERDICTS
from kraft_pipeline.store import Workspace
from kraft_traces.check import Extent
from kraft_traces.check.compared import GROUPS, PROPERTIES

FORMAT = "kraft-pipeline-report/1"

GROUPS_MAX = 200
"""Maximum number of groups of failures and of reasons in the report, which also has their total number."""

Document = dict[str, Any]

_GROUP = ("event", "rule", "field", "kind")
_EXAMPLE = (
    "trace_id",
    "source",
    "line",
    "sequence",
    "replica",
    "role",
    "rules",
    "explained_by",
    "conjunct",
    "properties",
    "differences",
    "command",
    "reason",
)
_PLACE = "^line [0-9]+: "


def figures(session: Any, workspace: Workspace) -> Document:
    """Return all figures of a run."""
    facts = workspace.facts()
    verdicts = workspace.read(session, VERDICTS)
    coverage = [row.asDict() for row in workspace.read(session, COVERAGE).collect()]
    quarantine = workspace.read(session, QUARANTINE) if workspace.has(QUARANTINE) else None
    failures, groups = _failures(verdicts)
    return {
        "format": FORMAT,
        "parameters": facts.get("parameters", {}),
        "account": facts.get("account", {}),
        "earlier": facts.get("earlier"),
        "regressions": None,
        "sources": _sources(verdicts),
        "compared": _compared(verdicts),
        "failures": failures,
        "failure_groups": groups,
        "violations": _violations(verdicts),
        "inconclusive": _inconclusive(verdicts),
        "other_model": int(verdicts.where("other_model").count()),
        "quarantine": [] if quarantine is None else _quarantine(quarantine),
        "coverage": _coverage(coverage),
        "throughput": throughput(facts),
    }


def _rows(table: Any) -> list[Document]:
    return [row.asDict(recursive=True) for row in table.collect()]


def _sources(verdicts: Any) -> list[Document]:
    """Return the verdicts by source: software, workload and profile."""
    names = ("generator", "workload", "profile")
    counted = verdicts.groupBy(*names).agg(
        *(sf.count_if(sf.col("verdict") == kind).alias(kind) for kind in ("accepted", "rejected", "inconclusive")),
        sf.sum("events").alias("events"),
    )
    return _rows(counted.orderBy(sf.desc("rejected"), *names).limit(GROUPS_MAX))


def _compared(verdicts: Any) -> list[Document]:
    """Return the extent of the comparison by the software that wrote the traces."""
    words = verdicts.groupBy("generator").agg(
        *(sf.count_if(sf.col("compared") == word.value).alias(word.value) for word in Extent)
    )
    row = sf.col("row")
    counted = (
        verdicts.select("generator", sf.explode("shown").alias("row"))
        .groupBy("generator", row["name"].alias("name"))
        .agg(sf.sum(row["shown"]).alias("shown"), sf.sum(row["events"]).alias("events"))
    )
    order = {name: place for place, name in enumerate((*GROUPS, *PROPERTIES))}
    recorded: dict[str, list[Document]] = {}
    for group in sorted(_rows(counted), key=lambda group: order[group["name"]]):
        recorded.setdefault(group.pop("generator"), []).append(group)
    return [
        {
            "generator": counts["generator"],
            "traces": {word.value: counts[word.value] for word in Extent},
            "shown": recorded.get(counts["generator"], []),
        }
        for counts in _rows(words.orderBy("generator").limit(GROUPS_MAX))
    ]


def _failures(verdicts: Any) -> tuple[list[Document], int]:
    """Return the rejected traces by action, rule and field, each group with its shortest example."""
    rejected = verdicts.where("verdict = 'rejected'")
    # An index in a path only identifies the effect, replica or message, not the kind of failure.
    field = sf.regexp_replace("field", r"\[[^\]]*\]", "[]")
    rejected = rejected.withColumn("field", field)
    shortest = Window.partitionBy(*_GROUP).orderBy(sf.col("sequence").asc_nulls_last(), "trace_id")
    size = sf.count("*").over(Window.partitionBy(*_GROUP))
    first = rejected.withColumn("rank", sf.row_number().over(shortest)).withColumn("traces", size).where("rank = 1")
    order = (sf.desc("traces"), *_GROUP)
    groups = [
        {**{name: row[name] for name in (*_GROUP, "traces")}, "example": {name: row[name] for name in _EXAMPLE}}
        for row in _rows(first.orderBy(*order).limit(GROUPS_MAX))
    ]
    return groups, first.count()


def _violations(verdicts: Any) -> list[Document]:
    """Return the invariants of the reference that its runs violated."""
    broken = verdicts.where("violation IS NOT NULL").withColumn("property", sf.split("violation", " ").getItem(0))
    grouped = broken.groupBy("property").agg(
        sf.count("*").alias("traces"),
        sf.min_by("violation", "trace_id").alias("example"),
        sf.min_by("command", "trace_id").alias("command"),
    )
    return _rows(grouped.orderBy(sf.desc("traces"), "property").limit(GROUPS_MAX))


def _inconclusive(verdicts: Any) -> list[Document]:
    without_place = sf.regexp_replace("reason", _PLACE, "")
    grouped = (
        verdicts.where("verdict = 'inconclusive'")
        .groupBy(without_place.alias("reason"), "defect")
        .agg(sf.count("*").alias("traces"), sf.min("source").alias("example"))
    )
    return _rows(grouped.orderBy(sf.desc("defect"), sf.desc("traces"), "reason").limit(GROUPS_MAX))


def _quarantine(quarantine: Any) -> list[Document]:
    """Return the traces in quarantine by reason, each with an example."""
    whole = quarantine.groupBy("reason").agg(sf.sum("lines").alias("lines"))
    key = sf.struct("source", "first_line")
    wrong = (
        quarantine.where("wrong")
        .groupBy("reason")
        .agg(
            sf.count("*").alias("traces"),
            sf.min_by(sf.struct("source", "line", "field", "detail"), key).alias("example"),
        )
    )
    return _rows(wrong.join(whole, "reason").orderBy(sf.desc("traces"), "reason"))


def _coverage(rows: list[Document]) -> Document:
    """Return the coverage of everything by source, and the names that are never covered."""
    writers = sorted({(row["generator"], row["workload"], row["profile"]) for row in rows})
    places = {writer: place for place, writer in enumerate(writers)}
    kinds: Document = {}
    for kind in KINDS:
        counts: dict[str, list[int]] = {}
        for row in rows:
            if row["kind"] == kind:
                cells = counts.setdefault(row["name"], [0] * len(writers))
                cells[places[row["generator"], row["workload"], row["profile"]]] = row["events"]
        kinds[kind] = {
            "seen": sum(any(cells) for cells in counts.values()),
            "names": len(counts),
            "never": sorted(name for name, cells in counts.items() if not any(cells)),
            "events": dict(sorted(counts.items())),
        }
    by_writer: dict[tuple[str, str], dict[str, set[str]]] = {}
    for row in rows:
        covered = by_writer.setdefault((row["generator"], row["profile"]), {kind: set() for kind in KINDS})
        if row["events"]:
            covered[row["kind"]].add(row["name"])
    never = [
        {
            "generator": generator,
            "profile": profile,
            "never": {kind: sorted(set(kinds[kind]["events"]) - covered[kind]) for kind in KINDS},
        }
        for (generator, profile), covered in sorted(by_writer.items())
    ]
    columns = [dict(zip(("generator", "workload", "profile"), writer, strict=True)) for writer in writers]
    return {"sources": columns, "kinds": kinds, "never": never}


def throughput(facts: Document) -> list[Document]:
    """Return the seconds and the number of events of each stage."""
    work = facts.get("work", {})
    return [
        {
            "stage": stage,
            "seconds": round(seconds, 3),
            "events": work.get(stage),
            "events_per_second": None if not work.get(stage) or not seconds else round(work[stage] / seconds, 1),
        }
        for stage, seconds in facts.get("seconds", {}).items()
    ]
