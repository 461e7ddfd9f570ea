"""Documents of the viewer of partition traces: with the changes applied, they agree with the trace."""

import json
from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import due
from kraft_partitions.decisions import KAFKA_4, KIP, ReassignmentProfile
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    CompleteReassignment,
    DeleteTopic,
    Event,
)
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.partition import TopicPartition
from kraft_partitions.state import exists, initial_state
from kraft_spec.action_rules import partition_event_rules
from kraft_spec.difference import Difference
from kraft_spec.rules import load_registry
from kraft_traces.check import Rejection
from kraft_traces.check.verdict import RejectionKind
from kraft_traces.partitions.checker import PartitionVerdict
from kraft_traces.partitions.encode import header_of, line_of, traced_state
from kraft_traces.partitions.lines import TracedPartition
from kraft_traces.view.partitions import PartitionDocument, partition_document

A0 = TopicPartition("A", 0)
SMALL = PartitionConfiguration(frozenset({1, 2, 3}), {A0: (1, 3)}, (7,))


PARTITION = TracedPartition.__struct_fields__


def happened(configuration: PartitionConfiguration, *events: Event) -> tuple[PartitionOccurrence, ...]:
    state, occurrences = initial_state(configuration), []
    for sequence, event in enumerate(events, 1):
        occurrences.append(happen(sequence, state, event, configuration))
        state = occurrences[-1].state
    return tuple(occurrences)


def told(
    configuration: PartitionConfiguration,
    occurrences: Iterable[PartitionOccurrence],
    verdict: PartitionVerdict | None = None,
    switched_off: tuple[str, ...] = (),
) -> PartitionDocument:
    """As the page gets it."""
    lines = [(occurrence.sequence + 1, line_of(occurrence)) for occurrence in occurrences]
    document = partition_document("run.jsonl", header_of(configuration, 5, switched_off=switched_off), lines, verdict)
    as_json: PartitionDocument = json.loads(json.dumps(document))
    return as_json


def plain(value: Any) -> Any:
    return json.loads(json.dumps(to_builtins(value)))


def small() -> PartitionDocument:
    request = AlterPartitionReassignments(7, ((A0, (1, 2)), (TopicPartition("missing", 0), None)))
    caught_up = AlterPartition(7, 1, A0, 0, 1, frozenset({1, 2, 3}))
    return told(SMALL, happened(SMALL, request, CompleteReassignment(A0), BrokerFails(3), caught_up))


def test_the_document_of_a_small_trace() -> None:
    document = small()
    assert (document["source"], document["header"]) == ("run.jsonl", plain(header_of(SMALL, 5)))
    assert (document["verdict"], document["broken"], document["partitions"]) == (None, None, ["A-0"])
    assert (document["start"]["controller"], document["start"]["alive"]) == (7, [1, 2, 3])
    request, not_due, fails, refused = document["events"]
    moved = {"replicas": [3, 1, 2], "adding": [2], "removing": [3], "partition_epoch": 1}
    widened = {"in_sync": [1, 3], "leader": 1, "leader_epoch": 0, **moved}
    stores = {"type": "StorePartitions", "partitions": [{"name": "A-0", **widened}]}
    results = [["A-0", "NONE"], ["missing-0", "UNKNOWN_TOPIC_OR_PARTITION"]]
    tells = {"type": "LeaderAndIsr", "partition": "A-0", "version": 3, **widened}
    rules = [rule["id"] for rule in document["rules"]]
    assert request == {
        "sequence": 1,
        "line": 2,
        "event": "AlterPartitionReassignments",
        "fields": {
            "node": 7,
            "targets": [["A-0", [1, 2]], ["missing-0", None]],
            "may_alter": True,
            "timeout_ms": 60000,
        },
        "effects": [
            stores,
            *[{**tells, "broker": broker} for broker in (3, 1, 2)],
            {"type": "AlterReassignmentsAnswer", "error": "NONE", "results": results},
        ],
        "partitions": ["A-0"],
        "rules": [rules.index(rule) for rule in partition_event_rules("AlterPartitionReassignments")],
        "changed": {"partitions": {"A-0": {**moved, "waits_for": {"brokers": [2], "any": False}}}},
    }
    assert (not_due["refusal"], not_due.keys() & {"effects", "changed"}) == ("NOTHING_DUE", set())
    assert (fails["fields"], fails["changed"]["alive"]) == ({"broker": 3}, [1, 2])
    assert fails["changed"]["partitions"] == {"A-0": {"in_sync": [1], "partition_epoch": 2}}
    answer = {"type": "AlterPartitionAnswer", "error": "INVALID_UPDATE_VERSION", "partition_epoch": None}
    assert (refused["refusal"], refused["effects"]) == ("REQUEST_REFUSED", [answer])
    names = [event["event"] for event in document["events"]]
    assert rules == list(dict.fromkeys(rule for name in names for rule in partition_event_rules(name)))
    for entry in document["rules"]:
        known = load_registry()[entry["id"]]
        assert entry == {"id": known.id, "title": known.title, "level": known.level, "statement": known.statement}


