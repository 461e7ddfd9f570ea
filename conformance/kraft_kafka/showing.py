"""A finding on a running Kafka: the finding's schedule, with an adapter of Kafka as each replica."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import version
from typing import Any

import msgspec
from msgspec import UNSET

from kraft_conformance.random_runs.model import trace_with, verdict_on
from kraft_conformance.random_runs.notes import Notes
from kraft_conformance.random_runs.running import line_shown
from kraft_conformance.random_runs.table import Table
from kraft_kafka.findings.finding import Finding
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.checkpoint import Checkpoints
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios import Variant
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.membership.outlived_record import snapshot_read
from kraft_simulation.scenarios.membership.own_vote import epoch_raised
from kraft_simulation.scenarios.membership.unread_voters import voters_read
from kraft_simulation.scenarios.notation import notation
from kraft_simulation.scenarios.schedule import ScenarioFailure
from kraft_simulation.world import MakeReplica
from kraft_traces.check.model import trace_model
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.lines import EventLine, Generator

GENERATOR_NAME = "kraft-spec-kafka"

_SAFE: Mapping[str, Callable[[Director], None]] = {
    "own-vote-before-known-leader": epoch_raised,
    "unread-voters": voters_read,
    "outlived-voters-record": snapshot_read,
}
"""By finding: how the same schedule goes on where a Kafka gives the safe answer, or keeps the rule."""


class Ending(StrEnum):
    """What became of the schedule."""

    SHOWN = "shown"
    """Kafka does all of it."""
    SAFE = "safe"
    """Kafka gives the safe answer, and what follows from that."""
    DEVIATION = "deviation"
    """Kafka does something else before the schedule has come to its end."""


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step of the schedule, and where the replicas are behind it."""

    text: str
    roles: str
    last: int
    """The sequence of its last event."""


@dataclass(frozen=True, slots=True)
class ShownOnKafka:
    """A finding's schedule on a running Kafka."""

    finding: Finding
    ending: Ending
    steps: tuple[StepShown, ...]
    deviation: str
    """Where Kafka does something else; empty if it does not."""
    leaders: Mapping[int, tuple[int, ...]]
    """The epochs that more than one replica has led, and who."""
    lost: tuple[int, ...]
    """Offsets of committed records that are not in the log of the leader of the newest epoch, in the end."""
    events: int
    verdict: Verdict | None
    """The model's, up to the event that breaks a property; None of a deviation."""
    violated: tuple[str, ...]
    """The invariants that the state of the whole cluster in the end violates, as TLC evaluates them."""
    trace: tuple[bytes, ...]
    """The lines that the verdict is about; of a deviation all of them."""


class _RecordingDirector(Director):
    """A director that keeps the steps of its script, and the lines of a trace."""

    def __init__(self, scenario: str, configuration: Configuration, make_replica: MakeReplica) -> None:
        super().__init__(scenario, configuration, make_replica)
        self.steps: list[StepShown] = []
        self.lines: list[EventLine] = []
        self.leaders: dict[int, set[int]] = {}
        self.last_led: dict[int, ReplicaState] = {}
        """Of each replica that led, the last state in which it did."""

    def step(self, text: str) -> None:
        self.end_step()
        super().step(text)

    def end_step(self) -> None:
        """Keep the step that has been played."""
        roles = " ".join(f"N{n} {notation(self.state(n), with_vote=False)}" for n in self.ids())
        self.steps.append(StepShown(self._step, roles, self.sequence))

    def do(self, move: Callable[[], Occurrence]) -> Occurrence:
        return super().do(lambda: self._kept(move()))

    def _kept(self, occurrence: Occurrence) -> Occurrence:
        self.lines.append(_as_state(line_shown(self.world, occurrence)))
        state = occurrence.state
        if state is not None and state.role is Role.LEADER:
            self.leaders.setdefault(state.epoch, set()).add(state.key.id)
            self.last_led[state.key.id] = state
        return occurrence

    def lost(self) -> tuple[int, ...]:
        """Offsets whose record some leader has committed, and the leader of the newest epoch does not have."""
        leading = [self.state(n) for n in self.ids() if self.state(n).role is Role.LEADER]
        if not leading:
            return ()
        log = max(leading, key=lambda state: state.epoch).log
        offsets = {
            offset
            for state in self.last_led.values()
            for offset in range(max(state.log.start_offset, log.start_offset), state.high_watermark)
            if offset >= log.end_offset or state.log.record(offset) != log.record(offset)
        }
        return tuple(sorted(offsets))


def show_on_kafka(finding: Finding, table: Table) -> ShownOnKafka:
    """Play the schedule of a finding with the adapters of a table, or the safe end that it may have.

    Raises:
        AdapterFault: an adapter does not answer as the protocol says.
    """
    _, variant = finding.variant()
    shown = _played(finding, table, variant, Ending.SHOWN)
    if shown.ending is Ending.DEVIATION and finding.name in _SAFE:
        safe = _played(finding, table, _safely(finding, variant), Ending.SAFE)
        if safe.ending is Ending.SAFE:
            return safe
    return shown


