"""Alternatives of Fetch responses: when they are sent, with how many records, and fields next to an error.

A Fetch has a maximum wait: the leader need not respond while it has nothing for the fetcher.
A late response is the one that the leader would send for the same Fetch at that time.
Rules: fetch.leader-only, hw.follower, kraft-version.upgrade-atomic-batch.
"""

from msgspec.structs import replace

from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw
from kraft_reference.log import splits_batch
from kraft_reference.messages import Error, FetchRequest, FetchResponse
from kraft_reference.replication import after_fetch_request
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState
from kraft_traces.message_types import TracedFetchResponse
from kraft_traces.messages import traced_message

WAITS = "a leader with nothing for a fetcher may answer it later"
"""Reason why a response may be missing."""


def may_wait(answer: TracedFetchResponse) -> bool:
    """True if a response has nothing for its fetcher; a high watermark alone can wait for the next response."""
    has_content = answer.records or answer.diverging_epoch != -1 or answer.snapshot_end_offset != -1
    return answer.error is Error.NONE and not has_content


def late_answer(state: ReplicaState, configuration: Configuration, request: FetchRequest) -> TracedFetchResponse:
    """Return the response in the present state to a Fetch that was delivered earlier."""
    outcome = after_fetch_request(state, configuration, request, Draw(0, 0, 0))
    (answer,) = [message for message in outcome.sends if isinstance(message, FetchResponse)][:1]
    traced = traced_message("1.1", answer)
    assert isinstance(traced, TracedFetchResponse), "a Fetch is answered with a FetchResponse"
    return traced


def chosen_answer(
    expected: TracedFetchResponse, actual: TracedFetchResponse, fetch_offset: int, state: ReplicaState, *, late: bool
) -> TracedFetchResponse:
    """Return the allowed response that is closest to the actual one.

    - A response may have fewer records, in whole batches, but not none.
    - A response with an error may have the high watermark, which the receiver ignores.
    - A late response after lost leadership may have NOT_LEADER_OR_FOLLOWER, and at the end of the wait it may be empty.

    Args:
        expected: response of the reference.
        actual: response of an implementation.
        fetch_offset: offset of the request.
        state: state of the responding replica after the step.
        late: True if the Fetch was delivered in an earlier step.
    """
    number = len(actual.records or ())
    if expected.records and 0 < number < len(expected.records) and not splits_batch(state.log, fetch_offset + number):
        return replace(expected, records=expected.records[:number])
    if expected.error is not Error.NONE and actual.high_watermark == state.high_watermark:
        expected = replace(expected, high_watermark=actual.high_watermark)
    if late and expected.error is Error.FENCED_LEADER_EPOCH and actual.error is Error.NOT_LEADER_OR_FOLLOWER:
        return replace(expected, error=actual.error)
    if late and may_wait(expected) and actual.high_watermark == UNKNOWN_HIGH_WATERMARK:
        return replace(expected, high_watermark=UNKNOWN_HIGH_WATERMARK)
    return expected
