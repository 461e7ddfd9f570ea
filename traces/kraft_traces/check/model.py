"""Interface to the Trace module of the model for one line at a time.

This is the hot path: a line costs five evaluations in TLC (bind the event, successors, observation, properties of the
state after, properties of the step).
"""

from collections.abc import Hashable, Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import jpype

from kraft_mutants.models import mutated_model
from kraft_reference.configuration import Configuration
from kraft_reference.messages import Message
from kraft_simulation.checkpoint import Checkpoint
from kraft_spec.compiled import building
from kraft_spec.compiled.building import TRACE
from kraft_spec.mapping import MESSAGE_TYPES, configuration_to_model, message_to_model, profile_to_model
from kraft_spec.mapping_checkpoint import VARIABLES, checkpoint_to_model, variables_by_id, with_epochs_left
from kraft_spec.tlc import jvm
from kraft_spec.tlc.explanation import FalseConjunct, false_conjunct
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.records import like
from kraft_spec.tlc.specification import Specification
from kraft_spec.tlc.values import Function, TlaValue, codec
from kraft_traces.alternatives.decisions import OpenAnswer, open_answers, other_configurations
from kraft_traces.check.compared import PROPERTIES
from kraft_traces.vocabulary import EVENTS

LINE_PROPERTIES: Mapping[str, str] = {name: f"Line{name}" for name in PROPERTIES if name != "ConfigAgreement"}
"""Properties judged on every line, with the operator of Trace.tla."""

COMMIT_THE_SAME = "ObservedCommitTheSame"
"""Operator for the part of StateMachineSafety that compares replicas with each other."""

WHOLE_LINES, PART_LINES = ("LineInvariants", "LineSteps"), ("PartLineInvariants", "PartLineSteps")
"""Operators for all properties of a line, and for those that do not compare with all committed records."""

TRACE_PROPERTIES = frozenset(PROPERTIES)
"""All properties judged on a trace, on every line or at intervals."""

_IDLE_MAX = 16


class InFlightMessage(NamedTuple):
    """In-flight message of the model."""

    sent: int
    """Sequence of the line that sent it."""
    receiver: int
    cut: bool
    """True if its link is cut."""
    message: Function
    """The message as the model has it."""


class ReplicaSummary(NamedTuple):
    """Some fields of a replica of the model."""

    role: str
    epoch: int
    leader_id: int | None
    log_end_offset: int
    high_watermark: int


class _Tlc:
    """Specification as parsed by TLC, with the objects that evaluations need."""

    def __init__(self, directory: Path) -> None:
        self.specification = specification = Specification(directory, TRACE.module)
        tool = specification.tool
        self.get_next_states, self.eval, self.is_valid = tool.getNextStates, tool.eval, tool.isValid
        encode = codec().encode
        self.no_event, self.nothing_observed = encode({"name": "none"}), encode(())
        self.no_context = jpype.JClass("tlc2.util.Context").Empty
        self.no_state = jpype.JClass("tlc2.tool.TLCState").Empty
        self.true = jpype.JClass("tlc2.value.impl.BoolValue").ValTrue
        root = tool.getSpecProcessor().getRootModule()
        self.bodies = {
            operator: root.getOpDef(operator).getBody()
            for operator in (
                *("Observation", "NetworkObservation", "OnTheirWay", COMMIT_THE_SAME),
                *LINE_PROPERTIES.values(),
            )
        }
        predicate = jpype.JClass("tlc2.tool.Action")
        self.predicates = {
            operator: predicate(root.getOpDef(operator).getBody(), self.no_context)
            for operators in (WHOLE_LINES, PART_LINES)
            for operator in operators
        }
        actions = {name.removeprefix("Trace"): action for name, action in specification.actions.items()}
        self.named = actions | dict.fromkeys([f"Handle{name}" for name in MESSAGE_TYPES], actions["Handle"])
        self.actions = {name: action.instances[0] for name, action in self.named.items()}
        (self.initial,) = specification.initial_states()


