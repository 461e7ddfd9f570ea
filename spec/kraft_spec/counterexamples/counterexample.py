"""A counterexample in words, as it is printed, recorded and shown on the pages of the rules."""

from collections.abc import Mapping

import msgspec

from kraft_spec.counterexamples.actions import INITIAL, happening
from kraft_spec.counterexamples.changes import change_words
from kraft_spec.counterexamples.scene import scene_words
from kraft_spec.counterexamples.state import State
from kraft_spec.models import action_of
from kraft_spec.tlc.model_report import ModelCheckReport


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One state of a counterexample: the first, or what led to it."""

    action: str
    """The action of the model; "Init" for the first state."""
    subject: str
    """What it was about, "replica 2, VoteRequest from 1"; empty for the first state."""
    changes: tuple[str, ...]
    """What became otherwise, or for the first state what there is; each without a full stop."""

    def line(self) -> str:
        """The step on one line."""
        head = f"{self.action} ({self.subject})" if self.subject else self.action
        return f"{head}: {'; '.join(self.changes)}"


class Counterexample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A behaviour of the model that violates a property."""

    property: str
    """What is violated; empty if nothing was found violated."""
    steps: tuple[Step, ...]
    """One for each state; the length of the counterexample is their number."""
    loop: str = ""
    """How an infinite behaviour goes on after the last state: "Stuttering" or "Back to state N"; or empty."""


def in_words(found: ModelCheckReport, actions: Mapping[int, str]) -> Counterexample:
    """What TLC found, in words; without steps if it found nothing.

    Args:
        found: TLC's findings.
        actions: What stands on the lines of Next in KRaft.tla, as TLC read it: see `kraft_spec.models.next_actions`.

    Raises:
        ValueTextError: A state is not printed as TLC prints values.
    """
    states = [State.of(state) for state in found.trace]
    steps: list[Step] = []
    for number, (traced, after) in enumerate(zip(found.trace, states, strict=True)):
        if number == 0:
            steps.append(Step(INITIAL, "", scene_words(after)))
            continue
        before = states[number - 1]
        name = action_of(traced, actions)
        about = happening(name, before, after)
        steps.append(Step(name, about.words(), change_words(before, after, about)))
    return Counterexample(found.violated, tuple(steps), found.loop)


def text_of(counterexample: Counterexample) -> str:
    """The whole counterexample, a numbered line for each step, and what is violated."""
    lines = [f"{number}. {step.line()}" for number, step in enumerate(counterexample.steps, 1)]
    if counterexample.loop:
        lines.append(counterexample.loop)
    if counterexample.property:
        lines.append(f"violated: {counterexample.property}")
    return "\n".join(lines) + "\n"
