"""The Trace module of the model, asked about one line at a time.

This is the hot path: a line costs five questions to TLC (bind the event, successors, observation, the properties of the
state after, those of the step).
"""

from collections.abc import Hashable, Mapping
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
from kraft_traces.check.compared import PROPERTIES
from kraft_traces.latitude.decisions import OpenAnswer, open_answers, other_configurations
from kraft_traces.vocabulary import EVENTS

LINE_PROPERTIES: Mapping[str, str] = {name: f"Line{name}" for name in PROPERTIES if name != "ConfigAgreement"}
"""The properties judged on every line: the name of the property, the operator of Trace.tla."""

TRACE_PROPERTIES = frozenset(PROPERTIES)
"""Everything that is judged on a trace, on each line or now and then."""

_IDLE_MAX = 16


class OnItsWay(NamedTuple):
    """A message on its way."""

    sent: int
    """Sequence of the line that sent it."""
    receiver: int
    cut: bool
    """Whether its link is cut."""
    message: Function
    """As it is in the model."""


class _Tlc:
    """What TLC makes of the specification: everything that a question to it needs."""

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
            for operator in ("Observation", "NetworkObservation", "OnTheirWay", *LINE_PROPERTIES.values())
        }
        predicate = jpype.JClass("tlc2.tool.Action")
        self.line_invariants, self.line_steps = (
            predicate(root.getOpDef(operator).getBody(), self.no_context)
            for operator in ("LineInvariants", "LineSteps")
        )
        actions = {name.removeprefix("Trace"): action for name, action in specification.actions.items()}
        self.named = actions | dict.fromkeys([f"Handle{name}" for name in MESSAGE_TYPES], actions["Handle"])
        self.actions = {name: action.instances[0] for name, action in self.named.items()}
        (self.initial,) = specification.initial_states()