class TraceModel:
    """Specification of traces, or an edited copy of it, parsed at the first evaluation in TLC."""

    def __init__(self, directory: Path, switched_off: frozenset[str] = frozenset()) -> None:
        """Use the folder's `Trace.tla`, which omits the rules `switched_off`."""
        jvm.start()
        self._directory = directory
        self.switched_off = switched_off
        self._codec = codec()
        self._encode = self._codec.encode
        name = jpype.JClass("util.UniqueString").uniqueStringOf
        self._event_name, self._config_name, self._observed_name = name("event"), name("config"), name("observed")
        self._lines: JavaObject | None = None
        self.lines_alone = 0
        """Number of lines that TLC checked because there is no compiled model, rounded up to hundreds."""
        self._idle: dict[Hashable, JavaObject] = {}
        self._place = bytearray()
        self._buffer: JavaObject | None = None

    @cached_property
    def _tlc(self) -> _Tlc:
        return _Tlc(self._directory)

    @property
    def specification(self) -> Specification:
        """The specification as parsed by TLC."""
        return self._tlc.specification

    @cached_property
    def stamp(self) -> str:
        """Name of the compiled model of this specification."""
        return building.stamp(self._directory, TRACE)

    def compiled_lines(self, *, make: bool) -> JavaObject | None:
        """Return the compiled checker class of this model, or None if it is missing and cannot be compiled.

        With `make`, a missing class is compiled if there is a Java compiler; a damaged one is always compiled again.
        """
        if self._lines is None:
            jar = building.found(self.stamp)
            if jar is None and (make or building.was_made(self.stamp)) and building.is_available():
                jar = building.compiled(self.specification, TRACE, self.stamp)
            self._lines = None if jar is None else building.load(jar, "Lines")
        return self._lines

    def idle(self, kind: Hashable) -> JavaObject | None:
        """Take an idle compiled checker of this kind, if there is one."""
        return self._idle.pop(kind, None)

    def keep(self, kind: Hashable, lines: JavaObject) -> None:
        """Keep a compiled checker whose trace is over, until there are `_IDLE_MAX` newer ones."""
        self._idle[kind] = lines
        if len(self._idle) > _IDLE_MAX:
            del self._idle[next(iter(self._idle))]

    def share_bytes(self, raw: bytes) -> JavaObject:
        """Return a Java buffer that begins with these bytes, until the next call.

        It shares Python's memory, because JPype copies bytes to a Java array one by one.
        """
        if len(raw) > len(self._place):
            self._place = bytearray(2 * len(raw))
            self._buffer = jpype.nio.convertToDirectBuffer(self._place)
        self._place[: len(raw)] = raw
        return self._buffer

    def opening(
        self,
        configuration: Configuration,
        checkpoint: Checkpoint | None = None,
        *,
        is_part: bool = False,
        opaque: frozenset[int] = frozenset(),
    ) -> dict[str, JavaObject]:
        """Return the variables at the beginning of a run with this configuration, or at a checkpoint.

        `is_part` if the checkpoint is taken as it is, without the history before it; `opaque` are the replicas that are
        not observed.

        Raises:
            ValueConversionError: the checkpoint has a number that the model cannot represent.
        """
        software = {} if checkpoint is None else checkpoint.software
        values: dict[str, object] = {"config": _config(configuration.with_software(software), opaque)}
        values |= {"event": {"name": "none"}, "observed": ("", ())}
        if checkpoint is not None:
            values |= _values_of(checkpoint, is_part=is_part)
        return {name: self._encode(value) for name, value in values.items()}

    def open_configurations(
        self, configuration: Configuration
    ) -> dict[str, list[tuple[JavaObject, frozenset[OpenAnswer]]]]:
        """Return the configuration with each other setting of the open decisions of an event, by event."""
        # Converting a configuration is slow with many replicas, and the others differ in their decisions only.
        columns = {name: self._encode(value) for name, value in configuration_to_model(configuration).items()}
        return {
            event: [
                (
                    self._encode({**columns, "profile": profile_to_model(other.profile)}),
                    open_answers(configuration.profile, other.profile),
                )
                for other in alternatives
            ]
            for event in EVENTS
            if (alternatives := tuple(other_configurations(configuration, event, None)))
        }

    @property
    def any_state(self) -> JavaObject:
        """An arbitrary state of this specification."""
        return self._tlc.initial

    def start(self, configuration: Configuration, opaque: frozenset[int] = frozenset()) -> JavaObject:
        """Return the state in which a run with this configuration begins; `opaque` is as for `opening`."""
        unbound = self._tlc.initial.copy().bind(self._config_name, self._encode(_config(configuration, opaque)))
        return self._tlc.get_next_states(self._tlc.actions["Start"], unbound).elementAt(0)

    def state_at(
        self,
        configuration: Configuration,
        checkpoint: Checkpoint,
        *,
        is_part: bool = False,
        opaque: frozenset[int] = frozenset(),
    ) -> JavaObject:
        """Return the state of a checkpoint of a run with this configuration; options are as for `opening`.

        Raises:
            ValueConversionError: the checkpoint has a number that the model cannot represent.
        """
        specification, state = self.specification, self._tlc.initial
        for name, value in self.opening(configuration, checkpoint, is_part=is_part, opaque=opaque).items():
            state = specification.bind(state, name, value)
        return state

    def with_replicas(
        self, state: JavaObject, configuration: Configuration, checkpoint: Checkpoint, opaque: frozenset[int]
    ) -> JavaObject:
        """Return the state with the replicas and the history of a checkpoint; `opaque` is as for `opening`."""
        values = self.opening(configuration, checkpoint, is_part=True, opaque=opaque)
        for name in ("config", "replicas", "history"):
            state = self.specification.bind(state, name, values[name])
        return state

    def with_waiting_fetches(self, state: JavaObject, sent: int, fetches: Iterable[Message]) -> JavaObject:
        """Return the state with Fetches that have arrived and are not answered, with the number of this line."""
        rows = [_hashable({"sent": sent, "copies": 0, "message": message_to_model(fetch)}) for fetch in fetches]
        network = self.specification.lookup(state, "network")
        both = jpype.JClass("tlc2.value.impl.SetCupValue")(network, self._encode(frozenset(rows)))
        return self.specification.bind(state, "network", both.toSetEnum())

    def with_message(self, state: JavaObject, sent: int, message: Message) -> JavaObject:
        """Return the state with one more message in flight, which an unrecorded step of its source sent.

        Its number is that of the line of this sequence.
        """
        event = {"name": "OpaqueSend", "sequence": sent, "message": _hashable(message_to_model(message))}
        (after,) = self.successors("OpaqueSend", self.bound(state.copy(), event))
        return after

    def variables(self, state: JavaObject) -> dict[str, TlaValue]:
        """Return the variables of a checkpoint, in the form of `checkpoint_to_model`."""
        return variables_by_id({name: self.variable(name, state) for name in ("config", *VARIABLES)})

    def replica_summaries(self, state: JavaObject) -> dict[int, ReplicaSummary]:
        """Return the summary of each replica, by id; the records of logs, which take seconds, are not decoded."""
        summaries: dict[int, ReplicaSummary] = {}
        for own_id, record in self.replica_records(state).items():
            fields = dict(zip(map(str, record.names), record.values, strict=True))
            role, epoch, leader_id, high_watermark, base = (
                self._codec.decode(fields[name]) for name in ("role", "epoch", "leader_id", "high_watermark", "base")
            )
            end_offset = base["end_offset"] + int(fields["log"].size())  # type: ignore[index,call-overload,operator]
            leader = None if leader_id == -1 else leader_id
            summary = ReplicaSummary(role, epoch, leader, end_offset, high_watermark)  # type: ignore[arg-type]
            summaries[own_id] = summary
        return dict(sorted(summaries.items()))

    def bound(self, state: JavaObject, event: Mapping[str, object]) -> JavaObject:
        """Set the variable `event` of a state in place, and return the state."""
        return state.bind(self._event_name, self._encode(event))

    def successors(self, action: str, state: JavaObject) -> list[JavaObject]:
        """Return the successors of a state with a bound event under the action of an event."""
        states = self._tlc.get_next_states(self._tlc.actions[action], state)
        return [states.elementAt(index) for index in range(states.size())]

    def observation(self, operator: str, state: JavaObject) -> str:
        """Return the text of Observation or NetworkObservation in a state."""
        value = self._evaluated(operator, state)
        value.deepNormalize()
        return str(value.toString())

    def observed(self, operator: str, state: JavaObject) -> TlaValue:
        """Return Observation or NetworkObservation in a state as a value."""
        return self._codec.decode(self._evaluated(operator, state))

    def _evaluated(self, operator: str, state: JavaObject) -> JavaObject:
        return self._tlc.eval(self._tlc.bodies[operator], self._tlc.no_context, state, self._tlc.no_state, 0)

    def properties_hold(self, before: JavaObject, after: JavaObject, operators: tuple[str, str] = WHOLE_LINES) -> bool:
        """True if the local properties of these operators hold on the step."""
        invariants, steps = map(self._tlc.predicates.__getitem__, operators)
        return bool(self._tlc.is_valid(invariants, after) and self._tlc.is_valid(steps, before, after))

    def violated_properties(self, before: JavaObject, after: JavaObject) -> tuple[str, ...]:
        """Return the names of the local properties that the step violates.

        The others presuppose TypeOk, the first one: if it is violated, it is the only one returned.
        """
        violated: list[str] = []
        for name, operator in LINE_PROPERTIES.items():
            if not self._holds(operator, before, after):
                violated.append(name)
                if name == "TypeOk":
                    break
        return tuple(violated)

    def commit_the_same(self, before: JavaObject, after: JavaObject) -> bool:
        """True if the records that the line's replica commits are those that other observed replicas commit."""
        return self._holds(COMMIT_THE_SAME, before, after)

    def _holds(self, operator: str, before: JavaObject, after: JavaObject) -> bool:
        value = self._tlc.eval(self._tlc.bodies[operator], self._tlc.no_context, before, after, 0)
        return bool(value.equals(self._tlc.true))

    def violated_invariants(self, state: JavaObject) -> tuple[str, ...]:
        """Return the names of the full invariants that the state violates."""
        specification = self.specification
        return tuple(name for name in specification.invariants if not specification.is_valid(name, state))

    def in_flight(self, state: JavaObject, sent: int | None = None) -> tuple[InFlightMessage, ...]:
        """Return the in-flight messages, oldest first: all, or those that the line `sent` has sent.

        In a long run many messages are never received, so only the selected ones are decoded.
        """
        rows = self._evaluated("OnTheirWay", state).toSetEnum()
        rows.normalize()
        elements = [rows.elems.elementAt(index) for index in range(int(rows.elems.size()))]
        chosen = [row for row in elements if sent is None or int(row.elems[0].val) == sent]
        messages = [InFlightMessage(*self._codec.decode(row)) for row in chosen]  # type: ignore[misc]
        return tuple(sorted(messages, key=lambda message: (message.sent, message.receiver)))

    def under(self, state: JavaObject, configuration: Configuration) -> JavaObject:
        """Return a copy of a state with the decisions of another configuration; its replicas keep their software."""
        config = self.variable("config", state)
        assert isinstance(config, Function), "config is a record"
        decided = {**config, "profile": profile_to_model(configuration.profile)}
        return state.copy().bind(self._config_name, self._encode(decided))

    def variable(self, name: str, state: JavaObject) -> TlaValue:
        """Return the value of a variable."""
        return self.specification.decoded(state, name)

    def messages(self, state: JavaObject) -> int:
        """Return the number of messages of the network."""
        return int(self.specification.lookup(state, "network").size())

    def replica_records(self, state: JavaObject) -> dict[int, JavaObject]:
        """Return the state of each replica by id, as TLC's value: to decode all logs may take seconds."""
        replicas = self.specification.lookup(state, "replicas").toFcnRcd()
        return {int(key.val): record for key, record in zip(replicas.getDomainAsValues(), replicas.values, strict=True)}

    def decode(self, value: JavaObject) -> TlaValue:
        """Return a value of TLC as a Python value."""
        return self._codec.decode(value)

    def fingerprint(self, state: JavaObject) -> int:
        """Return a fingerprint of a state that ignores the line that led to it."""
        nameless = (
            state.copy()
            .bind(self._event_name, self._tlc.no_event)
            .bind(self._observed_name, self._tlc.nothing_observed)
        )
        return self.specification.fingerprint(nameless)

    def false_conjunct(self, action: str, state: JavaObject) -> FalseConjunct | None:
        """Return the first conjunct of an action that is false in a state with a bound event."""
        return false_conjunct(self.specification, self._tlc.named[action], state)


