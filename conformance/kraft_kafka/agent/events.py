"""The agent's lines of one replica as events of the model.

How Kafka's steps become events:

- handleInboundMessage is a Handle event.  It lasts until the next pollCurrentState has drained the leader's control
  records, because Kafka's handler only queues them.
- Each data record that a leader drains is a ClientAppend; one sync of a batch is the sync of each of its records.
- A change of the role within pollCurrentState is the timeout of the role before it, or a Shutdown.
- Requests sent in pollCurrentState are a PollFetch or a Poll; before one on a connection that the trace still shows
  as waiting, Kafka's request manager has given up the last request, which is a RequestTimeout.
- A leader's repeated BeginQuorumEpoch is a request of a Poll like the first, because begin-quorum.resend leaves open
  how often it is sent.  A BeginQuorumEpochTimeout precedes one to a voter that has acknowledged the first.
- A Fetch of an observer to a bootstrap server, while it knows a leader and has given up no request, follows a
  FetchTimeout.
- A second start of a replica is a Crash and a Restart, with a ReplaceDisk between them if the directory id differs.
"""

from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kraft_kafka.agent import disk_lines, raw
from kraft_kafka.agent.checkpoints import is_searching
from kraft_kafka.agent.connections import Connections
from kraft_kafka.agent.decoding import batches_in, message_fields
from kraft_kafka.agent.drafts import Begin, Draft, whole
from kraft_kafka.agent.fields import (
    answer_fields,
    client_input,
    is_of_channel,
    is_of_shutdown,
    source_of,
)
from kraft_kafka.agent.filling import filled_request, filled_response
from kraft_kafka.agent.located import located
from kraft_kafka.agent.pieces import Pieces, is_continued
from kraft_kafka.agent.progress import Progress
from kraft_kafka.agent.reading import RawFile
from kraft_kafka.agent.saved import SavedConverter
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.log_records import batches_of
from kraft_reference.log import Snapshot

_CLIENTS = {"AddVoterRequest": "AddVoter", "RemoveVoterRequest": "RemoveVoter"}
_WITH_ENDPOINT = ("AddVoterRequest", "UpdateVoterRequest")
_UNSENT = 1_000_000_000
_OF_OTHER_THREADS = (raw.WireLine, raw.AnswerLine, raw.CalledLine)
_UNFINISHED = (raw.RequestLine, raw.ResponseLine, raw.TransitionLine, raw.PersistLine, raw.AppendLine)
"""Lines after which the client does more before the event is over."""


