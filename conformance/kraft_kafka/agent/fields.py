"""Fields of messages that Kafka's own fields show only together with the request."""

from kraft_kafka.agent.decoding import batches_in
from kraft_kafka.agent.drafts import UnjudgedError
from kraft_kafka.agent.raw import RawMessage
from kraft_kafka.agent.written_log import WrittenLog
from kraft_kafka.wire.decoding import Document

_FIRST_WITH_ENDPOINTS = {
    "VoteRequest": 1,
    "BeginQuorumEpochRequest": 1,
    "EndQuorumEpochRequest": 1,
    "FetchRequest": 17,
    "FetchSnapshotRequest": 1,
}
"""First versions whose responses have the leader's endpoint."""
_BROKER_NOT_AVAILABLE = 8
_OF_THE_CHANNEL = (7, _BROKER_NOT_AVAILABLE, 13, "REQUEST_TIMED_OUT")
"""Errors that Kafka's own network channel gives a request without a response, as names or codes: REQUEST_TIMED_OUT,
BROKER_NOT_AVAILABLE, NETWORK_EXCEPTION."""


def is_of_channel(fields: Document) -> bool:
    """True for a response that Kafka's network channel has made, because there is none of the peer."""
    return fields.get("error") in _OF_THE_CHANNEL and "epoch" not in fields


def is_of_shutdown(fields: Document) -> bool:
    """True for the response of a replica that shuts down and so does not handle the request."""
    return fields.get("error") == _BROKER_NOT_AVAILABLE and "epoch" in fields


def source_of(fields: Document) -> int | None:
    """Return the id of the replica that sent a request, as its fields show it."""
    key = fields.get("replica_key") or (fields["voter"] if fields["type"] == "UpdateVoterRequest" else None)
    source: int | None = fields.get("source", key["id"] if key else None)
    return source


def client_input(number: int, fields: Document) -> Document:
    """Return the input of the event of a client's request."""
    names = ("voter", "cluster_id", "endpoint", "timeout_ms", "when_committed")
    present = {name: fields[name] for name in names if name in fields}
    if fields["type"] == "AddVoterRequest":
        present.setdefault("when_committed", True)
    return {"request": number, **present}


def answer_fields(fields: Document, raw: RawMessage, request: Document, version: int, log: WrittenLog) -> Document:
    """Return the fields of a replica's response to a request of a version.

    Raises:
        UnjudgedError: the model does not have the error.
    """
    if isinstance(fields.get("error"), int):
        raise UnjudgedError(f"a {fields['type']} has error code {fields['error']}, which the model does not have")
    fields = dict(fields)
    if fields["type"] == "VoteResponse":
        fields["pre_vote"] = request.get("pre_vote", False)
    if version < _FIRST_WITH_ENDPOINTS.get(request["type"], 0):
        # Kafka's older versions have no place for it.
        fields.pop("leader_endpoint", None)
    if fields["type"] == "FetchResponse" and raw.skipped:
        fields["records"] = log.records(request["fetch_offset"], raw.skipped)
    elif fields["type"] == "FetchResponse" and fields.get("records"):
        # Kafka sends whole batches, of which the fetcher ignores the records before its offset.
        fields["records"] = fields["records"][max(0, request["fetch_offset"] - batches_in(raw)[0].base_offset) :]
    return fields
