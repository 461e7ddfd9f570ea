"""Fields that a response in Kafka's protocol does not have, so an implementation cannot be required to show them."""

from msgspec import UNSET

from kraft_reference.messages import Error
from kraft_traces.message_types import TracedMessage, message_type

TOP_LEVEL = (Error.INCONSISTENT_CLUSTER_ID,)
"""Errors at the top level of Kafka's quorum responses, without any partition.  Rule: wire.common-errors."""

_OF_A_PARTITION = {
    "VoteResponse",
    "BeginQuorumEpochResponse",
    "EndQuorumEpochResponse",
    "FetchResponse",
    "FetchSnapshotResponse",
}
_WITHOUT_A_LEADER = {"AddVoterResponse", "RemoveVoterResponse"}
"""Responses that have an error and its text only."""


def has_place(response: TracedMessage, field: str) -> bool:
    """True if Kafka's schema of this response has the field.

    Rules: wire.common-errors, wire.add-voter, wire.remove-voter.

    Args:
        response: the expected response; any other value has all its fields.
        field: its name in a trace.
    """
    kind = message_type(response)
    if kind in _WITHOUT_A_LEADER:
        return field not in {"epoch", "leader_id", "leader_endpoint"}
    if kind in _OF_A_PARTITION and getattr(response, "error", UNSET) in TOP_LEVEL:
        return field in {"source", "destination", "correlation_id", "error"}
    return True
