"""The agent's lines of one replica as events of the model.

How Kafka's steps become events:

- handleInboundMessage is a Handle event.  It lasts until the next pollCurrentState has drained the leader's control
  records, because Kafka's handler only queues them.
- Each data record that a leader drains is a ClientAppend; one sync of a batch is the sync of each of its records.
- A change of the role within pollCurrentState is the timeout of the role before it, or a Shutdown.
- Requests sent in pollCurrentState are a PollFetch or a Poll; before one on a connection that the trace still shows
  as waiting, Kafka's request manager has given up the last request, which is a RequestTimeout.
- A leader's repeated BeginQuorumEpoch is a request of a Poll like the first, because begin-quorum.resend leaves open how
  often it is sent; no BeginQuorumEpochTimeout is recorded.
- A second start of a replica is a Crash and a Restart, with a ReplaceDisk between them if the directory id differs.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kraft_kafka.agent import raw
from kraft_kafka.agent.decoding import message_fields, records_in, snapshot_fields, snapshot_in, snapshot_piece
from kraft_kafka.agent.drafts import Draft, State, UnjudgedError, whole
from kraft_kafka.wire.decoding import Document
from kraft_reference.log import Snapshot

_CLIENTS = {"AddVoterRequest": "AddVoter", "RemoveVoterRequest": "RemoveVoter"}
_FETCHES = ("FetchRequest", "FetchSnapshotRequest")
_UNSENT = 1_000_000_000
_OF_THE_CHANNEL = (7, 8, 13, "REQUEST_TIMED_OUT")
"""Errors that Kafka's own network channel gives a request without a response, as names or codes: REQUEST_TIMED_OUT,
BROKER_NOT_AVAILABLE, NETWORK_EXCEPTION."""


class ReplicaEvents:
    """Events of a replica, over all its starts."""

    def __init__(self, replica: int, find_replica: Callable[[int, str], int | None], static: Snapshot) -> None:
        """Set the function that returns a node's replica for its id and endpoint, and the static voters."""
        self.replica = replica
        self.events: list[Draft] = []
        self._find_replica, self._static = find_replica, static
        self._clients = 0
        self._log_end_offset = 0
        self.gap: str | None = None
        """Reason why events before the next one may be missing."""
        self._begin(None)

    def _begin(self, wire_ids: Mapping[int, int] | None) -> None:
        """Forget what only a process remembers."""
        self._wire_ids = wire_ids
        self._open: Draft | None = None
        """Event to which the lines belong."""
        self._pending: Draft | None = None
        """Handled event whose control records the next pollCurrentState appends."""
        self._moved: Draft | None = None
        """Timeout of the present pollCurrentState."""
        self._sends: Draft | None = None
        """Poll of the present pollCurrentState."""
        self._has_grown = False
        """True if control records were appended since the pending event was handled."""
        self._resigns = False
        self._requests: dict[int, tuple[Draft, Document, int | None]] = {}
        """Requests without a response, with a client's number."""
        self._sent: dict[int, tuple[Document, int] | None] = {}
        """Requests sent, with their receiver, by Kafka's correlation id; None for those to itself."""
        self._outstanding: dict[int, int] = {}
        self._last_state: State = None

    @property
    def log_end_offset(self) -> int:
        """Log end offset of the last line that shows it."""
        return self._log_end_offset

    def read(self, file: raw.RawFile, is_first: bool, disk: tuple[int, str] | None) -> None:
        """Add the events of a process.

        Args:
            file: the lines.
            is_first: True if the trace begins with this process, on an empty disk.
            disk: log end offset and directory id at the end of the process before; None if there was none.

        Raises:
            UnjudgedError: a line has something that the model does not have.
            WireError: Kafka's bytes cannot be decoded.
        """
        start = file.start
        self._log_end_offset = start.log_end_offset
        self._begin(file.wire_ids)
        if disk is not None:
            self._crash(start, *disk)
        if is_first:
            self._open = Draft("Restart", start.time_us, is_hidden=True)
        else:
            self._open = self._event("Restart", start, input={"endpoint": start.endpoint} if start.endpoint else {})
        for line in file.lines:
            reader = _READERS.get(type(line))
            if reader is not None:
                reader(self, line)

    def _crash(self, start: raw.StartLine, log_end_offset: int, directory_id: str) -> None:
        is_same = directory_id == start.directory_id
        end = start.log_end_offset if is_same else log_end_offset
        self._event("Crash", start, input={"log_end_offset": end}).state = {"role": "Stopped"}
        if not is_same:
            disk = self._event("ReplaceDisk", start, input={"directory_id": start.directory_id})
            disk.state = {"role": "Stopped"}

    # -------------------------------------------------------------------------------------------------------------
    # Events and their ends.
    # -------------------------------------------------------------------------------------------------------------

    def _event(
        self, name: str, line: Any, message: Document | None = None, input: Document | None = None
    ) -> Draft:
        draft = Draft(name, line.time_us, message, input, gap=self.gap)
        self.events.append(draft)
        self.gap = None
        return draft

    def _add(self, line: Any, effect: Document) -> None:
        """Add an effect to the event in progress, or to a Poll."""
        target = self._open or self._pending
        is_of_hidden = target is not None and target.is_hidden and effect["kind"] in ("Send", "Answer")
        if target is None or is_of_hidden:
            # The response to an earlier request, whose wait is over.
            target = self._event("Poll", line)
            target.state = self._last_state
        target.effects.append(effect)

    def _lose(self, line: raw.DroppedLine | raw.StoppedLine) -> None:
        """Forget the events in progress, because the agent lost lines that may belong to them."""
        unsure = [draft for draft in (self._open, self._pending, self._moved, self._sends) if draft is not None]
        self.events = [draft for draft in self.events if all(draft is not other for other in unsure)]
        self._open = self._pending = self._moved = self._sends = None
        if isinstance(line, raw.DroppedLine):
            self.gap = f"the agent dropped {line.lines} lines"
        else:
            self.gap = f"the agent stopped: {line.reason}"

    def _settle(self, state: State) -> None:
        """End the events in progress: this is the state after them."""
        if self._pending is not None and (self._has_grown or self._pending.state is None):
            self._pending.state = state
        for draft in (self._moved, self._open if self._open is not None and self._open.is_data else None):
            if draft is not None:
                draft.state = state
        if self._open is not None and self._open.event == "VoterChangeTimeout":
            self._open.state = state
        self._pending = self._moved = self._open = None
        self._has_grown = False

    def _remember(self, state: State) -> None:
        if state is not None:
            self._last_state, self._log_end_offset = state, state["log_end_offset"]

    # -------------------------------------------------------------------------------------------------------------
    # Starts and polls.
    # -------------------------------------------------------------------------------------------------------------

    def _started(self, line: raw.StartedLine) -> None:
        self._handled(line)

    def _handled(self, line: raw.StartedLine | raw.HandledLine) -> None:
        self._remember(line.state)
        if self._open is not None:
            self._open.state = line.state
            self._pending = None if self._open.is_hidden else self._open
        self._open = None

    def _polled(self, line: raw.PolledLine) -> None:
        self._remember(line.state)
        if self._moved is None and self._sends is not None:
            self._sends.state = line.state
        self._settle(line.state)
        self._sends = None

    def _transition(self, line: raw.TransitionLine) -> None:
        if self._open is not None and self._open.event == "Restart" and line.from_role not in (None, line.role):
            # The only voter starts an election before its first poll.
            self._open = self._event("ElectionTimeout", line)
            return
        if not line.polling or (self._open is not None and self._open is not self._moved):
            return
        if self._moved is None:
            if line.from_role == "Leader":
                if line.resigning and not self._resigns:
                    # It resigns because its own removal is committed: a part of the event before.
                    return
                name = "Shutdown" if line.resigning or line.shutdown else "CheckQuorumTimeout"
            else:
                name = "FetchTimeout" if line.from_role == "Follower" else "ElectionTimeout"
            self._settle(self._last_state)
            self._moved = self._open = self._event(name, line)

    def _called(self, line: raw.CalledLine) -> None:
        self._resigns = self._resigns or line.method == "resign"

    def _expire(self, line: raw.ExpireLine) -> None:
        self._settle(line.state)
        self._open = self._event("VoterChangeTimeout", line)

    # -------------------------------------------------------------------------------------------------------------
    # The disk.
    # -------------------------------------------------------------------------------------------------------------

    def _persist(self, line: raw.PersistLine) -> None:
        fields = {"epoch": line.election.epoch, "leader_id": line.election.leader_id}
        fields |= {"voted_key": line.election.voted_key, "version": line.version}
        self._add(line, {"kind": "PersistQuorumState", **fields})

    def _append(self, line: raw.AppendLine) -> None:
        records, base = records_in(line.records), line.base_offset
        records = records[: line.end_offset - base]
        if not line.leads or not line.polling:
            if records:
                self._add(line, {"kind": "AppendRecords", "base_offset": base, "records": records})
            return
        for offset, record in enumerate(records, base):
            effect = {"kind": "AppendRecords", "base_offset": offset, "records": [record]}
            if record["kind"] == "Data":
                # The state after a record that is not the last one of its batch is not observed.
                self._settle(None)
                self._open = self._event("ClientAppend", line, input={"value": record["value"]})
                self._open.is_data = True
                self._open.effects.append(effect)
            else:
                self._append_control(line, effect)

    def _append_control(self, line: raw.AppendLine, effect: Document) -> None:
        """Add a leader's control record to the event that it is a consequence of."""
        target = self._pending or self._open
        if target is None:
            target = self._pending = self._event("Poll", line)
        last = target.effects[-1] if target.effects else None
        if (
            last is not None
            and last["kind"] == "AppendRecords"
            and last["base_offset"] + len(last["records"]) == effect["base_offset"]
        ):
            last["records"] += effect["records"]
        else:
            target.effects.append(effect)
        self._has_grown = True

    def _flush(self, line: raw.FlushLine) -> None:
        target = self._open or self._pending
        if target is None or not target.is_data:
            if target is None or any(effect["kind"] == "AppendRecords" for effect in target.effects):
                self._add(line, {"kind": "FlushLog", "end_offset": line.end_offset})
                self._put_sync_first(self._open or self._pending)
            return
        for draft in reversed(self.events):
            if not draft.is_data or any(effect["kind"] == "FlushLog" for effect in draft.effects):
                break
            draft.effects.append({"kind": "FlushLog", "end_offset": draft.effects[0]["base_offset"] + 1})
            self._put_sync_first(draft)

    @staticmethod
    def _put_sync_first(draft: Draft | None) -> None:
        """Move the Fetch responses of an event after its sync.

        Kafka completes waiting Fetches between append and sync; the network thread sends the responses at any time
        after that, and no follower counts what the leader has synced.
        """
        if draft is not None:
            draft.effects.sort(key=lambda effect: effect.get("message", {}).get("type") == "FetchResponse")

    def _truncate(self, line: raw.TruncateLine) -> None:
        if line.before != line.end_offset:
            self._add(line, {"kind": "TruncateLog", "end_offset": line.end_offset})

    def _install(self, line: raw.InstallLine) -> None:
        if line.done and line.snapshot is not None:
            self._add(line, self._snapshot(line.snapshot, replaces_log=True))

    def _take_snapshot(self, line: raw.SnapshotLine) -> None:
        if line.done and line.snapshot is not None and line.log_start_offset == line.snapshot.end_offset:
            self._settle(self._last_state)
            draft = self._event("TakeSnapshot", line, input={"end_offset": line.log_start_offset})
            draft.effects.append(
                self._snapshot(line.snapshot, replaces_log=line.log_start_offset == line.end_offset)
            )

    def _snapshot(self, snapshot: raw.RawSnapshot, *, replaces_log: bool) -> Document:
        fields = snapshot_fields(snapshot_in(snapshot, self._static))
        return {"kind": "WriteSnapshot", "snapshot": fields, "replaces_log": replaces_log}

    # -------------------------------------------------------------------------------------------------------------
    # Messages.
    # -------------------------------------------------------------------------------------------------------------

    def _send(self, line: raw.SendLine) -> None:
        self._remember(line.state)
        destination = self._find_replica(line.destination, line.endpoint)
        fields = message_fields(line.message)
        if fields is None or destination is None or destination == self.replica:
            # The model has no messages to oneself, and none to nodes outside the cluster.
            self._sent[line.correlation_id] = None
            return
        in_handler = self._open is not None and self._open is not self._moved and not self._open.is_data
        draft = self._poll(line, fields, destination, in_handler=in_handler)
        message = whole(fields, self.replica, destination, self._wire_id(line.correlation_id))
        draft.effects.append({"kind": "Send", "message": message})
        self._sent[line.correlation_id] = (message, destination)
        self._outstanding[destination] = line.correlation_id

    def _wire_id(self, correlation_id: int) -> int:
        """Return the correlation id that the receiver sees; one of its own for a request that the wire never had."""
        if self._wire_ids is None:
            return correlation_id
        return self._wire_ids.get(correlation_id, _UNSENT + correlation_id)

    def _poll(self, line: raw.SendLine, fields: Document, destination: int, *, in_handler: bool) -> Draft:
        """Return the event that sends a request."""
        if in_handler:
            # The model sends it in the next Poll.
            return self._event("Poll", line)
        self._settle(line.state)
        if fields["type"] in _FETCHES:
            self._give_up(line, self._outstanding.keys())
            self._sends = self._event("PollFetch", line, input={"destination": destination})
            return self._sends
        if destination in self._outstanding:
            self._give_up(line, [destination])
        if self._sends is None or self._sends.event != "Poll":
            self._sends = self._event("Poll", line)
        return self._sends

    def _give_up(self, line: raw.SendLine, destinations: Iterable[int]) -> None:
        """Add timeouts of requests, before the Poll in progress: it sends to all idle connections at once."""
        for destination in sorted(destinations):
            timeout = self._event("RequestTimeout", line, input={"destination": destination})
            timeout.state = line.state
            if self._sends is not None and self._sends.event == "Poll":
                self.events.remove(timeout)
                self.events.insert(self.events.index(self._sends), timeout)
            del self._outstanding[destination]

    def _request(self, line: raw.RequestLine) -> None:
        self._settle(self._last_state)
        fields = message_fields(line.message)
        if fields is None:
            self._open = Draft(line.message.name, line.time_us, is_hidden=True)
            return
        kind = fields["type"]
        if kind in _CLIENTS:
            self._clients += 1
            self._open = self._event(_CLIENTS[kind], line, input=_client_input(self._clients, fields))
            self._requests[line.number] = (self._open, fields, self._clients)
            return
        source = _source(fields)
        if source is None or source < 0 or source == self.replica:
            self._open = Draft(kind, line.time_us, is_hidden=True)
            return
        message = whole(fields, source, self.replica, line.correlation_id)
        self._open = self._event(f"Handle{kind}", line, message)
        self._requests[line.number] = (self._open, message, None)

    def _answer(self, line: raw.AnswerLine) -> None:
        if line.number not in self._requests or line.message is None:
            return
        draft, request, client = self._requests.pop(line.number)
        fields = message_fields(line.message)
        if fields is None:
            return
        if client is not None:
            self._add(line, {"kind": "Answer", "reply": {"request": client, "error": fields["error"]}})
            return
        if fields["type"] == "VoteResponse":
            fields["pre_vote"] = request.get("pre_vote", False)
        if fields["type"] == "FetchSnapshotResponse" and fields["error"] == "NONE":
            self._check_piece(line.message)
        message = whole(fields, self.replica, request["source"], request["correlation_id"])
        self._add(line, {"kind": "Send", "message": message})

    def _response(self, line: raw.ResponseLine) -> None:
        self._settle(self._last_state)
        sent = self._sent.pop(line.correlation_id, None)
        fields = message_fields(line.message)
        self._open = Draft(line.message.name, line.time_us, is_hidden=True)
        if sent is None or fields is None:
            return
        request, source = sent
        is_awaited = self._outstanding.get(source) == line.correlation_id
        if fields.get("error") in _OF_THE_CHANNEL and "epoch" not in fields:
            # No response of the peer.  The connection backs off; to the model it waits until the next request.
            return
        if is_awaited:
            del self._outstanding[source]
        if fields["type"] == "VoteResponse":
            fields["pre_vote"] = request["pre_vote"]
        if fields["type"] == "FetchSnapshotResponse" and fields["error"] == "NONE":
            self._check_piece(line.message)
        message = whole(fields, source, self.replica, request["correlation_id"])
        self._open = self._event(f"Handle{fields['type']}", line, message)

    def _check_piece(self, message: raw.RawMessage) -> None:
        """Check that a snapshot fits into one response, as in the model.

        Raises:
            UnjudgedError: it does not.
        """
        piece = snapshot_piece(message)
        if piece is not None and (piece[0] or piece[1] < piece[2]):
            raise UnjudgedError(f"replica {self.replica} fetches a snapshot of {piece[2]} bytes in pieces")


