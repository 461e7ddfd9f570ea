"""Rule ids that an event's action cites, read from the comments of the TLA+ modules.

A rejected trace line lists them, most specific first, as a starting point for the reader.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from kraft_spec.fingerprint import MODEL_MODULES, PARTITION_MODEL_MODULES
from kraft_spec.rules import Registry, load_registry

_ROLES = ("ToUnattached", "Follow", "Learn")
_ELECTION = ("ToProspective", "Prospective", "ToCandidate", "ToLeader", "LeaderIfMajority", "StartOfEpochRecords")
_DISK = ("Crashed", "Quorum", "AfterRestart")
_CONDITIONS = ("MembershipError", "IsBusy", "EpochIsCommitted", "SetIsCommitted", "FinalizedLevel")
_CHANGE = ("AppendChange", "AppendRecords", "ConcludeCommitted", "VotersRecordOf", "SetRecord")


EVENT_OPERATORS: Mapping[str, tuple[str, ...]] = {
    "ElectionTimeout": ("HasElectionTimer", "AfterElectionTimeout", "LosePreVote", *_ELECTION),
    "FetchTimeout": ("AfterFetchTimeout", *_ELECTION),
    "CheckQuorumTimeout": ("HasCheckQuorumTimer", "AfterCheckQuorumTimeout", "PreferredCandidates", "ToResigned"),
    "BeginQuorumEpochTimeout": ("HasCheckQuorumTimer", "AfterBeginQuorumEpochTimeout"),
    "RequestTimeout": ("Correlated",),
    "Poll": ("MayAnnounceTo", "BeginQuorumEpochRequest", "EndQuorumEpochRequest", "CanStillWin", "Idle"),
    "PollFetch": ("BootstrapServers", "FetchTargets", "FetchRequest", "FetchSnapshotRequest", "Idle", "Crashed"),
    "HandleVoteRequest": ("GrantsVote", "GrantsPreVote", "WithVote", "AfterVoteRequest", *_ROLES),
    "HandleVoteResponse": ("Correlated", "CountVote", "AfterVoteResponse", *_ROLES, *_ELECTION, "LosePreVote"),
    "HandleBeginQuorumEpochRequest": ("AfterBeginQuorumEpochRequest", *_ROLES),
    "HandleBeginQuorumEpochResponse": ("AfterBeginQuorumEpochResponse", "Correlated", *_ROLES),
    "HandleEndQuorumEpochRequest": ("AfterEndQuorumEpochRequest", *_ROLES),
    "HandleEndQuorumEpochResponse": ("AfterEndQuorumEpochResponse", "Correlated", *_ROLES),
    "HandleFetchRequest": (
        "AfterFetchRequest",
        "EntryOf",
        "WithFetcher",
        "Agrees",
        "RemovalIsCommitted",
        "ReachedBy",
        "AppendCaughtUp",
    ),
    "HandleFetchResponse": ("AfterFetchResponse", "TruncationOffset", "FollowerHighWatermark", "Correlated", *_ROLES),
    "HandleFetchSnapshotRequest": ("AfterFetchSnapshotRequest", "EntryOf", "WithFetcher"),
    "HandleFetchSnapshotResponse": ("AfterFetchSnapshotResponse", "LogOn", "Correlated", *_ROLES),
    "HandleApiVersionsRequest": ("AfterApiVersionsRequest",),
    "HandleApiVersionsResponse": (
        "AfterApiVersionsResponse",
        "AwaitsVersionsOf",
        "AppendCaughtUp",
        "Correlated",
        *_CHANGE,
    ),
    "HandleAddVoterRequest": ("AfterAddVoter", *_CONDITIONS),
    "HandleAddVoterResponse": ("AfterChangeResponse", "Correlated", *_ROLES),
    "HandleRemoveVoterRequest": ("AfterRemoveVoter", *_CONDITIONS, *_CHANGE, "RemovalIsCommitted"),
    "HandleRemoveVoterResponse": ("AfterChangeResponse", "Correlated", *_ROLES),
    "HandleUpdateVoterRequest": ("AfterUpdateVoterRequest", *_CONDITIONS[1:], *_CHANGE),
    "HandleUpdateVoterResponse": ("AfterChangeResponse", "Correlated", *_ROLES),
    "ClientAppend": ("AfterClientAppend", "AppendRecords", "ReachedBy"),
    "AppendVoters": ("MayAppendSet", "IsOneStep", "AppendVoters", "RemovalIsCommitted", "ReachedBy"),
    "AddVoter": ("AfterAddVoter", "AddVoter", *_CONDITIONS),
    "RemoveVoter": ("AfterRemoveVoter", "RemoveVoter", *_CONDITIONS, *_CHANGE, "RemovalIsCommitted"),
    "UpdateFeatures": ("UpdateFeatures", *_CONDITIONS[1:], *_CHANGE),
    "AlterPartitionReassignments": (
        "AfterAlterPartitionReassignments",
        "AlterPartitionReassignments",
        "IsAssignment",
        "Assignment",
        "AssignmentOf",
        "Awaited",
        "AbandonAddition",
        "AnswerClients",
    ),
    "AdvanceReassignment": (
        "AfterAdvanceReassignment",
        "AdvanceReassignment",
        "NextSteps",
        "MayAdvance",
        "AddsNext",
        "RemovingVoters",
        *_CHANGE,
        *_CONDITIONS[1:3],
    ),
    "VoterChangeTimeout": ("AfterVoterChangeTimeout", "VoterChangeTimeout"),
    "TakeSnapshot": ("TakeSnapshot", "SnapshotAt", "Rebased"),
    "Shutdown": ("AfterShutdown", "ToResigned", "PreferredCandidates"),
    "Crash": _DISK,
    "Restart": _DISK,
    "ReplaceDisk": ("Crashed",),
    "ReplaceSoftware": (),
    "AnswerUnsupportedVersion": ("UnsupportedVersionAnswer",),
    "DropMessage": (),
    "DuplicateMessage": (),
    "CutLink": (),
    "HealLink": (),
}
"""Operators whose rules an event's action cites, by event name, most relevant first.

