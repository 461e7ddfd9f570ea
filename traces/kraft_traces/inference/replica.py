"""Model of one replica: the whole model's state, in which only this replica takes steps.

An event at a replica reads its own state and the delivered message only.
So each replica is searched without the others, and a quorum costs the sum of its replicas.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import jpype
from msgspec import UNSET

from kraft_reference.configuration import Configuration
from kraft_simulation.checkpoint import Checkpoint
from kraft_spec.mapping import MESSAGE_TYPES, message_to_model
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.values import Function, codec
from kraft_traces.check.binding import complete_event
from kraft_traces.check.fetch_answers import chosen_answers
from kraft_traces.check.model import TraceModel
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.lines import EventLine
from kraft_traces.messages import complete_message


class Step(NamedTuple):
    """Outcome of an event at the replica."""

    state: JavaObject
    refusal: str
    sends: tuple[Function, ...]
    """Messages, in order."""
    writes: int
    """Number of durable effects and replies to clients."""


class ReplicaModel:
    """Source of the model's steps for one replica."""

    def __init__(
        self, model: TraceModel, configuration: Configuration, replica_id: int, start: Checkpoint | None = None
    ) -> None:
        """Begin at the checkpoint `start`, or on empty disks."""
        self.id = replica_id
        self.cluster_id = configuration.cluster_id
        self.endpoint = configuration.replicas[replica_id].endpoint
        self._model = model
        self._specification = model.specification
        self._encode, self._decode = codec().encode, codec().decode
        self._id = self._encode(replica_id)
        self.start = model.start(configuration) if start is None else model.state_at(configuration, start)
        """State at the beginning of the run."""
        self._history = self._specification.lookup(self.start, "history")
        self.steps = 0
        """Number of evaluations of the model."""

    def field(self, state: JavaObject, name: str) -> Any:
        """Return a field of the replica's state as a Python value."""
        return self._decode(self._raw(state, name))

    def length(self, state: JavaObject) -> int:
        """Return the end offset of its log."""
        base: Any = self._decode(self._raw(state, "base"))
        return int(base["end_offset"]) + int(self._raw(state, "log").size())

    def record(self, state: JavaObject) -> dict[str, Any]:
        """Return all fields of the replica's state."""
        record: Any = self._decode(self._specification.lookup(state, "replicas").select(self._id))
        return dict(record)

    def with_record(self, state: JavaObject, record: Mapping[str, Any]) -> JavaObject:
        """Return the state with another state of the replica."""
        replicas: Any = self._decode(self._specification.lookup(state, "replicas"))
        rows = enumerate(replicas, 1) if isinstance(replicas, tuple) else replicas.items()
        changed = Function({**dict(rows), self.id: Function(record)})
        return self._specification.bind(state, "replicas", self._encode(changed))

    def _raw(self, state: JavaObject, name: str) -> JavaObject:
        record = self._specification.lookup(state, "replicas").select(self._id)
        return record.select(self._encode(name))

    def fingerprint(self, state: JavaObject) -> int:
        """Return a fingerprint of the replica's state and its Fetches that still need a response."""
        return self._model.fingerprint(state)

    def step(
        self, state: JavaObject, line: EventLine, correlation_id: int, delivered: JavaObject | None = None
    ) -> Iterator[Step]:
        """Yield the outcomes of an event.

        Args:
            state: state before it.
            line: line of the event.
            correlation_id: correlation id of the requests that it sends.
            delivered: result of `in_network` for the message that it delivers.
        """
        self.steps += 1
        event = {**complete_event(line, self.cluster_id), **chosen_answers(line), "sequence": correlation_id}
        network = self._specification.lookup(state, "network")
        if delivered is not None:
            network = self._with(network, delivered)
        before = self._specification.bind(state, "network", network)
        self._model.bound(before, event)
        try:
            successors = self._model.successors(line.event, before)
        except jpype.JException:
            return
        for after in successors:
            observed: Any = self._specification.decoded(after, "observed")
            reason, effects = observed
            sends = tuple([effect for effect in effects if effect["type"] in MESSAGE_TYPES])
            yield Step(self._alone(after), reason, sends, len(effects) - len(sends))

    def in_network(
        self, captured: CapturedMessage, correlation_id: int, request: CapturedMessage | None = None
    ) -> JavaObject:
        """Return a message as the model's network has it before its delivery; `request` is that of a response."""
        beside: dict[str, object] = {"correlation_id": correlation_id}
        if request is not None and getattr(captured.message, "pre_vote", None) is UNSET:
            # Kafka's response does not have the field.
            beside["pre_vote"] = request.message.pre_vote
        message = message_to_model(complete_message(captured.message, **beside))
        return self._encode({"sent": captured.number, "copies": 1, "message": message})

    def _with(self, network: JavaObject, delivered: JavaObject) -> JavaObject:
        rows = [*_members(network), delivered]
        kind = jpype.JClass("tlc2.value.impl.SetEnumValue")
        return kind(jpype.JArray(jpype.JClass("tlc2.value.impl.Value"))(rows), False).normalize()

    def _alone(self, state: JavaObject) -> JavaObject:
        """Return the state without the parts that only the checker needs; in the network, open Fetches stay."""
        network = self._specification.lookup(state, "network")
        rows = _members(network)
        if rows:
            copies, zero = self._encode("copies"), self._encode(0)
            kept = [row for row in rows if row.select(copies).equals(zero)]
            kind = jpype.JClass("tlc2.value.impl.SetEnumValue")
            network = kind(jpype.JArray(jpype.JClass("tlc2.value.impl.Value"))(kept), False).normalize()
        state = self._specification.bind(state, "network", network)
        return self._specification.bind(state, "history", self._history)


def _members(network: JavaObject) -> list[JavaObject]:
    network = network.toSetEnum()
    network.normalize()
    return [network.elems.elementAt(index) for index in range(int(network.elems.size()))]
