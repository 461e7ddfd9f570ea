"""States of a checker from which another one continues: another process, from JSON, or the compiled model."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoint
from kraft_spec.mapping_checkpoint import checkpoint_from_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.alternatives.decisions import OpenAnswer
from kraft_traces.check.candidates import Branch
from kraft_traces.check.model import TraceModel
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_line, checkpoint_of
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


class Begin(NamedTuple):
    """State of the checker from which the compiled model can continue."""

    branches: Sequence[Branch]
    """Candidate states, none with a violation."""
    in_flight: dict[str, tuple[int, TracedMessage]]
    """In-flight messages by id: number of copies, and the message."""
    correlations: Sequence[Any]
    """Result of `Correlations.snapshot`."""
    ahead: Mapping[str, object]
    """Result of `SyncedAhead.snapshot`."""
    besides: int
    """Sum over the lines so far of the candidate states beyond the first."""
    opaque: Mapping[str, object]
    """Result of `Opaque.as_json`."""


def saved_state(model: TraceModel, configuration: Configuration, state: JavaObject, sequence: int) -> CheckpointLine:
    """Return a state of the model after the event of this sequence, as a checkpoint."""
    return checkpoint_line(checkpoint_from_model(model.variables(state), configuration.cluster_id, sequence, 0))


def checkpoint_to_resume(model: TraceModel, configuration: Configuration, line: CheckpointLine) -> Checkpoint:
    """Return a saved state with the replicas that only the newest header has, as they start."""
    checkpoint = checkpoint_of(line)
    if checkpoint.replicas.keys() == configuration.replicas.keys():
        return checkpoint
    variables = model.variables(model.start(configuration))
    start = checkpoint_from_model(variables, configuration.cluster_id, 0, 0)
    history = checkpoint.recollection._replace(
        votes={**start.recollection.votes, **checkpoint.recollection.votes},
        directories=checkpoint.recollection.directories | start.recollection.directories,
    )
    replicas = {**start.replicas, **checkpoint.replicas}
    software = {**start.software, **checkpoint.software}
    return checkpoint._replace(replicas=replicas, recollection=history, software=software)
