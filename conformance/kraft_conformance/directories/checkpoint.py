"""The bootstrap checkpoint of a metadata directory: the voters that formatting names, one JSON record a line."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kraft_conformance.directories import names
from kraft_conformance.directories.errors import bad_file, read_text
from kraft_conformance.directories.names import ListedVoter, MalformedNameError
from kraft_reference.configuration import ReplicaConfiguration
from kraft_reference.identity import ReplicaKey

FILE_NAME = "0-0.checkpoint"
"""Named for end offset 0 and epoch 0.  Rule: snapshot.bootstrap-checkpoint."""

LISTENER_NAME = "CONTROLLER"
_SOFTWARE = ReplicaConfiguration(ReplicaKey(0), "")
"""What software supports that an operator says nothing about."""


def checkpoint_text(voters: tuple[ListedVoter, ...]) -> str:
    """The records of the checkpoint: header, KRaftVersion, Voters, footer.

    Rules: bootstrap.standalone, bootstrap.multi-voter, snapshot.control-records-first, wire.voters-record.
    """
    entries = []
    for voter in voters:
        host, _, port = voter.endpoint.rpartition(":")
        entries.append(
            {
                "voterId": voter.id,
                "voterDirectoryId": voter.directory_id,
                "endpoints": [{"name": LISTENER_NAME, "host": host, "port": int(port)}],
                "kRaftVersionFeature": {
                    "minSupportedVersion": _SOFTWARE.min_version,
                    "maxSupportedVersion": _SOFTWARE.max_version,
                },
            }
        )
    records: list[dict[str, Any]] = [
        {"record": "SnapshotHeader", "version": 0, "lastContainedLogTimestamp": 0},
        {"record": "KRaftVersion", "version": 0, "kRaftVersion": 1},
        {"record": "Voters", "version": 0, "voters": entries},
        {"record": "SnapshotFooter", "version": 0},
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


def read_checkpoint(source: Path) -> tuple[ListedVoter, ...]:
    """The voters of a checkpoint, by id.

    Raises:
        CommandError: it cannot be read, or is not as formatting writes it; the message names line and field.
    """
    records: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for number, line in enumerate(read_text(source).splitlines(), 1):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise bad_file(source, number, None, f"not JSON: {error}") from error
        if not isinstance(record, dict) or not isinstance(record.get("record"), str):
            raise bad_file(source, number, "$.record", "expected the name of a record")
        records[record["record"]] = (number, record)
    for name in ("SnapshotHeader", "KRaftVersion", "Voters"):
        if name not in records:
            raise bad_file(source, None, None, f"has no {name} record")
    number, version = records["KRaftVersion"]
    if version.get("kRaftVersion") != 1:
        raise bad_file(source, number, "$.kRaftVersion", f"{version.get('kRaftVersion')!r}, expected 1")
    number, record = records["Voters"]
    entries = record.get("voters")
    if not isinstance(entries, list) or not entries:
        raise bad_file(source, number, "$.voters", "expected a list of voters")
    voters = []
    for index, entry in enumerate(entries):
        try:
            voters.append(_voter(entry))
        except (MalformedNameError, KeyError, TypeError, IndexError) as error:
            detail = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise bad_file(source, number, f"$.voters[{index}]", detail) from error
    return tuple(sorted(voters, key=lambda voter: voter.id))


def _voter(entry: Any) -> ListedVoter:
    first = entry["endpoints"][0]
    return ListedVoter(
        names.replica_id(str(entry["voterId"])),
        names.endpoint(f"{first['host']}:{first['port']}"),
        names.directory_id(str(entry["voterDirectoryId"])),
    )
