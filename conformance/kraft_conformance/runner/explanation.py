"""A vector explained: what its rules say and what is judged, and its transcript."""

from collections.abc import Iterator

from kraft_spec.rules import load_registry
from kraft_traces.effects import TracedSend
from kraft_traces.message_types import TracedFetchResponse
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Vector
from kraft_vectors.profiles import provenance
from kraft_vectors.transcript import transcript

NOT_JUDGED = (
    "Judged: each output and change below, and that each other field of the state stays as it is.",
    "Not judged: the id of a message, its timeout_ms, how long a duration is that is more than 0, how far the log is "
    "synced beyond what is asked for, and correlation_id, cluster_id, version and details where they are left out; "
    "in how many portions something is written, what is written or started again, the order where (after) says none.",
)
"""What counts in every vector of a replica."""

FETCH_NOT_JUDGED = (
    "Nor, of an answer to a Fetch: when it comes while it has nothing for the fetcher, how many of the records it has "
    "(a batch stays whole), and whether a high watermark stands beside an error."
)
"""What counts where a Fetch is answered."""


def explained(vector: AnyVector) -> Iterator[str]:
    """Yield the lines of an explanation."""
    registry = load_registry()
    yield from (f"{rule_id}: {registry[rule_id].statement}" for rule_id in vector.rules)
    if whence := provenance(vector.id):
        yield whence
    if isinstance(vector, Vector):
        yield from NOT_JUDGED
        outputs = [output for step in vector.steps for output in step.outputs]
        if any(isinstance(sent, TracedSend) and isinstance(sent.message, TracedFetchResponse) for sent in outputs):
            yield FETCH_NOT_JUDGED
    yield ""
    yield from transcript(vector).splitlines()
