"""Labels of messages, events and state changes in diagrams."""

import re

from kraft_proofs.changes import in_order
from kraft_reference.events import (
    AddVoter,
    AdvanceReassignment,
    AlterPartitionReassignments,
    AppendVoters,
    ClientAppend,
    Event,
    PollFetch,
    Receive,
    RemoveVoter,
    ReplaceDisk,
    ReplaceSoftware,
    RequestTimeout,
    TakeSnapshot,
    UpdateFeatures,
)
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_reference.messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    Error,
    FetchRequest,
    FetchResponse,
    Message,
    VoteRequest,
    VoteResponse,
)
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import (
    AnswerUnsupportedVersion,
    CutLink,
    DuplicateMessage,
    HealLink,
    NetworkEvent,
)

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def message_words(message: Message) -> str:
    """Return a label such as `Pre-Vote, epoch 4`, `Vote granted`, `Fetch at 3`, `3 records, HW 5`."""
    match message:
        case VoteRequest():
            return f"{'Pre-Vote' if message.pre_vote else 'Vote'}, epoch {message.epoch}"
        case BeginQuorumEpochRequest() | EndQuorumEpochRequest():
            return f"{_kind(message).removesuffix('Request')} {message.epoch}"
        case FetchRequest():
            return f"Fetch at {message.fetch_offset}"
    error: Error = getattr(message, "error", Error.NONE)
    if error is not Error.NONE:
        return str(error)
    match message:
        case VoteResponse():
            return f"{'Pre-Vote' if message.pre_vote else 'Vote'} {'granted' if message.granted else 'refused'}"
        case FetchResponse():
            return _fetched(message)
        case _:
            return re.sub(r"(Request|Response)$", "", _kind(message)) + (" ok" if hasattr(message, "error") else "")


def _fetched(message: FetchResponse) -> str:
    if message.snapshot_end_offset >= 0:
        return f"fetch the snapshot to {message.snapshot_end_offset}"
    if message.diverging_end_offset >= 0:
        return f"diverges at {message.diverging_end_offset}"
    number = len(message.records)
    return f"{number or 'no'} record{'s' * (number != 1)}, HW {_offset(message.high_watermark)}"


def event_words(event: Event | NetworkEvent) -> str:
    """Return a label such as `election timeout`, `append 7`, `cut 1→2`; empty for a delivery, which an arrow shows."""
    match event:
        case Receive():
            return ""
        case ClientAppend(value):
            return f"append {value}"
        case PollFetch(destination) | RequestTimeout(destination):
            return f"{_spaced(event)} to {destination}"
        case AppendVoters(voters):
            return f"append voters {voters_words(voters)}"
        case AddVoter() | RemoveVoter():
            return f"{_spaced(event)} {key_words(event.voter)}"
        case UpdateFeatures():
            return f"kraft.version to {event.kraft_version}"
        case AlterPartitionReassignments():
            wanted = "none" if event.replicas is None else ", ".join(map(str, event.replicas))
            return f"reassign to {wanted}"
        case AdvanceReassignment(chosen):
            return "advance" if chosen is None else f"advance with {key_words(chosen)}"
        case TakeSnapshot(end_offset):
            return f"snapshot to {end_offset}"
        case ReplaceDisk(directory_id):
            return f"new disk {directory_id}"
        case ReplaceSoftware(pre_vote):
            return f"software with Pre-Vote {pre_vote}"
        case CutLink(source, destination):
            return f"cut {source}→{destination}"
        case HealLink(source, destination):
            return f"heal {source}→{destination}"
        case DuplicateMessage(identifier):
            return f"a copy of {identifier}"
        case AnswerUnsupportedVersion():
            return "the network layer answers UNSUPPORTED_VERSION"
        case _:
            return _spaced(event)


def role_words(state: ReplicaState) -> str:
    """Return a label such as `Follower of 1, epoch 4` or `stopped`."""
    if state.role is Role.STOPPED:
        return "stopped"
    led = state.leader_id is not None and state.leader_id != state.key.id
    return f"{state.role}{f' of {state.leader_id}' if led else ''}, epoch {state.epoch}"


def changes(before: ReplicaState, after: ReplicaState) -> tuple[str, ...]:
    """Return labels of changes other than the role: voter set, high watermark, log truncation."""
    labels = []
    if before.voters != after.voters:
        labels.append(f"voters {voters_words(after.voters)}")
    if before.voted_key != after.voted_key and after.voted_key not in (None, before.key):
        labels.append(f"voted for {key_words(after.voted_key)}")
    if before.high_watermark != after.high_watermark and after.role is not Role.STOPPED:
        labels.append(f"HW {_offset(after.high_watermark)}")
    if after.log.end_offset < before.log.end_offset:
        labels.append(f"log truncated at {after.log.end_offset}")
    return tuple(labels)


def voters_words(voters: VoterSet) -> str:
    """Return `{1, 2, 3}`, by id; the first disks of a scenario are not named."""
    return f"{{{', '.join(key_words(key) for key in in_order(voters))}}}"


def key_words(key: ReplicaKey | None) -> str:
    """Return `1` or `1-W1`; the first disk of a scenario is not named."""
    return "nobody" if key is None else str(key.id) if key.directory_id == f"U{key.id}" else str(key)


def _kind(thing: object) -> str:
    return type(thing).__name__


def _spaced(event: object) -> str:
    return _HUMP.sub(" ", _kind(event)).lower()


def _offset(offset: int) -> str:
    return "unknown" if offset < 0 else str(offset)
