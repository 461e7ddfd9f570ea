"""Apache Kafka's finding `unread-voters` in what was seen of a controller: it explains messages that the model has not.

After a truncation a controller does not read the voters records that it appends below the old end of its log, until it
starts again.  So it asks, counts and tells the voters of before.
"""

from collections.abc import Sequence

from kraft_reference.records import RecordKind
from kraft_traces.inference.sightings import Seen, Sighting
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse


def unread_voters(seen: Sequence[Seen], replica: int, starts: Sequence[int]) -> int | None:
    """The offset of the newest voters record that a controller has and has not read.

    Args:
        seen: up to the message in question.
        replica: the controller's id.
        starts: when its processes were started, in milliseconds.

    Rules: voters.set-from-snapshot-and-log, voters.truncation-reverts.
    """
    read_to, unread, began = 0, None, 0
    for one in seen:
        if not isinstance(one, Sighting) or one.destination != replica or one.request is None:
            continue
        asked, answer = seen[one.request], one.message
        assert isinstance(asked, Sighting), "a message stands there"
        if not isinstance(asked.message, TracedFetchRequest) or not isinstance(answer, TracedFetchResponse):
            continue
        if any(began < start <= one.time_ms for start in starts):
            read_to, unread = 0, None
        began = one.time_ms
        if answer.diverging_epoch != -1:
            read_to = max(read_to, asked.message.fetch_offset)
        for offset, record in enumerate(answer.records or (), asked.message.fetch_offset):
            if record.kind is RecordKind.VOTERS:
                unread = offset if offset < read_to else None
    return unread
