"""An adapter for the tests of reports: the reference with wrongs of every kind, and texts that mean harm.

`python hostile_adapter.py [NAME]`; NAME is the implementation's in place of a harmful one.
"""

import os
import sys

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import (
    ErrorReply,
    HelloReply,
    Reply,
    Request,
    Software,
    Step,
    StepReply,
)
from kraft_conformance.protocol.parsing import encoded, parse_request
from kraft_traces.effects import TracedPersistQuorumState, TracedSend
from kraft_traces.message_types import TracedVoteRequest, TracedVoteResponse

HARM = (
    "<script>alert(1)</script>&amp;\"'</style></svg>]]> # TODO `a|b`\\|c <!-- {{7*7}} {% x %} "
    "@octocat [link](javascript:alert(1)) \x1b[31mred\x07\u202eright-to-left\u2028next\n"
    "not ok 99 - forged\n1..2 \U0001f600"
)


def wrong(request: Step, reply: StepReply) -> Reply:
    """Another reply, by the event."""
    effects = reply.effects
    match request.event:
        case "HandleVoteRequest":
            # A field of another value, with a text; what was to be written first is written last.
            changed = tuple(
                TracedSend(replace(one.message, leader_endpoint=HARM))
                if isinstance(one, TracedSend) and isinstance(one.message, TracedVoteResponse)
                else one
                for one in effects
            )
            return replace(
                reply, effects=tuple(sorted(changed, key=lambda one: isinstance(one, TracedPersistQuorumState)))
            )
        case "Poll":
            # To one too few, and one that nobody expects.
            kept = effects[1:]
            asked = [one.message for one in effects if isinstance(one, TracedSend)]
            if asked and isinstance(asked[0], TracedVoteRequest):
                kept += (TracedSend(replace(asked[0], destination=99)),)
            return replace(reply, effects=kept, refusal=UNSET)
        case "HandleBeginQuorumEpochRequest":
            return ErrorReply(id=reply.id, code="failed", detail=HARM)
        case "HandleEndQuorumEpochRequest":
            return ErrorReply(id=reply.id, code="unsupported", detail=HARM)
        case "Shutdown":
            print(HARM, file=sys.stderr, flush=True)
            os._exit(3)
        case _:
            return reply


def main() -> None:
    """Answer."""
    name = sys.argv[1] if len(sys.argv) > 1 else HARM
    adapter = ReferenceAdapter()
    for number, raw in enumerate(sys.stdin.buffer, 1):
        request: Request = parse_request(raw, number)
        reply = adapter.answer(request)
        if isinstance(reply, HelloReply):
            reply = replace(reply, implementation=Software(name, HARM))
        if isinstance(request, Step) and isinstance(reply, StepReply):
            reply = wrong(request, reply)
        sys.stdout.buffer.write(encoded(reply))
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
