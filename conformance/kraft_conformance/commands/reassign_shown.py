"""What `kraft-spec admin reassign` shows of a request, of waiting, and of a request that is only planned."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from kraft_conformance.console import print_json, shown, stdout
from kraft_conformance.directories import quorum_reassignment
from kraft_conformance.directories.error_codes import CODES
from kraft_conformance.directories.partition_history import PartitionHistory
from kraft_conformance.directories.partition_requests import Result, reassignments
from kraft_conformance.directories.partition_text import (
    NOTHING_RUNS,
    partition_document,
    result_document,
    status_line,
    step_document,
    steps_text,
)
from kraft_conformance.directories.partition_work import Step
from kraft_conformance.directories.quorum_reassignment import QuorumPlan, step_in_words
from kraft_conformance.directories.quorum_requests import QuorumAnswer
from kraft_conformance.directories.quorum_text import (
    quorum_answer_document,
    quorum_result_document,
    quorum_step_document,
    quorum_steps_text,
)
from kraft_conformance.directories.quorum_work import Watch
from kraft_conformance.directories.reassigned_cluster import ReassignedCluster
from kraft_conformance.directories.reassigned_partitions import document
from kraft_conformance.directories.reassignment_json import QUORUM, reassignment_document, reassignment_text
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.messages import Error
from kraft_reference.partitions.partition import Assignment, TopicPartition
from kraft_spec.proofs.changes import in_order, listed

_WORST = (ExitCode.UNAVAILABLE, ExitCode.VIOLATION, ExitCode.INCONCLUSIVE, ExitCode.CONFORMANT)


class Answered(NamedTuple):
    """What became of a request about partitions, the quorum's own perhaps among them."""

    names: tuple[TopicPartition, ...]
    """In the order of the request."""
    broker: int | None
    """Who forwarded what is about partitions of topics; None if nothing is."""
    results: tuple[Result, ...]
    answer: QuorumAnswer | None
    """None if nothing is about the quorum."""

    @property
    def by_name(self) -> dict[TopicPartition, Result | QuorumAnswer]:
        """The results in the order of the request."""
        found: dict[TopicPartition, Result | QuorumAnswer] = {one.name: one for one in self.results}
        if self.answer is not None:
            found[QUORUM] = self.answer
        return {name: found[name] for name in self.names}

    @property
    def granted(self) -> list[TopicPartition]:
        """The partitions for which it was granted."""
        return [name for name, one in self.by_name.items() if one.granted]


def worst(codes: Iterable[ExitCode]) -> ExitCode:
    """The exit code of several parts."""
    return min(codes, key=_WORST.index, default=ExitCode.CONFORMANT)


def show_answer(
    there: ReassignedCluster,
    answered: Answered,
    steps: Sequence[Step],
    as_json: bool,
    *,
    rollback: Mapping[TopicPartition, Assignment] | None = None,
    waited: bool = False,
) -> ExitCode:
    """Print the results of a request, the steps after it, and how far it is.

    Args:
        there: the cluster after the steps.
        answered: the results.
        steps: of the partitions of topics, of these and of others.
        as_json: as a document.
        rollback: the replicas from before, for a file that brings them back; None for a cancellation.
        waited: whether the cluster worked until nothing happened any more.
    """
    if as_json:
        print_json(_answer_document(there, answered, steps, rollback))
    else:
        _show_answer(there, answered, steps, rollback)
    left = [one.partition for one in there.running if waited]
    codes = [_code(answered.results, [name for name in left if name != QUORUM] if answered.results else [])]
    if answered.answer is not None:
        codes += [answered.answer.exit_code, ExitCode.INCONCLUSIVE if QUORUM in left else ExitCode.CONFORMANT]
    return worst(codes)


