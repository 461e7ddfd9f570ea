"""kraft-adapter/1: schema, malformed lines, and injected states."""

import json

import pytest
from jsonschema import Draft202012Validator

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import Hello, HelloReply, Observe, Request, Reset, Software, Step
from kraft_conformance.protocol.parsing import encode, parse_reply, parse_request
from kraft_conformance.protocol.partitions import PartitionObserve, PartitionReset, PartitionStep
from kraft_dev.schemas.conformance import ADAPTER_SCHEMA
from kraft_simulation.scenarios import SCENARIOS
from kraft_traces.errors import TraceError
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.cluster import cluster_of, configuration_from
from kraft_vectors.draw import TracedDraw
from kraft_vectors.format import Vector
from kraft_vectors.partitions.format import PartitionVector

DRAW = TracedDraw(7, 1500, 400)


def validator(part: str) -> Draft202012Validator:
    schema = ADAPTER_SCHEMA.committed()
    return Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]})


def asked_of(vector: Vector | PartitionVector) -> list[Request]:
    """All requests of a session with a vector."""
    if isinstance(vector, PartitionVector):
        return [
            PartitionReset(id=1, cluster=vector.cluster, before=vector.before),
            *(PartitionStep(id=2, event=step.event) for step in vector.steps),
            PartitionObserve(id=3),
        ]
    return [
        Hello(id=1, schema="kraft-adapter/1", runner=Software("test", "0")),
        Reset(id=2, replica=vector.replica, cluster=vector.cluster, before=vector.before),
        *(
            Step(id=3, event=step.event, message=step.message, input=step.input, draw=step.draw)
            for step in vector.steps
        ),
        Observe(id=4),
    ]


@pytest.mark.parametrize(
    "name", ["candidate.wins", "partition.override.taken-over", "partition.znode.refused", "partition.list.both"]
)
def test_what_is_said_about_a_vector_fits_the_schema(name: str) -> None:
    requests, replies = validator("Request"), validator("Reply")
    adapter = ReferenceAdapter()
    for request in asked_of(Catalogue().vector(name)):
        line = encode(request)
        requests.validate(json.loads(line))
        assert parse_request(line, 1) == request
        reply = adapter.answer(request)
        text = encode(reply)
        replies.validate(json.loads(text))
        assert parse_reply(text, 1) == reply


def test_who_does_not_name_subjects_has_a_replica() -> None:
    """Hello of adapters from before the second subject."""
    text = {
        "type": "hello",
        "id": 1,
        "schema": "kraft-adapter/1",
        "implementation": {"name": "first", "version": "0"},
        "kip_levels": {"KIP-595": "partial"},
        "kraft_versions": [1],
        "profile": "kip",
        "observability": "wire",
    }
    validator("Reply").validate(text)
    reply = parse_reply(json.dumps(text).encode(), 1)
    assert isinstance(reply, HelloReply)
    assert reply.subjects == ("replica",)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("", "standard input:1:1: an empty line, expected a JSON object"),
        ("[1]", "standard input:1: $: expected object, got array: [1]"),
        ("{", "standard input:1:2: not JSON: expecting property name enclosed in double quotes"),
        ('{"type":"quit","id":1}', '$.type: unknown value "quit", expected one of hello, reset, step, observe'),
        ('{"type":"observe"}', "standard input:1: $.id: missing field 'id'"),
        ('{"type":"observe","id":0}', "standard input:1: $.id: expected int >= 1: 0"),
        ('{"type":"observe","id":1,"now":2}', "standard input:1: $.now: unknown field 'now'"),
        ('{"type":"crash","id":1,"log_end_offset":"3"}', '$.log_end_offset: expected int, got str: "3"'),
        (
            '{"type":"step","id":1,"event":"Pol","draw":'
            '{"correlation_id":1,"election_timeout_ms":0,"election_backoff_ms":0}}',
            '$.event: unknown event "Pol", did you mean Poll',
        ),
        ('{"type":"partition_sep","id":1}', '$.type: unknown value "partition_sep", did you mean partition_step'),
        ('{"type":"partition_reset","id":1}', "$.cluster: missing field 'cluster'"),
        (
            '{"type":"partition_step","id":1,"event":{"name":"BrokerFail","broker":1}}',
            '$.event.name: unknown value "BrokerFail", did you mean BrokerFails',
        ),
        (
            '{"type":"partition_step","id":1,"event":{"name":"BrokerFails","broker":"1"}}',
            '$.event.broker: expected int, got str: "1"',
        ),
    ],
)
def test_a_malformed_request_is_told_by_line_and_field(line: str, text: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_request(line.encode(), 1)
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            '{"type":"step","id":1,"effects":[{"kind":"Sned"}]}',
            '$.effects[0].kind: unknown value "Sned", did you mean Send',
        ),
        (
            '{"type":"step","id":1,"effects":[],"refusal":"STALE"}',
            '$.refusal: unknown value "STALE", did you mean STALE_EPOCH',
        ),
        (
            '{"type":"observe","id":1,"state":{"granted":[1,1]}}',
            "$.state.granted[1]: appears twice, expected each value once",
        ),
        (
            '{"type":"hello","id":1,"schema":"kraft-adapter/1","implementation":{"name":"x","version":"0"},'
            '"kip_levels":{"KIP_595":"full"},"kraft_versions":[1],"profile":"kip","observability":"wire"}',
            '$.kip_levels: unknown KIP "KIP_595", did you mean KIP-595',
        ),
        (
            '{"type":"hello","id":1,"schema":"kraft-adapter/1","implementation":{"name":"x","version":"0"},'
            '"kip_levels":{},"kraft_versions":[1],"profile":"kip","observability":"wire",'
            '"unobserved":["FlushLog","StartTimer.fetches"]}',
            '$.unobserved[1]: unknown name "StartTimer.fetches", did you mean StartTimer.fetch',
        ),
        (
            '{"type":"partition_step","id":1,"effects":[{"type":"LeaderAndISR"}]}',
            '$.effects[0].type: unknown value "LeaderAndISR", did you mean LeaderAndIsr',
        ),
        (
            '{"type":"partition_step","id":1,"effects":'
            '[{"type":"AlterReassignmentsAnswer","error":"OK","results":[]}]}',
            '$.effects[0].error: unknown value "OK", expected one of NONE, UNKNOWN_TOPIC_OR_PARTITION',
        ),
        (
            '{"type":"partition_step","id":1,"effects":[],"refusal":"STALE_EPOCH"}',
            '$.refusal: unknown value "STALE_EPOCH"',
        ),
        ('{"type":"partition_observe","id":1,"state":{"controler":1}}', "$.state.controler: unknown field 'controler'"),
    ],
)
def test_a_malformed_reply_is_told_by_line_and_field(line: str, text: str) -> None:
    with pytest.raises(TraceError) as error:
        parse_reply(line.encode(), 9)
    assert str(error.value).startswith("standard output:9: ")
    assert text in str(error.value)


def test_the_adapter_says_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="there was no reset yet"):
        ReferenceAdapter().answer(Observe(id=1))


def test_every_cluster_of_the_scenarios_comes_back_from_its_data() -> None:
    for scenario in SCENARIOS:
        for variant in scenario.variants:
            assert configuration_from(cluster_of(variant.configuration)) == variant.configuration
