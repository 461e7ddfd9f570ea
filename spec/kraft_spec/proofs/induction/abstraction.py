"""Which actions of the TLA+ model each action of the proof stands for.

A step of the model is a sequence of steps of the proof, or none: a message that names a leader and brings records is
`learn-leader` and `fetch-records`. A crash in the middle of a step is the steps up to there, and `crash`. That a step
of the model is no other sequence than one of those listed is what a human reviews; that every action of the model is
listed is tested. The model is that of profile kip: with the decision `restart_precedence` = own-vote of profile kafka-4
Restart does what no action here does.
"""

from collections.abc import Mapping

_LEARNS = (
    "HandleVoteResponse",
    "HandleBeginQuorumEpochRequest",
    "HandleBeginQuorumEpochResponse",
    "HandleEndQuorumEpochRequest",
    "HandleEndQuorumEpochResponse",
    "HandleFetchResponse",
    "HandleFetchSnapshotResponse",
    "HandleAddVoterResponse",
    "HandleRemoveVoterResponse",
    "HandleUpdateVoterResponse",
)
"""Every message that names an epoch and perhaps its leader (`Learn` in Roles.tla)."""

_STANDS = ("ElectionTimeout", "FetchTimeout", "HandleVoteResponse")
"""What can make a Candidate (`ToCandidate`): a timer without Pre-Vote or without other voters, or the last grant."""

_CHANGES = (
    "ClientAppend",
    "AppendVoters",
    "RemoveVoter",
    "HandleRemoveVoterRequest",
    "HandleUpdateVoterRequest",
    "UpdateFeatures",
    "AlterPartitionReassignments",
    "AdvanceReassignment",
    "HandleFetchRequest",
    "HandleApiVersionsResponse",
)
"""What can make a leader append: clients, operators, its own plan, a new voter that has caught up (`AppendCaughtUp`).

A VoterAssignment that sets or clears a target repeats the newest voters: in the proof it is a record like any other.
"""

_LEADS = (*_STANDS, "Restart")
"""What can make a leader (`LeaderIfMajority`): a vote, or the own one if that is a majority."""

ABSTRACTS: Mapping[str, tuple[str, ...]] = {
    "stand": _STANDS,
    "stand-again": ("Restart",),
    "vote": ("HandleVoteRequest",),
    "become-leader": _LEADS,
    "append": (*_LEADS, *_CHANGES),
    "commit": (*_LEADS, *_CHANGES),
    "learn-epoch": (*_LEARNS, "ElectionTimeout", "HandleVoteRequest"),
    "learn-leader": _LEARNS,
    "fetch-records": ("HandleFetchResponse",),
    "learn-high-watermark": ("HandleFetchResponse",),
    "truncate": ("HandleFetchResponse",),
    "load-snapshot": ("HandleFetchSnapshotResponse",),
    "sync": ("PollFetch", "TakeSnapshot"),
    "acknowledge": ("PollFetch",),
    "crash": ("Crash",),
    "replace-disk": ("ReplaceDisk",),
}
"""Action of the proof to actions of KRaft.tla. A leader appends in the step that elects it, and counts itself.

A snapshot is in place of a prefix of the log, which is named by its last record: taking one leaves the log as it is and
makes that prefix durable. A Fetch is preceded by a sync whoever sends it; of an Unattached replica it acknowledges
nothing.
"""

UNCHANGED: Mapping[str, str] = {
    "CheckQuorumTimeout": "a leader resigns, which in the proof it need not do: one that stays is the worse case",
    "Shutdown": "a leader resigns, which in the proof it need not do: one that stays is the worse case",
    "BeginQuorumEpochTimeout": "announcements are due again: messages are not part of the state",
    "VoterChangeTimeout": "a pending change is answered; its record, if there is one, stays",
    "RequestTimeout": "a connection gives up on an answer: messages are not part of the state",
    "Poll": "requests leave that were decided on when the role was entered: messages are not part of the state",
    "HandleFetchSnapshotRequest": "the leader answers; what it counts, check quorum alone uses",
    "HandleApiVersionsRequest": "the replica answers",
    "HandleAddVoterRequest": "a change becomes pending; its record comes with the ApiVersions answer or a Fetch",
    "AddVoter": "a change becomes pending; its record comes with the ApiVersions answer or a Fetch",
    "AnswerUnsupportedVersion": "the network answers a Pre-Vote: messages are not part of the state",
    "DropMessage": "messages are not part of the state",
    "CutLink": "links are not part of the state",
    "HealLink": "links are not part of the state",
}
"""Actions of KRaft.tla that change nothing of which the proof speaks, and why."""


def abstracted() -> frozenset[str]:
    """Actions of KRaft.tla that an action of the proof stands for."""
    return frozenset(name for names in ABSTRACTS.values() for name in names)
