"""Comparison of a checkpoint with the state after the lines before it.

Both are compared as values of the model; differences are described in the terms of a trace.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoint
from kraft_spec.difference import Difference
from kraft_spec.mapping_checkpoint import checkpoint_from_model, checkpoint_to_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.candidates import Branch
from kraft_traces.check.model import TraceModel
from kraft_traces.check.observing import opening_checkpoint
from kraft_traces.check.opening import with_states_remembered
from kraft_traces.check.wording import MISSING, NOTHING
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_line, checkpoint_of

_SHOWN_MAX = 200
"""Maximum length of a value in a difference."""

_DIFFERENCES_MAX = 100
"""Maximum number of differences: one missing record makes all records after it differ."""


def checkpoint_differences(
    model: TraceModel, configuration: Configuration, state: JavaObject, line: CheckpointLine
) -> tuple[Difference, ...]:
    """Return the differences between a checkpoint and a state of the model."""
    recorded: dict[str, Any] = dict(checkpoint_to_model(checkpoint_of(line)))
    at_start = {own_id: replica.pre_vote for own_id, replica in configuration.replicas.items()}
    recorded["software"] = {**at_start, **recorded["software"]}
    reached: dict[str, Any] = dict(model.variables(state))
    if line.history is UNSET:
        # Only the states of the observed replicas and the messages between them are recorded.
        recorded["replicas"] = {**reached["replicas"], **recorded["replicas"]}
        recorded["history"] = reached["history"]
        here = {replica.state.replica_key.id for replica in line.replicas if replica.state.replica_key is not UNSET}
        recorded["software"].update({own: it for own, it in reached["software"].items() if own not in here})
    elif not line.history.is_whole:
        reached["history"] = _as_early_versions(reached, recorded)
    if recorded == reached:
        return ()

    def to_checkpoint(variables: Mapping[str, Any]) -> Checkpoint:
        return checkpoint_from_model(variables, configuration.cluster_id, line.sequence, line.time_ms)

    differences = _differences(to_checkpoint(reached), to_checkpoint(recorded))
    assert differences, "two states that differ in the model look the same in a trace"
    return differences


def agreeing_branches(
    model: TraceModel, configuration: Configuration, branches: Sequence[Branch], line: CheckpointLine
) -> tuple[list[Branch], tuple[Difference, ...]]:
    """Return the branches that agree with a checkpoint, and the differences of the closest of the others."""
    agreeing: list[Branch] = []
    closest: tuple[Difference, ...] = ()
    for branch in branches:
        differences = checkpoint_differences(model, configuration, branch.state, line)
        if not differences:
            agreeing.append(branch)
        elif not closest or len(differences) < len(closest):
            closest = differences
    return agreeing, closest


def opening_states(
    configuration: Configuration, line: CheckpointLine, *, is_part: bool
) -> tuple[Checkpoint, Checkpoint, tuple[Difference, ...]]:
    """Return a checkpoint before the first event, with its own history and with that of its states.

    The differences are what its states have, and its history lacks.  If it `is_part` of the replicas' states, it has
    no history of its own.
    """
    if is_part:
        checkpoint = opening_checkpoint(configuration, line)
        return checkpoint, checkpoint, ()
    checkpoint = checkpoint_of(line)
    whole = with_states_remembered(checkpoint)
    return checkpoint, whole, _differences(whole, checkpoint)


def _differences(expected: Checkpoint, actual: Checkpoint) -> tuple[Difference, ...]:
    trees = [msgspec.to_builtins(checkpoint_line(checkpoint)) for checkpoint in (expected, actual)]
    return tuple(islice(_tree_differences("", *trees), _DIFFERENCES_MAX))


def _as_early_versions(reached: Mapping[str, Any], recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return the model's history without the parts that early versions of this project did not write."""
    history = reached["history"]
    oldest = min(state["epoch"] for state in reached["replicas"].values())
    led, recorded_epochs = dict(history["epochs"]), dict(recorded["history"]["epochs"])
    kept = {
        epoch: entry for epoch, entry in led.items() if epoch in recorded_epochs or epoch >= oldest or epoch == max(led)
    }
    committed = {**history["committed"], "past": ()}
    return {**history, "epochs": kept or (), "committed": committed, "directories": frozenset()}


_KEYS = {
    "replicas": lambda row: f"id={row['state']['replica_key']['id']}",
    "network": lambda row: f"id={row['message']['id']}",
    "history.epochs": lambda row: f"epoch={row['epoch']}",
    "history.votes": lambda row: f"replica={row['replica']}",
    "software": lambda row: f"replica={row[0]}",
}
"""Key of the members of each list whose order has no meaning."""


def _tree_differences(path: str, expected: Any, actual: Any) -> Iterator[Difference]:
    if expected == actual:
        return
    if path in _KEYS:
        expected, actual = ({_KEYS[path](row): row for row in rows} for rows in (expected, actual))
        for key in sorted({*expected, *actual}):
            yield from _member(f"{path}[{key}]", expected, actual, key)
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for name in {**expected, **actual}:
            yield from _member(f"{path}.{name}" if path else name, expected, actual, name)
    elif isinstance(expected, list | tuple) and isinstance(actual, list | tuple) and path.endswith("records"):
        wanted, got = dict(enumerate(expected)), dict(enumerate(actual))
        for index in range(max(len(expected), len(actual))):
            yield from _member(f"{path}[{index}]", wanted, got, index)
    else:
        yield Difference(path, _json(expected), _json(actual))


def _member(path: str, expected: dict[Any, Any], actual: dict[Any, Any], key: Any) -> Iterator[Difference]:
    if key not in actual:
        yield Difference(path, _json(expected[key]), MISSING)
    elif key not in expected:
        yield Difference(path, NOTHING, _json(actual[key]))
    else:
        yield from _tree_differences(path, expected[key], actual[key])


def _json(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."
