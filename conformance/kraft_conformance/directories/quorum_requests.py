"""AlterPartitionReassignments for the quorum's own partition: whom the client asks, and what the answer means."""

from typing import NamedTuple

from kraft_conformance.directories.admin import Client, Outcome, Route
from kraft_conformance.directories.answers import exit_code_of, without_reply
from kraft_conformance.directories.error_codes import CODES
from kraft_conformance.directories.partition_work import listed
from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.directories.quorum_reassignment import QuorumNow, quorum_now, refusal_text
from kraft_conformance.directories.quorum_work import Watch
from kraft_conformance.directories.reassignment_json import QUORUM
from kraft_conformance.exit_codes import ExitCode
from kraft_reference.events import AlterPartitionReassignments
from kraft_reference.messages import Error
from kraft_reference.partitions.partition import Assignment

_OPEN = (
    "the leader lost its epoch before this was committed: whether the target stays, the next leader decides; "
    "ask again, with --additional (reassign.client-retries)"
)


class QuorumAnswer(NamedTuple):
    """What became of the request."""

    outcome: Outcome
    before: QuorumNow
    said: str
    """What the error means, or what has changed."""
    watch: Watch
    """Of the steps since before the request."""

    @property
    def granted(self) -> bool:
        """Was it granted?"""
        return self.outcome.succeeded

    @property
    def error(self) -> Error | None:
        """None if nobody has answered."""
        return None if self.outcome.reply is None else self.outcome.reply.error

    @property
    def exit_code(self) -> ExitCode:
        """Of the request alone."""
        return exit_code_of(self.outcome)

    def __str__(self) -> str:
        if self.error is None:
            return f"{QUORUM}: {self.said}"
        return f"{QUORUM}: {self.error} ({CODES[self.error]}): {self.said}"


def asked_quorum(quorum: Quorum, to: Route, target: Assignment | None) -> QuorumAnswer:
    """Ask for a target, or with None to stop at the voters that there are; wait for the answer.

    Rules: reassign.request-leader-only, reassign.request-success-after-commit, reassign.cancel-null.
    """
    before, watch = quorum_now(quorum), Watch(quorum)
    outcome = Client(quorum, to).ask(lambda number: AlterPartitionReassignments(number, target))
    if outcome.succeeded:
        said = _granted(before, quorum_now(quorum), target)
    elif outcome.reply is None:
        said = without_reply(outcome)
    else:
        said = _OPEN if outcome.is_open else refusal_text(quorum, outcome.reply.error, target)
    return QuorumAnswer(outcome, before, said, watch)


def _granted(before: QuorumNow, after: QuorumNow, target: Assignment | None) -> str:
    voters = listed(after.ids)
    if target is None:
        return (
            f"cancelled, voters stay {voters}: for the quorum null restores nothing (KIP-642), "
            "and a `run` to the voters from before goes back step by step"
        )
    wanted = listed(sorted(target))
    if before.target == frozenset(target):
        return f"in progress already, voters {voters}, target {wanted}"
    verb = "started" if before.target is None else "replaces the running reassignment"
    return f"{verb}, voters {voters}, target {wanted}"
