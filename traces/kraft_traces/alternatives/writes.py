"""Normal form of the writes of one step, whatever their portions and repetitions.

The vectors' runner, the trace checker and the random runs all compare this form, so they agree on what is allowed.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.alternatives.ordering import OUTBOUND
from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedStartTimer,
    TracedTruncateLog,
    TracedWriteSnapshot,
)
from kraft_traces.state_types import TracedState

_LOG_CHANGES = (TracedAppendRecords, TracedTruncateLog, TracedWriteSnapshot)


class Disk(NamedTuple):
    """Contents of a replica's disk, as far as the replica recorded them."""

    file: TracedPersistQuorumState
    """Contents of the quorum state file."""
    synced: int
    """End offset of the synced log.  Syncing earlier than the reference is always allowed, so the reference's offset is
    a lower bound: durable.flush-before-fetch."""

    def after(self, effects: Sequence[TracedEffect]) -> "Disk":
        """Return the disk after these effects, in order."""
        file, synced = self
        for effect in effects:
            match effect:
                case TracedPersistQuorumState(version=version):
                    # A missing version is unchanged.
                    file = replace(effect, version=file.version) if version is UNSET else effect
                case TracedFlushLog(end_offset):
                    synced = max(synced, end_offset)
                case TracedTruncateLog(end_offset):
                    synced = min(synced, end_offset)
                case TracedWriteSnapshot(snapshot, replaces_log):
                    synced = snapshot.end_offset if replaces_log else max(synced, snapshot.end_offset)
                case _:
                    pass
        return Disk(file, synced)


NEW_DISK = Disk(TracedPersistQuorumState(0, None, None), 0)
"""Empty disk."""


def disk_of(state: TracedState) -> Disk:
    """Return the disk of a replica in a complete state of the reference, which writes changes at once."""
    epoch = 0 if state.epoch is UNSET else state.epoch
    leader_id = None if state.leader_id is UNSET else state.leader_id
    voted_key = None if state.voted_key is UNSET else state.voted_key
    file = TracedPersistQuorumState(epoch, leader_id, voted_key, state.quorum_state_version)
    return Disk(file, 0 if state.flushed_offset is UNSET else state.flushed_offset)


def holds(file: TracedPersistQuorumState, wanted: TracedPersistQuorumState) -> bool:
    """True if writing `wanted` changes nothing, because the file has it already.

    Version 0 of the file has no directory id of the vote.  Rules: durable.fields-v0, durable.vote.v0-uuid-in-memory.
    """
    versions = {file.version, wanted.version} - {UNSET}
    if 0 in versions and file.voted_key is not None and wanted.voted_key is not None:
        wanted = replace(wanted, voted_key=replace(wanted.voted_key, directory_id=file.voted_key.directory_id))
    return len(versions) < 2 and replace(file, version=UNSET) == replace(wanted, version=UNSET)


def normal_form(effects: Sequence[TracedEffect], disk: Disk) -> tuple[TracedEffect, ...]:
    """Return the effects of a step without those that change nothing, and with portions joined.

    - A write that does not change the file or the disk is removed.
    - The quorum state may be written in portions: the new epoch first, then leader and vote, as long as no portion
      reverts a value of the file in the same epoch.  The last write is kept at its place.
    - Records may be appended in portions, a log truncated and synced in portions, a snapshot written twice.
    - The last start of a timer counts.

    A write that stays duplicate was wrong in between.

    Args:
        effects: recorded effects in order.
        disk: contents of the disk before the step.
    """
    now, form = disk, list[TracedEffect]()
    files: list[TracedPersistQuorumState] = []
    """Contents of the file before each of its writes in `form`."""
    for effect in effects:
        if _changes_nothing(effect, now, form):
            continue
        file, now = now.file, now.after((effect,))
        match effect:
            case TracedPersistQuorumState():
                files.append(file)
                form.append(effect)
                _drop_portions(form, files)
            case TracedAppendRecords():
                if not _is_joined(effect, form):
                    form.append(effect)
            case TracedFlushLog() | TracedTruncateLog() | TracedStartTimer():
                _replace_portion(effect, form)
            case _:
                form.append(effect)
    return tuple(form)


def counted(effects: Sequence[TracedEffect]) -> int:
    """Return the number of effects that a crash point counts: the writes and the sends."""
    return sum(not isinstance(effect, TracedStartTimer) for effect in effects)


def counts_otherwise(effects: Sequence[TracedEffect], expected: Sequence[TracedEffect], disk: Disk) -> bool:
    """True if a step that ended in a crash was done in other portions than those that the crash point counts.

    Then the replica died at a point that the reference does not have, for example between two portions of a write.

    Args:
        effects: completed effects.
        expected: effects of the reference before it dies.
        disk: contents of the disk before the step.
    """
    form = normal_form(effects, disk)
    file = next((effect for effect in expected if isinstance(effect, TracedPersistQuorumState)), None)
    if (
        file is not None
        and any(isinstance(effect, OUTBOUND) for effect in form)
        and not holds(disk.after(form).file, file)
    ):
        # A message was sent that requires the complete file.  Rule: vote.persist-before-reply
        return False
    if counted(form) != counted(effects) or _synced_to(form) > _synced_to(expected):
        return True
    last = next((effect for effect in reversed(form) if not isinstance(effect, TracedStartTimer)), None)
    wanted = [effect for effect in expected if type(effect) is type(last)]
    match last, wanted:
        case TracedPersistQuorumState(), [TracedPersistQuorumState() as whole]:
            return last != whole and _is_portion(last, whole, disk.file)
        case TracedAppendRecords(base, records), [TracedAppendRecords(begin, all_of_them)]:
            return base == begin and len(records) < len(all_of_them) and records == all_of_them[: len(records)]
        case TracedTruncateLog(end), [TracedTruncateLog(least)]:
            return end > least
        case _:
            return False