def _config(configuration: Configuration, opaque: frozenset[int]) -> dict[str, object]:
    return {**configuration_to_model(configuration), "opaque": opaque}


def _values_of(checkpoint: Checkpoint, *, is_part: bool) -> dict[str, object]:
    values: dict[str, Any] = dict(checkpoint_to_model(checkpoint))
    if is_part:
        values = with_epochs_left(values)
    del values["software"]
    return values | {"network": frozenset([_hashable(row) for row in values["network"].values()])}


def _hashable(value: object) -> TlaValue:
    """Convert mappings to the model's functions, so that the value can be a member of a set."""
    if isinstance(value, Mapping):
        return Function({key: _hashable(member) for key, member in value.items()})
    return like(value, [_hashable(member) for member in value]) if isinstance(value, tuple) else value  # type: ignore[return-value]


def trace_model(switched_off: frozenset[str] = frozenset()) -> TraceModel:
    """Return the model without these rules, which TLC parses at the first evaluation.

    Raises:
        MutantError, EditError: these rules cannot be left out.
    """
    return _mutated_trace_model(switched_off)


@cache
def _mutated_trace_model(switched_off: frozenset[str]) -> TraceModel:
    with mutated_model(switched_off) as directory:
        model = TraceModel(directory, switched_off)
        if switched_off:
            # The edited copy is deleted when the block ends.
            assert model.stamp
            assert model.specification
        return model