class TraceModel:
    """The specification of traces, or an edited copy of it, parsed when TLC is first asked something."""

    def __init__(self, directory: Path, switched_off: frozenset[str] = frozenset()) -> None:
        """Of the folder's `Trace.tla`; `switched_off` says what rules it does without."""
        jvm.start()
        self._directory = directory
        self.switched_off = switched_off
        self._codec = codec()
        self._encode = self._codec.encode
        name = jpype.JClass("util.UniqueString").uniqueStringOf
        self._event_name, self._config_name, self._observed_name = name("event"), name("config"), name("observed")
        self._lines: JavaObject | None = None
        self.lines_alone = 0
        """How many lines were TLC's for want of a compiled model, in hundreds that were begun."""
        self._idle: dict[Hashable, JavaObject] = {}
        self._place = bytearray()
        self._buffer: JavaObject | None = None

    @cached_property
    def _tlc(self) -> _Tlc:
        return _Tlc(self._directory)

    @property
    def specification(self) -> Specification:
        """As TLC has parsed it."""
        return self._tlc.specification

    @cached_property
    def stamp(self) -> str:
        """What the compiled model of this specification is called."""
        return building.stamp(self._directory, TRACE)

    def compiled_lines(self, *, make: bool) -> JavaObject | None:
        """The class of the fast path over this model, made if it is not there and a compiler of Java is.

        A damaged one is made again even without `make`.  None where it is not there, or cannot be made.
        """
        if self._lines is None:
            jar = building.found(self.stamp)
            if jar is None and (make or building.was_made(self.stamp)) and building.is_available():
                jar = building.compiled(self.specification, TRACE, self.stamp)
            self._lines = None if jar is None else building.load(jar, "Lines")
        return self._lines

    def idle(self, kind: Hashable) -> JavaObject | None:
        """A compiled checker that was made for this and that nobody has, if there is one."""
        return self._idle.pop(kind, None)

    def keep(self, kind: Hashable, lines: JavaObject) -> None:
        """Keep one whose trace is over, until there are `_IDLE_MAX` newer ones."""
        self._idle[kind] = lines
        if len(self._idle) > _IDLE_MAX:
            del self._idle[next(iter(self._idle))]

    def handed_over(self, raw: bytes) -> JavaObject:
        """A buffer of Java that begins with these bytes, until the next are handed over.

        It is Python's memory: JPype makes an array of Java from bytes one by one.
        """
        if len(raw) > len(self._place):
            self._place = bytearray(2 * len(raw))
            self._buffer = jpype.nio.convertToDirectBuffer(self._place)
        self._place[: len(raw)] = raw
        return self._buffer

    def opening(
        self, configuration: Configuration, checkpoint: Checkpoint | None = None, *, is_part: bool = False
    ) -> dict[str, JavaObject]:
        """The variables that are known where a run under this configuration begins, or goes on from a checkpoint.

        `is_part` says that the checkpoint is taken as it is, without what was before it.

        Raises:
            ValueConversionError: the checkpoint holds a number beyond the model's.
        """
        software = {} if checkpoint is None else checkpoint.software
        values: dict[str, object] = {"config": configuration_to_model(configuration.with_software(software))}
        values |= {"event": {"name": "none"}, "observed": ("", ())}
        if checkpoint is not None:
            values |= _values_of(checkpoint, is_part=is_part)
        return {name: self._encode(value) for name, value in values.items()}

    def open_configurations(
        self, configuration: Configuration
    ) -> dict[str, list[tuple[JavaObject, frozenset[OpenAnswer]]]]:
        """A configuration with each other answer to the open decisions that an event may ask for, by event."""
        # With 200 replicas a configuration takes 0.2 s to convert, and the others have other decisions alone.
        columns = {name: self._encode(value) for name, value in configuration_to_model(configuration).items()}
        return {
            event: [
                (
                    self._encode({**columns, "profile": profile_to_model(other.profile)}),
                    open_answers(configuration.profile, other.profile),
                )
                for other in others
            ]
            for event in EVENTS
            if (others := tuple(other_configurations(configuration, event, None)))
        }

    @property
    def any_state(self) -> JavaObject:
        """A state of this specification, whichever."""
        return self._tlc.initial

    def start(self, configuration: Configuration) -> JavaObject:
        """The state in which a run under this configuration begins."""
        unbound = self._tlc.initial.copy().bind(self._config_name, self._encode(configuration_to_model(configuration)))
        return self._tlc.get_next_states(self._tlc.actions["Start"], unbound).elementAt(0)

    def state_at(self, configuration: Configuration, checkpoint: Checkpoint, *, is_part: bool = False) -> JavaObject:
        """The state that a checkpoint of a run under this configuration says; `is_part` is as for `opening`.

        Raises:
            ValueConversionError: it holds a number beyond the model's.
        """
        specification, state = self.specification, self._tlc.initial
        for name, value in self.opening(configuration, checkpoint, is_part=is_part).items():
            state = specification.bind(state, name, value)
        return state

    def with_message(self, state: JavaObject, sent: int, message: Message) -> JavaObject:
        """The state with one copy of a message on its way more, which the line of this sequence sent."""
        row = _hashable({"sent": sent, "copies": 1, "message": message_to_model(message)})
        network = self.specification.lookup(state, "network")
        both = jpype.JClass("tlc2.value.impl.SetCupValue")(network, self._encode(frozenset([row])))
        return self.specification.bind(state, "network", both.toSetEnum())

    def variables(self, state: JavaObject) -> dict[str, TlaValue]:
        """The variables that a checkpoint is about, as `checkpoint_to_model` gives them."""
        return variables_by_id({name: self.variable(name, state) for name in ("config", *VARIABLES)})

    def bound(self, state: JavaObject, event: Mapping[str, object]) -> JavaObject:
        """The state with its variable `event` set, in place: a state before a line belongs to that line."""
        return state.bind(self._event_name, self._encode(event))

    def successors(self, action: str, state: JavaObject) -> list[JavaObject]:
        """The successors of a state with a bound event under the action of an event."""
        found = self._tlc.get_next_states(self._tlc.actions[action], state)
        return [found.elementAt(index) for index in range(found.size())]

    def observation(self, operator: str, state: JavaObject) -> str:
        """The text of Observation or NetworkObservation in a state."""
        shown = self._evaluated(operator, state)
        shown.deepNormalize()
        return str(shown.toString())

    def observed(self, operator: str, state: JavaObject) -> TlaValue:
        """The same as a value."""
        return self._codec.decode(self._evaluated(operator, state))

    def _evaluated(self, operator: str, state: JavaObject) -> JavaObject:
        return self._tlc.eval(self._tlc.bodies[operator], self._tlc.no_context, state, self._tlc.no_state, 0)

    def properties_hold(self, before: JavaObject, after: JavaObject) -> bool:
        """Do all local properties hold on the step?"""
        return bool(
            self._tlc.is_valid(self._tlc.line_invariants, after)
            and self._tlc.is_valid(self._tlc.line_steps, before, after)
        )

    def violated_properties(self, before: JavaObject, after: JavaObject) -> tuple[str, ...]:
        """The names of the local properties that the step violates.

        TypeOk, the first of them, is what the others presuppose: where it is violated it stands alone.
        """
        violated: list[str] = []
        for name, operator in LINE_PROPERTIES.items():
            if not self._tlc.eval(self._tlc.bodies[operator], self._tlc.no_context, before, after, 0).equals(
                self._tlc.true
            ):
                violated.append(name)
                if name == "TypeOk":
                    break
        return tuple(violated)

    def violated_invariants(self, state: JavaObject) -> tuple[str, ...]:
        """The names of the whole invariants that the state violates."""
        specification = self.specification
        return tuple(name for name in specification.invariants if not specification.is_valid(name, state))

    def on_their_way(self, state: JavaObject, sent: int | None = None) -> tuple[OnItsWay, ...]:
        """The messages on their way, oldest first: all, or those that a line has sent.

        Few are decoded for a line that names its message: in a long run many are never received.
        """
        rows = self._evaluated("OnTheirWay", state).toSetEnum()
        rows.normalize()
        found = [rows.elems.elementAt(index) for index in range(int(rows.elems.size()))]
        ways = [OnItsWay(*self._codec.decode(row)) for row in found if sent is None or int(row.elems[0].val) == sent]  # type: ignore[misc]
        return tuple(sorted(ways, key=lambda way: (way.sent, way.receiver)))

    def under(self, state: JavaObject, configuration: Configuration) -> JavaObject:
        """A copy of a state with the decisions of another configuration; the software is what its replicas run now."""
        config = self.variable("config", state)
        assert isinstance(config, Function), "config is a record"
        decided = {**config, "profile": profile_to_model(configuration.profile)}
        return state.copy().bind(self._config_name, self._encode(decided))

    def variable(self, name: str, state: JavaObject) -> TlaValue:
        """The value of a variable."""
        return self.specification.decoded(state, name)

    def fingerprint(self, state: JavaObject) -> int:
        """Equal for states that differ in the line that led to them alone."""
        nameless = (
            state.copy()
            .bind(self._event_name, self._tlc.no_event)
            .bind(self._observed_name, self._tlc.nothing_observed)
        )
        return self.specification.fingerprint(nameless)

    def false_conjunct(self, action: str, state: JavaObject) -> FalseConjunct | None:
        """The first conjunct of an action that is false in a state with a bound event."""
        return false_conjunct(self.specification, self._tlc.named[action], state)


def _values_of(checkpoint: Checkpoint, *, is_part: bool) -> dict[str, object]:
    values: dict[str, Any] = dict(checkpoint_to_model(checkpoint))
    if is_part:
        values = with_epochs_left(values)
    del values["software"]
    return values | {"network": frozenset([_hashable(row) for row in values["network"].values()])}


def _hashable(value: object) -> TlaValue:
    """The same with its mappings as the model's functions, so that it can be a member of a set."""
    if isinstance(value, Mapping):
        return Function({key: _hashable(member) for key, member in value.items()})
    return like(value, [_hashable(member) for member in value]) if isinstance(value, tuple) else value  # type: ignore[return-value]


def trace_model(switched_off: frozenset[str] = frozenset()) -> TraceModel:
    """The model without these rules; TLC parses it when it is first asked (one to two seconds).

    Raises:
        MutantError, EditError: these rules cannot be left out.
    """
    return _model_without(switched_off)


@cache
def _model_without(switched_off: frozenset[str]) -> TraceModel:
    with mutated_model(switched_off) as directory:
        model = TraceModel(directory, switched_off)
        if switched_off:
            # The edited copy is soon gone.
            assert model.stamp
            assert model.specification
        return model
