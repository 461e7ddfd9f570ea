"""The writes of one step in one form, in however many portions and however often an implementation does them.

The vectors' runner, the trace checker and the random runs all compare this form, so that they agree on what is right.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kraft_traces.effects import (
    TracedAppendRecords,
    TracedEffect,
    TracedFlushLog,
    TracedPersistQuorumState,
    TracedStartTimer,
    TracedTruncateLog,
    TracedWriteSnapshot,
)
from kraft_traces.latitude.ordering import TOLD
from kraft_traces.state_types import TracedState

_LOG_CHANGES = (TracedAppendRecords, TracedTruncateLog, TracedWriteSnapshot)


class Disk(NamedTuple):
    """What is on a replica's disk, by what it has shown."""

    file: TracedPersistQuorumState
    """What the quorum state file holds."""
    synced: int
    """Up to where the log is synced.  Earlier than the reference syncs is always right, so that where that does is a
    lower bound: durable.flush-before-fetch."""

    def after(self, effects: Sequence[TracedEffect]) -> "Disk":
        """The disk when these were done, in their order."""
        file, synced = self
        for effect in effects:
            match effect:
                case TracedPersistQuorumState(version=version):
                    # A version that is not shown stays what it was.
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
"""Nothing has been written to it."""


def disk_of(state: TracedState) -> Disk:
    """The disk of a replica in a whole state of the reference, which writes at once what it changes."""
    epoch = 0 if state.epoch is UNSET else state.epoch
    leader_id = None if state.leader_id is UNSET else state.leader_id
    voted_key = None if state.voted_key is UNSET else state.voted_key
    file = TracedPersistQuorumState(epoch, leader_id, voted_key, state.quorum_state_version)
    return Disk(file, 0 if state.flushed_offset is UNSET else state.flushed_offset)


def holds(file: TracedPersistQuorumState, wanted: TracedPersistQuorumState) -> bool:
    """True if writing `wanted` changes nothing, because the file holds it already.

    Version 0 of the file has no directory id of the vote.  Rules: durable.fields-v0, durable.vote.v0-uuid-in-memory.
    """
    versions = {file.version, wanted.version} - {UNSET}
    if 0 in versions and file.voted_key is not None and wanted.voted_key is not None:
        wanted = replace(wanted, voted_key=replace(wanted.voted_key, directory_id=file.voted_key.directory_id))
    return len(versions) < 2 and replace(file, version=UNSET) == replace(wanted, version=UNSET)


def normal_form(effects: Sequence[TracedEffect], disk: Disk) -> tuple[TracedEffect, ...]:
    """The effects of a step without those that change nothing, and with those in one that are done in portions.

    - A write of what the file or the disk holds already is none.
    - The quorum state may be written in portions: the new epoch first, then leader and vote, as long as no portion
      takes back what the file says of the same epoch.  The last one stays, where it stands.
    - Records may be appended in portions, a log cut and synced in portions, a snapshot written twice.
    - Of a timer that is started again the last start counts.

    What stays twice was wrong in between.

    Args:
        effects: as they are shown, in their order.
        disk: what is on the disk before the step.
    """
    now, form = disk, list[TracedEffect]()
    files: list[TracedPersistQuorumState] = []
    """What the file held before each of the writes of it in `form`."""
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
    """How many of the effects a crash point counts: the writes and what is sent."""
    return sum(not isinstance(effect, TracedStartTimer) for effect in effects)


