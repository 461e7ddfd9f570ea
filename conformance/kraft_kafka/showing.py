"""A finding's schedule played on Kafka: each replica is an adapter of a running Kafka."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import version

import msgspec
from msgspec import UNSET

from kraft_conformance.random_runs.model import trace_with, verdict_on
from kraft_conformance.random_runs.notes import Notes
from kraft_conformance.random_runs.running import line_shown
from kraft_conformance.random_runs.table import Table
from kraft_kafka.findings.finding import Finding
from kraft_mutants.replicas import mutated_replicas
from kraft_reference.configuration import Configuration
from kraft_reference.profile import with_settings
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
"""By finding: the continuation of its schedule where a Kafka makes the safe decision, or keeps the rule."""


class Ending(StrEnum):
    """Ending of the schedule."""

    SHOWN = "shown"
    """Kafka followed the whole schedule."""
    SAFE = "safe"
    """Kafka made the safe decision and followed its continuation."""
    DEVIATION = "deviation"
    """Kafka deviated before the end of the schedule."""


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step of the schedule, and the replicas' roles after it."""

    text: str
    roles: str
    last: int
    """Sequence number of its last event."""


@dataclass(frozen=True, slots=True)
class ShownOnKafka:
    """A finding's schedule on a running Kafka."""

    finding: Finding
    ending: Ending
    steps: tuple[StepShown, ...]
    deviation: str
    """Where Kafka deviates; empty if it does not."""
    leaders: Mapping[int, tuple[int, ...]]
    """Leaders of each epoch that more than one replica has led."""
    lost: tuple[int, ...]
    """Offsets of committed records that are finally missing from the log of the newest epoch's leader."""
    events: int
    verdict: Verdict | None
    """The model's verdict up to the event that violates a property; None for a deviation."""
    violated: tuple[str, ...]
    """Invariants that the cluster's final state violates, as TLC evaluates them."""
    trace: tuple[bytes, ...]
    """The lines that the verdict covers; all lines for a deviation."""


class _RecordingDirector(Director):
    """A director that records the steps of its script, and the lines of a trace."""

    def __init__(self, scenario: str, configuration: Configuration, make_replica: MakeReplica) -> None:
        super().__init__(scenario, configuration, make_replica)
        self.steps: list[StepShown] = []
        self.lines: list[EventLine] = []
        self.leaders: dict[int, set[int]] = {}
        self.last_led: dict[int, ReplicaState] = {}
        """Last state as leader, by replica."""

    def step(self, text: str) -> None:
        self.end_step()
        super().step(text)

    def end_step(self) -> None:
        """Record the step that has been played."""
        roles = " ".join(f"N{n} {notation(self.state(n), with_vote=False)}" for n in self.ids())
        self.steps.append(StepShown(self._step, roles, self.sequence))

    def do(self, move: Callable[[], Occurrence]) -> Occurrence:
        return super().do(lambda: self._record(move()))

    def _record(self, occurrence: Occurrence) -> Occurrence:
        self.lines.append(_without_effects(line_shown(self.world, occurrence)))
        state = occurrence.state
        if state is not None and state.role is Role.LEADER:
            self.leaders.setdefault(state.epoch, set()).add(state.key.id)
            self.last_led[state.key.id] = state
        return occurrence

    def lost(self) -> tuple[int, ...]:
        """Return offsets whose record some leader has committed and the leader of the newest epoch lacks."""
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
    """Play the schedule of a finding with the adapters of a table, or else its safe ending.

    Raises:
        AdapterFault: an adapter breaks the protocol.
    """
    _, variant = finding.variant()
    result = _play(finding, table, variant, Ending.SHOWN)
    if result.ending is Ending.DEVIATION and finding.name in _SAFE:
        safe = _play(finding, table, _with_safe_ending(finding, variant), Ending.SAFE)
        if safe.ending is Ending.SAFE:
            return safe
    return result


