"""Document of a trace for its page, made of plain values.

States are given by their changes, so that a page for thousands of events stays small.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from msgspec import UNSET, to_builtins

from kraft_simulation.world import World
from kraft_spec.action_rules import rules_of_event
from kraft_traces.check import Verdict
from kraft_traces.checkpoint_types import CheckpointLine, TracedReplicaState, own_id
from kraft_traces.errors import TraceError, UnknownProfileError
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.restore import configuration_of
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_traces.view.flights import Flights
from kraft_traces.view.logs import ObservedLog
from kraft_traces.view.shared import NamedRules, error_text, verdict_document


class Document(TypedDict):
    """Document of a trace; events are referred to by index, from 0."""

    source: str
    header: dict[str, Any]
    replicas: list[dict[str, Any]]
    """Keys: id, voter, directory_id, `start`: its state before the first event, null if the profile is not known or the
    replica is not observed; `start_log`: its log then as a `LogChange` of an empty one, null without a checkpoint."""
    events: list[dict[str, Any]]
    """Keys: sequence, line, time_ms, replica, event, cause, message, input, effects, refusal, crash, answer as in the
    line; `changed`: fields of the state that are other ones than in the replica's event before; `log`: see
    `LogChange`; `rules`: the rules of the event's action, by index into `rules`."""
    arrows: list[dict[str, Any]]
    rules: list[dict[str, str]]
    """Keys: id, title, level, statement."""
    verdict: dict[str, Any] | None
    broken: str | None
    """Error of the first line that cannot be read; the events are those before it."""
    complete: bool


class Numbered(NamedTuple):
    """Event with its line number in the file."""

    number: int
    line: EventLine


def view_document(
    source: str,
    header: HeaderLine,
    lines: Iterable[Numbered],
    verdict: Verdict | None,
    *,
    complete: bool,
    broken: TraceError | None = None,
    opening: CheckpointLine | None = None,
) -> Document:
    """Return the document of a trace.

    Args:
        source: name of the file, which replaces the path in the verdict and the error.
        header: header of the trace.
        lines: events of the trace.
        verdict: verdict on the trace; None if it was not checked.
        complete: True if the end line says that the run was over.
        broken: error of the line after the last of `lines`; None if there is none.
        opening: checkpoint before the first event; None if there is none.
    """
    collector = _Events(header, () if opening is None else opening.replicas)
    events = [collector.event(index, numbered) for index, numbered in enumerate(lines)]
    collector.rules.name(header.switched_off)
    if verdict is not None and verdict.rejection is not None:
        collector.rules.name(verdict.rejection.rules)
    voters = {key.id for key in header.voters}
    return Document(
        source=source,
        header=to_builtins(header),
        replicas=[
            {
                "id": replica.id,
                "voter": replica.id in voters,
                "directory_id": replica.directory_id,
                "start": collector.starts.get(replica.id),
                "start_log": collector.start_logs.get(replica.id),
            }
            for replica in sorted(header.replicas, key=lambda replica: replica.id)
        ],
        events=events,
        arrows=[arrow._asdict() for arrow in collector.flights.arrows()],
        rules=collector.rules.documents(),
        verdict=None if verdict is None else verdict_document(verdict, source),
        broken=None if broken is None else error_text(broken, source),
        complete=complete,
    )


class _Events:
    def __init__(self, header: HeaderLine, opening: Iterable[TracedReplicaState]) -> None:
        self.flights = Flights()
        self.rules = NamedRules()
        self.starts = _starts(header)
        self.start_logs: dict[int, dict[str, Any]] = {}
        self._states: dict[int, dict[str, Any]] = {}
        self._roles: dict[int, str | None] = {}
        self._logs = {replica.id: ObservedLog() for replica in header.replicas}
        for replica in opening:
            id_ = own_id(replica)
            self.starts[id_] = _observed(replica.state)
            self.start_logs[id_] = self._logs[id_].begin(replica.snapshot.end_offset, replica.records)._asdict()

    def event(self, index: int, numbered: Numbered) -> dict[str, Any]:
        line = numbered.line
        self.flights.follow(index, line)
        event: dict[str, Any] = to_builtins(line)
        event.pop("state", None)
        event.pop("kind", None)
        event["line"] = numbered.number
        if line.replica is UNSET:
            return event
        before = self._states.setdefault(line.replica, {})
        event["rules"] = self.rules.places(self._rules_of(line.replica, line))
        if line.state is not UNSET:
            changed = {name: value for name, value in _observed(line.state).items() if before.get(name, UNSET) != value}
            before.update(changed)
            if changed:
                event["changed"] = changed
        log = self._logs.setdefault(line.replica, ObservedLog()).follow(line)
        if log is not None:
            event["log"] = log._asdict()
        return event

    def _rules_of(self, replica: int, line: EventLine) -> tuple[str, ...]:
        """Return the rules of an event; a recorded role counts for the next line only, because it may change later."""
        before = self._roles.get(replica, self.starts.get(replica, {}).get("role"))
        after = self._roles[replica] = _role_after(line)
        return rules_of_event(line.event, before, _pre_vote(line), after)


def _starts(header: HeaderLine) -> dict[int, dict[str, Any]]:
    """Return the initial states of the replicas, which the format defines for any software."""
    try:
        configuration = configuration_of(header)
    except UnknownProfileError:
        return {}
    world = World(configuration)
    observed = configuration.replicas.keys() - header.opaque
    return {replica: _observed(traced_state(world.state(replica))) for replica in sorted(observed)}


def _observed(state: TracedState) -> dict[str, Any]:
    observed: dict[str, Any] = to_builtins(state)
    return observed


def _role_after(line: EventLine) -> str | None:
    return None if line.state is UNSET or line.state.role is UNSET else str(line.state.role)


def _pre_vote(line: EventLine) -> bool | None:
    value = getattr(line.message, "pre_vote", None)
    return value if isinstance(value, bool) else None