def _synced_to(effects: Sequence[TracedEffect]) -> int:
    return max([effect.end_offset for effect in effects if isinstance(effect, TracedFlushLog)], default=0)


def _changes_nothing(effect: TracedEffect, now: Disk, form: Sequence[TracedEffect]) -> bool:
    match effect:
        case TracedPersistQuorumState():
            return holds(now.file, effect)
        case TracedFlushLog(end_offset):
            return end_offset <= now.synced
        case TracedTruncateLog() | TracedWriteSnapshot():
            # A truncation after an append is a new one, even to the same offset.
            log = [earlier for earlier in form if isinstance(earlier, _LOG_CHANGES)]
            return effect in log if isinstance(effect, TracedWriteSnapshot) else log[-1:] == [effect]
        case _:
            return False


def _drop_portions(form: list[TracedEffect], files: list[TracedPersistQuorumState]) -> None:
    """Remove the writes of the file before the last one, if all of them are portions of it."""
    places = [place for place, effect in enumerate(form) if isinstance(effect, TracedPersistQuorumState)]
    writes = [effect for effect in form if isinstance(effect, TracedPersistQuorumState)]
    if all(_is_portion(write, writes[-1], file) for write, file in zip(writes[:-1], files, strict=False)):
        for place in reversed(places[:-1]):
            del form[place]
        del files[1:]


def _is_portion(
    written: TracedPersistQuorumState, whole: TracedPersistQuorumState, file: TracedPersistQuorumState
) -> bool:
    """True if each value of a write is that of the whole write, or that of the file before it."""
    versions = {written.version, whole.version} - {UNSET}
    if written.epoch != whole.epoch or len(versions) > 1:
        return False
    goes_on = file.epoch == written.epoch
    before = (file.leader_id, file.voted_key) if goes_on else (None, None)
    values = zip((written.leader_id, written.voted_key), before, (whole.leader_id, whole.voted_key), strict=True)
    return all(value in (earlier, later) for value, earlier, later in values)


def _is_joined(effect: TracedAppendRecords, form: list[TracedEffect]) -> bool:
    """True if the records continue an earlier append of the step, with which they are joined."""
    for place in reversed(range(len(form))):
        earlier = form[place]
        if isinstance(earlier, TracedAppendRecords):
            if effect.base_offset != earlier.base_offset + len(earlier.records):
                return False
            form[place] = replace(earlier, records=earlier.records + effect.records)
            return True
        if isinstance(earlier, _LOG_CHANGES):
            return False
    return False


def _replace_portion(effect: TracedEffect, form: list[TracedEffect]) -> None:
    """Add a sync, a truncation or a timer start, in place of an earlier one that it makes redundant."""
    for place, earlier in enumerate(form):
        match earlier, effect:
            case TracedFlushLog(), TracedFlushLog():
                del form[place]
                break
            case TracedStartTimer(timer), TracedStartTimer(again) if timer == again:
                del form[place]
                break
            case TracedTruncateLog(first), TracedTruncateLog(second) if second < first and not _appends(form[place:]):
                del form[place]
                break
            case _:
                pass
    form.append(effect)


def _appends(effects: Sequence[TracedEffect]) -> bool:
    return any(isinstance(effect, TracedAppendRecords) for effect in effects)


LOG_ENDS = "where the log ends"
"""End of the expected value of a difference about a sync beyond the end of the log."""
SYNC_RULE = "durable.flush-before-fetch"
"""Rule that a sync beyond the end of the log breaks, because records appended after it are not synced."""


def syncs_beyond_log(effects: Sequence[TracedEffect], end: int | None) -> Iterator[tuple[int, TracedFlushLog, int]]:
    """Yield the syncs beyond the end of the log: their indexes, and the end offset of the log at that point.

    Args:
        effects: effects in order.
        end: end offset of the log before them, if it is known.
    """
    for place, effect in enumerate(effects):
        if isinstance(effect, TracedFlushLog) and end is not None and effect.end_offset > end:
            yield place, effect, end
        end = _log_end_after(effect, end)


def _log_end_after(effect: TracedEffect, end: int | None) -> int | None:
    """Return the end offset of the log after an effect, if it is known."""
    match effect:
        case TracedAppendRecords(base_offset, records):
            return base_offset + len(records)
        case TracedTruncateLog(end_offset):
            return end_offset
        case TracedWriteSnapshot(snapshot, True):
            return snapshot.end_offset
        case _:
            return end
