"""Apache Kafka's finding `unread-voters` in captured messages: it explains messages outside the model.

After a truncation a controller does not read the voters records that it appends below its old log end offset until it
restarts.  So it uses and reports the previous voter set.
"""

from collections.abc import Sequence

from kraft_reference.records import RecordKind
from kraft_traces.inference.captured import CapturedMessage, Seen
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse


def unread_voters(messages: Sequence[Seen], replica: int, starts: Sequence[int]) -> int | None:
    """Return the offset of the newest voters record that a controller has appended but not read.

    Args:
        messages: messages up to the one in question.
        replica: the controller's id.
        starts: start times of its processes, in milliseconds.

    Rules: voters.set-from-snapshot-and-log, voters.truncation-reverts.
    """
    read_to, unread, began = 0, None, 0
    for sighting in messages:
        if not isinstance(sighting, CapturedMessage) or sighting.destination != replica or sighting.request is None:
            continue
        request, answer = messages[sighting.request], sighting.message
        assert isinstance(request, CapturedMessage), "a message stands there"
        if not isinstance(request.message, TracedFetchRequest) or not isinstance(answer, TracedFetchResponse):
            continue
        if any(began < start <= sighting.time_ms for start in starts):
            read_to, unread = 0, None
        began = sighting.time_ms
        if answer.diverging_epoch != -1:
            read_to = max(read_to, request.message.fetch_offset)
        for offset, record in enumerate(answer.records or (), request.message.fetch_offset):
            if record.kind is RecordKind.VOTERS:
                unread = offset if offset < read_to else None
    return unread
