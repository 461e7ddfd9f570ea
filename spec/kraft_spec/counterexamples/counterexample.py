"""A counterexample in words, as printed, recorded and shown on the rules' pages."""

from collections.abc import Mapping

import msgspec

from kraft_spec.counterexamples.actions import INITIAL, happening
from kraft_spec.counterexamples.changes import change_words
from kraft_spec.counterexamples.scene import scene_words
from kraft_spec.counterexamples.state import State
from kraft_spec.models import action_of
from kraft_spec.tlc.model_report import ModelCheckReport


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A state of a counterexample, with the step that led to it."""

    action: str
    """Action of the model; "Init" for the first state."""
    subject: str
    """Subject of the action, such as "replica 2, VoteRequest from 1"; empty for the first state."""
    changes: tuple[str, ...]
    """Changes, or the contents of the first state; each without a full stop."""

    def line(self) -> str:
        """Return the step on one line."""
        head = f"{self.action} ({self.subject})" if self.subject else self.action
        return f"{head}: {'; '.join(self.changes)}"


class Counterexample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A behaviour of the model that violates a property."""

    property: str
    """Violated property; empty if there is none."""
    steps: tuple[Step, ...]
    """Steps, one for each state."""
    loop: str = ""
    """Continuation of an infinite behaviour after the last state: "Stuttering" or "Back to state N"; or empty."""


def in_words(report: ModelCheckReport, actions: Mapping[int, str]) -> Counterexample:
    """Return TLC's counterexample in words; without steps if there is none.

    Args:
        report: TLC's findings.
        actions: Action at each line of Next in KRaft.tla, as TLC read it: see `kraft_spec.models.next_actions`.

    Raises:
        ValueTextError: A state is not in TLC's format.
    """
    states = [State.of(state) for state in report.trace]
    steps: list[Step] = []
    for number, (traced, after) in enumerate(zip(report.trace, states, strict=True)):
        if number == 0:
            steps.append(Step(INITIAL, "", scene_words(after)))
            continue
        before = states[number - 1]
        name = action_of(traced, actions)
        about = happening(name, before, after)
        steps.append(Step(name, about.words(), change_words(before, after, about)))
    return Counterexample(report.violated, tuple(steps), report.loop)


def text_of(counterexample: Counterexample) -> str:
    """Return the whole counterexample: a numbered line for each step, and the violated property."""
    lines = [f"{number}. {step.line()}" for number, step in enumerate(counterexample.steps, 1)]
    if counterexample.loop:
        lines.append(counterexample.loop)
    if counterexample.property:
        lines.append(f"violated: {counterexample.property}")
    return "\n".join(lines) + "\n"
