"""Stage `coverage`: actions, rules, transitions, errors and faults in the lines that are steps of the model.

An event counts for a rule if its action cites the rule and the rule applies to the replica's role
(`kraft_spec.action_rules`).
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from pyspark.sql import functions as sf

from kraft_pipeline.observed import FAULT_KINDS
from kraft_pipeline.progress import Notice, watched
from kraft_pipeline.schemas import COVERAGE, EVENTS, TALLIES, VERDICTS
from kraft_pipeline.store import Workspace
from kraft_reference.messages import Error
from kraft_reference.roles import TRANSITIONS, Role
from kraft_simulation.workload import WORKLOADS
from kraft_spec.action_rules import EVENT_OPERATORS, rules_of_event
from kraft_traces.vocabulary import EVENT_NAMES

ACTION, RULE, TRANSITION, ERROR, FAULT = "action", "rule", "transition", "error", "fault"
KINDS = (ACTION, RULE, TRANSITION, ERROR, FAULT)
"""Kinds of covered things."""

ARROW = " -> "
"""Separator of the two roles of a transition."""

_ROLES = (None, *(role.value for role in Role))
_PRE_VOTES = (None, False, True)


def rule_rows() -> Iterator[tuple[str, str | None, bool | None, list[str]]]:
    """Yield every combination of event, role before and Pre-Vote that has rules, with these rules."""
    for event, role, pre_vote in product(EVENT_OPERATORS, _ROLES, _PRE_VOTES):
        if rules := list(rules_of_event(event, role, pre_vote)):
            yield event, role, pre_vote, rules


def everything() -> dict[str, tuple[str, ...]]:
    """Return everything that can be covered, by kind, in the order of the report."""
    transitions = dict.fromkeys(
        f"{row.source}{ARROW}{row.target}" for row in TRANSITIONS if row.source is not row.target
    )
    return {
        ACTION: EVENT_NAMES,
        RULE: tuple(sorted({rule for *_, rules in rule_rows() for rule in rules})),
        TRANSITION: tuple(transitions),
        ERROR: tuple(Error),
        FAULT: FAULT_KINDS,
    }


_OF_WRITER = ("generator", "workload", "profile")


def tallies_of(events: Any, verdicts: Any) -> Any:
    """Transform DataFrames of `EVENTS` and `VERDICTS` to one of `TALLIES`.

    Only events that are steps of the model count: of a rejected trace those before the rejected line.
    """
    steps = verdicts.select("trace_id", sf.col("events").alias("steps"))
    columns = [name for name in TALLIES.names if name != "events"]
    counted = events.join(steps, "trace_id").where(sf.col("sequence") <= sf.col("steps"))
    return counted.groupBy(*columns).agg(sf.count("*").alias("events"))


def coverage(session: Any, tallies: Any, verdicts: Any) -> Any:
    """Transform DataFrames of `TALLIES` and `VERDICTS` to one of `COVERAGE`."""
    # Other software may use a different workload name for each run.
    named = sf.when(sf.col("workload").isin(list(WORKLOADS)), sf.col("workload")).otherwise(sf.lit(""))
    writers = verdicts.withColumn("workload", named).select("trace_id", *_OF_WRITER)
    counted = _seen(session, tallies).groupBy("trace_id", "kind", "name").agg(sf.sum("events").alias("events"))
    by_writer = (
        counted.join(writers, "trace_id")
        .groupBy("kind", "name", *_OF_WRITER)
        .agg(sf.sum("events").alias("events"), sf.count("*").alias("traces"))
    )
    names = [(kind, name) for kind, of_kind in everything().items() for name in of_kind]
    can_be_seen = session.createDataFrame(names, "kind STRING, name STRING")
    wanted = sf.broadcast(can_be_seen).crossJoin(writers.select(*_OF_WRITER).distinct())
    # A full join, because something may be covered that no list has.
    joined = wanted.join(by_writer, ["kind", "name", *_OF_WRITER], "full")
    return joined.na.fill(0, ["events", "traces"]).select(*COVERAGE.names)


def _seen(session: Any, tallies: Any) -> Any:
    """Return rows of trace, kind, name and number of events, reading each tally once."""
    rules = session.createDataFrame(
        list(rule_rows()), "rule_event STRING, rule_role STRING, rule_pre_vote BOOLEAN, rules ARRAY<STRING>"
    )
    event, before, after = sf.col("event"), sf.col("role_before"), sf.col("role_after")
    same = (
        (event == sf.col("rule_event"))
        & before.eqNullSafe(sf.col("rule_role"))
        & sf.col("pre_vote").eqNullSafe(sf.col("rule_pre_vote"))
    )
    covered = {
        ACTION: sf.array(event),
        RULE: sf.coalesce("rules", sf.array()),
        TRANSITION: sf.array(sf.when(before != after, sf.concat(before, sf.lit(ARROW), after))),
        ERROR: sf.array_distinct("errors"),
        FAULT: sf.array("fault"),
    }
    everything_shown = sf.concat(*(_named(kind, names) for kind, names in covered.items()))
    rows = tallies.join(sf.broadcast(rules), same, "left")
    counted = rows.select("trace_id", "events", sf.explode(everything_shown).alias("seen"))
    return counted.select("trace_id", "seen.kind", "seen.name", "events").where("name IS NOT NULL")


def _named(kind: str, names: Any) -> Any:
    return sf.transform(names, lambda name: sf.struct(sf.lit(kind).alias("kind"), name.alias("name")))


def run_coverage(session: Any, workspace: Workspace, notice: Notice) -> None:
    """Run the stage on the tables of `ingest`."""
    events, verdicts = (workspace.read(session, table) for table in (EVENTS, VERDICTS))
    write_coverage(session, workspace, tallies_of(events, verdicts), verdicts, notice)


def write_coverage(session: Any, workspace: Workspace, tallies: Any, verdicts: Any, notice: Notice) -> None:
    """Write the table, unless it exists."""
    if not workspace.has(COVERAGE):
        with watched(session, "coverage", notice):
            table = coverage(session, tallies, verdicts).repartition(1)
            workspace.write(COVERAGE, table.sortWithinPartitions(*_OF_WRITER, "kind", "name"))
