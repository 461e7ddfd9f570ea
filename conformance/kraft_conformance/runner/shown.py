"""The behaviour that an implementation shows in one step."""

from dataclasses import dataclass

from msgspec import UNSET, UnsetType

from kraft_reference.outcome import Refusal
from kraft_traces.alternatives.writes import NEW_DISK, Disk
from kraft_traces.effects import TracedEffect
from kraft_traces.state_types import TracedState
from kraft_traces.values import DurationMs


@dataclass(frozen=True, slots=True)
class Shown:
    """A step as an adapter shows it, or as the line of a trace does; UNSET where it shows nothing."""

    effects: tuple[TracedEffect, ...] | UnsetType = UNSET
    refusal: Refusal | UnsetType | None = UNSET
    state: TracedState | UnsetType = UNSET
    """After the step."""
    disk: Disk = NEW_DISK
    """Before the step."""
    died: str | UnsetType = UNSET
    """Why the process has ended."""
    poll_again_ms: DurationMs | UnsetType = UNSET