def counts_otherwise(effects: Sequence[TracedEffect], expected: Sequence[TracedEffect], disk: Disk) -> bool:
    """Has a step that ended in a crash been done in other portions than those that the crash point counts?

    Then where the replica died is not where the reference would have: in between two portions of a write, for one.

    Args:
        effects: what was done of it.
        expected: what the reference does before it dies.
        disk: what was on the disk before.
    """
    form = normal_form(effects, disk)
    file = next((one for one in expected if isinstance(one, TracedPersistQuorumState)), None)
    if file is not None and any(isinstance(one, TOLD) for one in form) and not holds(disk.after(form).file, file):
        # Something was sent that needs the whole file.  Rule: vote.persist-before-reply
        return False
    if counted(form) != counted(effects) or _synced_to(form) > _synced_to(expected):
        return True
    last = next((one for one in reversed(form) if not isinstance(one, TracedStartTimer)), None)
    wanted = [one for one in expected if type(one) is type(last)]
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
    return max([one.end_offset for one in effects if isinstance(one, TracedFlushLog)], default=0)


def _changes_nothing(effect: TracedEffect, now: Disk, form: Sequence[TracedEffect]) -> bool:
    match effect:
        case TracedPersistQuorumState():
            return holds(now.file, effect)
        case TracedFlushLog(end_offset):
            return end_offset <= now.synced
        case TracedTruncateLog() | TracedWriteSnapshot():
            # What is cut again after records were appended is another cut.
            log = [one for one in form if isinstance(one, _LOG_CHANGES)]
            return effect in log if isinstance(effect, TracedWriteSnapshot) else log[-1:] == [effect]
        case _:
            return False


def _drop_portions(form: list[TracedEffect], files: list[TracedPersistQuorumState]) -> None:
    """Leave out the writes of the file that are portions of the last one, if all of them are."""
    places = [place for place, one in enumerate(form) if isinstance(one, TracedPersistQuorumState)]
    writes = [one for one in form if isinstance(one, TracedPersistQuorumState)]
    if all(_is_portion(one, writes[-1], file) for one, file in zip(writes[:-1], files, strict=False)):
        for place in reversed(places[:-1]):
            del form[place]
        del files[1:]


def _is_portion(
    written: TracedPersistQuorumState, whole: TracedPersistQuorumState, file: TracedPersistQuorumState
) -> bool:
    """Does a write of the file say nothing but what the whole says, or what is known before it is said?"""
    versions = {written.version, whole.version} - {UNSET}
    if written.epoch != whole.epoch or len(versions) > 1:
        return False
    goes_on = file.epoch == written.epoch
    before = (file.leader_id, file.voted_key) if goes_on else (None, None)
    said = zip((written.leader_id, written.voted_key), before, (whole.leader_id, whole.voted_key), strict=True)
    return all(value in (earlier, later) for value, earlier, later in said)


def _is_joined(effect: TracedAppendRecords, form: list[TracedEffect]) -> bool:
    """Records that go on where the step's earlier ones end are one append with those."""
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
    """The last sync, the last cut that goes deeper than the one before, and the last start of a timer count."""
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
    return any(isinstance(one, TracedAppendRecords) for one in effects)


LOG_ENDS = "where the log ends"
"""What is expected of a sync of more than the log has ends with this."""
SYNC_RULE = "durable.flush-before-fetch"
"""What a sync of more than the log has breaks, whatever the event: the records that come after it are not synced."""


def syncs_beyond_log(effects: Sequence[TracedEffect], end: int | None) -> Iterator[tuple[int, TracedFlushLog, int]]:
    """The syncs of more than the log has at that moment: their places, and where the log ends there.

    Args:
        effects: in their order.
        end: where the log ends before them, if it is known.
    """
    for place, effect in enumerate(effects):
        if isinstance(effect, TracedFlushLog) and end is not None and effect.end_offset > end:
            yield place, effect, end
        end = _log_end_after(effect, end)


def _log_end_after(effect: TracedEffect, end: int | None) -> int | None:
    """Where the log ends after an effect, if it is known."""
    match effect:
        case TracedAppendRecords(base_offset, records):
            return base_offset + len(records)
        case TracedTruncateLog(end_offset):
            return end_offset
        case TracedWriteSnapshot(snapshot, True):
            return snapshot.end_offset
        case _:
            return end
