"""Translation of an action of the model: its guard, the next state of its replica, its messages.

The translation stops at the outcome of `Take`, `Receive` or `Step`: the network and the history of the properties are
no part of the proof's state. A crash in the middle of a step is only checked by execution.
"""

from collections.abc import Mapping
from typing import NamedTuple

import z3

from kraft_proofs.induction.symbols import NUMBER, Formula
from kraft_proofs.translation.shapes import CONFIGURATION, MESSAGES, REPLICA_STATE
from kraft_proofs.translation.translator import Translator
from kraft_proofs.translation.values import OPEN, FunctionOf, Value, listed, scalars, unknown
from kraft_reference.profile import KIP, Profile, settings
from kraft_spec.compiled import nodes
from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.specification import Specification


class Acted(NamedTuple):
    """A translated step of an action."""

    name: str
    translator: Translator
    before: Value
    """The replica's state."""
    guard: Formula
    after: Value
    """Its next state, in which each number or text is a constant."""
    sends: Value
    message: Value | None
    """Message that it handles."""


_OUTCOME = {"Take": True, "Receive": True, "Step": False}
"""Operators whose third argument is an outcome; True if `AtStepEnd` applies to it."""

ACTIONS: Mapping[str, tuple[str, ...]] = {
    "ElectionTimeout": (),
    "FetchTimeout": (),
    "CheckQuorumTimeout": (),
    "BeginQuorumEpochTimeout": (),
    "VoterChangeTimeout": (),
    "RequestTimeout": ("to",),
    "Poll": (),
    "PollFetch": ("to",),
    **{f"Handle{message}": () for message in MESSAGES},
    "ClientAppend": ("value",),
    "Shutdown": (),
    "Restart": ("endpoint",),
}
"""The proved actions, and their arguments besides the replica and the message."""

EXECUTED: Mapping[str, str] = {
    "HandleFetchRequest": "a new voter that has caught up is appended: that one voter differs is counted over sets",
    "HandleFetchResponse": "a log is cut, and its voters are those of the records that are left: a filter of a log",
    "HandleFetchSnapshotResponse": "the voters of a snapshot are those that its records named: a filter of a log",
    "HandleApiVersionsResponse": "appends voters, as HandleFetchRequest does",
    "HandleAddVoterRequest": "what an addition needs is counted over sets",
    "HandleRemoveVoterRequest": "appends voters, as HandleFetchRequest does",
    "HandleUpdateVoterRequest": "appends voters, as HandleFetchRequest does",
    "AddVoter": "what an addition needs is counted over sets",
    "RemoveVoter": "appends voters, as HandleFetchRequest does",
    "AppendVoters": "appends voters, as HandleFetchRequest does",
    "UpdateFeatures": "appends voters, as HandleFetchRequest does",
    "AlterPartitionReassignments": "appends voters, as HandleFetchRequest does",
    "AdvanceReassignment": "appends voters, as HandleFetchRequest does",
    "TakeSnapshot": "the voters of a snapshot are those that its records named: a filter of a log",
    "Crash": "the voters are those of the records that are left: a filter of a log",
    "ReplaceDisk": "a replica of the proof takes the place of another",
    "ReplaceSoftware": "no replica acts",
    "AnswerUnsupportedVersion": "no replica acts",
    "DropMessage": "no replica acts",
    "CutLink": "no replica acts",
    "HealLink": "no replica acts",
}
"""The actions that are not proved in this way, and the reasons."""


def act(specification: Specification, action: str, profile: Profile = KIP) -> Acted:
    """Translate an action of `ACTIONS`.

    Raises:
        UnsupportedError: It uses an unsupported construct.
    """
    translator = Translator(specification)
    decided = {name: translator.text(answer) for name, answer in settings(profile).items()}
    replicas = unknown("replicas", FunctionOf(NUMBER, REPLICA_STATE))
    translator.variables["config"] = {**unknown("config", CONFIGURATION), "profile": decided}
    translator.variables["replicas"] = replicas
    kind = action.removeprefix("Handle") if action.startswith("Handle") else None
    message = None if kind is None else unknown("message", MESSAGES[kind])
    at = z3.Int("replica")
    before = replicas.at(at)
    guard = [before["replica_key"].id == at, at >= 0]
    if kind is not None and message is not None:
        guard.append(message["type"] == translator.text(kind))
    arguments = [OPEN if parameter == "endpoint" else z3.Int(parameter) for parameter in ACTIONS[action]]
    conjuncts, scope = translator.conjuncts(action, at, *arguments, *([] if message is None else [message]))
    outcome = None
    for conjunct in conjuncts:
        operator = nodes.name(conjunct.getOperator()) if nodes.kind(conjunct) == nodes.APPLICATION else ""
        if operator in _OUTCOME:
            outcome = translator.value(nodes.arguments(conjunct)[2], scope)
            outcome = translator.call("AtStepEnd", before, outcome) if _OUTCOME[operator] else outcome
        else:
            guard.append(translator.truth(translator.value(conjunct, scope)))
    if outcome is None:
        raise UnsupportedError(f"action {action} without an outcome", conjuncts[0])
    after = _name_parts(translator, outcome["state"])
    sends = _read_election_requests(translator, before) if action == "Poll" else outcome["sends"]
    return Acted(action, translator, before, z3.And(*guard), after, sends, message)


def _read_election_requests(translator: Translator, before: Value) -> Value:
    """Return an arbitrary election request of Poll; its other requests carry nothing that the proof uses."""
    to, correlation = z3.Int("to"), z3.Int("correlation")
    is_due = translator.set(translator.call("DueElectionRequests", before)).has(to)
    return listed(((is_due, translator.call("ElectionRequest", before, to, correlation)),))


def _name_parts(translator: Translator, state: Value) -> Value:
    """Return the state with a constant for each number and text, because Z3's patterns exclude case distinctions."""
    named = dict(state)
    for field, shape in REPLICA_STATE.items():
        if isinstance(shape, z3.SortRef | tuple) and state[field] is not OPEN:
            named[field] = unknown(f"after.{field}", shape)
            pairs = zip(scalars(named[field]), scalars(state[field]), strict=True)
            translator.facts += [named_part == part for named_part, part in pairs]
    return named
