"""Leaders that answer Fetches late, in part, or with a high watermark beside an error are right; the nearest is not."""

from dataclasses import replace

import pytest
from tests.traces.check.recorded import FOREIGN, Recorded, verdict_on

from kraft_reference.cluster.plan import RunPlan
from kraft_reference.cluster.simulation import Simulation
from kraft_reference.configuration import Configuration
from kraft_reference.effects import Effect, Send
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.log import tears_a_batch
from kraft_reference.messages import Error, FetchRequest, FetchResponse
from kraft_reference.replica import Replica, Step
from kraft_reference.replication import after_fetch_request
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.check import Verdict, VerdictKind

RIGHT = ("waits", "one-record", "watermark-in-errors")


class Choosing(Replica):
    """Right are the modes in `RIGHT`; the others are each a step beyond one of them."""

    def __init__(self, state: ReplicaState, configuration: Configuration, modes: tuple[str, ...]) -> None:
        super().__init__(state, configuration)
        self._modes = modes
        self._waits = bool({"waits", "waits-with-records", "late-skips", "late-twice"} & {*modes})
        self._owed: dict[int, FetchRequest] = {}

    def step(self, event: Event, draw: Draw) -> Step:
        """Let an event happen, with answers of its own."""
        if self.state.role is Role.STOPPED:
            self._owed.clear()
        done = super().step(event, draw)
        asked = event.message if isinstance(event, Receive) and isinstance(event.message, FetchRequest) else None
        if done.state.role is Role.STOPPED:
            self._owed.clear()
        effects: list[Effect] = []
        for effect in done.effects:
            answer = effect.message if isinstance(effect, Send) else None
            if not isinstance(answer, FetchResponse):
                effects.append(effect)
            elif asked is not None and self._waits and self._is_for_later(answer):
                self._owed[asked.source] = asked
            else:
                effects.append(Send(self._chosen(done.state, asked, answer)))
        # Of two messages to one receiver the answer waits once more.
        taken = {one.message.destination for one in effects if isinstance(one, Send)}
        for source, request in list(self._owed.items()):
            (late,) = after_fetch_request(done.state, self.configuration, request, draw).sends[:1]
            assert isinstance(late, FetchResponse), "a Fetch is answered first"
            if request is asked or self._is_empty(late) or source in taken:
                continue
            if "late-twice" not in self._modes:
                del self._owed[source]
            effects.append(Send(self._chosen(done.state, request, late, late=True)))
        return done._replace(effects=tuple(effects))

    @staticmethod
    def _is_empty(answer: FetchResponse) -> bool:
        says = answer.records or answer.diverging_epoch >= 0 or answer.snapshot_end_offset >= 0
        return answer.error is Error.NONE and not says

    def _is_for_later(self, answer: FetchResponse) -> bool:
        return self._is_empty(answer) or ("waits-with-records" in self._modes and answer.error is Error.NONE)

    def _chosen(
        self, state: ReplicaState, request: FetchRequest | None, answer: FetchResponse, *, late: bool = False
    ) -> FetchResponse:
        assert request is not None, "somebody has asked"
        if answer.error is not Error.NONE and "watermark-in-errors" in self._modes:
            return replace(answer, high_watermark=state.high_watermark)
        if answer.error is not Error.NONE and "watermark-too-far" in self._modes:
            return replace(answer, high_watermark=state.high_watermark + 1)
        if "skips" in self._modes or ("late-skips" in self._modes and late):
            return replace(answer, records=answer.records[1:])
        if "one-record" in self._modes and answer.records:
            number = 1
            while tears_a_batch(state.log, request.fetch_offset + number):
                number += 1
            return replace(answer, records=answer.records[:number])
        return answer


def verdict_of(*modes: str) -> Verdict:
    plan = RunPlan(5, replicas=3, steps=250, workload="chaos")
    preset = plan.preset()
    simulation = Simulation(
        plan.configuration(),
        plan.seed,
        preset.workload,
        preset.faults,
        steps=250,
        make_replica=lambda state, configuration: Choosing(state, configuration, modes),
    )
    trace = Recorded(simulation.configuration, [one for one, _ in zip(simulation.run(), range(400), strict=False)])
    return verdict_on(trace.header(FOREIGN), trace.raw)


@pytest.mark.parametrize("modes", [*[(mode,) for mode in RIGHT], RIGHT])
def test_what_is_left_to_a_leader_is_right(modes: tuple[str, ...]) -> None:
    verdict = verdict_of(*modes)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict


@pytest.mark.parametrize(
    ("mode", "what"),
    [
        ("waits-with-records", "effects[0]"),
        ("late-skips", "effects[2].message.records[0]"),
        ("late-twice", "event.fetches.late"),
        ("skips", "effects[0].message.records[0]"),
        ("watermark-too-far", "effects[0].message.high_watermark"),
    ],
)
def test_the_nearest_is_rejected(mode: str, what: str) -> None:
    rejection = verdict_of(mode).rejection
    assert rejection is not None
    if rejection.conjunct is not None:
        assert what in rejection.conjunct.text
    else:
        assert rejection.differences[0].field == what
