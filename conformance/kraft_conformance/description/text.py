"""The view of a quorum as `kafka-metadata-quorum describe` prints it.

Rules: cli.describe-status, cli.describe-replication.
"""

import json
from typing import Any

from kraft_conformance.console import in_columns
from kraft_conformance.description.view import QuorumView
from kraft_reference.describe import UNKNOWN, ReplicaProgress
from kraft_reference.identity import ReplicaKey

COLUMNS = ("NodeId", "DirectoryId", "LogEndOffset", "Lag", "LastFetchTimestamp", "LastCaughtUpTimestamp", "Status")


def status_rows(seen: QuorumView) -> dict[str, Any]:
    """The rows of --status; -1 and null stand for what is not known.

    Rules: cli.describe-status, reassign.describe-quorum.
    """
    described = seen.description
    endpoints = dict(described.nodes)
    # KIP-642's row stands there while there is something in it: Kafka's tool has none.
    target = (
        {}
        if described.target is None
        else {
            "TargetVoters": [
                {**_key(one.key), "logEndOffset": one.log_end_offset, "lag": one.lag} for one in described.target
            ]
        }
    )
    return {
        "ClusterId": seen.cluster_id,
        "LeaderId": UNKNOWN if described.leader_id is None else described.leader_id,
        "LeaderEpoch": described.leader_epoch,
        "HighWatermark": described.high_watermark,
        "MaxFollowerLag": described.max_follower_lag,
        "MaxFollowerLagTimeMs": described.max_follower_lag_ms,
        "CurrentVoters": [
            {**_key(voter.key), "endpoints": _endpoints(endpoints.get(voter.key.id))} for voter in described.voters
        ],
        **target,
        "CurrentObservers": [_key(observer.key) for observer in described.observers],
        "UncommittedAddedVoter": None if described.uncommitted_added is None else _key(described.uncommitted_added),
        "UncommittedRemovedVoter": (
            None if described.uncommitted_removed is None else _key(described.uncommitted_removed)
        ),
    }


def replication_rows(seen: QuorumView) -> list[dict[str, Any]]:
    """The rows of --replication: the leader, the followers, the observers."""
    described = seen.description
    other = "Voter" if described.leader_id is None else "Follower"
    rows = [_row(voter, "Leader" if voter.key.id == described.leader_id else other) for voter in described.voters]
    rows.sort(key=lambda row: row["Status"] != "Leader")
    return rows + [_row(observer, "Observer") for observer in described.observers]


def status_text(seen: QuorumView) -> str:
    """--status, a row a line."""
    rows = status_rows(seen)
    width = max(map(len, rows)) + 2
    return "\n".join(f"{name + ':':<{width}}{_value(value)}" for name, value in rows.items())


def replication_text(seen: QuorumView) -> str:
    """--replication, in columns."""
    rows = replication_rows(seen)
    return in_columns(
        [COLUMNS, *[["unknown" if row[name] is None else str(row[name]) for name in COLUMNS] for row in rows]]
    )


def _row(replica: ReplicaProgress, role: str) -> dict[str, Any]:
    values = (
        replica.key.id,
        replica.key.directory_id,
        replica.log_end_offset,
        replica.lag,
        replica.last_fetch_ms,
        replica.last_caught_up_ms,
        role,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _key(key: ReplicaKey) -> dict[str, Any]:
    return {"id": key.id, "directoryId": key.directory_id}


def _endpoints(endpoint: str | None) -> list[str]:
    return [] if endpoint is None else [f"CONTROLLER://{endpoint}"]


def _value(value: Any) -> str:
    if value is None:
        return "none"
    return json.dumps(value) if isinstance(value, dict | list) else str(value)
