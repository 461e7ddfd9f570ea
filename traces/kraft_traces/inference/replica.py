"""One replica on the model: the whole model's state, in which only this replica takes steps.

An event at a replica reads its own state and the message that arrives, nothing else.
So one replica can be searched without the others, and a quorum costs the sum of its replicas.
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
from kraft_traces.inference.sightings import Sighting
from kraft_traces.lines import EventLine
from kraft_traces.messages import complete_message


class Step(NamedTuple):
    """What an event at the replica comes to."""

    state: JavaObject
    refusal: str
    sends: tuple[Function, ...]
    """Messages, in order."""
    writes: int
    """How many durable effects there are, and answers to clients."""


class ReplicaModel:
    """Asks the model for the steps of one replica."""

    def __init__(
        self, model: TraceModel, configuration: Configuration, replica_id: int, start: Checkpoint | None = None
    ) -> None:
        """`start` is where the run begins, if not on fresh disks."""
        self.id = replica_id
        self.cluster_id = configuration.cluster_id
        self.endpoint = configuration.replicas[replica_id].endpoint
        self._model = model
        self._specification = model.specification
        self._encode, self._decode = codec().encode, codec().decode
        self._id = self._encode(replica_id)
        self.start = model.start(configuration) if start is None else model.state_at(configuration, start)
        """The replica where the run begins."""
        self._history = self._specification.lookup(self.start, "history")
        self.steps = 0
        """How often the model was asked."""

    def field(self, state: JavaObject, name: str) -> Any:
        """A field of the replica's state, as Python has it."""
        return self._decode(self._raw(state, name))

    def length(self, state: JavaObject) -> int:
        """The offset after the last record of its log."""
        base: Any = self._decode(self._raw(state, "base"))
        return int(base["end_offset"]) + int(self._raw(state, "log").size())

    def record(self, state: JavaObject) -> dict[str, Any]:
        """All fields of the replica's state."""
        record: Any = self._decode(self._specification.lookup(state, "replicas").select(self._id))
        return dict(record)

    def with_record(self, state: JavaObject, record: Mapping[str, Any]) -> JavaObject:
        """The state with another one of the replica."""
        replicas: Any = self._decode(self._specification.lookup(state, "replicas"))
        rows = enumerate(replicas, 1) if isinstance(replicas, tuple) else replicas.items()
        made = Function({**dict(rows), self.id: Function(record)})
        return self._specification.bind(state, "replicas", self._encode(made))

    def _raw(self, state: JavaObject, name: str) -> JavaObject:
        record = self._specification.lookup(state, "replicas").select(self._id)
        return record.select(self._encode(name))

    def fingerprint(self, state: JavaObject) -> int:
        """Equal for equal states of the replica, with the Fetches that it owes an answer."""
        return self._model.fingerprint(state)

    def step(
        self, state: JavaObject, line: EventLine, correlation_id: int, delivered: JavaObject | None = None
    ) -> Iterator[Step]:
        """Where an event leads.

        Args:
            state: before it.
            line: the event.
            correlation_id: of the requests that it sends.
            delivered: what `on_its_way` gives of the message that arrives in it.
        """
        self.steps += 1
        event = {**complete_event(line, self.cluster_id), **chosen_answers(line), "sequence": correlation_id}
        network = self._specification.lookup(state, "network")
        if delivered is not None:
            network = self._with(network, delivered)
        before = self._specification.bind(state, "network", network)
        self._model.bound(before, event)
        try:
            found = self._model.successors(line.event, before)
        except jpype.JException:
            return
        for after in found:
            observed: Any = self._specification.decoded(after, "observed")
            reason, effects = observed
            sends = tuple([one for one in effects if one["type"] in MESSAGE_TYPES])
            yield Step(self._alone(after), reason, sends, len(effects) - len(sends))

    def on_its_way(self, sighting: Sighting, correlation_id: int, request: Sighting | None = None) -> JavaObject:
        """A message as it is in the model's network before it arrives at the replica; `request` is what it answers."""
        beside: dict[str, object] = {"correlation_id": correlation_id}
        if request is not None and getattr(sighting.message, "pre_vote", None) is UNSET:
            # No bytes of Kafka carry it.
            beside["pre_vote"] = request.message.pre_vote
        message = message_to_model(complete_message(sighting.message, **beside))
        return self._encode({"sent": sighting.number, "copies": 1, "message": message})

    def _with(self, network: JavaObject, delivered: JavaObject) -> JavaObject:
        rows = [*_members(network), delivered]
        kind = jpype.JClass("tlc2.value.impl.SetEnumValue")
        return kind(jpype.JArray(jpype.JClass("tlc2.value.impl.Value"))(rows), False).normalize()

    def _alone(self, state: JavaObject) -> JavaObject:
        """The state without what only the checker needs; of the network what the replica has yet to answer stays."""
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
