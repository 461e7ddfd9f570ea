"""A checkpoint and the variables of the model: `replicas`, `network`, `cuts` and `history`, both ways.

The network is that of Trace.tla: [sent, copies, message].
"""

from collections.abc import Mapping

from kraft_reference.cluster.checkpoint import CastVotes, Checkpoint, Committed, Flight, LedEpoch, Recollection
from kraft_reference.cluster.occurrence import message_id
from kraft_spec.mapping import message_from_model, message_to_model, state_from_model, state_to_model
from kraft_spec.mapping_forms import (
    KEY_SET,
    RECORDS,
    TARGET,
    ModelValue,
    details_from_model,
    details_to_model,
    function_entries,
)

VARIABLES = ("replicas", "network", "cuts", "history")
"""The variables of the model that change in a run."""

_NO_LEVEL = -1
_NO_SET = frozenset([(-1, "")])
"""NothingCommitted in KRaft.tla: what was in force before the first record."""


def checkpoint_to_model(checkpoint: Checkpoint) -> dict[str, ModelValue]:
    """The values of `VARIABLES`; the network as a mapping from the message id, since records are not hashable."""
    return {
        "replicas": {i: state_to_model(state) for i, state in checkpoint.replicas.items()},
        "network": {identifier: _flight_to_model(identifier, one) for identifier, one in checkpoint.network.items()},
        "cuts": frozenset(checkpoint.cuts),
        "history": _recollection_to_model(checkpoint.recollection),
    }


def _flight_to_model(identifier: str, flight: Flight) -> dict[str, ModelValue]:
    sent = int(identifier.partition(".")[0])
    return {"sent": sent, "copies": flight.copies, "message": message_to_model(flight.message)}


def _recollection_to_model(recollection: Recollection) -> dict[str, ModelValue]:
    epochs = {
        epoch: {"leaders": KEY_SET.to_model(led.leaders), "end": led.end_offset, "rewritten": led.rewritten}
        for epoch, led in recollection.epochs.items()
    }
    votes = {
        voter: {"epoch": cast.epoch, "candidates": KEY_SET.to_model(cast.candidates)}
        for voter, cast in recollection.votes.items()
    }
    committed = recollection.committed
    base = {
        "end": committed.start_offset,
        "epoch": committed.epoch,
        "level": _NO_LEVEL if committed.kraft_version is None else committed.kraft_version,
        "voters": _NO_SET if committed.voters is None else KEY_SET.to_model(committed.voters),
        "details": details_to_model(committed.details),
        "target": TARGET.to_model(committed.target),
    }
    return {
        # TLC's empty function is the empty sequence.
        "epochs": epochs or (),
        "votes": votes,
        "committed": {"base": base, "log": RECORDS.to_model(committed.records)},
        "crashes": recollection.crashes,
    }


def variables_by_id(variables: Mapping[str, ModelValue]) -> dict[str, ModelValue]:
    """The decoded variables of a state with its network as a mapping, to compare with `checkpoint_to_model`."""
    return {
        "replicas": dict(function_entries(variables["replicas"])),
        "network": {_identifier(row): row for row in variables["network"]},
        "cuts": variables["cuts"],
        "history": {
            **variables["history"],
            "epochs": dict(function_entries(variables["history"]["epochs"])) or (),
            "votes": dict(function_entries(variables["history"]["votes"])),
        },
    }


def _identifier(row: Mapping[str, ModelValue]) -> str:
    return message_id(row["sent"], message_from_model(row["message"], ""))


def checkpoint_from_model(
    variables: Mapping[str, ModelValue], cluster_id: str, sequence: int, time_ms: int
) -> Checkpoint:
    """The checkpoint that the decoded variables of a state stand for.

    Args:
        variables: as `variables_by_id` gives them.
        cluster_id: that of the cluster, which the model does not have.
        sequence: of the event before.
        time_ms: of the checkpoint; the model has no clock.
    """
    history = variables["history"]
    base = history["committed"]["base"]
    committed = Committed(
        base["end"],
        base["epoch"],
        None if base["level"] == _NO_LEVEL else base["level"],
        None if base["voters"] == _NO_SET else KEY_SET.from_model(base["voters"]),
        details_from_model(base["details"]),
        TARGET.from_model(base["target"]),
        RECORDS.from_model(history["committed"]["log"]),
    )
    recollection = Recollection(
        {
            epoch: LedEpoch(KEY_SET.from_model(led["leaders"]), led["end"], led["rewritten"])
            for epoch, led in function_entries(history["epochs"]).items()
        },
        {
            voter: CastVotes(cast["epoch"], KEY_SET.from_model(cast["candidates"]))
            for voter, cast in function_entries(history["votes"]).items()
        },
        committed,
        history["crashes"],
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
    )
