"""What the texts leave to whoever answers a Fetch: when, with how many records, and what stands beside an error.

A Fetch has a maximal wait: while there is nothing for the fetcher, its leader need not answer.
What it answers later is what it would answer the same Fetch then.
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
"""Why an answer may be missing."""


def may_wait(answer: TracedFetchResponse) -> bool:
    """Has an answer nothing for its fetcher?  A high watermark alone is nothing: the next answer brings it too."""
    says = answer.records or answer.diverging_epoch != -1 or answer.snapshot_end_offset != -1
    return answer.error is Error.NONE and not says


def late_answer(state: ReplicaState, configuration: Configuration, request: FetchRequest) -> TracedFetchResponse:
    """The answer to a Fetch that has been counted before, in the state of now."""
    outcome = after_fetch_request(state, configuration, request, Draw(0, 0, 0))
    (answer,) = [one for one in outcome.sends if isinstance(one, FetchResponse)][:1]
    traced = traced_message("1.1", answer)
    assert isinstance(traced, TracedFetchResponse), "a Fetch is answered with a FetchResponse"
    return traced


def chosen_answer(
    right: TracedFetchResponse, shown: TracedFetchResponse, fetch_offset: int, state: ReplicaState, *, late: bool
) -> TracedFetchResponse:
    """The right answer that is most like the one that is shown.

    - Any first records will do, in whole batches, but not none of them.
    - Beside an error the high watermark may stand, which nobody takes from there.
    - A late answer may say of a lost office only that it is lost, and at the end of the wait nothing at all.

    Args:
        right: as the reference gives it.
        shown: what an implementation gives.
        fetch_offset: from the request.
        state: of the replica that answers, after the step.
        late: whether the answer was owed from an earlier step.
    """
    number = len(shown.records or ())
    if right.records and 0 < number < len(right.records) and not splits_batch(state.log, fetch_offset + number):
        return replace(right, records=right.records[:number])
    if right.error is not Error.NONE and shown.high_watermark == state.high_watermark:
        right = replace(right, high_watermark=shown.high_watermark)
    if late and right.error is Error.FENCED_LEADER_EPOCH and shown.error is Error.NOT_LEADER_OR_FOLLOWER:
        return replace(right, error=shown.error)
    if late and may_wait(right) and shown.high_watermark == UNKNOWN_HIGH_WATERMARK:
        return replace(right, high_watermark=UNKNOWN_HIGH_WATERMARK)
    return right
