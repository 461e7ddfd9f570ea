"""The reference's step in a random run with the adapter's choice of Fetch responses."""

from collections.abc import Sequence
from dataclasses import replace as replaced
from typing import TypeGuard

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.random_runs.reference_steps import ReferenceStep, ReplicaEvent, reference_step
from kraft_conformance.random_runs.shown import timers_last
from kraft_conformance.runner.fetch_answers import FetchAnswers
from kraft_conformance.runner.shown import Observation
from kraft_reference.effects import Effect, Send
from kraft_reference.messages import ChangeResponse, FetchResponse
from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.fetch_answers import WAITS
from kraft_traces.effects import TracedEffect, TracedSend, effect_of
from kraft_traces.message_types import TracedFetchResponse
from kraft_traces.state_types import TracedState
from kraft_vectors.expecting import event_of_line, step_of
from kraft_vectors.format import Expected


def with_actual_responses(
    answers: FetchAnswers, step: ReferenceStep, happening: ReplicaEvent, actual: Sequence[TracedEffect]
) -> ReferenceStep:
    """Return a step of the reference with the correct responses that are most similar to the actual ones."""
    done, outputs = step.done, step.expected
    wanted = Expected(outputs=outputs, before=(), refusal=done.refusal, state=TracedState())
    chosen = answers.as_chosen(step_of(event_of_line(step.line, happening.draw), wanted), actual, done.state)
    waiting = {latitude.path for latitude in chosen.latitude if latitude.reason == WAITS}
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
    assert isinstance(output, TracedSend), "only responses are chosen"
    return effect_of(TracedSend(replace(output.message, id="1.1")))


def without_late_responses(
    effects: tuple[Effect, ...], observation: Observation
) -> tuple[tuple[Effect, ...], Observation]:
    """Return a step without late responses beside another message to the same receiver.

    In a run both messages would have the same name, so the response is lost, as any message may be.
    """
    sent = [effect.message for effect in effects if isinstance(effect, Send)]
    receivers = {message.destination for message in sent if not isinstance(message, ChangeResponse | FetchResponse)}
    kept = tuple(
        [effect for effect in effects if not (_answers_a_fetch(effect) and effect.message.destination in receivers)]
    )
    if len(kept) == len(effects) or observation.effects is UNSET:
        return kept, observation
    kept_effects = [
        effect
        for effect in observation.effects
        if not (_answers_a_fetch(effect) and effect.message.destination in receivers)
    ]
    return kept, replaced(observation, effects=tuple(kept_effects))


def _answers_a_fetch(effect: Effect | TracedEffect) -> TypeGuard[Send | TracedSend]:
    if not isinstance(effect, Send | TracedSend):
        return False
    return isinstance(effect.message, FetchResponse | TracedFetchResponse)
