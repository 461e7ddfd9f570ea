"""Conversion between checkpoints and the variables `replicas`, `network`, `cuts` and `history` of the model.

The network has the form of Trace.tla: [sent, copies, message].
"""

from collections.abc import Mapping

from kraft_simulation.checkpoint import CastVotes, Checkpoint, Committed, InForce, LedEpoch, Recollection
from kraft_simulation.occurrence import message_id
from kraft_simulation.world import Flight
from kraft_spec.mapping import message_from_model, message_to_model, state_from_model, state_to_model
from kraft_spec.mapping_forms import (
    KEY_SET,
    NO_KEY,
    RECORDS,
    TARGET,
    ModelValue,
    details_from_model,
    details_to_model,
    function_entries,
)

VARIABLES = ("replicas", "network", "cuts", "history")
"""Variables of the model that change in a run."""

_NO_LEVEL = -1
_NO_SET = frozenset([NO_KEY])
"""NothingCommitted in KRaft.tla: the state in force before the first record."""


def checkpoint_to_model(checkpoint: Checkpoint) -> dict[str, ModelValue]:
    """Return the values of `VARIABLES` and the software; the network is a mapping by message id.

    It is not a set because records are not hashable.
    """
    return {
        "replicas": {i: state_to_model(state) for i, state in checkpoint.replicas.items()},
        "network": {
            identifier: _flight_to_model(identifier, flight) for identifier, flight in checkpoint.network.items()
        },
        "cuts": frozenset(checkpoint.cuts),
        "history": _recollection_to_model(checkpoint.recollection),
        "software": dict(checkpoint.software),
    }


def with_epochs_left(variables: Mapping[str, ModelValue]) -> dict[str, ModelValue]:
    """Move the epochs that InUse of Forgetting.tla would forget from `epochs` to `left`.

    If the lines before a checkpoint were checked, these epochs cannot matter any more, and the model scans those in use
    at every change of one.
    """
    history = variables["history"]
    led = dict(history["epochs"])
    oldest = min(state["epoch"] for state in variables["replicas"].values())
    used = {epoch: entry for epoch, entry in led.items() if epoch >= oldest}
    at_hand = used or ({max(led): led[max(led)]} if led else {})
    left = {epoch: entry for epoch, entry in led.items() if epoch not in at_hand}
    return {**variables, "history": {**history, "epochs": at_hand or (), "left": left or ()}}


def _flight_to_model(identifier: str, flight: Flight) -> dict[str, ModelValue]:
    sent = int(identifier.partition(".")[0])
    return {"sent": sent, "copies": flight.copies, "message": message_to_model(flight.message)}


def _recollection_to_model(recollection: Recollection) -> dict[str, ModelValue]:
    epochs = {
        epoch: {"leaders": KEY_SET.to_model(led.leaders), "end_offset": led.end_offset, "rewritten": led.rewritten}
        for epoch, led in recollection.epochs.items()
    }
    votes = {
        voter: {"epoch": cast.epoch, "candidates": KEY_SET.to_model(cast.candidates)}
        for voter, cast in recollection.votes.items()
    }
    committed = recollection.committed
    return {
        # TLC's empty function is the empty sequence.
        "epochs": epochs or (),
        "votes": votes,
        "committed": {
            "base": {"end_offset": committed.start_offset, **_in_force_to_model(committed.base)},
            "log": RECORDS.to_model(committed.records),
            "past": tuple(
                {"offset": offset, **_in_force_to_model(from_there)} for offset, from_there in committed.past
            ),
        },
        "crashes": recollection.crashes,
        "directories": recollection.directories,
        # No property depends on the split between `epochs` and `left`.
        "left": (),
    }


def _in_force_to_model(in_force: InForce) -> dict[str, ModelValue]:
    return {
        "epoch": in_force.epoch,
        "kraft_version": _NO_LEVEL if in_force.kraft_version is None else in_force.kraft_version,
        "voters": _NO_SET if in_force.voters is None else KEY_SET.to_model(in_force.voters),
        "details": details_to_model(in_force.details),
        "target": TARGET.to_model(in_force.target),
    }


def _in_force_from_model(in_force: Mapping[str, ModelValue]) -> InForce:
    return InForce(
        in_force["epoch"],
        None if in_force["kraft_version"] == _NO_LEVEL else in_force["kraft_version"],
        None if in_force["voters"] == _NO_SET else KEY_SET.from_model(in_force["voters"]),
        details_from_model(in_force["details"]),
        TARGET.from_model(in_force["target"]),
    )


def variables_by_id(variables: Mapping[str, ModelValue]) -> dict[str, ModelValue]:
    """Return the decoded variables of a state with the network by message id, comparable to `checkpoint_to_model`."""
    history = variables["history"]
    return {
        "replicas": dict(function_entries(variables["replicas"])),
        "network": {_identifier(row): row for row in variables["network"]},
        "cuts": variables["cuts"],
        "history": {
            **history,
            "epochs": {**function_entries(history["left"]), **function_entries(history["epochs"])} or (),
            "left": (),
            "votes": dict(function_entries(history["votes"])),
        },
        "software": dict(function_entries(variables["config"]["pre_vote"])),
    }


def _identifier(row: Mapping[str, ModelValue]) -> str:
    return message_id(row["sent"], message_from_model(row["message"], ""))


def checkpoint_from_model(
    variables: Mapping[str, ModelValue], cluster_id: str, sequence: int, time_ms: int
) -> Checkpoint:
    """Return the checkpoint from the decoded variables of a state.

    Args:
        variables: in the form of `variables_by_id`.
        cluster_id: id of the cluster, which the model does not have.
        sequence: sequence number of the event before.
        time_ms: time of the checkpoint; the model has no clock.
    """
    history = variables["history"]
    committed_record = history["committed"]
    committed = Committed(
        committed_record["base"]["end_offset"],
        _in_force_from_model(committed_record["base"]),
        RECORDS.from_model(committed_record["log"]),
        tuple((entry["offset"], _in_force_from_model(entry)) for entry in committed_record["past"]),
    )
    recollection = Recollection(
        {
            epoch: LedEpoch(KEY_SET.from_model(led["leaders"]), led["end_offset"], led["rewritten"])
            for epoch, led in function_entries(history["epochs"]).items()
        },
        {
            voter: CastVotes(cast["epoch"], KEY_SET.from_model(cast["candidates"]))
            for voter, cast in function_entries(history["votes"]).items()
        },
        committed,
        history["crashes"],
        frozenset(history["directories"]),
    )
    return Checkpoint(
        sequence,
        time_ms,
        {i: state_from_model(record) for i, record in variables["replicas"].items()},
        {
            identifier: Flight(message_from_model(row["message"], cluster_id), row["copies"])
            for identifier, row in variables["network"].items()
        },
        frozenset(variables["cuts"]),
        recollection,
        dict(variables["software"]),
    )
