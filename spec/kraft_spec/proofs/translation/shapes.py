"""The shapes of the model's variables and messages, as StateOk of Properties.tla has them."""

from collections.abc import Mapping

from kraft_spec.proofs.induction.symbols import NUMBER, TRUTH
from kraft_spec.proofs.translation.values import TEXT, FunctionOf, SequenceOf, SetOf, Shape

KEY: Shape = (NUMBER, TEXT)
_CONTENT: Mapping[str, Shape] = {
    "voters": SetOf(KEY),
    "details": SetOf((NUMBER, TEXT, NUMBER, NUMBER)),
    "target": SetOf(NUMBER),
}
RECORD: Shape = {"epoch": NUMBER, "kind": TEXT, "value": NUMBER, **_CONTENT}
REPLICA_STATE: Shape = {
    "replica_key": KEY,
    "role": TEXT,
    "epoch": NUMBER,
    "leader_id": NUMBER,
    "leader_endpoint": TEXT,
    "voted_key": KEY,
    "log": SequenceOf(RECORD),
    "flushed": NUMBER,
    "base": {"end_offset": NUMBER, "epoch": NUMBER, "kraft_version": NUMBER, **_CONTENT},
    "voters": SequenceOf({"offset": NUMBER, **_CONTENT}),
    "versions": SequenceOf({"offset": NUMBER, "kraft_version": NUMBER}),
    "high_watermark": NUMBER,
    "quorum_state_version": NUMBER,
    "moved_to": TEXT,
    "granted": SetOf(NUMBER),
    "rejected": SetOf(NUMBER),
    "fetched": TRUTH,
    "searching": TRUTH,
    "epoch_start_offset": NUMBER,
    "fetch_offsets": FunctionOf(KEY, NUMBER),
    "fetchers": SetOf(NUMBER),
    "acknowledged": SetOf(NUMBER),
    "preferred_candidates": SequenceOf(KEY),
    "awaiting": SetOf((NUMBER, NUMBER)),
    "pending_change": {
        "kind": TEXT,
        "phase": TEXT,
        "voter": KEY,
        "endpoint": TEXT,
        "min_version": NUMBER,
        "max_version": NUMBER,
        "offset": NUMBER,
        "requester": NUMBER,
        "request": NUMBER,
        "when_committed": TRUTH,
    },
    "reports": SetOf((KEY, TEXT, NUMBER, NUMBER)),
    "awaited_targets": SetOf((NUMBER, NUMBER)),
    "wanted_snapshot": (NUMBER, NUMBER),
}
"""As StateOk of Properties.tla has it."""

_BY_ID: Mapping[str, Shape] = {
    "endpoints": TEXT,
    "pre_vote": TEXT,
    "speaks_endpoints": TRUTH,
    "min_version": NUMBER,
    "max_version": NUMBER,
    "keys": KEY,
    "initial_voters": SetOf(KEY),
}


CONFIGURATION: Shape = {
    **{name: FunctionOf(NUMBER, shape) for name, shape in _BY_ID.items()},
    "kraft_version": NUMBER,
    "voters": SetOf(KEY),
    "bootstrap_servers": SetOf(NUMBER),
    "fetch_max_records": NUMBER,
}
"""What operators have set up, but for the decisions of a profile."""

_ANSWER: Shape = {
    **dict.fromkeys(("source", "destination", "correlation_id", "epoch", "leader_id"), NUMBER),
    "type": TEXT,
    "error": TEXT,
    "leader_endpoint": TEXT,
}
_REQUEST: Shape = {
    **dict.fromkeys(("source", "destination", "correlation_id", "epoch"), NUMBER),
    "type": TEXT,
}
MESSAGES: Mapping[str, Shape] = {
    "VoteRequest": {
        **_REQUEST,
        "replica_key": KEY,
        "voter_key": KEY,
        "last_epoch": NUMBER,
        "end_offset": NUMBER,
        "pre_vote": TRUTH,
    },
    "VoteResponse": {**_ANSWER, "granted": TRUTH, "pre_vote": TRUTH},
    "BeginQuorumEpochRequest": {**_REQUEST, "voter_key": KEY, "leader_endpoint": TEXT},
    "BeginQuorumEpochResponse": _ANSWER,
    "EndQuorumEpochRequest": {**_REQUEST, "preferred_candidates": SequenceOf(KEY)},
    "EndQuorumEpochResponse": _ANSWER,
    "FetchSnapshotRequest": {
        **_REQUEST,
        "replica_key": KEY,
        "snapshot_end_offset": NUMBER,
        "snapshot_epoch": NUMBER,
    },
    "ApiVersionsRequest": _REQUEST,
    "AddVoterResponse": _ANSWER,
    "RemoveVoterResponse": _ANSWER,
    "UpdateVoterResponse": _ANSWER,
}
"""Those whose actions are proved."""
