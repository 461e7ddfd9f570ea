"""Fields that Kafka's bytes lack, for messages of peers that are not observed: no sending line has them."""

from kraft_kafka.agent.decoding import snapshot_fields
from kraft_kafka.agent.drafts import UnjudgedError
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.snapshot_files import decode_snapshot
from kraft_reference.log import Snapshot

_ABSENT_IN_RESPONSES: Document = {"leader_id": None, "leader_endpoint": None}
_ABSENT: dict[str, Document] = {
    "VoteRequest": {"voter_key": None, "pre_vote": False},
    "VoteResponse": {"granted": False},
    "BeginQuorumEpochRequest": {"voter_key": None, "leader_endpoint": None},
    "EndQuorumEpochRequest": {"preferred_candidates": []},
    "FetchResponse": {
        "high_watermark": -1,
        "diverging_epoch": -1,
        "diverging_end_offset": -1,
        "records": [],
        "snapshot_end_offset": -1,
        "snapshot_epoch": -1,
    },
    "FetchSnapshotResponse": {"snapshot": None},
    "ApiVersionsResponse": {"min_version": 0, "max_version": 0},
}
_WITHOUT_LEADER = ("ApiVersionsResponse",)


def filled_request(fields: Document) -> Document:
    """Return a request with the fields that its version lacks, as Kafka reads them."""
    return {**_ABSENT.get(fields["type"], {}), **fields}


def filled_response(fields: Document, content: bytes, request: Document, epoch: int, static: Snapshot) -> Document:
    """Return a response with the fields that it lacks.

    Args:
        fields: those that it has.
        content: the whole snapshot of a FetchSnapshot response; empty for another message.
        request: the request that it answers.
        epoch: the receiver's epoch, for a response that has no epoch: Kafka's network layer, or an error at its top.
        static: the static voters, for a snapshot without voters.

    Raises:
        UnjudgedError: the model does not have the error.
        WireError: the snapshot cannot be decoded.
    """
    if isinstance(fields.get("error"), int):
        raise UnjudgedError(f"a {fields['type']} has error code {fields['error']}, which the model does not have")
    if fields["type"] == "ApiVersionsResponse" and "error" in fields:
        raise UnjudgedError(f"an ApiVersionsResponse has error {fields['error']}, which has no field in the model")
    if fields["type"] == "VoteResponse" and fields["error"] == "UNSUPPORTED_VERSION":
        fields = {**fields, "epoch": 0, "pre_vote": False}
    elif content:
        offset, of_epoch = request["snapshot_end_offset"], request["snapshot_epoch"]
        fields = {**fields, "snapshot": snapshot_fields(decode_snapshot(content, offset, of_epoch, static).snapshot)}
    led = {} if fields["type"] in _WITHOUT_LEADER else {"epoch": epoch, **_ABSENT_IN_RESPONSES}
    return {**led, **_ABSENT.get(fields["type"], {}), **fields}
