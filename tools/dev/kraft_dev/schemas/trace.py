"""JSON Schema of one line of a trace, generated from the types and kept in the package."""

from typing import Any

import msgspec

from kraft_dev.schemas.committed import CommittedSchema, describe_fields, normalize
from kraft_reference.records import SET_KINDS, RecordKind
from kraft_spec.mapping_forms import NOBODY_ASKED
from kraft_traces.lines import SCHEMA, Line
from kraft_traces.message_types import TRACED_MESSAGES
from kraft_traces.state_types import TracedState, TracedVoters
from kraft_traces.vocabulary import EVENTS, EventShape

_SETS = {
    "HeaderLine": ("replicas", "voters", "bootstrap_servers", "switched_off"),
    "TracedState": (
        "granted",
        "rejected",
        "awaiting",
        "acknowledged",
        "fetchers",
        "fetch_offsets",
        "reports",
        "awaited_targets",
    ),
    "TracedVoters": ("voters", "target"),
    "TracedRecord": ("voters", "details", "target"),
    "TracedSnapshot": ("voters", "details", "target"),
    "DeclaredReplica": ("initial_voters",),
    "TracedInput": ("voters",),
    "CheckpointLine": ("replicas", "network", "cuts", "observed"),
    "TracedHistory": ("epochs", "votes"),
    "TracedLedEpoch": ("leaders",),
    "TracedVotes": ("candidates",),
    "TracedCommitted": ("voters", "details", "target"),
}
"""Fields that are sets, written as lists, by type."""

_NETWORK_HAS_NO = ("replica", "message", "effects", "refusal", "crash", "state")


def _body() -> dict[str, Any]:
    """Return the schema of a line (JSON Schema 2020-12), which is a header, an event, a checkpoint or the end.

    It says everything about a line by itself, with three exceptions: that ids and replicas agree within it, that a
    mapping, written as a list of pairs or of objects that name their key, has each key once, and that in a checkpoint
    the ends of a log and its newest voter set follow from its records.
    What lines say together (sequence, time, messages on their way) is the reader's.
    """
    schema = msgspec.json.schema(Line)
    definitions: dict[str, Any] = schema.pop("$defs")
    describe_fields(definitions, Line)
    for definition, fields in _SETS.items():
        for field in fields:
            definitions[definition]["properties"][field]["uniqueItems"] = True
    definitions["TracedRecord"]["allOf"] = [
        _kind_rule([str(kind) for kind in SET_KINDS], ["voters"], ["voters", "details"]),
        _kind_rule([str(RecordKind.VOTER_ASSIGNMENT)], [], ["target"]),
    ]
    _leave_nothing_out(definitions)
    definitions["EventLine"]["allOf"] = [_event_rule(name, shape) for name, shape in EVENTS.items()]
    return {**normalize(schema), "$defs": normalize(definitions)}


def _leave_nothing_out(definitions: dict[str, Any]) -> None:
    """Require, in a checkpoint, every field of the parts that it shares with event lines."""
    whole_records = {
        "items": {
            "allOf": [
                _required_if("kind", [str(kind) for kind in SET_KINDS], ["details"]),
                _required_if("kind", [str(RecordKind.VOTER_ASSIGNMENT)], ["target"]),
            ]
        }
    }
    replica = definitions["TracedReplicaState"]["properties"]
    replica["state"]["required"] = list(TracedState.__struct_fields__)
    replica["state"]["properties"] = {
        "voters": {"required": list(TracedVoters.__struct_fields__)},
        "pending_change": {"allOf": [*_CHANGES]},
    }
    message = definitions["TracedFlight"]["properties"]["message"]
    message["properties"] = {"records": whole_records}
    # A Fetch of a replica that is not observed has no id.
    message["allOf"] = [
        _required_if("type", [name], [it for it in kind.__struct_fields__ if (name, it) != ("FetchRequest", "id")])
        for name, kind in TRACED_MESSAGES.items()
    ]
    for owner in (replica, definitions["TracedCommitted"]["properties"]):
        owner["records"]["items"] = {**owner["records"]["items"], **whole_records["items"]}


def _if(condition: dict[str, Any], consequence: dict[str, Any]) -> dict[str, Any]:
    """Require the consequence if the condition holds."""
    required = {"type": "object", "properties": condition, "required": list(condition)}
    return {"if": required, "then": {"properties": consequence}}


_NO_RANGE = {"min_version": {"const": -1}, "max_version": {"const": -1}}
_CHANGES = (
    _if({"kind": {"const": "add"}}, {"voter": {"not": {"type": "null"}}, "endpoint": {"type": "string"}}),
    _if({"kind": {"not": {"const": "add"}}}, {"phase": {"const": "commit"}, "endpoint": {"type": "null"}, **_NO_RANGE}),
    _if({"phase": {"const": "learn-versions"}}, {"offset": {"const": -1}, **_NO_RANGE}),
    _if({"requester": {"const": NOBODY_ASKED}}, {"request": {"const": 0}, "when_committed": {"const": True}}),
)
"""Constraints of a pending change, by its kind, its phase, and its requester."""


def _required_if(field: str, values: list[str], required: list[str]) -> dict[str, Any]:
    """Require fields if another field has one of these values."""
    return {
        "if": {"properties": {field: {"enum": values}}, "required": [field]},
        "then": {"required": required},
    }


def _kind_rule(kinds: list[str], required: list[str], fields: list[str]) -> dict[str, Any]:
    """Require fields of records of these kinds, and forbid them otherwise."""
    return {
        "if": {"properties": {"kind": {"enum": kinds}}, "required": ["kind"]},
        "then": {"required": required},
        "else": {"properties": dict.fromkeys(fields, False)},
    }


def _event_rule(name: str, shape: EventShape) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    if shape.cause is None:
        properties["cause"] = {"required": ["message_id"], "maxProperties": 1}
    else:
        properties["cause"] = {"const": msgspec.to_builtins(shape.cause)}
    properties["input"] = {"propertyNames": {"enum": list(shape.input)}} if shape.input else False
    if shape.message is None:
        properties["message"] = False
    else:
        properties["message"] = {"properties": {"type": {"const": name.removeprefix("Handle")}}}
    has_answer = name == "AnswerUnsupportedVersion"
    properties["answer"] = {"properties": {"type": {"const": "VoteResponse"}}} if has_answer else False
    then: dict[str, Any] = {"properties": properties}
    if shape.at_replica:
        then["required"] = ["replica"]
    else:
        properties.update(dict.fromkeys(_NETWORK_HAS_NO, False))
    return {"if": {"properties": {"event": {"const": name}}, "required": ["event"]}, "then": then}


TRACE_SCHEMA = CommittedSchema(SCHEMA, f"A line of a {SCHEMA} file", "kraft_traces", "schema", _body)
"""Schema of a line, which is a header, an event, a checkpoint or the end."""