def _safely(finding: Finding, variant: Variant) -> Variant:
    """The schedule with the safe answer, and with every rule."""
    configuration, decision = variant.configuration, finding.decision
    if decision is not None:
        profile = configuration.profile
        answer: dict[str, Any] = {"name": f"{profile.name}-{decision.safe}", decision.name: decision.safe}
        configuration = replace(configuration, profile=replace(profile, **answer))
    return replace(variant, configuration=configuration, script=_SAFE[finding.name], mutants=())


def _played(finding: Finding, table: Table, variant: Variant, ending: Ending) -> ShownOnKafka:
    notes, configuration = Notes(), variant.configuration
    if not all(hello.has_pre_vote for hello in table.hellos):
        configuration = configuration.with_software(dict.fromkeys(configuration.replicas, "unsupported"))
    beside = mutated_replicas(variant.mutants)
    maker = table.maker(notes, stops=False, dies_in_steps=False, beside=beside)
    director = _RecordingDirector(finding.schedule, configuration, maker)
    deviation, verdict, violated = "", None, tuple[str, ...]()
    lines: Sequence[EventLine] = director.lines
    try:
        variant.script(director)
    except ScenarioFailure as failure:
        deviation = str(failure)
    if notes.is_over:
        # From there on the reference has gone on in its place.
        deviation = f"{notes.undecided or notes.first}: what it shows cannot be followed"
    if not deviation:
        lines, verdict = _verdict(director, finding, variant.mutants)
        violated = _violated_in_the_end(director)
        deviation = _problem(
            verdict, {finding.violates} & director.watch.violated.keys() if ending is Ending.SHOWN else ()
        )
    director.end_step()
    generator = Generator(GENERATOR_NAME, version("kraft-spec"), None, finding.schedule)
    return ShownOnKafka(
        finding,
        Ending.DEVIATION if deviation else ending,
        tuple(director.steps[1:]),
        deviation,
        {epoch: tuple(sorted(ids)) for epoch, ids in sorted(director.leaders.items()) if len(ids) > 1},
        director.lost(),
        director.sequence,
        verdict,
        violated,
        tuple(
            trace_with(
                table,
                configuration,
                generator,
                lines,
                is_whole=len(lines) >= director.sequence,
                switched_off=variant.mutants,
            )
        ),
    )


def _problem(verdict: Verdict, broken: Collection[str]) -> str:
    """What the model says else than that properties are broken, or that none is; empty if it says so."""
    rejection = verdict.rejection
    if rejection is None:
        return "" if verdict.kind is VerdictKind.ACCEPTED and not broken else f"the model says: {verdict.kind}"
    return "" if broken and rejection.properties else f"the model says: {rejection.headline()}"


def _violated_in_the_end(director: _RecordingDirector) -> tuple[str, ...]:
    """The invariants that the state of the whole cluster violates, which no line of a trace has."""
    checkpoints = Checkpoints(director.world.configuration)
    for occurrence in director.occurrences:
        checkpoints.follow(occurrence)
    model = trace_model()
    return model.violated_invariants(model.state_at(director.world.configuration, checkpoints.now()))


def _verdict(
    director: _RecordingDirector, finding: Finding, without: Collection[str]
) -> tuple[Sequence[EventLine], Verdict]:
    """What the model says of the lines up to the event that breaks the finding's property, and those lines."""
    lines = director.lines[: director.watch.violated.get(finding.violates)]
    verdict = verdict_on(director.world.configuration, lines, finding.schedule, without)
    if verdict.kind is VerdictKind.REJECTED and finding.violates not in director.watch.violated:
        lines = _in_two(lines)
        verdict = verdict_on(director.world.configuration, lines, finding.schedule, without)
    return lines, verdict


def _in_two(lines: Sequence[EventLine]) -> list[EventLine]:
    """The lines with a restart that elects the only voter as the two events that the model has for it."""
    events: list[EventLine] = []
    for line in lines:
        if line.event == "Restart" and line.state is not UNSET and line.state.role is Role.LEADER:
            events.append(msgspec.structs.replace(line, sequence=len(events) + 1, state=UNSET))
            line = msgspec.structs.replace(line, event="ElectionTimeout", input=UNSET)
        events.append(msgspec.structs.replace(line, sequence=len(events) + 1))
    return events


def _as_state(line: EventLine) -> EventLine:
    """What a replica has been given and where it has come to; what it writes and sends on the way is for vectors."""
    message = line.message if line.message is UNSET else msgspec.structs.replace(line.message, id=UNSET)
    return msgspec.structs.replace(line, cause=UNSET, message=message, effects=UNSET)