def _with_safe_ending(finding: Finding, variant: Variant) -> Variant:
    """Return the variant with the safe decision and without mutants."""
    configuration, decision = variant.configuration, finding.decision
    if decision is not None:
        profile = configuration.profile
        safe = with_settings(profile, f"{profile.name}-{decision.safe}", **{decision.name: decision.safe})
        configuration = replace(configuration, profile=safe)
    return replace(variant, configuration=configuration, script=_SAFE[finding.name], mutants=())


def _play(finding: Finding, table: Table, variant: Variant, ending: Ending) -> ShownOnKafka:
    notes, configuration = Notes(), variant.configuration
    if not all(hello.has_pre_vote for hello in table.hellos):
        configuration = configuration.with_software(dict.fromkeys(configuration.replicas, "unsupported"))
    beside = mutated_replicas(variant.mutants)
    make_replica = table.maker(notes, stops=False, dies_in_steps=False, beside=beside)
    director = _RecordingDirector(finding.schedule, configuration, make_replica)
    deviation, verdict, violated = "", None, tuple[str, ...]()
    lines: Sequence[EventLine] = director.lines
    try:
        variant.script(director)
    except ScenarioFailure as failure:
        deviation = str(failure)
    if notes.is_over:
        # The reference has replaced the adapter from there on.
        deviation = f"{notes.undecided or notes.first}: what it shows cannot be followed"
    if not deviation:
        lines, verdict = _check_lines(director, finding, variant.mutants)
        violated = _find_violated(director)
        deviation = _find_problem(
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


def _find_problem(verdict: Verdict, broken: Collection[str]) -> str:
    """Return how the verdict differs from the expected one; empty if it does not."""
    rejection = verdict.rejection
    if rejection is None:
        return "" if verdict.kind is VerdictKind.ACCEPTED and not broken else f"the model says: {verdict.kind}"
    return "" if broken and rejection.properties else f"the model says: {rejection.headline()}"


def _find_violated(director: _RecordingDirector) -> tuple[str, ...]:
    """Return the invariants that the whole cluster's state violates, which no line of a trace has."""
    checkpoints = Checkpoints(director.world.configuration)
    for occurrence in director.occurrences:
        checkpoints.follow(occurrence)
    model = trace_model()
    return model.violated_invariants(model.state_at(director.world.configuration, checkpoints.now()))


def _check_lines(
    director: _RecordingDirector, finding: Finding, mutants: Collection[str]
) -> tuple[Sequence[EventLine], Verdict]:
    """Return the lines up to the event that violates the finding's property, and the model's verdict on them."""
    lines = director.lines[: director.watch.violated.get(finding.violates)]
    verdict = verdict_on(director.world.configuration, lines, finding.schedule, mutants)
    if verdict.kind is VerdictKind.REJECTED and finding.violates not in director.watch.violated:
        lines = _split_restarts(lines)
        verdict = verdict_on(director.world.configuration, lines, finding.schedule, mutants)
    return lines, verdict


def _split_restarts(lines: Sequence[EventLine]) -> list[EventLine]:
    """Split a restart that elects the only voter into the two events that the model has for it."""
    events: list[EventLine] = []
    for line in lines:
        if line.event == "Restart" and line.state is not UNSET and line.state.role is Role.LEADER:
            events.append(msgspec.structs.replace(line, sequence=len(events) + 1, state=UNSET))
            line = msgspec.structs.replace(line, event="ElectionTimeout", input=UNSET)
        events.append(msgspec.structs.replace(line, sequence=len(events) + 1))
    return events


def _without_effects(line: EventLine) -> EventLine:
    """Return a line with its input and state only: effects and messages sent are for vectors."""
    message = line.message if line.message is UNSET else msgspec.structs.replace(line.message, id=UNSET)
    return msgspec.structs.replace(line, cause=UNSET, message=message, effects=UNSET)
