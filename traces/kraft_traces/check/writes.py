"""Normal form of a foreign line's writes, and syncs of a replica that are earlier than the model's.

`kraft_traces.alternatives` defines the allowed portions, repetitions and orders of effects, for the vectors as well.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Self

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_spec.difference import Difference
from kraft_spec.mapping_forms import key_from_model
from kraft_spec.tlc.values import Function
from kraft_traces.alternatives.ordering import in_one_order
from kraft_traces.alternatives.own_votes import with_vote, with_votes
from kraft_traces.alternatives.writes import Disk, counted, normal_form
from kraft_traces.check.verdict import Rejection
from kraft_traces.effects import TracedPersistQuorumState, TracedStartTimer
from kraft_traces.lines import EventLine
from kraft_traces.values import traced_key

_STARTS_ANEW = frozenset({"Crash", "ReplaceDisk"})


class StoredBefore(NamedTuple):
    """Stored data of a replica before a line, as far as the trace recorded it."""

    disk: Disk
    log_end: int
    """End offset of its log, synced or not."""
    hides_syncs: bool
    """True if more may be synced than `disk` has, because a line does not record its effects."""


class SyncedAhead:
    """End offsets up to which replicas have synced their logs, if the model may have synced less."""

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._hides_syncs: set[int] = set()
        """Replicas with a line without effects.  A sync that they record later does not prove an earlier one."""

    def snapshot(self) -> Mapping[str, object]:
        """Return everything remembered, as JSON."""
        return {"ends": sorted(self._ends.items()), "hides_syncs": sorted(self._hides_syncs)}

    @classmethod
    def restored(cls, snapshot: Mapping[str, Any]) -> Self:
        """Return what `snapshot` returned as an object again."""
        ahead = cls()
        ahead._ends.update(map(tuple, snapshot["ends"]))
        ahead._hides_syncs.update(snapshot["hides_syncs"])
        return ahead

    def forget(self, replica: int) -> None:
        """Forget a replica whose state is no longer known."""
        self._ends.pop(replica, None)

    def stored(self, line: EventLine, before: Function) -> StoredBefore:
        """Return the stored data of the line's replica, given its state in the model before the line."""
        assert line.replica is not UNSET, "the event happens at a replica"
        voted = key_from_model(before["voted_key"])  # type: ignore[arg-type]
        leader = before["leader_id"]
        file = TracedPersistQuorumState(
            before["epoch"],  # type: ignore[arg-type]
            None if leader == -1 else leader,  # type: ignore[arg-type]
            None if voted is None else traced_key(voted),
            before["quorum_state_version"],  # type: ignore[arg-type]
        )
        flushed = before["flushed"]
        assert isinstance(flushed, int), "an offset is a number"
        disk = Disk(file, max(flushed, self._ends.get(line.replica, 0)))
        return StoredBefore(disk, log_end(before), line.replica in self._hides_syncs)

    def lost(self, line: EventLine) -> tuple[Difference, ...]:
        """Return a difference if less is on disk after the line than the replica had synced."""
        if line.replica is UNSET or line.replica not in self._ends:
            return ()
        synced = Disk(_NO_FILE, self._ends[line.replica]).after(line.effects or ()).synced
        kept: int | UnsetType = UNSET
        if line.crash is not UNSET:
            kept, field = line.crash.log_end_offset, "crash.log_end_offset"
        elif line.event in _STARTS_ANEW:
            field = "input.log_end_offset"
            if line.event == "Crash" and line.input is not UNSET:
                kept = line.input.log_end_offset
        else:
            field = "state.flushed_offset"
            if line.effects is not UNSET and line.state is not UNSET:
                kept = line.state.flushed_offset
        if kept is UNSET or kept >= synced:
            return ()
        return (Difference(field, f"at least {synced}, the end of the synced log", str(kept)),)

    def follow(self, line: EventLine, disk: Disk | None = None) -> None:
        """Take an accepted line; `disk` if it was accepted in normal form."""
        replica = line.replica
        if replica is UNSET:
            return
        if line.effects is UNSET:
            self._hides_syncs.add(replica)
        if disk is None and replica not in self._ends:
            return
        if line.event in _STARTS_ANEW or line.crash is not UNSET or line.effects is UNSET:
            self._ends.pop(replica, None)
            return
        synced = self._ends[replica] if disk is None else disk.synced
        synced = Disk(_NO_FILE, synced).after(line.effects).synced
        recorded = UNSET if line.state is UNSET else line.state.flushed_offset
        self._ends[replica] = synced if recorded is UNSET else max(synced, recorded)


