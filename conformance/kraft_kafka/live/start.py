"""Where a recorded run begins: what the files of the nodes said before anybody could connect.

Fresh disks are the beginning of any trace.
Anything else is a checkpoint at which all replicas are stopped: what they remember is what is on their disks.
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
"""Content by name, by node."""


class Start(NamedTuple):
    """The cluster of a capture, and where its run begins."""

    configuration: Configuration
    checkpoint: Checkpoint | None
    """None: on fresh disks."""


def start_of(header: CaptureHeader, lines: Iterable[Line], profile: Profile) -> Start:
    """Where the run of a capture begins.

    Raises:
        DamagedFileError: a file is damaged.
    """
    files = first_files(lines)
    configuration = configuration_of(header, files, profile)
    if not any(name == QUORUM_STATE or name.endswith(LOG) for held in files.values() for name in held):
        return Start(configuration, None)
    states = {
        one: on_disk(configuration.replicas[one].key, files.get(one, {}), configuration.checkpoint(one)).state
        for one in sorted(configuration.replicas)
    }
    checkpoint = Checkpoint(0, 0, states, {}, frozenset(), Recollection({}, {}, Committed(), 0, frozenset()), {})
    return Start(configuration, with_states_remembered(checkpoint))


def first_files(lines: Iterable[Line]) -> Files:
    """The files that stand before anything else in a capture."""
    found: dict[int, dict[str, bytes]] = {}
    for line in lines:
        if not isinstance(line, FileLine):
            break
        found.setdefault(line.node, {})[line.name] = bytes.fromhex(line.bytes)
    return found


def configuration_of(header: CaptureHeader, files: Files, profile: Profile) -> Configuration:
    """The cluster: voters are those that the header lists, else those of a bootstrap checkpoint, else all nodes."""
    replicas = {
        one.id: ReplicaConfiguration(ReplicaKey(one.id, one.directory_id), one.endpoint) for one in header.nodes
    }
    listed = frozenset([ReplicaKey(one.id, one.directory_id) for one in header.voters])
    bootstrap = {node: _bootstrap(held) for node, held in files.items()}
    formatted = next((one for _, one in sorted(bootstrap.items()) if one is not None), None)
    voters = listed or (formatted.voters if formatted else frozenset([one.key for one in replicas.values()]))
    if formatted is not None:
        # Whose disk has no bootstrap checkpoint was formatted without voters.
        replicas = {
            one: replica
            if bootstrap.get(one) is not None or one not in files
            else replace(replica, initial_voters=frozenset())
            for one, replica in replicas.items()
        }
    return Configuration(
        replicas=replicas,
        voters=voters,
        kraft_version=1 if (formatted.kraft_version if formatted else header.kraft_version) else 0,
        cluster_id=header.cluster_id or "",
        profile=profile,
    )


def _bootstrap(held: Mapping[str, bytes]) -> Snapshot | None:
    """The bootstrap checkpoint, if the disk was formatted with voters."""
    found = (one.snapshot for one in snapshots(held, Snapshot(0, 0, 0, frozenset())))
    return next((one for one in found if one.end_offset == 0 and one.voters), None)
