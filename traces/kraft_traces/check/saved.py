"""State of a checker as JSON, from which another process continues."""

from typing import Any

from msgspec import Struct

from kraft_traces.alternatives.decisions import OpenAnswer
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.message_types import TracedMessage


class SavedBranch(Struct, frozen=True):
    """Candidate state, without violation."""

    checkpoint: CheckpointLine
    """The state, in the model's correlation ids."""
    taken: tuple[OpenAnswer, ...]


class SavedChecker(Struct, frozen=True):
    """State of a checker after some lines."""

    branches: tuple[SavedBranch, ...]
    in_flight: tuple[tuple[str, int, TracedMessage], ...]
    """Id, number of copies and message, as the senders' lines have it."""
    correlations: Any
    """Result of `Correlations.snapshot`; None for a trace of this project's reference."""
    ahead: Any
    """Result of `SyncedAhead.snapshot`."""
    opaque: Any
    """Result of `Opaque.as_json`."""
    besides: int
    events: int
    unknown: tuple[int, ...]
    """Replicas whose state is unknown."""
    partial: tuple[int, ...]
    """Replicas that may have sent messages that no line sends."""
    gaps: tuple[str, ...]
