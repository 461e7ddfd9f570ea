"""Actions of the proof that each action of the TLA+ model maps to.

A step of the model maps to a sequence of steps of the proof, possibly empty: a message that names a leader and carries
records is `learn-leader` and `fetch-records`. A crash in the middle of a step is the steps before it, and `crash`; or
`crash` and then the steps, if the quorum state was written and the log not yet synced.
`refinement` checks the mapping on runs of the replicas, step by step. `DECISIONS` lists the decisions of a profile that
change an action of the proof.
"""

from collections.abc import Mapping

_LEARNS = ("learn-epoch", "learn-leader")
"""Every message has an epoch, and possibly its leader (`Learn` in Roles.tla)."""

_LEADS = ("become-leader", "append", "commit")
"""A leader appends in the step that elects it, and counts itself (`LeaderIfMajority`)."""

_CHANGES = ("commit", "append", "commit")
"""Events that make a leader append: clients, operators, its own plan, a new voter that caught up (`AppendCaughtUp`).

A VoterAssignment that sets or clears a target repeats the current voters: in the proof it is an ordinary record.
A record with a new voter set is counted by that set, and so are earlier records that the old set had not committed.
"""

SEQUENCES: Mapping[str, tuple[str, ...]] = {
    "ElectionTimeout": ("learn-epoch", "stand", *_LEADS),
    "FetchTimeout": ("stand", *_LEADS),
    "HandleVoteRequest": ("learn-epoch", "vote", "stand", *_LEADS),
    "HandleVoteResponse": (*_LEARNS, "stand", *_LEADS),
    "HandleBeginQuorumEpochRequest": _LEARNS,
    "HandleBeginQuorumEpochResponse": _LEARNS,
    "HandleEndQuorumEpochRequest": _LEARNS,
    "HandleEndQuorumEpochResponse": _LEARNS,
    "HandleFetchResponse": (*_LEARNS, "truncate", "fetch-records", "learn-high-watermark"),
    "HandleFetchSnapshotResponse": (*_LEARNS, "load-snapshot"),
    "HandleAddVoterResponse": _LEARNS,
    "HandleRemoveVoterResponse": _LEARNS,
    "HandleUpdateVoterResponse": _LEARNS,
    "HandleFetchRequest": _CHANGES,
    "HandleRemoveVoterRequest": _CHANGES,
    "HandleUpdateVoterRequest": _CHANGES,
    "HandleApiVersionsResponse": _CHANGES,
    "ClientAppend": _CHANGES,
    "AppendVoters": _CHANGES,
    "RemoveVoter": _CHANGES,
    "UpdateFeatures": _CHANGES,
    "AlterPartitionReassignments": _CHANGES,
    "AdvanceReassignment": _CHANGES,
    "PollFetch": ("sync", "acknowledge"),
    "TakeSnapshot": ("sync",),
    "Restart": ("stand-again", *_LEADS),
    "Crash": ("crash",),
    "ReplaceDisk": ("replace-disk",),
}
"""Actions of KRaft.tla with their actions of the proof in order; each may be absent or occur several times.

A snapshot replaces a prefix of the log, which its last record identifies: taking one leaves the log as it is and makes
that prefix durable. Every Fetch is preceded by a sync; that of an Unattached replica acknowledges nothing.
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
    "ReplaceSoftware": "how Pre-Votes are taken: a Pre-Vote changes nothing that is remembered",
    "AnswerUnsupportedVersion": "the network answers a Pre-Vote: messages are not part of the state",
    "DropMessage": "messages are not part of the state",
    "CutLink": "links are not part of the state",
    "HealLink": "links are not part of the state",
}
"""Actions of KRaft.tla that leave the state of the proof unchanged, and why."""

DECISIONS: Mapping[str, str] = {
    "restart_precedence": "",
    "observer_refusal": "whether a Pre-Vote is granted: a Pre-Vote changes nothing that is remembered",
    "prospective_announcement": "a role: in the proof a replica may stand, and learn of the leader, in any",
    "end_quorum_fetched_flag": "whether a Pre-Vote is granted: a Pre-Vote changes nothing that is remembered",
    "diverging_fetch": "check quorum: a leader that resigns is one that need not",
    "voter_key_error": "the error of a refusal: what is refused changes nothing",
    "kraft_version_gate": "which requests a leader takes: in the proof it may append whatever the guard allows",
    "update_voter_credit": "check quorum and the fetch timer: both are beyond the proof",
    "report_at_version_0": "what a leader notes of its voters: a set that is changed is a record of its log",
    "lagging_voter": "when an addition is appended, if at all: in the proof a leader may append it at any time",
    "leader_high_watermark": "what a leader shows: `commit` is of the entries that it counts",
    "own_vote_at_restart": "a role: a Candidate that restarts may take `stand-again`, and need not",
    "voted_directory_at_version_0": "at version 0 an id has one directory ever, see the trust in repeated sets",
    "vote_of_lost_file": "the file of the quorum state is never lost while the log is kept",
    "announcement_again": "messages are not part of the state",
    "announced_to": "messages are not part of the state",
    "diverging_cut": "`truncate` may cut anywhere that its guard allows",
    "unanswered_fetch": "messages are not part of the state",
    "resigned_metric": "a gauge",
}
"""Reasons why a decision of a profile changes no action of the proof; empty for the one that does: see `theory`."""


def standing_for(action: str) -> tuple[str, ...]:
    """Return the actions of KRaft.tla that may map to an action of the proof."""
    return tuple(name for name, sequence in SEQUENCES.items() if action in sequence)
