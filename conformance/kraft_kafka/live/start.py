"""The start of a recorded run: the nodes' files before any client could connect.

A run from fresh disks starts as any trace does.
Any other run starts from a checkpoint with all replicas stopped, in which they remember what is on their disks.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from kraft_kafka.live.capture import CaptureHeader, FileLine, Line
from kraft_kafka.wire.disk_files import LOG, QUORUM_STATE, on_disk, snapshots
from kraft_reference.configuration import Configuration, ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_reference.log import Snapshot
from kraft_reference.profile import Profile
from kraft_simulation.checkpoint import Checkpoint, Committed, Recollection
from kraft_traces.check.opening import with_states_remembered

Files = Mapping[int, Mapping[str, bytes]]
"""File contents by node and name."""


class Start(NamedTuple):
    """The cluster of a capture, and the start of its run."""

    configuration: Configuration
    checkpoint: Checkpoint | None
    """None for fresh disks."""


def start_of(header: CaptureHeader, lines: Iterable[Line], profile: Profile) -> Start:
    """Return the start of a capture's run.

    Raises:
        DamagedFileError: a file is damaged.
    """
    files = first_files(lines)
    configuration = configuration_of(header, files, profile)
    if not any(name == QUORUM_STATE or name.endswith(LOG) for held in files.values() for name in held):
        return Start(configuration, None)
    states = {
        id_: on_disk(configuration.replicas[id_].key, files.get(id_, {}), configuration.checkpoint(id_)).state
        for id_ in sorted(configuration.replicas)
    }
    checkpoint = Checkpoint(0, 0, states, {}, frozenset(), Recollection({}, {}, Committed(), 0, frozenset()), {})
    return Start(configuration, with_states_remembered(checkpoint))


def first_files(lines: Iterable[Line]) -> Files:
    """Return the files before any other line of a capture."""
    contents: dict[int, dict[str, bytes]] = {}
    for line in lines:
        if not isinstance(line, FileLine):
            break
        contents.setdefault(line.node, {})[line.name] = bytes.fromhex(line.bytes)
    return contents


def configuration_of(header: CaptureHeader, files: Files, profile: Profile) -> Configuration:
    """Return the cluster: its voters are those of the header, else of a bootstrap checkpoint, else all nodes."""
    replicas = {
        node.id: ReplicaConfiguration(ReplicaKey(node.id, node.directory_id), node.endpoint) for node in header.nodes
    }
    listed = frozenset([ReplicaKey(voter.id, voter.directory_id) for voter in header.voters])
    bootstrap = {node: _find_bootstrap(held) for node, held in files.items()}
    formatted = next((snapshot for _, snapshot in sorted(bootstrap.items()) if snapshot is not None), None)
    voters = listed or (formatted.voters if formatted else frozenset([replica.key for replica in replicas.values()]))
    if formatted is not None:
        # A disk without a bootstrap checkpoint was formatted without voters.
        replicas = {
            id_: replica
            if bootstrap.get(id_) is not None or id_ not in files
            else replace(replica, initial_voters=frozenset())
            for id_, replica in replicas.items()
        }
    return Configuration(
        replicas=replicas,
        voters=voters,
        kraft_version=1 if (formatted.kraft_version if formatted else header.kraft_version) else 0,
        cluster_id=header.cluster_id or "",
        profile=profile,
    )


def _find_bootstrap(held: Mapping[str, bytes]) -> Snapshot | None:
    """Return the bootstrap checkpoint, if the disk was formatted with voters."""
    candidates = (file.snapshot for file in snapshots(held, Snapshot(0, 0, 0, frozenset())))
    return next((snapshot for snapshot in candidates if snapshot.end_offset == 0 and snapshot.voters), None)
