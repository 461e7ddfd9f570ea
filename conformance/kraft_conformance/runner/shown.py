"""Observation of a step of an implementation."""

from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.writes import NEW_DISK, Disk
from kraft_traces.effects import TracedEffect
from kraft_traces.state_types import TracedState
from kraft_traces.values import DurationMs


@dataclass(frozen=True, slots=True)
class Observation:
    """Step as an adapter, or the line of a trace, shows it; hidden parts are UNSET."""

    effects: tuple[TracedEffect, ...] | UnsetType = UNSET
    refusal: Refusal | UnsetType | None = UNSET
    state: TracedState | UnsetType = UNSET
    """State after the step."""
    disk: Disk = NEW_DISK
    """Disk before the step."""
    died: str | UnsetType = UNSET
    """Reason why the process has ended."""
    poll_again_ms: DurationMs | UnsetType = UNSET