def rebuilt(document: PartitionDocument) -> Iterable[dict[str, Any]]:
    """The state after each event, as the page's script puts it together."""
    state = json.loads(json.dumps(document["start"]))
    for event in document["events"]:
        changed = event.get("changed", {})
        for name, fields in changed.get("partitions", {}).items():
            state["partitions"][name] = {**state["partitions"].get(name, {}), **fields}
        state = {**state, **{name: value for name, value in changed.items() if name != "partitions"}}
        yield state


profiles = st.sampled_from((KIP, KAFKA_4))


@given(st.integers(0, 2**32), st.integers(1, 80), profiles)
def test_random_runs(seed: int, events: int, profile: ReassignmentProfile) -> None:
    configuration = random_configuration(seed, profile)
    run = random_run(configuration, seed, events)
    document = told(configuration, run)
    for occurrence, state in zip(run, rebuilt(document), strict=True):
        expected = plain(traced_state(occurrence.state))
        expected["legacy"] = [[f"{topic}-{number}", replicas] for (topic, number), replicas in expected["legacy"]]
        rows = [
            {"name": [name[:-2], int(name[-1])], **{k: v for k, v in fields.items() if k in PARTITION}}
            for name, fields in sorted(state["partitions"].items())
        ]
        assert {**state, "partitions": rows} == expected


@given(st.integers(0, 2**32), st.integers(1, 80), profiles)
def test_what_waits_for_nobody_is_due(seed: int, events: int, profile: ReassignmentProfile) -> None:
    configuration = random_configuration(seed, profile)
    run = random_run(configuration, seed, events)
    for occurrence, state in zip(run, rebuilt(told(configuration, run)), strict=True):
        controller = occurrence.state
        ready = [
            name
            for name, partition in sorted(controller.partitions.items())
            if exists(controller, controller.partitions, name)
            and partition.is_reassigned
            and not state["partitions"][str(name)]["waits_for"]["brokers"]
        ]
        assert tuple(ready) == due(controller, configuration)
        for name, partition in controller.partitions.items():
            assert (state["partitions"][str(name)]["waits_for"] is None) == (not partition.is_reassigned)


def test_one_of_several_is_enough() -> None:
    """No replica is added, and the replicas in sync are to be removed."""
    configuration = PartitionConfiguration(frozenset({1, 2, 3}), {A0: (1, 2, 3)}, (7,))
    alone = AlterPartition(7, 1, A0, 0, 0, frozenset({1}))
    document = told(configuration, happened(configuration, alone, AlterPartitionReassignments(7, ((A0, (2, 3)),))))
    waits = document["events"][1]["changed"]["partitions"]["A-0"]["waits_for"]
    assert waits == {"brokers": [2, 3], "any": True}


def test_without_the_rule_nobody_is_waited_for() -> None:
    off = ("partition-reassign.add-before-remove",)
    configuration = PartitionConfiguration(SMALL.brokers, SMALL.assignments, (7,))
    request = AlterPartitionReassignments(7, ((A0, (1, 2)),))
    document = told(configuration, happened(configuration, request), switched_off=off)
    waits = document["events"][0]["changed"]["partitions"]["A-0"]["waits_for"]
    assert waits == {"brokers": [], "any": False}
    assert "partition-reassign.add-before-remove" in [rule["id"] for rule in document["rules"]]


def test_a_topic_names_its_partitions() -> None:
    assignments = {A0: (1,), TopicPartition("A", 1): (2,), TopicPartition("B", 0): (3,)}
    configuration = PartitionConfiguration(frozenset({1, 2, 3}), assignments, (7,))
    document = told(configuration, happened(configuration, DeleteTopic("A")))
    (event,) = document["events"]
    assert (event["partitions"], event["changed"]) == (
        ["A-0", "A-1"],
        {"deleting": ["A"], "partitions": {"A-0": {"being_deleted": True}, "A-1": {"being_deleted": True}}},
    )


def test_a_verdict_with_a_wrong_line() -> None:
    rejection = Rejection(
        RejectionKind.MISMATCH,
        "some/folder/run.jsonl",
        3,
        2,
        "CompleteReassignment",
        None,
        None,
        rules=("partition-reassign.mixed-versions",),
        differences=(Difference("refusal", "NOTHING_DUE", ""), Difference("controller", "7", "8")),
    )
    run = happened(SMALL, CompleteReassignment(A0))
    document = told(SMALL, run, PartitionVerdict("some/folder/run.jsonl", 1, rejection))
    verdict = document["verdict"]
    assert verdict is not None
    assert verdict["kind"] == "rejected"
    assert (
        verdict["headline"]
        == "run.jsonl:3: event 2 (CompleteReassignment): the recorded outcome differs from the model"
    )
    assert "some/folder" not in json.dumps(document)
    # A text without letters would not be seen.
    assert verdict["rejection"]["differences"] == [
        {"field": "refusal", "expected": "NOTHING_DUE", "actual": "none"},
        {"field": "controller", "expected": "7", "actual": "8"},
    ]
    # Titles of the rules that the rejection names are known to the page, whether an event exercises them or not.
    assert "partition-reassign.mixed-versions" in [rule["id"] for rule in document["rules"]]