def _answer_document(
    there: ReassignedCluster,
    answered: Answered,
    steps: Sequence[Step],
    rollback: Mapping[TopicPartition, Assignment] | None,
) -> dict[str, Any]:
    answer = answered.answer
    named = [one.name for one in answered.results if one.granted]
    whole: dict[str, Any] = {
        "forwarded_by": answered.broker,
        "results": [
            result_document(one) if isinstance(one, Result) else quorum_result_document(one)
            for one in answered.by_name.values()
        ],
        "steps": [step_document(one) for one in steps],
        "partitions": [partition_document(there.partitions.history, name) for name in named],
        "quorum": None if answer is None else quorum_answer_document(answer, there.quorum),
    }
    if rollback is not None:
        whole["rollback"] = reassignment_document(rollback)
    return whole


def _show_answer(
    there: ReassignedCluster,
    answered: Answered,
    steps: Sequence[Step],
    rollback: Mapping[TopicPartition, Assignment] | None,
) -> None:
    answer = answered.answer
    for hop in () if answer is None else answer.outcome.hops:
        _say(f"  {hop}")
    if answered.broker is not None:
        _say(f"  broker {answered.broker} forwards to controller {there.partitions.history.state.controller}")
    for one in answered.by_name.values():
        _say(one)
    if rollback:
        _say(f"to go back: {reassignment_text(rollback)}")
    if steps:
        named = [one.name for one in answered.results if one.granted]
        _show_steps(there.partitions.history, named, steps)
    # A cancellation is its own last step.
    if answer is not None and answer.granted and rollback is not None:
        print(quorum_steps_text(answer.watch.steps))
        _say(quorum_reassignment.status_line(there.quorum))


def _show_steps(history: PartitionHistory, named: Iterable[TopicPartition], steps: Sequence[Step]) -> None:
    left = [one.partition for one in reassignments(history)]
    if steps:
        print(steps_text(steps))
    for name in sorted({*named, *left, *[one.name for one in steps]}):
        _say(status_line(history, name))


def show_wait(
    there: ReassignedCluster, steps: Sequence[Step], watch: Watch | None, as_json: bool, *, waited: bool
) -> ExitCode:
    """Print what happened by itself: `watch` is of the quorum, if that was reassigned."""
    left = there.running
    if as_json:
        rows = [document(there, one.partition) for one in left]
        of_quorum = [] if watch is None else [quorum_step_document(one) for one in watch.steps]
        print_json({"steps": [step_document(one) for one in steps], "in_progress": rows, "quorum_steps": of_quorum})
    else:
        if there.maybe_partitions is not None:
            _show_steps(there.partitions.history, (), steps)
        if watch is not None:
            print(quorum_steps_text(watch.steps))
            _say(quorum_reassignment.status_line(there.quorum))
        elif not steps and not left:
            stdout.print(NOTHING_RUNS)
    return ExitCode.INCONCLUSIVE if left and waited else ExitCode.CONFORMANT


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
    if as_json:
        whole: dict[str, Any] = {
            "results": [result_document(one) for one in results],
            "steps": [step_document(one) for one in steps],
            "partitions": [partition_document(history, name) for name in granted if history is not None],
            "quorum": None if quorum is None else _quorum_document(quorum),
        }
        print_json(whole)
        return worst([_code(results, left), _plan_code(quorum)])
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
    return worst([_code(results, left), _plan_code(quorum)])


def _code(results: Sequence[Result], left: Sequence[TopicPartition]) -> ExitCode:
    if not all(one.granted for one in results):
        return ExitCode.VIOLATION
    return ExitCode.INCONCLUSIVE if left else ExitCode.CONFORMANT


def _plan_code(plan: QuorumPlan | None) -> ExitCode:
    if plan is None:
        return ExitCode.CONFORMANT
    if plan.error is not Error.NONE:
        return ExitCode.VIOLATION
    return ExitCode.INCONCLUSIVE if plan.not_formatted else ExitCode.CONFORMANT


def _show_quorum(plan: QuorumPlan) -> None:
    if plan.error is not Error.NONE:
        _say(f"{QUORUM}: {plan.error} ({CODES[plan.error]}): {plan.said}")
        return
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
        "error": str(plan.error),
        "error_code": CODES[plan.error],
        "message": plan.said,
        "sets": [[str(key) for key in in_order(voters)] for voters in plan.sets],
        "not_formatted": list(plan.not_formatted),
    }


def _say(text: object) -> None:
    stdout.print(shown(text), soft_wrap=True)
