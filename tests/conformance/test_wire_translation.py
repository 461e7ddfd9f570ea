"""Messages of traces as Kafka's, and back."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kraft_dev.samples import sample_folder
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.frames import decode_request, decode_response, encode_frame
from kraft_kafka.wire.schema import Field, Kind, fields_of, messages
from kraft_kafka.wire.trace_links import LINKS, WITHOUT_KAFKA_FIELD, filled, kafka_name, without_kafka_field
from kraft_kafka.wire.translation import from_kafka, to_kafka
from kraft_traces.alternatives.bare_responses import TOP_LEVEL
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_vectors.manifest import vector_folder

VOTE = {
    "type": "VoteRequest",
    "id": "2.2",
    "source": 1,
    "destination": 2,
    "correlation_id": 2,
    "epoch": 5,
    "replica_key": {"id": 1, "directory_id": "U1"},
    "voter_key": {"id": 2, "directory_id": None},
    "last_epoch": 4,
    "end_offset": 201,
    "pre_vote": False,
    "cluster_id": "kraft-spec",
}


def traced(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "source": 1, "destination": 2, "correlation_id": 9} | fields


def traced_messages(document: Any) -> Iterator[dict[str, Any]]:
    """Every message in a line of a trace or in a vector."""
    if isinstance(document, dict):
        if document.get("type") in LINKS and "correlation_id" in document:
            yield document
        for value in document.values():
            yield from traced_messages(value)
    elif isinstance(document, list):
        for value in document:
            yield from traced_messages(value)


@pytest.fixture(scope="module")
def all_traced() -> dict[str, dict[str, Any]]:
    """Each once, of the sample traces and of the vectors, which have those that no sample has."""
    files = [*sample_folder().glob("*.jsonl"), *vector_folder().rglob("*.json")]
    result: dict[str, dict[str, Any]] = {}
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines() if file.suffix == ".jsonl" else [file.read_text("utf-8")]
        for line in lines:
            for message in traced_messages(json.loads(line)):
                plain = {name: value for name, value in message.items() if name not in ("id", "correlation_id")}
                result.setdefault(json.dumps(plain, sort_keys=True), message)
    return result


def there_and_back(traced: dict[str, Any], version: int) -> tuple[dict[str, Any], list[str]]:
    message, document = to_kafka(traced, version)
    raw, dropped = encode_frame(message, version, document)
    result = decode_request(raw) if message.kind is Kind.REQUEST else decode_response(raw, message, version)
    return from_kafka(traced["type"], version, result.document), dropped


def test_every_message_of_the_samples_goes_there_and_back(all_traced: dict[str, dict[str, Any]]) -> None:
    assert {message["type"] for message in all_traced.values()} == LINKS.keys()
    for traced in all_traced.values():
        highest = messages()[kafka_name(traced["type"])].versions.high
        back, _ = there_and_back(traced, highest)
        carried = {name for link in LINKS[traced["type"]] for name in link.trace} | {"type"}
        if traced.get("error") in TOP_LEVEL and any("partitions" in link.kafka[0] for link in LINKS[traced["type"]]):
            # Kafka's response has no partition then, and so nothing but the error: docs/wire.md.
            assert back.keys() <= carried
            carried = {"type", "error"}
            back = {name: value for name, value in back.items() if name in carried}
        assert back == {name: value for name, value in traced.items() if name in carried}


def test_each_field_of_a_trace_has_a_link_or_a_reason() -> None:
    assert LINKS.keys() == TRACED_MESSAGES.keys()
    for name, traced in TRACED_MESSAGES.items():
        linked = {field for link in LINKS[name] for field in link.trace}
        reasons = without_kafka_field(name)
        assert linked | reasons.keys() == set(traced.__struct_fields__)
        assert linked & reasons.keys() == set()
    assert WITHOUT_KAFKA_FIELD.keys() <= LINKS.keys()


def test_each_link_leads_to_a_field_of_kafka() -> None:
    for name, links in LINKS.items():
        message = messages()[kafka_name(name)]
        paths = set(_paths(message.fields, "body."))
        for link in links:
            assert {path.replace("[0]", "") for path in link.kafka} <= paths | {"header.correlationId"}


def _paths(of: tuple[Field, ...], where: str) -> Iterator[str]:
    for field in of:
        yield f"{where}{field.name}"
        yield from _paths(field.fields, f"{where}{field.name}.")


def test_what_the_trace_does_not_say_is_filled_with_fields_of_kafka() -> None:
    for name in LINKS:
        message = messages()[kafka_name(name)]
        expected = {field.name for version in message.versions for field in fields_of(message.fields, version)}
        assert filled(name, message.versions.high).keys() <= expected


def test_the_bytes_of_a_traced_vote() -> None:
    message, document = to_kafka(VOTE, 1)
    raw, dropped = encode_frame(message, 1, document)
    partition = document["body"]["topics"][0]["partitions"][0]
    assert raw.hex() == (
        "0000006a" "0034" "0001" "00000002" "ffff" "00"  # length, Vote, version 1, correlation id, no client id
        "0b6b726166742d73706563" "00000002"  # the cluster, the voter 2
        "02" "135f5f636c75737465725f6d65746164617461" "02" "00000000"  # __cluster_metadata-0
        "00000005" "00000001" "55310000000000000000000000000000"  # epoch 5, candidate 1 with the directory U1
        "00000000000000000000000000000000"  # a voter without a directory id
        "00000004" "00000000000000c9" "00" "00" "00"  # the last record's epoch, the end of the log
    )  # fmt: skip
    assert dropped == ["body.topics[0].partitions[0].preVote"]
    assert partition["voterDirectoryId"] == "AAAAAAAAAAAAAAAAAAAAAA"


def test_an_older_version_carries_less() -> None:
    """Rule: wire.negotiation.  In version 0 a Vote has no directory ids and does not say whom it is for."""
    back, dropped = there_and_back(VOTE, 0)
    assert back == {
        "type": "VoteRequest",
        "correlation_id": 2,
        "cluster_id": "kraft-spec",
        "epoch": 5,
        "replica_key": {"id": 1, "directory_id": None},
        "last_epoch": 4,
        "end_offset": 201,
    }
    assert len(dropped) == 4
    with pytest.raises(WireError, match="UNSUPPORTED_VERSION"):
        there_and_back(VOTE | {"pre_vote": True}, 1)


def test_end_quorum_epoch_names_its_candidates_in_either_version() -> None:
    named = [{"id": 2, "directory_id": "U2"}, {"id": 3, "directory_id": "U3"}]
    ids_alone = [{"id": 2, "directory_id": None}, {"id": 3, "directory_id": None}]
    request = traced("EndQuorumEpochRequest", epoch=4, preferred_candidates=named, cluster_id=None)
    assert there_and_back(request, 1)[0]["preferred_candidates"] == named
    assert there_and_back(request, 0)[0]["preferred_candidates"] == ids_alone


def test_a_fetch_says_who_fetches_in_either_place() -> None:
    key, log = {"id": 4, "directory_id": "U4"}, {"fetch_offset": 180, "last_epoch": 3}
    request = traced("FetchRequest", epoch=4, replica_key=key, cluster_id="kraft-spec", **log)
    assert there_and_back(request, 17)[0]["replica_key"] == key
    for version in (12, 14, 15, 16):
        assert there_and_back(request, version)[0]["replica_key"] == {"id": 4, "directory_id": None}


def test_an_error_of_the_whole_request_has_no_partition() -> None:
    """Rule: wire.common-errors."""
    leader = {"leader_id": 1, "leader_endpoint": "h1:9093"}
    answer = traced("VoteResponse", error="INCONSISTENT_CLUSTER_ID", epoch=4, granted=False, pre_vote=False, **leader)
    _, document = to_kafka(answer, 2)
    assert document == {"header": {"correlationId": 9}, "body": {"errorCode": 104, "topics": []}}
    assert there_and_back(answer, 2)[0] == {
        "type": "VoteResponse",
        "correlation_id": 9,
        "error": "INCONSISTENT_CLUSTER_ID",
        "leader_endpoint": None,
    }


def test_a_directory_id_that_is_a_uuid_stays_one() -> None:
    uuid = "5L6g3nShT-eMCtK--X86sw"
    request = VOTE | {"replica_key": {"id": 1, "directory_id": uuid}}
    _, document = to_kafka(request, 2)
    assert document["body"]["topics"][0]["partitions"][0]["replicaDirectoryId"] == uuid
    assert there_and_back(request, 2)[0]["replica_key"]["directory_id"] == uuid


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"type": "Vote"}, "$.type: expected one of VoteRequest, "),
        ({"epoch": "5"}, "$.epoch: expected a VoteRequest of a trace, actual Expected `int`, got `str` (wrong-type)"),
        (
            {"replica_key": {"id": 1, "directory_id": "a directory of many words"}},
            "$.replica_key.directory_id: expected a uuid, or a text of 1 to 16 bytes, "
            "actual 'a directory of many words' (out-of-range)",
        ),
        ({"extra": 1}, "$: expected a VoteRequest of a trace, "),
    ],
)
def test_what_is_no_traced_message_is_named_by_its_path(change: dict[str, Any], text: str) -> None:
    with pytest.raises(WireError) as refused:
        to_kafka(VOTE | change, 2)
    assert str(refused.value).startswith(text)


def test_a_field_that_was_not_observed_cannot_be_sent() -> None:
    with pytest.raises(WireError) as refused:
        to_kafka({name: value for name, value in VOTE.items() if name != "end_offset"}, 2)
    text = "$.end_offset: expected a field of VoteRequest that Kafka's has too, actual none (missing-field)"
    assert str(refused.value) == text


def test_an_endpoint_is_host_and_port() -> None:
    request = traced("BeginQuorumEpochRequest", epoch=5, voter_key=None, leader_endpoint="h1", cluster_id=None)
    with pytest.raises(WireError, match="host:port"):
        to_kafka(request, 1)
    _, document = to_kafka(request | {"leader_endpoint": "::1:9093"}, 1)
    assert document["body"]["leaderEndpoints"] == [{"name": "CONTROLLER", "host": "::1", "port": 9093}]
