"""The reference's step in a random run with the answers to Fetches that an adapter has chosen to give."""

from collections.abc import Sequence
from dataclasses import replace as replaced
from typing import TypeGuard

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.random_runs.reference_steps import Happening, ReferenceStep, reference_step
from kraft_conformance.random_runs.shown import timers_last
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.shown import Shown
from kraft_reference.effects import Effect, Send
from kraft_reference.messages import ChangeResponse, FetchResponse
from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.fetch_answers import WAITS
from kraft_traces.effects import TracedEffect, TracedSend, effect_of
from kraft_traces.message_types import TracedFetchResponse
from kraft_traces.state_types import TracedState
from kraft_vectors.expecting import event_of_line, step_of
from kraft_vectors.format import Expected


def as_answered(
    answers: FetchAnswers, step: ReferenceStep, happening: Happening, shown: Sequence[TracedEffect]
) -> ReferenceStep:
    """A step of the reference with the right answers that are most like those that are shown."""
    done, outputs = step.done, step.expected
    wanted = Expected(outputs=outputs, before=(), refusal=done.refusal, state=TracedState())
    chosen = answers.as_chosen(step_of(event_of_line(step.line, happening.draw), wanted), shown, done.state)
    waiting = {one.path for one in chosen.latitude if one.reason == WAITS}
    if chosen.outputs == outputs and not waiting:
        return step
    effects: list[Effect] = []
    for place, output in enumerate(chosen.outputs):
        if f"outputs[{place}]" in waiting:
            continue
        same = place < len(outputs) and output == outputs[place]
        effects.append(done.effects[place] if same else _effect(output))
    is_late = len(chosen.outputs) > len(outputs)
    refusal = None if is_late and done.refusal is Refusal.NOTHING_DUE else done.refusal
    changed = done._replace(effects=timers_last(effects), refusal=refusal)
    return reference_step(step.before, changed, happening, step.taken)


def _effect(output: TracedEffect) -> Effect:
    assert isinstance(output, TracedSend), "only answers are chosen"
    return effect_of(TracedSend(replace(output.message, id="1.1")))


def without_unnamed(effects: tuple[Effect, ...], shown: Shown) -> tuple[tuple[Effect, ...], Shown]:
    """A step without a late answer beside another message to its receiver: in a run both would have one name.

    There it is lost, as any message may be.
    """
    sent = [one.message for one in effects if isinstance(one, Send)]
    others = {one.destination for one in sent if not isinstance(one, ChangeResponse | FetchResponse)}
    kept = tuple([one for one in effects if not (_answers_a_fetch(one) and one.message.destination in others)])
    if len(kept) == len(effects) or shown.effects is UNSET:
        return kept, shown
    seen = [one for one in shown.effects if not (_answers_a_fetch(one) and one.message.destination in others)]
    return kept, replaced(shown, effects=tuple(seen))


def _answers_a_fetch(effect: Effect | TracedEffect) -> TypeGuard[Send | TracedSend]:
    if not isinstance(effect, Send | TracedSend):
        return False
    return isinstance(effect.message, FetchResponse | TracedFetchResponse)