class ReplicaEvents:
    """Events of a replica, over all its starts."""

    def __init__(
        self,
        replica: int,
        find_replica: Callable[[int, str], int | None],
        static: Snapshot,
        *,
        has_opaque: bool = False,
    ) -> None:
        """Begin without events.

        Args:
            replica: id of the replica.
            find_replica: returns a node's replica for its id and endpoint.
            static: the static voters.
            has_opaque: True if other replicas are not observed, so that lines show their messages completely.
        """
        self.replica = replica
        self._now = Progress()
        self._find_replica, self._static = find_replica, static
        self._has_opaque = has_opaque
        self.unnamed_requests = 0
        """Number of requests without a replica id, which have no event."""
        self.failure: str | None = None
        """Reason why no event after the last one is known."""
        self.is_killed = False
        """True if the newest process was not closed, so that its last lines may be missing."""
        self._last_step: type | None = None
        """Type of the client's newest line that is of its own thread."""
        self._begin(None)

    def _begin(self, wire_ids: Mapping[int, int] | None) -> None:
        """Forget what only a process remembers."""
        self._now.begin()
        self._wire_ids = wire_ids
        self._resigns = self._became_leader = False
        self._now.log.clear()
        self._requests: dict[int, tuple[Document, int | None, int]] = {}
        """Requests without a response, with a client's number and the version."""
        self._sent: dict[int, tuple[Document, int] | None] = {}
        """Requests sent, with their receiver, by Kafka's correlation id; None for those to itself."""
        self._connections = Connections(self.replica)
        self._pieces = Pieces()

    @property
    def events(self) -> list[Draft]:
        return self._now.events

    def drain(self, *, is_over: bool = False) -> list[Draft]:
        """Remove the events that no later line can change, and return them; all, if the process has ended."""
        return self._now.drain(is_over=is_over)

    def lose(self, reason: str) -> None:
        """Note that lines are missing before the next one."""
        self._now.lose(reason)

    @property
    def is_quiet(self) -> bool:
        """True if no event is in progress or waits for later lines."""
        return self._now.is_quiet and not self._became_leader

    def save(self) -> SavedConverter:
        """Return the state, of which `is_quiet` is true."""
        searching, waiting = self._connections.save()
        requests, sent = dict(self._requests), dict(self._sent)
        own = (self.is_killed, self._resigns)
        return SavedConverter(self._now.save(), *own, requests, sent, searching, waiting, *self._pieces.save())

    def restore(self, saved: SavedConverter) -> None:
        """Take the state that an earlier `save` has returned."""
        self._now.restore(saved.progress)
        self.is_killed, self._resigns = saved.is_killed, saved.resigns
        self._requests, self._sent = dict(saved.requests), dict(saved.sent)
        self._connections.restore(saved.searching, saved.waiting)
        self._pieces.restore(saved.fetching, saved.serving)

    def take_begin(self) -> Begin | None:
        """Return the line from which on the replica is observed, if no event follows it yet, and forget it."""
        begin, self._now.first = self._now.first, None
        return begin

    def observe_start(self, start: raw.StartLine) -> None:
        """Begin to observe the replica, which is not observed before this start."""
        self._now.observe(Begin(start, {}))

    def fail(self, reason: str) -> None:
        """End the events here, because a line has no event of the model."""
        self.failure = reason
        self._now.lose(reason)

    @property
    def gap(self) -> str | None:
        """Reason why events after the last one may be missing."""
        return self._now.gap

    @property
    def kills(self) -> frozenset[int]:
        """Indices of the events before which the last lines of a process may be missing, because it was killed."""
        kills = {index for index, draft in enumerate(self.events) if draft.is_kill}
        return frozenset(kills | {len(self.events)} if self.is_killed else kills)

    @property
    def log_end_offset(self) -> int:
        """Log end offset of the last line that shows it."""
        return self._now.log_end_offset

    def read(self, file: RawFile, is_first: bool, disk: tuple[int, str] | None) -> None:
        """Add the events of a process.

        Args:
            file: its lines.
            is_first: True if the trace begins with this process, on an empty disk.
            disk: log end offset and directory id at the end of the process before; None if there was none.

        Raises:
            LineError: a line has something that the model does not have, or Kafka's bytes cannot be decoded.
        """
        self.begin(file.start, file.place(0), is_first=is_first, disk=disk, wire_ids=file.wire_ids)
        for index, line in enumerate(file.lines, 1):
            self.take(line, file.place(index))
        self.end(file.source)

    def begin(
        self,
        start: raw.StartLine | raw.CheckpointLine,
        place: str,
        *,
        is_first: bool,
        disk: tuple[int, str] | None,
        wire_ids: Mapping[int, int] | None = None,
    ) -> None:
        """Begin a process with its first line.

        Args:
            start: the line.
            place: file and number of the line.
            is_first: as for `read`.
            disk: as for `read`.
            wire_ids: correlation ids on the wire, by those of the client, which the events have without them.

        Raises:
            LineError: as `read`.
        """
        self._begin(wire_ids)
        self._last_step = None
        self._now.place, self._now.endpoint = place, start.endpoint
        with located(place, start):
            if isinstance(start, raw.StartLine):
                self._start(start, self._now.election, is_first, disk)
                return
            if disk is not None:
                self._now.lose(f"the start of the process of {place.rpartition(':')[0]} is not recorded")
            self._observe(start)

    def take(self, line: raw.RawLine, place: str) -> None:
        """Add a line of the process.

        Raises:
            LineError: as `read`.
        """
        self._now.place = place
        if not isinstance(line, _OF_OTHER_THREADS):
            self._last_step = type(line)
        with located(place, line):
            self._read_line(line)

    def end(self, source: str) -> None:
        """End the process, whose last file is `source`."""
        if self._now.pending is not None and self._became_leader:
            # Its control records are appended at the next poll, which is not recorded.
            self._now.pending.has_hidden_log = True
        if self._last_step in _UNFINISHED:
            # The process was killed within an event.  What it did not do, or did not write, is unknown.
            self._now.lose(f"{source} ends within an event")

    def _read_line(self, line: raw.RawLine) -> None:
        kind = type(line)
        if kind in _READERS:
            _READERS[kind](self, line)
        elif kind in _OF_THE_DISK:
            _OF_THE_DISK[kind](self._now, line)
        elif isinstance(line, raw.InstallLine):
            disk_lines.install(self._now, line, self._static)
        elif isinstance(line, raw.SnapshotLine):
            disk_lines.take_snapshot(self._now, line, self._static)
        elif isinstance(line, raw.DroppedLine):
            self._now.lose(f"the agent dropped {line.lines} lines")
        elif isinstance(line, raw.StoppedLine):
            self._now.lose(line.reason)
        elif isinstance(line, raw.CheckpointLine):
            if self._now.is_lost:
                self._observe(line)
            else:
                self._now.settle(self._now.last_state)
                self._now.resume = Begin(line, self._awaiting(line))

    def _start(
        self, start: raw.StartLine, before: tuple[object, ...] | None, is_first: bool, disk: tuple[int, str] | None
    ) -> None:
        self._now.log.append(start.log_start_offset, tuple(batches_of(b64decode(start.log or ""))))
        self._now.election = None if start.election is None else disk_lines.content_of(start.election)
        if disk is not None:
            is_known = disk[1] != start.directory_id or (
                start.log_end_offset <= disk[0]
                and (before is None or disk_lines.is_same_file(before, self._now.election))
            )
            if not is_known:
                self._now.lose(f"replica {self.replica} did more before its restart than its file shows")
            if self._now.is_lost:
                self._now.base_offset = 0
                self._now.observe(Begin(start, {}))
            else:
                self._crash(start, *disk)
        self._now.log_end_offset = start.log_end_offset
        if is_first:
            self._now.open = Draft("Restart", start.time_us, is_hidden=True)
        else:
            self._now.resume = None if disk is None else Begin(start, {})
            self._now.open = self._now.event(
                "Restart", start, inputs={"endpoint": start.endpoint} if start.endpoint else {}
            )

    def _observe(self, line: raw.CheckpointLine) -> None:
        """Go on from a checkpoint."""
        self._begin(self._wire_ids)
        role, leader_id = line.state["role"], line.state["leader_id"]
        for request, destination in self._requests_of(line):
            wire_id = self._wire_id(request)
            sent = {"correlation_id": wire_id, "pre_vote": role == "Prospective", "epoch": line.state["epoch"]}
            self._sent[request] = (sent, destination)
            self._connections.wait(destination, request)
        awaiting = self._awaiting(line)
        self._connections.resume(is_searching=is_searching(line, leader_id))
        self._now.observe(Begin(line, awaiting))
        self._now.base_offset = line.base.end_offset
        self._now.log.append(line.base.end_offset, tuple(batches_of(b64decode(line.log))))
        self._now.remember(line.state)
        voted = line.state.get("voted_key")
        election = raw.RawElection(line.state["epoch"], leader_id, voted)
        self._now.election = disk_lines.content_of(election)

    def _awaiting(self, line: raw.CheckpointLine) -> dict[int, int]:
        """Return the correlation ids of the requests that await a response at a checkpoint, by their receiver."""
        return {destination: self._wire_id(request) for request, destination in self._requests_of(line)}

    def _requests_of(self, line: raw.CheckpointLine) -> Iterator[tuple[int, int]]:
        """Yield Kafka's correlation id and the receiver of each request that awaits a response at a checkpoint."""
        for request in line.requests:
            destination = self._find_replica(request.destination, request.endpoint)
            if request.correlation_id is not None and destination is not None and destination != self.replica:
                yield request.correlation_id, destination

    def _crash(self, start: raw.StartLine, log_end_offset: int, directory_id: str) -> None:
        is_same = directory_id == start.directory_id
        end = start.log_end_offset if is_same else log_end_offset
        stopped: Document = {"role": "Stopped"}
        if is_same and start.election is not None:
            stopped |= {"epoch": start.election.epoch, "log_end_offset": end}
        crash = self._now.event("Crash", start, inputs={"log_end_offset": end})
        crash.state, crash.is_kill = stopped, self.is_killed
        if not is_same:
            self._now.base_offset = 0
            disk = self._now.event("ReplaceDisk", start, inputs={"directory_id": start.directory_id})
            disk.state = {"role": "Stopped"}

    # -------------------------------------------------------------------------------------------------------------
    # Starts and polls.
    # -------------------------------------------------------------------------------------------------------------

    def _handled(self, line: raw.StartedLine | raw.HandledLine) -> None:
        self._now.remember(line.state)
        if self._now.open is not None:
            self._now.open.state = self._now.last_state
            self._now.pending = None if self._now.open.is_hidden else self._now.open
        self._now.open = None

    def _polled(self, line: raw.PolledLine) -> None:
        self._now.remember(line.state)
        if self._now.moved is None and self._now.sends is not None:
            self._now.sends.state = self._now.last_state
        self._now.settle(self._now.last_state)
        self._now.sends = None
        self._became_leader = False

    def _transition(self, line: raw.TransitionLine) -> None:
        self._connections.change_role()
        self._became_leader = line.role == "Leader"
        if self._now.open is not None and self._now.open.event == "Restart" and line.from_role not in (None, line.role):
            if line.from_role == "Candidate":
                # It has voted for itself before, and leads at once: a part of the Restart.
                return
            # The only voter starts an election before its first poll.
            self._now.open = self._now.event("ElectionTimeout", line)
            return
        if not line.polling or (self._now.open is not None and self._now.open is not self._now.moved):
            return
        if self._now.moved is None:
            if line.from_role == "Leader":
                if line.resigning and not self._resigns:
                    # It resigns because its own removal is committed: a part of the event before.
                    self._now.has_grown = True
                    return
                name = "Shutdown" if line.resigning or line.shutdown else "CheckQuorumTimeout"
            else:
                name = "FetchTimeout" if line.from_role == "Follower" else "ElectionTimeout"
            refused, self._now.refused = self._now.refused, []
            self._now.settle(self._now.last_state)
            self._now.moved = self._now.open = self._now.event(name, line)
            self._now.moved.effects += refused

    def _called(self, line: raw.CalledLine) -> None:
        self._resigns = self._resigns or line.method == "resign"

    def _expire(self, line: raw.ExpireLine) -> None:
        self._now.remember(line.state)
        expired = self._now.pending
        self._now.settle(self._now.last_state)
        self._now.open, self._now.expired = self._now.event("VoterChangeTimeout", line), expired

    # -------------------------------------------------------------------------------------------------------------
    # Messages.
    # -------------------------------------------------------------------------------------------------------------

    def _send(self, line: raw.SendLine) -> None:
        self._now.remember(line.state)
        destination = self._find_replica(line.destination, line.endpoint)
        fields = message_fields(line.message)
        if fields is None or destination is None or destination == self.replica:
            # The model has no messages to oneself, and none to nodes outside the cluster.
            self._sent[line.correlation_id] = None
            return
        if (request := self._pieces.first_request(destination, line.message)) is not None:
            self._sent[line.correlation_id] = (request, destination)
            self._connections.wait(destination, line.correlation_id)
            return
        draft = self._connections.poll(self._now, line, fields["type"], destination)
        if self._now.endpoint is None and fields["type"] in _WITH_ENDPOINT:
            # The trace's endpoint of a replica without a listener is made up.
            fields.pop("endpoint")
        message = whole(fields, self.replica, destination, self._wire_id(line.correlation_id))
        draft.effects.append({"kind": "Send", "message": message})
        self._sent[line.correlation_id] = (message, destination)
        self._connections.wait(destination, line.correlation_id)

    def _wire_id(self, correlation_id: int) -> int:
        """Return the correlation id that the receiver sees; one of its own for a request that the wire never had."""
        if self._wire_ids is None:
            return correlation_id
        return self._wire_ids.get(correlation_id, _UNSENT + correlation_id)

    def _request(self, line: raw.RequestLine) -> None:
        self._now.settle(self._now.last_state)
        fields = message_fields(line.message)
        if fields is None:
            self._now.open = Draft(line.message.name, line.time_us, is_hidden=True)
            return
        kind = fields["type"]
        if kind in _CLIENTS:
            number = self._now.next_client()
            self._now.open = self._now.event(_CLIENTS[kind], line, inputs=client_input(number, fields))
            self._requests[line.number] = (fields, number, line.version)
            return
        source = source_of(fields)
        if source is None or source < 0 or source == self.replica:
            self.unnamed_requests += source != self.replica
            self._now.open = Draft(kind, line.time_us, is_hidden=True)
            return
        fields = filled_request(fields) if self._has_opaque else fields
        message = whole(fields, source, self.replica, line.correlation_id)
        if kind == "FetchSnapshotRequest":
            message = self._pieces.first_received(message, line.message)
        self._now.open = self._now.event(f"Handle{kind}", line, message)
        self._requests[line.number] = (message, None, line.version)

    def _answer(self, line: raw.AnswerLine) -> None:
        if line.number not in self._requests or line.message is None:
            return
        request, client, version = self._requests.pop(line.number)
        fields = message_fields(line.message)
        if fields is None:
            return
        if is_of_shutdown(fields) or is_continued(fields, line.message):
            self._now.withdraw()
            return
        fields = answer_fields(fields, line.message, request, version, self._now.log)
        if client is not None:
            self._now.add(line, {"kind": "Answer", "reply": {"request": client, "error": fields["error"]}})
            return
        served = {"FetchResponse": fields, "FetchSnapshotResponse": request}.get(fields["type"], {})
        if fields["error"] == "NONE" and (end := served.get("snapshot_end_offset", -1)) > self._now.base_offset:
            self._now.replace_log(line, end)
        message = whole(fields, self.replica, request["source"], request["correlation_id"])
        effect = {"kind": "Send", "message": message}
        if self._now.open is None and fields["error"] == "NOT_LEADER_OR_FOLLOWER":
            self._now.refused.append(effect)
        else:
            self._now.add(line, effect)

    def _response(self, line: raw.ResponseLine) -> None:
        self._now.settle(self._now.last_state)
        sent = self._sent.pop(line.correlation_id, None)
        fields = message_fields(line.message)
        self._now.open = Draft(line.message.name, line.time_us, is_hidden=True)
        if sent is None or fields is None:
            return
        request, source = sent
        if line.message.name == "FetchResponse":
            self._now.fetched = batches_in(line.message)
        if is_of_channel(fields) or is_of_shutdown(fields):
            # The peer has not handled the request.  The connection backs off; to the model it waits until the next one.
            return
        content: bytes | None = b""
        if fields["type"] == "FetchSnapshotResponse" and fields["error"] == "NONE":
            content = self._pieces.add(source, request, line.message)
            if content is None and fields["epoch"] == request["epoch"]:
                return
        self._connections.receive(source, line.correlation_id, fields)
        if fields["type"] == "VoteResponse":
            fields["pre_vote"] = request.get("pre_vote", False)
        if self._has_opaque:
            epoch = 0 if self._now.last_state is None else self._now.last_state["epoch"]
            fields = filled_response(fields, content or b"", request, epoch, self._static)
        message = whole(fields, source, self.replica, request["correlation_id"])
        self._now.open = self._now.event(f"Handle{fields['type']}", line, message)


_READERS: Mapping[type, Callable[[ReplicaEvents, Any], None]] = {
    raw.StartedLine: ReplicaEvents._handled,
    raw.HandledLine: ReplicaEvents._handled,
    raw.PolledLine: ReplicaEvents._polled,
    raw.TransitionLine: ReplicaEvents._transition,
    raw.CalledLine: ReplicaEvents._called,
    raw.ExpireLine: ReplicaEvents._expire,
    raw.SendLine: ReplicaEvents._send,
    raw.RequestLine: ReplicaEvents._request,
    raw.AnswerLine: ReplicaEvents._answer,
    raw.ResponseLine: ReplicaEvents._response,
}

_OF_THE_DISK: Mapping[type, Callable[[Progress, Any], None]] = {
    raw.PersistLine: disk_lines.persist,
    raw.AppendLine: disk_lines.append,
    raw.FlushLine: disk_lines.flush,
    raw.TruncateLine: disk_lines.truncate,
}
