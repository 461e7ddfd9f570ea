"""The agent's lines about the disk: writes of the quorum state file, the log and snapshots."""

from base64 import b64decode

from kraft_kafka.agent import raw
from kraft_kafka.agent.decoding import snapshot_fields, snapshot_in
from kraft_kafka.agent.drafts import Draft, without_log
from kraft_kafka.agent.progress import Progress
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import batches_of
from kraft_reference.log import Snapshot


def persist(now: Progress, line: raw.PersistLine) -> None:
    """Add a write of the quorum state file."""
    if (content := content_of(line.election)) == now.election:
        # Kafka writes the file at each start; the same content is no effect.
        return
    now.election = content
    fields: Document = {"epoch": line.election.epoch, "leader_id": line.election.leader_id}
    fields |= {"voted_key": line.election.voted_key, "version": line.version}
    now.add(line, {"kind": "PersistQuorumState", **fields})


def content_of(election: raw.RawElection) -> tuple[object, ...]:
    """Return what the quorum state file holds."""
    voted = election.voted_key
    return election.epoch, election.leader_id, None if voted is None else (voted["id"], voted["directory_id"])


def is_same_file(written: tuple[object, ...], on_disk: tuple[object, ...] | None) -> bool:
    """True if the file holds what was written last; a file of version 0 has no directory id of the vote."""
    if written == on_disk or on_disk is None:
        return written == on_disk
    voted, read = written[2], on_disk[2]
    is_same_vote = isinstance(voted, tuple) and isinstance(read, tuple) and read == (voted[0], None)
    return is_same_vote and written[:2] == on_disk[:2]


def append(now: Progress, line: raw.AppendLine) -> None:
    """Add an append: each data record that a leader drains is a ClientAppend."""
    base = line.base_offset
    batches = now.fetched if line.records is None else tuple(batches_of(b64decode(line.records)))
    records = now.log.append(base, batches)
    records = records[: line.end_offset - base]
    if not line.leads or not line.polling:
        if records:
            now.add(line, {"kind": "AppendRecords", "base_offset": base, "records": records})
        return
    for offset, record in enumerate(records, base):
        effect = {"kind": "AppendRecords", "base_offset": offset, "records": [record]}
        if record["kind"] == "Data":
            # Of the state after a record that is not the last one of its batch, only offsets are not observed.
            handled = now.pending or now.handled
            now.settle(None if now.last_state is None else without_log(now.last_state))
            now.handled = handled
            now.open = now.event("ClientAppend", line, inputs={"value": record["value"]})
            now.open.is_data = True
            now.open.effects.append(effect)
        elif record["kind"] == "KRaftVersion" and offset == base:
            _upgrade(now, line, effect, len(records))
        else:
            _append_control(now, line, effect)


def _upgrade(now: Progress, line: raw.AppendLine, effect: Document, count: int) -> None:
    """Add a client's upgrade of kraft.version: nothing else appends a batch that begins with this record.

    The controller has checked what its brokers support.
    """
    now.settle(None if now.last_state is None else without_log(now.last_state))
    level = effect["records"][0]["value"]
    inputs = {"request": now.next_client(), "kraft_version": level, "brokers_min": 0, "brokers_max": level}
    now.pending = now.event("UpdateFeatures", line, inputs=inputs)
    now.pending.effects.append(effect)
    now.has_grown, now.upgraded = True, effect["base_offset"] + count


def _append_control(now: Progress, line: raw.AppendLine, effect: Document) -> None:
    """Add a leader's control record to the event that it is a consequence of."""
    if now.handled is not None and now.pending is None:
        now.move_behind_data(now.handled, line)
    target = now.expired or now.pending or now.open
    if target is None:
        target = now.pending = now.event("Poll", line)
    if not target.appends:
        now.answer_before_append(target, line)
    last = target.effects[-1] if target.effects else None
    if (
        last is not None
        and last["kind"] == "AppendRecords"
        and last["base_offset"] + len(last["records"]) == effect["base_offset"]
    ):
        last["records"] += effect["records"]
    else:
        target.effects.append(effect)
    now.has_grown = True


def flush(now: Progress, line: raw.FlushLine) -> None:
    """Add a sync of the log, if it syncs anything."""
    if now.expired is not None and now.has_grown:
        now.expired.effects.append({"kind": "FlushLog", "end_offset": line.end_offset})
        return
    target = now.open or now.pending
    if target is None or (not target.is_data and any(effect["kind"] == "AppendRecords" for effect in target.effects)):
        now.add(line, {"kind": "FlushLog", "end_offset": line.end_offset})
        _put_sync_first(now.open or now.pending)
    for draft in reversed(now.events):
        if draft is target and not draft.is_data:
            continue
        if not draft.is_data or draft.is_synced:
            break
        draft.effects.append({"kind": "FlushLog", "end_offset": draft.effects[0]["base_offset"] + 1})
        _put_sync_first(draft)


def _put_sync_first(draft: Draft | None) -> None:
    """Move the Fetch responses of an event after its sync.

    Kafka completes waiting Fetches between append and sync; the network thread sends the responses at any time
    after that, and no follower counts what the leader has synced.
    """
    if draft is not None:
        draft.effects.sort(key=lambda effect: effect.get("message", {}).get("type") == "FetchResponse")


def truncate(now: Progress, line: raw.TruncateLine) -> None:
    """Add a log truncation."""
    now.log.truncate(line.end_offset)
    if line.before != line.end_offset:
        now.add(line, {"kind": "TruncateLog", "end_offset": line.end_offset})


def install(now: Progress, line: raw.InstallLine, static: Snapshot) -> None:
    """Add the replacement of the log by a fetched snapshot."""
    if line.done and line.snapshot is not None:
        now.log.clear()
        now.base_offset = 0
        now.add(line, _snapshot(static, line.snapshot, replaces_log=True))


def take_snapshot(now: Progress, line: raw.SnapshotLine, static: Snapshot) -> None:
    """Add a TakeSnapshot: the log was deleted before a snapshot of the controller."""
    if line.log_start_offset <= now.base_offset:
        # The trace does not have the log before that.
        return
    now.log.delete_before(line.log_start_offset)
    if line.done and line.snapshot is not None and line.log_start_offset == line.snapshot.end_offset:
        now.settle(now.last_state)
        draft = now.event("TakeSnapshot", line, inputs={"end_offset": line.log_start_offset})
        draft.effects.append(_snapshot(static, line.snapshot, replaces_log=line.log_start_offset == line.end_offset))


def _snapshot(static: Snapshot, snapshot: raw.RawSnapshot, *, replaces_log: bool) -> Document:
    fields = snapshot_fields(snapshot_in(snapshot, static))
    return {"kind": "WriteSnapshot", "snapshot": fields, "replaces_log": replaces_log}
