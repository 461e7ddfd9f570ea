"""Correlation ids that a process of Kafka begins again with."""

from typing import Any

from kraft_kafka.live.judging import _as_sent
from kraft_kafka.live.lives import passed_by_life, trace_by_life
from kraft_traces.effects import TracedSend
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.process_trace import ProcessTrace

NODE, KAFKA = 1, 3
STARTS = {KAFKA: (50, 200)}
HEADER: Any = None
"""Nothing reads it here."""


def message(kind: str, source: int, destination: int, correlation_id: int) -> Any:
    made: Any = TRACED_MESSAGES[kind]
    return made(source=source, destination=destination, correlation_id=correlation_id)


def asked(
    place: int, time_ms: int, correlation_id: int, kind: str = "VoteRequest", source: int = KAFKA
) -> CapturedMessage:
    return CapturedMessage(place, time_ms, message(kind, source, KAFKA + NODE - source, correlation_id))


def answered(place: int, time_ms: int, request: CapturedMessage) -> CapturedMessage:
    kind = request.type.removesuffix("Request") + "Response"
    answer = message(kind, request.destination, request.source, int(request.message.correlation_id))
    return CapturedMessage(place, time_ms, answer, request.number)


def test_the_requests_of_two_lives_are_two_and_their_answers_are_to_the_right_one() -> None:
    first, again = asked(0, 100, 5), asked(2, 250, 5)
    of_node = asked(4, 260, 5, source=NODE)
    passed = [first, answered(1, 101, first), again, answered(3, 251, again), of_node, answered(5, 261, of_node)]
    ids = [item.message.correlation_id for item in passed_by_life(passed, STARTS)]
    assert ids[0] == ids[1]
    assert ids[2] == ids[3]
    assert ids[0] < ids[2]
    assert ids[4:] == [5, 5]
    assert [item.message.correlation_id for item in passed_by_life(passed, {})] == [5] * 6


def test_a_node_has_seen_the_request_that_had_passed_by_then() -> None:
    first, again = asked(0, 100, 5), asked(1, 250, 5)
    made = passed_by_life([first, again], STARTS)
    answer = message("VoteResponse", NODE, KAFKA, 5)
    own = message("VoteResponse", NODE, 2, 5)
    lines = [
        EventLine(
            sequence=number,
            time_ms=time_ms,
            replica=NODE,
            event="HandleVoteRequest",
            message=message("VoteRequest", source, NODE, 5),
            effects=(TracedSend(reply),),
        )
        for number, time_ms, source, reply in ((1, 101, KAFKA, answer), (2, 251, KAFKA, answer), (3, 252, 2, own))
    ]
    trace = trace_by_life(ProcessTrace("t", HEADER, list(enumerate(lines, 1))), [first, again], made, STARTS)
    observed: list[Any] = [line for _, line in trace.events]
    got = [line.message.correlation_id for line in observed]
    sent = [line.effects[0].message.correlation_id for line in observed]
    assert got == sent == [made[0].message.correlation_id, made[1].message.correlation_id, 5]


def test_a_request_that_waited_for_its_connection_was_sent_before_those_made_after_it() -> None:
    passed = [asked(0, 100, 5), asked(1, 110, 7), asked(2, 150, 6), asked(3, 250, 1)]
    made = _as_sent(passed_by_life(passed, STARTS), frozenset({KAFKA}))
    assert [item.number for item in made] == [0, 2, 1, 3]
    assert [item.time_ms for item in made] == [100, 110, 110, 250]
