"""Events under construction: the lines of the agent that belong to one event come one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from kraft_kafka.agent.raw import CheckpointLine, StartLine
from kraft_kafka.wire.decoding import Document
from kraft_traces.lines import EventLine

State = Mapping[str, Any] | None


class Begin(NamedTuple):
    """Line from which on a replica is observed."""

    line: StartLine | CheckpointLine
    """A start gives the state of the stopped replica."""
    awaiting: Mapping[int, int]
    """Correlation ids of the requests that await a response, by their receiver."""


class UnjudgedError(Exception):
    """The agent's lines have something that has no event of the model yet; the message says what."""


@dataclass(slots=True, eq=False)
class Draft:
    """An event of a replica."""

    event: str
    time_us: int
    message: Document | None = None
    input: Document | None = None
    effects: list[Document] = field(default_factory=list)
    state: State = None
    gap: str | None = None
    """Reason why events before this one may be missing."""
    is_hidden: bool = False
    """True for what the model does not have, such as a message of a replica to itself."""
    is_data: bool = False
    """True for a client's record: the sync of its batch is also its own."""
    begin: Begin | None = None
    """Line from which on the replica is observed, if it is not before that."""
    resume: Begin | None = None
    """Line that shows the whole state before it, from which a checker that has lost the replica's state can go on."""
    leads: bool = False
    """True for a Poll of a leader, unless it has just resigned; its clock chooses the receivers of its announcement."""
    is_kill: bool = False
    """True for the Crash of a process that was not closed, so that its last lines may be missing."""
    place: str = ""
    """File and number of the line with which it begins."""
    has_hidden_log: bool = False
    """True if the trace ends before the client has appended the event's records."""
    has_hidden_effects: bool = False
    """True if the agent's lines have the state after the event, but not its effects."""

    @property
    def is_synced(self) -> bool:
        """True if a sync of the log is among its effects."""
        return any(effect["kind"] == "FlushLog" for effect in self.effects)

    def answers(self, effect: Document) -> bool:
        """True if an effect sends the response to the event's own message."""
        request, response = self.message or {}, effect.get("message", {})
        ends = request.get("source"), request.get("correlation_id")
        return request != {} and ends == (response.get("destination"), response.get("correlation_id"))

    @property
    def appends(self) -> bool:
        """True if an append to the log is among its effects."""
        return any(effect["kind"] == "AppendRecords" for effect in self.effects)

    @property
    def sends(self) -> bool:
        """True if a message is among its effects."""
        return any(effect["kind"] == "Send" for effect in self.effects)

    def line(self, sequence: int, replica: int, start_us: int) -> EventLine:
        """Return the line of a trace."""
        fields: Document = {
            "sequence": sequence,
            "time_ms": max(0, self.time_us - start_us) // 1000,
            "replica": replica,
            "event": self.event,
        }
        if self.message is not None:
            fields["message"] = self.message
        if self.input is not None:
            fields["input"] = self.input
        elif self.leads and not self._receivers("EndQuorumEpochRequest"):
            fields["input"] = {"announce_to": self._receivers("BeginQuorumEpochRequest")}
        if self.event != "Crash" and not (self.has_hidden_log or self.has_hidden_effects):
            fields["effects"] = [self._with_leader(effect) for effect in self._ordered_effects()]
        if self.state is not None:
            fields["state"] = self._shown_state(without_log(self.state) if self.has_hidden_log else self.state)
        return msgspec.convert({"kind": "event", **fields}, EventLine)

    def _receivers(self, kind: str) -> list[int]:
        """Return the receivers of its messages of a type, in ascending order."""
        messages = [effect["message"] for effect in self.effects if effect["kind"] == "Send"]
        return sorted(message["destination"] for message in messages if message["type"] == kind)

    def _ordered_effects(self) -> list[Document]:
        """Return the effects; requests of one Poll by ascending receiver, as the model sends them."""
        if self.event != "Poll":
            return self.effects
        return sorted(self.effects, key=lambda effect: effect.get("message", {}).get("destination", -1))

    @staticmethod
    def _shown_state(state: Mapping[str, Any]) -> Document:
        """Return the state with what Kafka's does not say: it has no reassignment of the quorum (KIP-642)."""
        return {**state, "voters": {**state["voters"], "target": None}} if "voters" in state else {**state}

    def _with_leader(self, effect: Document) -> Document:
        """Return the effect; a reply gets the leader of the state, because Kafka's reply has none."""
        if effect["kind"] != "Answer":
            return effect
        state = self.state or {}
        leader = {"epoch": state.get("epoch", 0)} | {name: state.get(name) for name in ("leader_id", "leader_endpoint")}
        return {"kind": "Answer", "reply": leader | effect["reply"]}


_OF_THE_LOG = ("log_end_offset", "last_epoch", "high_watermark", "voters", "kraft_version")
"""Fields of the state that an append changes."""


def without_log(state: Mapping[str, Any]) -> Document:
    """Return the state without the fields that an append changes, which are then not observed."""
    return {name: value for name, value in state.items() if name not in _OF_THE_LOG}


def whole(fields: Document, source: int | None, destination: int, correlation_id: int) -> Document:
    """Return a message with its ends and its correlation id on the wire."""
    return {**fields, "source": source, "destination": destination, "correlation_id": correlation_id}