def log_end(replica: Function) -> int:
    """Return the end offset of a replica's log in the model."""
    log = replica["log"]
    assert isinstance(log, tuple), "a log is a sequence"
    return log_start(replica) + len(log)


def log_start(replica: Function) -> int:
    """Return the start offset of a replica's log in the model: the end offset of its snapshot."""
    base = replica["base"]
    assert isinstance(base, Function), "a snapshot is a record"
    end = base["end_offset"]
    assert isinstance(end, int), "an offset is a number"
    return end


_OF_THE_DISK = frozenset({"state.flushed_offset", "state.voted_key"})
_NO_FILE = TracedPersistQuorumState(0, None, None)


def with_implied_vote(line: EventLine, before: Function) -> EventLine:
    """Return the line with a leader's omitted vote for itself; `before` is its replica's state in the model.

    At kraft.version 0 the model forgets the directory id of the vote at a restart.
    """
    voted = key_from_model(before["voted_key"])  # type: ignore[arg-type]
    key = key_from_model(before["replica_key"])  # type: ignore[arg-type]
    assert key is not None, "a replica has a name"
    vote = traced_key(key if voted is None or voted.id != key.id else voted)
    if line.event == "Restart" and before["quorum_state_version"] == 0:
        vote = replace(vote, directory_id=None)
    state = line.state if line.state is UNSET else with_vote(line.state, vote)
    return replace(line, state=state, effects=line.effects if line.effects is UNSET else with_votes(line.effects, vote))


def normal_forms(line: EventLine, disk: Disk) -> Iterator[EventLine]:
    """Yield the line in normal form: its effects in the portions and the order of the model, if they are equivalent.

    A crash point then counts those effects.  Only the model's step tells if a sync is among them.
    """
    if line.effects is UNSET:
        yield line
        return
    effects = in_one_order(normal_form(line.effects, disk))
    if line.crash is UNSET:
        yield replace(line, effects=effects)
        return
    completed = line.crash.completed - counted(line.effects) + counted(effects)
    for number in (completed, completed - 1, completed + 1):
        if number >= 0:
            yield replace(line, effects=effects, crash=replace(line.crash, completed=number))


def may_have_other_form(line: EventLine, rejection: Rejection) -> bool:
    """True if the rejected line may be accepted in normal form, because only fields differ that it changes."""
    if line.replica is UNSET:
        return False
    if line.crash is not UNSET:
        return True
    fields = [difference.field for difference in rejection.differences]
    return bool(fields) and all(name.startswith("effects") or name in _OF_THE_DISK for name in fields)


def ends_between_portions(line: EventLine, differences: tuple[Difference, ...]) -> bool:
    """True if the replica died after it wrote a new epoch and before it wrote the vote or the leader of that epoch.

    That write is its last effect, because later sends and appends need the vote on disk.
    Rules: vote.persist-before-reply, durable.write-before-act.
    """
    if line.crash is UNSET:
        return False
    parts = ["state"]
    if line.effects is UNSET:
        if line.crash.completed != 1:
            return False
    else:
        counted_effects = [at for at, effect in enumerate(line.effects) if not isinstance(effect, TracedStartTimer)]
        last = counted_effects[-1] if counted_effects else -1
        if last < 0 or not isinstance(line.effects[last], TracedPersistQuorumState):
            return False
        parts.append(f"effects[{last}]")
    fields = {f"{part}.{name}" for name in ("voted_key", "leader_id") for part in parts}
    return bool(differences) and all(it.field in fields and it.actual == _NULL for it in differences)


_NULL = "null"
