"""Tables of the fields of each event for the compiled checker.

Names and forms come from `kraft_spec.mapping`, `kraft_traces.check.observation` and `kraft_traces.forms`; Lines.java
and Form.java of `kraft_spec.compiled` read the tables.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, get_args

import msgspec

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Timer
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK
from kraft_spec import mapping, mapping_forms
from kraft_spec.mapping_forms import CLIENT, EMPTY_TEXT, NOBODY_ASKED, REASSIGNMENT
from kraft_spec.tlc.values import INTEGER_MAX, INTEGER_MIN
from kraft_traces.check import observation
from kraft_traces.check.candidates import BESIDES_MAX, BESIDES_PER_LINE
from kraft_traces.check.compared import BITS, OF_EVENT
from kraft_traces.check.correlations import REMEMBERED_MAX
from kraft_traces.check.judged import NEED_WHOLE_HISTORY
from kraft_traces.check.model import PART_LINES, WHOLE_LINES
from kraft_traces.check.observation import EFFECT_FIELDS, MESSAGE_FIELDS, STATE_FIELDS, Field, Kind
from kraft_traces.check.steps import NOT_ALLOWED
from kraft_traces.effects import TracedAnswer, TracedReply
from kraft_traces.forms import forms
from kraft_traces.message_types import CHANGE_ANSWERS, TRACED_MESSAGES
from kraft_traces.state_types import TracedState
from kraft_traces.values import CHANGE_SUFFIX
from kraft_traces.vocabulary import EVENT_TYPES, EVENTS, HANDLE, STARTS

Description = Any
"""Description of a form, as `Form.read` in Java takes it."""

_NO_SET: dict[str, list[int]] = {"set": []}
_TEXT = ["word", [None, ""], ["", EMPTY_TEXT], "name"]
_ID = ["range", 0, INTEGER_MAX]
_ASKED_KEY = ["record", {"id": "integer", "directory_id": _TEXT}, {}]
_NO_KEY = {"id": -1, "directory_id": ""}
_SNAPSHOT_ID = [
    "word",
    [None],
    [{"end_offset": -1, "epoch": -1}],
    ["record", {"end_offset": _ID, "epoch": "integer"}, {}],
]
_KEY = ["word", [None], [_NO_KEY], ["record", {"id": _ID, "directory_id": _TEXT}, {}]]
_RANGE = {"min_version": "integer", "max_version": "integer"}
_DETAILS = ["set", ["record", {"id": "integer", "endpoint": _TEXT, **_RANGE}, {}]]
_TARGET = ["word", [None], [_NO_SET], ["some", "integer"]]
_PLAIN_RECORD = {"epoch": "integer", "kind": "name", "value": "integer"}
_SET_RECORD = {**_PLAIN_RECORD, "voters": ["set", _KEY], "details": _DETAILS}
_WITHOUT_SET = ["record", _PLAIN_RECORD, {"voters": _NO_SET, "details": _NO_SET}]
_RECORD = [
    "by",
    "kind",
    {
        **dict.fromkeys(("Data", "LeaderChange", "KRaftVersion"), _WITHOUT_SET),
        "Voters": ["record", _SET_RECORD, {}],
        "VoterAssignment": ["record", {**_SET_RECORD, "target": _TARGET}, {}],
    },
]
_SNAPSHOT = [
    "record",
    {
        "end_offset": "integer",
        "epoch": "integer",
        "kraft_version": "integer",
        "voters": ["set", _KEY],
        "details": _DETAILS,
        "target": _TARGET,
    },
    {},
]
_CHANGE = [
    "record",
    {
        "kind": "name",
        "phase": "name",
        "voter": _KEY,
        "endpoint": _TEXT,
        **_RANGE,
        "offset": "integer",
        "requester": ["word", [None, NOBODY_ASKED], [CLIENT, REASSIGNMENT], _ID],
        "request": "integer",
        "when_committed": "boolean",
    },
    {},
]

_OF_KIND: Mapping[Kind, Description] = {
    observation.REPLICA_ID: ["word", [None], [-1], _ID],
    observation.TEXT: _TEXT,
    observation.KEY: _KEY,
    observation.KEYS: ["sequence", _KEY],
    observation.KEY_SET: ["set", _KEY],
    observation.ID_SET: ["set", "integer"],
    observation.REQUESTS: ["set", ["pair", "integer", "integer", ["destination", "correlation_id"]]],
    observation.AWAITED_TARGETS: ["set", ["pair", "integer", "integer", ["request", "offset"]]],
    observation.KEY_PAIRS: ["set", ["pair", _KEY, "integer"]],
    observation.RECORDS: ["sequence", _RECORD],
    observation.SNAPSHOT: ["word", [None], [[]], _SNAPSHOT],
    observation.SNAPSHOT_ID: _SNAPSHOT_ID,
    observation.CHANGE: ["word", [None], [{"kind": "none"}], _CHANGE],
    observation.TARGET: _TARGET,
    observation.REPORTS: ["set", ["record", {"key": _KEY, "endpoint": _TEXT, **_RANGE}, {}]],
    observation.VOTERS: ["record", {"offset": "integer", "voters": ["set", _KEY], "target": _TARGET}, {}],
}

_BOOLEANS = frozenset(("granted", "pre_vote", "fetched", "searching", "when_committed", "replaces_log"))
_NAMES = frozenset(("role", "error"))


def _described(field: Field) -> Description:
    if field.kind is observation.PLAIN:
        return "boolean" if field.name in _BOOLEANS else "name" if field.name in _NAMES else "integer"
    return _OF_KIND[field.kind]


def _structure(
    traced: Any, fields: Iterable[Field], constants: Mapping[str, Any], beyond: Mapping[str, Any]
) -> dict[str, Any]:
    return {
        "required": _required(traced),
        "fields": {field.path.rpartition(".")[2]: [field.name, _described(field)] for field in fields},
        "constants": constants,
        "beyond": beyond,
    }


@cache
def _required(traced: Any) -> list[str]:
    return [field.encode_name for field in msgspec.structs.fields(traced) if field.required]


def _one_of(words: list[Any]) -> Description:
    return ["word", words, words, "never"]


def _bounded(type_: Any) -> Description:
    """Return the description of a number with the reader's bounds, within the model's."""
    meta = next(argument for argument in get_args(type_) if isinstance(argument, msgspec.Meta))
    least, most = (INTEGER_MIN if meta.ge is None else int(meta.ge)), (INTEGER_MAX if meta.le is None else int(meta.le))
    return ["range", max(least, INTEGER_MIN), min(most, INTEGER_MAX)]


_INPUTS: Mapping[mapping_forms.Form, Description] = {
    mapping_forms.TEXT: _TEXT,
    mapping_forms.KEY: _KEY,
    mapping_forms.NAMED_KEY: _ASKED_KEY,
    mapping_forms.KEY_SET: ["set", _KEY],
    mapping_forms.OPTIONAL_LIST: ["word", [None], [[]], ["only", ["sequence", "integer"]]],
}


def _input(name: str, configuration: Configuration) -> dict[str, Any] | None:
    cluster_id, replica = configuration.cluster_id, _one_of(sorted(configuration.replicas))
    shape = EVENTS[name]
    if not shape.input:
        return None
    declared = forms(EVENT_TYPES[name])
    if not shape.at_replica:
        fields = {} if "message_id" in shape.input else {field: [field, replica] for field in shape.input}
        beyond = {} if fields else {"message_id": "unread name"}
        return {"required": [], "fields": fields, "constants": {}, "beyond": beyond}
    table = {field.reference: field for field in mapping.EVENTS[EVENT_TYPES[name]]}
    fields, beyond = {}, {}
    for field in shape.input:
        form = table[field].form if field in table else None
        if field == "cluster_id":
            fields[field] = [table[field].model, ["word", [None, cluster_id], [True, True], ["constant", False]]]
        elif field == "destination":
            fields[field] = [table[field].model, replica]
        elif form is None:
            beyond[field] = _bounded(declared[field].checked)
        elif form is mapping_forms.PLAIN:
            fields[field] = [table[field].model, "boolean" if field in _BOOLEANS else _bounded(declared[field].checked)]
        else:
            fields[field] = [table[field].model, _INPUTS[form]]
    return {"required": [], "fields": fields, "constants": {}, "beyond": beyond}


def tables(
    configuration: Configuration,
    every: int,
    candidates_max: int,
    *,
    own: bool,
    opaque: frozenset[int] = frozenset(),
) -> str:
    """Return the tables for a trace of this cluster, as JSON.

    `own` if its lines have every field; `opaque` are the replicas that its header declares as not observed.
    """
    cluster_id = configuration.cluster_id
    events = {
        name: {
            "action": "TraceHandle" if shape.message is not None else f"Trace{name}",
            "at_replica": shape.at_replica,
            "cause": None if shape.cause is None else msgspec.to_builtins(shape.cause),
            "message": name.removeprefix(HANDLE) if shape.message is not None else None,
            "input": _input(name, configuration),
            "default": shape.default,
            "starts": name in STARTS,
            "bits": OF_EVENT[name],
        }
        for name, shape in EVENTS.items()
    }
    messages = {}
    for name, traced in TRACED_MESSAGES.items():
        beyond: dict[str, Description] = {"type": "name", "id": "unread name"}
        if "cluster_id" in traced.__struct_fields__:
            beyond["cluster_id"] = [
                "word",
                [cluster_id] if own else [cluster_id, None],
                [""] if own else ["", ""],
                "never",
            ]
        if "timeout_ms" in traced.__struct_fields__:
            beyond["timeout_ms"] = ["range", 0, INTEGER_MAX]
        suffix = CHANGE_SUFFIX if traced in CHANGE_ANSWERS else ""
        messages[name] = {**_structure(traced, MESSAGE_FIELDS[name], {"type": name}, beyond), "suffix": suffix}
    effects = {
        str(traced.__struct_config__.tag): _structure(
            TracedReply if traced is TracedAnswer else traced,
            fields,
            {"type": name},
            {} if traced is TracedAnswer else {"kind": "name"},
        )
        for traced, (name, fields) in EFFECT_FIELDS.items()
    }
    state = _structure(TracedState, STATE_FIELDS, {}, {})
    if not own:
        state["fields"]["high_watermark"][1] = ["word", [0], [UNKNOWN_HIGH_WATERMARK], "integer"]
    return json.dumps(
        {
            "events": events,
            "messages": messages,
            "effects": effects,
            "state": state,
            "timers": [str(timer) for timer in Timer],
            "refusable": sorted(NOT_ALLOWED),
            "replicas": sorted(configuration.replicas),
            "every": every,
            "candidates_max": candidates_max,
            "besides_max": BESIDES_MAX,
            "besides_per_line": BESIDES_PER_LINE,
            "own": own,
            "line_operators": PART_LINES if opaque else WHOLE_LINES,
            "not_judged": sorted(NEED_WHOLE_HISTORY) if opaque else [],
            "remembered": REMEMBERED_MAX,
            "bits": BITS,
        }
    )
