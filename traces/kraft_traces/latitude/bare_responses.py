"""Fields that a response of Kafka's protocol has no place for: nobody can be asked to show them."""

from msgspec import UNSET

from kraft_reference.messages import Error
from kraft_traces.message_types import TracedMessage, message_type

TOP_LEVEL = (Error.INCONSISTENT_CLUSTER_ID,)
"""Errors that Kafka's quorum responses have at the top, without any partition.  Rule: wire.common-errors."""

_OF_A_PARTITION = {
    "VoteResponse",
    "BeginQuorumEpochResponse",
    "EndQuorumEpochResponse",
    "FetchResponse",
    "FetchSnapshotResponse",
}
_WITHOUT_A_LEADER = {"AddVoterResponse", "RemoveVoterResponse"}
"""They have an error and its text alone."""


def has_place(response: TracedMessage, field: str) -> bool:
    """Has Kafka's schema of this response a place for the field?

    Rules: wire.common-errors, wire.add-voter, wire.remove-voter.

    Args:
        response: as it is expected; anything else has a place for all of its fields.
        field: its name in a trace.
    """
    kind = message_type(response)
    if kind in _WITHOUT_A_LEADER:
        return field not in {"epoch", "leader_id", "leader_endpoint"}
    if kind in _OF_A_PARTITION and getattr(response, "error", UNSET) in TOP_LEVEL:
        return field in {"source", "destination", "correlation_id", "error"}
    return True
