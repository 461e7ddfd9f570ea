"""Field and rules of an unexplained message."""

from collections.abc import Mapping

from kraft_spec.difference import Difference
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.nodes import Node
from kraft_traces.inference.replica import ReplicaModel

_SENDERS: Mapping[str, str] = {"BeginQuorumEpochRequest": "Leader", "EndQuorumEpochRequest": "Resigned"}
"""Roles that alone send a request."""
_RULES: Mapping[str, tuple[str, ...]] = {
    "VoteRequest": ("vote.request.contents",),
    "VoteResponse": ("vote.decision-order",),
    "BeginQuorumEpochRequest": ("begin-quorum.on-election", "begin-quorum.resend"),
    "BeginQuorumEpochResponse": ("begin-quorum.response",),
    "EndQuorumEpochRequest": ("end-quorum.send",),
    "EndQuorumEpochResponse": ("end-quorum.handle",),
    "FetchRequest": ("fetch.who-fetches",),
    "FetchResponse": ("fetch.response.common",),
    "FetchSnapshotRequest": ("fetch.snapshot.install",),
    "FetchSnapshotResponse": ("fetch.snapshot.accepted",),
    "AddVoterResponse": ("add-voter.check-order",),
    "UpdateVoterRequest": ("update-voter.when-sent",),
    "UpdateVoterResponse": ("update-voter.check-order",),
}
_PRE_VOTE_RULES: Mapping[str, tuple[str, ...]] = {
    "VoteRequest": ("prevote.request.contents",),
    "VoteResponse": ("prevote.request.check-order",),
}


def reason(replica: ReplicaModel, node: Node, target: CapturedMessage) -> Difference:
    """Return the field that rules a message out where the model sends none like it.

    Args:
        replica: the sender.
        node: the likeliest state of the sender before the message.
        target: the message.
    """
    role, epoch = (replica.field(node.state, name) for name in ("role", "epoch"))
    message_epoch = getattr(target.message, "epoch", None)
    sender = _SENDERS.get(target.type)
    if target.type == "VoteRequest":
        sender = "Prospective" if getattr(target.message, "pre_vote", False) else "Candidate"
    if isinstance(message_epoch, int) and message_epoch < epoch:
        return Difference("message.epoch", f"{epoch} or more", str(message_epoch))
    if sender is not None and role != sender and node.clock.fires_ms > target.time_ms:
        return Difference(
            "time_ms", f"{node.clock.fires_ms:.0f} or later, when the sender's timer can fire", str(target.time_ms)
        )
    if sender is not None and role != sender:
        return Difference("state.role", sender, str(role))
    return Difference("message.type", f"a message that a {role} sends", target.type)


def rules_of(
    target: CapturedMessage, request: CapturedMessage | None, differences: tuple[Difference, ...]
) -> tuple[str, ...]:
    """Return the rules about a message of a replica; `request` is that of a response."""
    first = target if request is None else request
    by_type = _PRE_VOTE_RULES if getattr(first.message, "pre_vote", False) else _RULES
    rules = by_type.get(target.type, _RULES.get(target.type, ()))
    fields = {difference.field for difference in differences}
    if "time_ms" in fields:
        return ("state.timers.random", "fetch.timer")
    is_older = any(it.field == "message.epoch" and it.expected.endswith(" or more") for it in differences)
    return ("state.epoch-monotonic", *rules) if is_older else rules
