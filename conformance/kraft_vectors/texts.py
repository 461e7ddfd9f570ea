"""Parts of a vector's JSON as texts: events, outputs, records and other values."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

from msgspec import to_builtins

from kraft_reference.configuration import Timeouts

Fields: TypeAlias = Mapping[str, Any]
"""The fields of a part of the JSON."""

_DEFAULTS: Fields = {
    "cluster_id": "kraft-spec",
    "timeouts": to_builtins(Timeouts()),
    "fetch_max_records": 0,
    "diverging_epoch": -1,
    "diverging_end_offset": -1,
    "snapshot_end_offset": -1,
    "snapshot_epoch": -1,
    "timeout_ms": 60_000,
    "may_alter": True,
    "may_describe": True,
}
_SHOWN_EMPTY = frozenset({"leader", "voted_key", "voters", "initial_voters"})
"""Fields whose empty value matters to a reviewer."""
KAFKA_TERMS = {"in_sync": "isr"}


def event_name(event: Fields) -> str:
    """Return the name of an event of either subject."""
    return str(event["event"]["name"] if isinstance(event["event"], dict) else event["event"])


def event_line(event: Fields) -> str:
    """Return an event with the fields of its message or input."""
    if isinstance(event["event"], dict):
        own = {name: value for name, value in event["event"].items() if name != "name"}
        return f"{event_name(event)} {shown_fields(compacted(own))}".rstrip()
    line = str(event["event"])
    if "message" in event:
        line += f" from {event['message']['source']}: {_message_fields(event['message'])}"
    if fields := compacted(event.get("input", {})):
        line += f" {shown_fields(fields)}"
    if "crash" in event:
        crash = event["crash"]
        done = counted(crash["completed"], "write or send", "writes and sends")
        line += f", and crashes after {done} with log_end_offset {crash['log_end_offset']}"
    return line


def _message_fields(message: Fields) -> str:
    fields = {name: value for name, value in message.items() if name not in ("type", "id", "source", "destination")}
    if fields.get("cluster_id", "") is None:
        fields["cluster_id"] = "null"  # A request without a cluster id; a client's input has none.
    return shown_fields(compacted(fields))


def output_line(output: Fields) -> str:
    """Return a write, a message that is sent, or a timer that is started, with its fields."""
    if output.get("kind") == "Send":
        message = output["message"]
        return f"Send {message['type']} to {message['destination']}: {_message_fields(message)}"
    if output.get("kind") == "StartTimer":
        return f"StartTimer {output['timer']} {output['duration_ms']} ms"
    line = str(output.get("kind") or output["type"])
    fields = {name: value for name, value in output.items() if name not in ("kind", "type")}
    if "broker" in fields:
        line += f" {partition_name(fields.pop('partition'))} to {fields.pop('broker')}"
    if "partitions" in fields:
        return f"{line}: {'; '.join(map(partition_text, fields['partitions']))}"
    return f"{line}: {shown_fields(compacted(fields.get('reply', fields)))}".removesuffix(": ")


def compacted(value: Any) -> Any:
    """Return a value without the fields that have their defaults, with records as texts."""
    if isinstance(value, list):
        return [compacted(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"id", "directory_id"}:
        return value
    fields = {}
    for name, inner in value.items():
        is_empty = inner in (None, []) and name not in _SHOWN_EMPTY
        if is_empty or (name in _DEFAULTS and _DEFAULTS[name] == inner):
            continue
        if name == "details" and inner == default_details(value["voters"]):
            continue
        fields[KAFKA_TERMS.get(name, name)] = records_text(inner) if name == "records" else compacted(inner)
    return fields


def default_details(voters: Sequence[Fields], max_version: int = 1) -> list[Fields]:
    """Return what a voter set says of its voters where no vector says otherwise."""
    usual = {"min_version": 0, "max_version": max_version}
    return [{"id": voter["id"], "endpoint": default_endpoint(voter), **usual} for voter in voters]


def default_endpoint(replica: Fields) -> str:
    """Return the endpoint of a replica in a cluster that names no other."""
    return f"replica-{replica['id']}:9093"


def records_text(records: Sequence[Fields]) -> str:
    """Return records by their epochs: `epoch 1 [LeaderChange 1, Data 7]`."""
    epochs = groupby(records, lambda record: record["epoch"])
    return "; ".join(f"epoch {epoch} [{', '.join(map(_record, of_epoch))}]" for epoch, of_epoch in epochs)


def _record(record: Fields) -> str:
    fields = compacted({name: value for name, value in record.items() if name not in ("epoch", "kind", "value")})
    value = "" if "voters" in fields and record["value"] == 0 else f" {record['value']}"
    voters = f" {shown_value(fields.pop('voters'))}" if "voters" in fields else ""
    return f"{record['kind']}{value}{voters} {shown_fields(fields)}".rstrip()


def partition_text(partition: Fields) -> str:
    """Return a partition with its fields."""
    fields = {name: value for name, value in partition.items() if name != "name"}
    return f"{partition_name(partition['name'])} {shown_fields(compacted(fields))}"


def partition_name(partition: Sequence[Any]) -> str:
    """Return the name of a partition, `A-0`."""
    return f"{partition[0]}-{partition[1]}"


def shown_fields(fields: Fields) -> str:
    """Return fields and their values in a line."""
    return ", ".join(f"{name} {shown_value(value)}" for name, value in fields.items())


def shown_value(value: Any) -> str:
    """Return a value as the texts write it: a replica key as `3-U3`, a partition as `A-0`."""
    if isinstance(value, dict) and value.keys() == {"id", "directory_id"}:
        return f"{value['id']}" if value["directory_id"] is None else f"{value['id']}-{value['directory_id']}"
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], int):
        return partition_name(value)
    if isinstance(value, list):
        return f"[{', '.join(map(shown_value, value))}]"
    if isinstance(value, dict):
        return f"({shown_fields(value)})"
    return value if isinstance(value, str) else json.dumps(value)


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number and its noun."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"
