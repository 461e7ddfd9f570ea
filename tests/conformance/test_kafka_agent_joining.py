"""Files of the agent as one trace: events that the files do not have, and files with damaged content."""

from types import SimpleNamespace
from typing import Any

import pytest

from kraft_kafka.agent.api_versions import VersionsAnswer, add_api_versions
from kraft_kafka.agent.drafts import Begin, Draft

ANSWER = {"type": "ApiVersionsResponse", "source": 2, "destination": 1, "correlation_id": 7}
ASKED = {"type": "ApiVersionsRequest", "source": 1, "destination": 2, "correlation_id": 7}


def begins_at(time_us: int) -> Any:
    return Begin(SimpleNamespace(time_us=time_us), {})  # type: ignore[arg-type]


def poll(time_us: int, **fields: Any) -> Draft:
    return Draft("Poll", time_us, **fields)


def replica(*drafts: Draft) -> Any:
    return SimpleNamespace(events=list(drafts))


@pytest.mark.parametrize(
    ("sent_us", "received_us", "place"),
    [
        (130, 180, 0),  # The checkpoint is at 100, the first event at 150.
        (90, 180, 0),
        (160, 180, 1),
    ],
)
def test_an_answer_after_the_first_checkpoint_has_an_event(sent_us: int, received_us: int, place: int) -> None:
    responder = replica(poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(sent_us, received_us, ANSWER)])
    assert responder.events[place].message == ASKED
    assert [draft.begin is not None for draft in responder.events] == [True, False]


def test_an_answer_before_the_first_checkpoint_has_none() -> None:
    responder = replica(poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(80, 95, ANSWER)])
    assert [draft.event for draft in responder.events] == ["Poll"]


@pytest.mark.parametrize(("sent_us", "observed"), [(80, [False, False, True]), (120, [False, True, False])])
def test_an_answer_in_or_after_a_gap_has_an_event(sent_us: int, observed: list[bool]) -> None:
    responder = replica(poll(50, gap="lines are missing"), poll(150, begin=begins_at(100)))
    add_api_versions({2: responder}, [VersionsAnswer(sent_us, 180, ANSWER)])
    assert responder.events[1].message == ASKED
    assert [draft.begin is not None for draft in responder.events] == observed


def test_an_answer_to_a_request_before_the_checkpoint_of_its_sender_has_an_event() -> None:
    asking = replica(Draft("HandleApiVersionsResponse", 180, ANSWER, begin=begins_at(100)))
    responder = replica(poll(50), poll(150))
    add_api_versions({1: asking, 2: responder})
    assert [draft.message for draft in responder.events] == [None, ASKED, None]


def test_an_answer_belongs_to_the_last_request_before_it() -> None:
    """A restarted process uses correlation ids again."""
    asks = {"kind": "Send", "message": ASKED}
    first, second = (
        [poll(at, effects=[asks]), Draft("HandleApiVersionsResponse", at + 20, ANSWER)] for at in (100, 300)
    )
    responder = replica(poll(50), poll(200), poll(400))
    add_api_versions({1: replica(*first, *second), 2: responder})
    assert [draft.time_us for draft in responder.events] == [50, 100, 200, 300, 400]
