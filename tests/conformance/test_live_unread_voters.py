"""A voters record below the old end of a log that was cut: Apache Kafka does not read it until it starts again."""

import pytest
from msgspec import convert

from kraft_kafka.live.unread_voters import unread_voters
from kraft_reference.records import RecordKind
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse


def fetched(*answers: tuple[int, int, tuple[RecordKind, ...]]) -> list[CapturedMessage]:
    """Fetches of replica 2: each with its offset, where its answer cuts (-1: nowhere), and the records in it."""
    observed: list[CapturedMessage] = []
    for offset, cut, kinds in answers:
        place = len(observed)
        records = [{"epoch": 2, "kind": str(kind), "value": 0} for kind in kinds]
        cuts = {"diverging_epoch": -1 if cut < 0 else 1, "diverging_end_offset": cut}
        answered = {"type": "FetchResponse", "source": 1, "destination": 2, "records": records, **cuts}
        requested = {"type": "FetchRequest", "source": 2, "destination": 1, "fetch_offset": offset}
        question, answer = convert(requested, TracedFetchRequest), convert(answered, TracedFetchResponse)
        observed += [
            CapturedMessage(place, 10 * place, question),
            CapturedMessage(place + 1, 10 * place + 5, answer, place),
        ]
    return observed


VOTERS, DATA = (RecordKind.VOTERS,), (RecordKind.DATA,)


@pytest.mark.parametrize(
    ("answers", "starts", "unread"),
    [
        (((7, 3, ()), (3, -1, DATA), (4, -1, VOTERS)), (), 4),
        (((4, 3, ()), (3, -1, DATA), (4, -1, VOTERS)), (), None),
        (((7, 3, ()), (3, -1, VOTERS * 4 + VOTERS)), (), None),
        (((7, 3, ()), (3, -1, DATA), (4, -1, VOTERS), (5, -1, ())), (55,), None),
        (((3, -1, VOTERS),), (), None),
    ],
    ids=["below the old end", "at the old end", "one more beyond it", "started again", "never cut"],
)
def test_voters_below_the_old_end_are_not_read(
    answers: tuple[tuple[int, int, tuple[RecordKind, ...]], ...], starts: tuple[int, ...], unread: int | None
) -> None:
    assert unread_voters(fetched(*answers), 2, starts) == unread
    assert unread_voters(fetched(*answers), 3, starts) is None