_READERS: Mapping[type, Callable[[ReplicaEvents, Any], None]] = {
    raw.StartedLine: ReplicaEvents._started,
    raw.HandledLine: ReplicaEvents._handled,
    raw.PolledLine: ReplicaEvents._polled,
    raw.TransitionLine: ReplicaEvents._transition,
    raw.CalledLine: ReplicaEvents._called,
    raw.ExpireLine: ReplicaEvents._expire,
    raw.PersistLine: ReplicaEvents._persist,
    raw.AppendLine: ReplicaEvents._append,
    raw.FlushLine: ReplicaEvents._flush,
    raw.TruncateLine: ReplicaEvents._truncate,
    raw.InstallLine: ReplicaEvents._install,
    raw.SnapshotLine: ReplicaEvents._take_snapshot,
    raw.SendLine: ReplicaEvents._send,
    raw.RequestLine: ReplicaEvents._request,
    raw.AnswerLine: ReplicaEvents._answer,
    raw.DroppedLine: ReplicaEvents._lose,
    raw.StoppedLine: ReplicaEvents._lose,
    raw.ResponseLine: ReplicaEvents._response,
}


def _source(fields: Document) -> int | None:
    """Return the id of the replica that sent a request, as its fields show it."""
    key = fields.get("replica_key") or (fields["voter"] if fields["type"] == "UpdateVoterRequest" else None)
    source: int | None = fields.get("source", key["id"] if key else None)
    return source


def _client_input(number: int, fields: Document) -> Document:
    names = ("voter", "cluster_id", "endpoint", "timeout_ms", "when_committed")
    present = {name: fields[name] for name in names if name in fields}
    if fields["type"] == "AddVoterRequest":
        present.setdefault("when_committed", True)
    return {"request": number, **present}
