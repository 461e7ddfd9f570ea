"""The reference with other Fetches and Fetch responses, allowed or wrong: the base of `altered_adapter`."""

from dataclasses import replace as replaced

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import (
    Crash,
    HelloReply,
    ObserveReply,
    Reply,
    Request,
    Reset,
    Restart,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.runner.plain import tag_of
from kraft_conformance.runner.requests_ahead import request_of
from kraft_reference.messages import FetchRequest
from kraft_reference.replica import Replica
from kraft_simulation.world import MakeReplica
from kraft_traces.alternatives.fetch_answers import late_answer, may_wait
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.message_types import TracedFetchRequest, TracedFetchResponse, TracedMessage
from kraft_traces.messages import message_of

RIGHT_FETCHES = ("own-ids", "one-record", "watermark-in-errors", "waits")
WRONG_FETCHES = (
    "one-id", "skips-a-record", "no-record", "no-limit", "watermark-too-far", "waits-with-records", "late-skips",
    "late-twice",
)  # fmt: skip


class Fetching(ReferenceAdapter):
    """The reference with some of `RIGHT_FETCHES` and `WRONG_FETCHES`.

    - `own-ids` counts correlation ids; `one-id` has one for all requests.
    - `one-record` answers a Fetch with one record, or one batch; `skips-a-record` and `no-record` with too little,
      `no-limit` with all of them where the cluster has a limit, which it says.
    - `watermark-in-errors` shows the high watermark beside an error; `watermark-too-far` one that nobody has.
    - `waits` answers a Fetch when there is something new, or when it is polled; `waits-with-records` waits where there
      are records at once as well, `late-skips` skips a record then, `late-twice` answers twice.
    """

    def __init__(self, modes: frozenset[str], make_replica: MakeReplica = Replica) -> None:
        super().__init__(make_replica=make_replica)
        self._modes = modes
        self._number = 1000
        self._own: dict[tuple[int, int], int] = {}
        """Own ids of requests by receiver and drawn id."""
        self._waits = bool(modes & {"waits", "waits-with-records", "late-skips", "late-twice"})
        self._held: list[tuple[FetchRequest, int]] = []
        """Open Fetches, each with the high watermark at that time."""

    def answer(self, request: Request) -> Reply:
        """Handle a request."""
        if isinstance(request, Step) and request.message is not UNSET:
            request = replace(request, message=self._with_drawn_id(request.message))
        reply = super().answer(request)
        if isinstance(request, Reset | Crash | Restart):
            self._held.clear()
        if isinstance(request, Reset):
            self._own.clear()
            limit = 1 if "one-record" in self._modes else 0 if "no-limit" in self._modes else None
            if limit is not None:
                replica = self.replica()
                replica.configuration = replaced(replica.configuration, fetch_max_records=limit)
        if isinstance(request, Step) and isinstance(reply, StepReply) and self._waits:
            effects = self._late(request, reply.effects)
            reply = replace(
                reply, effects=effects, refusal=None if request.event == "Poll" and effects else reply.refusal
            )
        if isinstance(reply, StepReply | RestartReply):
            reply = replace(reply, effects=tuple([self._own_way(effect) for effect in reply.effects]))
        if isinstance(reply, ObserveReply) and reply.state.awaiting:
            awaiting = tuple([(to, self._own.get((to, drawn), drawn)) for to, drawn in reply.state.awaiting])
            reply = replace(reply, state=replace(reply.state, awaiting=awaiting))
        if isinstance(reply, HelloReply) and "no-limit" in self._modes:
            reply = replace(reply, unsupported=("fetch-limit",))
        return reply

    def _with_drawn_id(self, message: TracedMessage) -> TracedMessage:
        if not tag_of(message).endswith("Response"):
            return message
        ids = {(to, own): drawn for (to, drawn), own in self._own.items()}
        inputs = message.correlation_id
        return replace(message, correlation_id=ids.get((message.source, inputs), inputs))

    def _late(self, request: Step, effects: tuple[TracedEffect, ...]) -> tuple[TracedEffect, ...]:
        """Return the effects of a step without a response that can wait, and with those that have waited."""
        if request.crash is not UNSET:
            self._held.clear()
            return effects
        state, configuration = self.replica().state, self.replica().configuration
        displayed = [effect for effect in effects if not self._is_held_back(effect)]
        for fetch, known in list(self._held):
            answer = late_answer(state, configuration, fetch)
            if may_wait(answer) and state.high_watermark <= known and request.event != "Poll":
                continue
            if "late-skips" in self._modes and answer.records:
                answer = replace(answer, records=answer.records[1:])
            if "late-twice" not in self._modes:
                self._held.remove((fetch, known))
            displayed.append(TracedSend(answer))
        message = request.message
        if isinstance(message, TracedFetchRequest) and any(map(self._is_held_back, effects)):
            requested = message_of(replace(message, id="1.1"))
            assert isinstance(requested, FetchRequest), "a FetchRequest is read as one"
            self._held.append((requested, state.high_watermark))
        return tuple(displayed)

    def _is_held_back(self, effect: TracedEffect) -> bool:
        answer = effect.message if isinstance(effect, TracedSend) else None
        if not isinstance(answer, TracedFetchResponse):
            return False
        return may_wait(answer) or ("waits-with-records" in self._modes and answer.error == "NONE")

    def _own_way(self, effect: TracedEffect) -> TracedEffect:
        request = request_of(effect)
        if request is not None and self._modes & {"own-ids", "one-id"}:
            self._number += "own-ids" in self._modes
            self._own[request.destination, request.correlation_id] = self._number
            return TracedSend(replace(request, correlation_id=self._number))
        if not isinstance(effect, TracedSend) or not isinstance(effect.message, TracedFetchResponse):
            return effect
        return TracedSend(self._answered(effect.message))

    def _answered(self, answer: TracedFetchResponse) -> TracedFetchResponse:
        expected = self.replica().state.high_watermark
        if answer.error != "NONE" and "watermark-in-errors" in self._modes:
            return replace(answer, high_watermark=expected)
        if answer.error != "NONE" and "watermark-too-far" in self._modes:
            return replace(answer, high_watermark=expected + 1)
        if answer.records and "skips-a-record" in self._modes:
            return replace(answer, records=answer.records[1:])
        if answer.records and "no-record" in self._modes:
            return replace(answer, records=())
        return answer
