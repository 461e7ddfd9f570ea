"""What `kraft-spec reassign` shows of a request, and of one that is only planned."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from kraft_conformance.console import print_json, shown, stdout
from kraft_conformance.directories.partition_history import PartitionHistory
from kraft_conformance.directories.partition_requests import Result, reassignments
from kraft_conformance.directories.partition_text import (
    partition_document,
    result_document,
    status_line,
    step_document,
    steps_text,
)
from kraft_conformance.directories.partition_work import Step
from kraft_conformance.directories.quorum_reassignment import QuorumPlan, step_in_words
from kraft_conformance.directories.reassignment_json import QUORUM, reassignment_document, reassignment_text
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.partitions.partition import Assignment, TopicPartition
from kraft_spec.proofs.changes import in_order, listed


def show_answer(
    history: PartitionHistory,
    broker: int,
    results: Sequence[Result],
    steps: Sequence[Step],
    as_json: bool,
    *,
    rollback: Mapping[TopicPartition, Assignment] | None = None,
    waited: bool = False,
) -> ExitCode:
    """Print the results of a request, the steps after it, and how far it is.

    Args:
        history: after the steps.
        broker: who forwarded the request.
        results: one for each partition.
        steps: of these partitions and of others.
        as_json: as a document.
        rollback: the replicas from before, for a file that brings them back; None for a cancellation.
        waited: whether the cluster worked until nothing happened any more.
    """
    left = [one.partition for one in reassignments(history)]
    named = [one.name for one in results if one.granted]
    if as_json:
        document: dict[str, Any] = {
            "forwarded_by": broker,
            "results": [result_document(one) for one in results],
            "steps": [step_document(one) for one in steps],
            "partitions": [partition_document(history, name) for name in named],
        }
        if rollback is not None:
            document["rollback"] = reassignment_document(rollback)
        print_json(document)
    else:
        _say(f"  broker {broker} forwards to controller {history.state.controller}")
        for one in results:
            _say(one)
        if rollback:
            _say(f"to go back: {reassignment_text(rollback)}")
        if steps:
            print(steps_text(steps))
            for name in sorted({*named, *left, *[one.name for one in steps]}):
                _say(status_line(history, name))
    return _code(results, left if waited else [])


def show_plan(
    quorum: QuorumPlan | None,
    results: Sequence[Result],
    end: tuple[PartitionHistory, Sequence[Step]] | None,
    as_json: bool,
) -> ExitCode:
    """Print the steps of a plan: those of the quorum, and those of partitions up to the end."""
    history, steps = (None, ()) if end is None else end
    granted = [one.name for one in results if one.granted]
    left = [name for name in granted if history is not None and history.state.partitions[name].is_reassigned]
    if quorum is not None and quorum.not_formatted:
        left.append(QUORUM)
    if as_json:
        document: dict[str, Any] = {
            "results": [result_document(one) for one in results],
            "steps": [step_document(one) for one in steps],
            "partitions": [partition_document(history, name) for name in granted if history is not None],
            "quorum": None if quorum is None else _quorum_document(quorum),
        }
        print_json(document)
        return _code(results, left)
    if quorum is not None:
        _show_quorum(quorum)
    for one in results:
        if not one.granted:
            _say(one)
    if steps:
        print(steps_text(steps))
        _say("in the end:")
    for name in granted:
        assert history is not None, "a plan of partitions has an end"
        _say(status_line(history, name))
    return _code(results, left)


def _code(results: Sequence[Result], left: Sequence[TopicPartition]) -> ExitCode:
    if not all(one.granted for one in results):
        return ExitCode.VIOLATION
    return ExitCode.INCONCLUSIVE if left else ExitCode.CONFORMANT


def _show_quorum(plan: QuorumPlan) -> None:
    leads = "nobody leads" if plan.leader is None else f"leader {plan.leader}"
    _say(f"{QUORUM}: voters {listed(plan.sets[0])}; {leads}")
    for number, (before, after) in enumerate(pairwise(plan.sets), 1):
        _say(f"  {number}. {step_in_words(before, after)}: voters {listed(after)}")
    if len(plan.sets) == 1:
        _say("  nothing is to be done")
    for node_id in plan.not_formatted:
        _say(f"  node {node_id} is not formatted: it could not catch up")


def _quorum_document(plan: QuorumPlan) -> dict[str, Any]:
    return {
        "leader": plan.leader,
        "sets": [[str(key) for key in in_order(voters)] for voters in plan.sets],
        "not_formatted": list(plan.not_formatted),
    }


def _say(text: object) -> None:
    stdout.print(shown(text), soft_wrap=True)
