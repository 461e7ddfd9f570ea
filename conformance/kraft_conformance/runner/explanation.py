"""Explanation of a vector: the statements of its rules, what is judged, and the transcript."""

from collections.abc import Iterator

from kraft_spec.rules import load_registry
from kraft_traces.effects import TracedSend
from kraft_traces.message_types import TracedFetchResponse
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.format import Vector
from kraft_vectors.profiles import provenance
from kraft_vectors.transcript import transcript

NOT_JUDGED = (
    "Judged: each output and change below, and that each other field of the state stays unchanged.",
    "Not judged: the id and timeout_ms of a message, the length of a duration above 0, syncs of the log beyond the "
    "required offset, omitted correlation_id, cluster_id, version and details, the number of writes that an output is "
    "split into, repeated writes and timers, and the order of outputs unless (after ...) states it.",
)
"""Judgement of every vector of a replica."""

FETCH_NOT_JUDGED = (
    "Not judged in a Fetch response: the delay while there is nothing to send, the number of records "
    "(a batch stays whole), and a high watermark beside an error."
)
"""Judgement of a vector with a Fetch response."""


def explain_vector(vector: AnyVector) -> Iterator[str]:
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