This is data because it is a choice: nearly every action reaches nearly every operator, but only some of them help to
diagnose a failure of the action.
"""

_ALTERED = ("Altered", "ValidTarget", "Reassigned", "Cancelled", "KeepsRecords")
_CHANGED = ("Changed", "ToldReplicas", "Settled", "Led")

PARTITION_EVENT_OPERATORS: Mapping[str, tuple[str, ...]] = {
    "AlterPartitionReassignments": ("AfterAlterReassignments", "TopLevelError", *_ALTERED, *_CHANGED),
    "ListPartitionReassignments": ("AfterListReassignments", "TopLevelError"),
    "AlterPartition": ("AfterAlterPartition", "AlterPartitionError", *_CHANGED),
    "CompleteReassignment": ("AfterComplete", "MayComplete", "Completed", *_CHANGED),
    "BrokerFails": ("AfterBrokerFails", *_CHANGED),
    "BrokerStarts": ("AfterBrokerStarts", *_CHANGED),
    "ControllerFailover": ("AfterControllerFailover", "LegacyAltered", *_ALTERED, *_CHANGED),
    "DeleteTopic": ("AfterDeleteTopic",),
    "WriteReassignPartitions": ("AfterWriteReassignPartitions", "LegacyAltered", *_ALTERED, *_CHANGED),
}
"""As `EVENT_OPERATORS`, for partition events."""

_DEFINITION = re.compile(r"^([A-Za-z]\w*)(\([^)]*\))? ==")
_RULE_ID = re.compile(r"\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+")


@cache
def operator_rules(modules: tuple[str, ...] = MODEL_MODULES) -> Mapping[str, tuple[str, ...]]:
    """Return the rule ids in the comment right above each operator of the model."""
    registry = load_registry()
    rules_by_operator: dict[str, tuple[str, ...]] = {}
    for module in modules:
        comment: list[str] = []
        text = (files("kraft_spec") / "tla" / f"{module}.tla").read_text(encoding="utf-8")
        for line in text.splitlines():
            definition = _DEFINITION.match(line)
            if line.startswith(("\\*", "(*")):
                comment.append(line)
            elif definition:
                ids = [rule_id for rule_id in _RULE_ID.findall(" ".join(comment)) if rule_id in registry]
                rules_by_operator[definition.group(1)] = tuple(dict.fromkeys(ids))
                comment = []
            elif line.strip():
                comment = []
    return rules_by_operator


def rules_of_operators(operators: Iterable[str]) -> tuple[str, ...]:
    """Return the rule ids that these operators of the model cite, in their order."""
    stated = operator_rules()
    return tuple(dict.fromkeys(rule for operator in operators for rule in stated.get(operator, ())))


_STOPPED = "Stopped"
"""No rule names the role of a stopped replica, so this role excludes no rule."""


def rules_of_event(
    event: str, role: str | None = None, pre_vote: bool | None = None, after: str | None = None
) -> tuple[str, ...]:
    """Return the rule ids that an event's action cites, most specific first.

    Args:
        event: its name.
        role: role of the replica before it; excludes rules about other roles only.
        pre_vote: True for a Pre-Vote; excludes the rules of the other kind of vote.
        after: role after it, which the rules of a restart are about.
    """
    deciding = after if role == _STOPPED else role
    registry: Registry = load_registry()
    stated = operator_rules()
    ids = dict.fromkeys(rule for operator in EVENT_OPERATORS.get(event, ()) for rule in stated[operator])
    other_kind = {True: "vote.", False: "prevote."}.get(pre_vote) if pre_vote is not None else None

    def applies(rule_id: str) -> bool:
        rule = registry[rule_id]
        if other_kind is not None and rule_id.startswith(other_kind):
            return False
        return deciding in (None, _STOPPED) or not rule.states or deciding in rule.states

    kept = [rule_id for rule_id in ids if applies(rule_id)]
    return tuple(sorted(kept, key=lambda rule_id: len(registry[rule_id].states) or 99))


def partition_event_rules(event: str) -> tuple[str, ...]:
    """Return the rule ids that the action of a partition event cites, in the order of its operators."""
    stated = operator_rules(PARTITION_MODEL_MODULES)
    operators = PARTITION_EVENT_OPERATORS[event]
    return tuple(dict.fromkeys(rule for operator in operators for rule in stated[operator]))
