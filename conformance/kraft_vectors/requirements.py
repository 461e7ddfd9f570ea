"""Requirements and level of a vector, derived from its events."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey
from kraft_reference.records import RecordKind
from kraft_reference.state import ReplicaState, is_voter
from kraft_simulation.occurrence import Occurrence
from kraft_traces.effects import TracedAnswer, TracedSend
from kraft_traces.message_types import TracedVoteRequest
from kraft_vectors.features import FEATURES, FEATURES_OF_KIPS, KIPS, LEVELS, Feature, Kip, Level
from kraft_vectors.format import VectorEvent, VectorStep
from kraft_vectors.state_changes import changed_fields

_EVENT_FEATURES: dict[str, Feature] = {
    "AppendVoters": "append-voters",
    "AddVoter": "voter-changes",
    "RemoveVoter": "voter-changes",
    "VoterChangeTimeout": "voter-changes",
    "UpdateFeatures": "kraft-version-upgrade",
    "AlterPartitionReassignments": "quorum-reassignment",
    "AdvanceReassignment": "quorum-reassignment",
    "TakeSnapshot": "snapshots",
    "ReplaceDisk": "disk-replacement",
}
_MESSAGE_FEATURES: dict[str, Feature] = {
    "FetchSnapshot": "snapshots",
    "ApiVersions": "voter-changes",
    "AddVoter": "voter-changes",
    "RemoveVoter": "voter-changes",
    "UpdateVoter": "voter-changes",
}
"""Features by the beginning of the message name, for requests and responses."""


def features_of(
    states: Iterable[ReplicaState], events: Iterable[VectorEvent], sent: Iterable[str], configuration: Configuration
) -> tuple[Feature, ...]:
    """Return the features that a vector needs, in the order of `FEATURES`.

    Args:
        states: every state of the replica.
        events: events of the history and the steps.
        sent: types of the sent messages.
        configuration: the cluster.
    """
    needed: set[Feature] = set()
    names = {*sent}
    if configuration.fetch_max_records and "FetchResponse" in names:
        needed.add("fetch-limit")
    for event in events:
        needed.update({_EVENT_FEATURES[event.event]} if event.event in _EVENT_FEATURES else ())
        names.add(event.event.removeprefix("Handle"))
        if event.crash is not UNSET:
            needed.add("crash-in-step")
    for prefix, feature in _MESSAGE_FEATURES.items():
        if any(name in (f"{prefix}Request", f"{prefix}Response") for name in names):
            needed.add(feature)
    sets = set[frozenset[ReplicaKey]]()
    for state in states:
        sets.update([entry.voters for entry in state.log.voters])
        if not is_voter(state):
            needed.add("observers")
        if state.log.base.end_offset or state.wanted_snapshot is not None:
            needed.add("snapshots")
        if any(record.kind is RecordKind.VOTER_ASSIGNMENT for record in state.log.records):
            needed.add("quorum-reassignment")
        if configuration.replicas[state.key.id].auto_join:
            needed.add("auto-join")
    if len(sets) > 1:
        needed.add("voters-records")
    return tuple(feature for feature in FEATURES if feature in needed)


def kips_of(features: Iterable[Feature], events: Iterable[VectorEvent], steps: Sequence[VectorStep]) -> tuple[Kip, ...]:
    """Return the KIPs that a vector needs, in the order of `KIPS`."""
    feature_set = set(features)
    needed: set[Kip] = {
        "KIP-595",
        *(kip for kip, of_it in FEATURES_OF_KIPS.items() if not feature_set.isdisjoint(of_it)),
    }
    received = [event.message for event in events]
    sent = [output.message for step in steps for output in step.outputs if isinstance(output, TracedSend)]
    roles = {step.state.role for step in steps}
    if "Prospective" in roles or any(
        isinstance(message, TracedVoteRequest) and message.pre_vote for message in (*received, *sent)
    ):
        needed.add("KIP-996")
    return tuple(kip for kip in KIPS if kip in needed)


_RULE_LEVELS: dict[str, Level] = {
    "durable.": "effects",
    "fetch.timer": "effects",
    "prevote.grant.no-side-effects": "effects",
    "state.candidate.entry": "effects",
    "state.candidate.lost": "effects",
    "state.same-epoch-preserves": "effects",
    "state.timers.": "effects",
    "vote.grant.resets-timer": "effects",
    "vote.persist-before-reply": "effects",
}
"""Levels of rules, or prefixes of their ids, about disks and timers, which messages do not show.

`durable.restart.` is excluded, because the messages of a restarted replica show what it has read."""


def level_of(steps: Sequence[VectorStep], rules: Iterable[str], at_least: Level = "wire") -> Level:
    """Return the lowest level at which the steps have an effect and the rules are observable.

    A vector without any effect needs the state.
    """
    outputs = [output for step in steps for output in step.outputs]
    observable: Level = "state"
    if any(isinstance(output, TracedSend | TracedAnswer) for output in outputs):
        observable = "wire"
    elif outputs:
        observable = "effects"
    needed = [
        level
        for prefix, level in _RULE_LEVELS.items()
        for rule in rules
        if rule.startswith(prefix) and not rule.startswith("durable.restart.")
    ]
    return max((observable, at_least, *needed), key=LEVELS.index)


def changed_state_fields(steps: Sequence[VectorStep]) -> tuple[str, ...]:
    """Return the fields of the state that the steps change."""
    return tuple(dict.fromkeys(name for step in steps for name in changed_fields(step.state)))


def at_replica(occurrences: Iterable[Occurrence], replica_id: int) -> list[Occurrence]:
    """Return the occurrences at a replica."""
    return [occurrence for occurrence in occurrences if occurrence.replica_id == replica_id]
