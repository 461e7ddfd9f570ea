"""The quorum's reassignment as `kraft-spec admin reassign` prints it: the steps in columns, and JSON values."""

from collections.abc import Iterable
from typing import Any

from kraft_conformance.console import in_columns
from kraft_conformance.directories.error_codes import CODES
from kraft_conformance.directories.partition_work import listed
from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.directories.quorum_reassignment import quorum_now, waits_for
from kraft_conformance.directories.quorum_requests import QuorumAnswer
from kraft_conformance.directories.quorum_work import QuorumStep
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_reference.identity import Target, VoterSet
from kraft_reference.quorum_reassignment import reassignment_sets

_STEP_COLUMNS = ("Round", "Partition", "Step", "Voters", "Adding", "Removing", "Leader", "Ms")


def quorum_steps_text(steps: Iterable[QuorumStep]) -> str:
    """A table of the steps: the voters after each, whom the target adds and removes, and when, in virtual time."""
    rows: list[tuple[str, ...]] = [_STEP_COLUMNS]
    last = 0
    for one in steps:
        where = str(one.round) if one.round > last else ""
        last = one.round
        adding, removing = _moving(one.voters, one.target)
        lists = (sorted([voter.id for voter in one.voters]), adding, removing)
        leader = "none" if one.leader is None else str(one.leader)
        rows.append((where, str(QUORUM), one.what, *[listed(ids) or "-" for ids in lists], leader, str(one.time_ms)))
    return in_columns(rows)


def quorum_document(quorum: Quorum) -> dict[str, Any]:
    """The quorum's own partition as JSON values, with the keys of other partitions; `replicas` are the voters."""
    now = quorum_now(quorum)
    adding, removing = _moving(now.voters, now.target)
    return {
        "topic": QUORUM.topic,
        "partition": QUORUM.partition,
        "leader": now.leader,
        "replicas": list(now.ids),
        "in_sync": None,
        "adding": adding,
        "removing": removing,
        "target": _ids(now.target),
        "waits_for": waits_for(quorum),
    }


def quorum_result_document(answer: QuorumAnswer) -> dict[str, Any]:
    """The result of the request as JSON values, with the keys of other partitions' results."""
    error = answer.error
    return {
        "topic": QUORUM.topic,
        "partition": QUORUM.partition,
        "error": None if error is None else str(error),
        "error_code": None if error is None else CODES[error],
        "message": answer.said,
    }


def quorum_answer_document(answer: QuorumAnswer, quorum: Quorum) -> dict[str, Any]:
    """How the request went, and the steps since, as JSON values."""
    outcome = answer.outcome
    return {
        "hops": list(outcome.hops),
        "asked_at_ms": outcome.asked_at_ms,
        "answered_at_ms": outcome.answered_at_ms,
        "outcome_open": outcome.is_open,
        "steps": [quorum_step_document(one) for one in answer.watch.steps],
        "now": quorum_document(quorum),
    }


def quorum_step_document(step: QuorumStep) -> dict[str, Any]:
    """A step as JSON values."""
    adding, removing = _moving(step.voters, step.target)
    return {
        "round": step.round,
        "step": step.what,
        "time_ms": step.time_ms,
        "leader": step.leader,
        "voters": sorted([voter.id for voter in step.voters]),
        "adding": adding,
        "removing": removing,
        "target": _ids(step.target),
    }


def _moving(voters: VoterSet, target: Target) -> tuple[list[int], list[int]]:
    """Whom a target adds and removes.  Rule: reassign.three-sets."""
    if target is None:
        return [], []
    sets = reassignment_sets(voters, target)
    return sorted(sets.new), sorted(sets.removing)


def _ids(target: Target) -> list[int] | None:
    return None if target is None else sorted(target)
