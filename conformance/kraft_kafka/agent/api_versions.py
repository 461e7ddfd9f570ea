"""Events of replicas that are asked for their supported versions.

In Kafka the socket server answers, not the KafkaRaftClient, so the agent's file of the replica has no line of it.
The answer does not depend on the replica's state, so the event may have any place between the request and its response.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kraft_kafka.agent.drafts import Draft
from kraft_kafka.agent.events import ReplicaEvents
from kraft_kafka.wire.decoding import Document


class VersionsAnswer(NamedTuple):
    """A response with a replica's supported versions, as another one has received it."""

    sent_us: int
    """Time of the request on the files' clock."""
    received_us: int
    """Time at which the response was received."""
    answer: Document
    """The fields of the response."""
    place: str
    """File and number of the line that receives it."""


def add_api_versions(replicas: Mapping[int, ReplicaEvents], answers: Iterable[VersionsAnswer] = ()) -> None:
    """Add the events of replicas that were asked for their supported versions, by each other or by others: `answers`.

    A response that is received before its sender is observed has no event, as any other message from before that.
    """
    for answer in (*answers, *_answers_of_each_other(replicas)):
        _insert(replicas[answer.answer["source"]].events, _handled(answer), answer.received_us)


def _handled(answer: VersionsAnswer) -> Draft:
    """Return the event of the replica that was asked."""
    response = answer.answer
    ends = {
        "source": response["destination"],
        "destination": response["source"],
        "correlation_id": response.get("correlation_id"),
    }
    request = {"type": "ApiVersionsRequest", **ends}
    effects = [{"kind": "Send", "message": response}]
    return Draft("HandleApiVersionsRequest", answer.sent_us, request, effects=effects, place=answer.place)


def _answers_of_each_other(replicas: Mapping[int, ReplicaEvents]) -> Iterator[VersionsAnswer]:
    for asker, events in replicas.items():
        sent: dict[tuple[object, object], int] = {}
        unrecorded_us: int | None = None
        """Time until which the asker may have sent requests that are not recorded."""
        for draft in events.events:
            if draft.begin is not None:
                unrecorded_us = draft.begin.line.time_us
            elif draft.gap is not None:
                unrecorded_us = draft.time_us
            answer = draft.message
            if answer is not None and answer["type"] == "ApiVersionsResponse" and answer["source"] in replicas:
                sent_us = sent.get((answer["source"], answer.get("correlation_id")), unrecorded_us)
                if sent_us is not None:
                    yield VersionsAnswer(sent_us, draft.time_us, {**answer, "destination": asker}, draft.place)
            for message in (effect.get("message", {}) for effect in draft.effects):
                if message.get("type") == "ApiVersionsRequest":
                    sent[message["destination"], message.get("correlation_id")] = draft.time_us


def _insert(drafts: list[Draft], draft: Draft, received_us: int) -> None:
    """Insert an event in the order of time, unless its replica is not observed until its response is received."""
    place = next((index for index, other in enumerate(drafts) if other.time_us > draft.time_us), len(drafts))
    first = drafts[place] if place < len(drafts) else None
    observed_us = None if first is None or first.begin is None else first.begin.line.time_us
    if place == 0 and observed_us is not None and received_us <= observed_us:
        return
    if place == 0 and first is not None and first.event == "Restart":
        place = 1
    elif first is not None and observed_us is not None and (place == 0 or draft.time_us >= observed_us):
        # The first event after the checkpoint, whose state the checkpoint has.
        draft.time_us = max(draft.time_us, observed_us)
        draft.begin, first.begin = first.begin, None
        drafts.insert(place, draft)
        return
    draft.state = drafts[place - 1].state if place else None
    drafts.insert(place, draft)
