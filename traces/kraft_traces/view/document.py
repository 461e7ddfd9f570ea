"""What the page shows about a trace: a document of plain values.

States are given by what changed, so that a page for thousands of events stays small; the page puts them together again.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from msgspec import UNSET, to_builtins

from kraft_simulation.world import World
from kraft_spec.action_rules import rules_of_event
from kraft_traces.check import Verdict
from kraft_traces.errors import TraceError, UnknownProfileError
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.restore import configuration_of
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_traces.view.flights import Flights
from kraft_traces.view.logs import ShownLog
from kraft_traces.view.shared import NamedRules, shown_error, shown_verdict


class Document(TypedDict):
    """What the page shows; every list of events is by index, from 0."""

    source: str
    header: dict[str, Any]
    replicas: list[dict[str, Any]]
    """Keys: id, voter, directory_id, `start`: its state before the first event, null if the profile is not known."""
    events: list[dict[str, Any]]
    """Keys: sequence, line, time_ms, replica, event, cause, message, input, effects, refusal, crash, answer as in the
    line; `changed`: fields of the state that are other ones than in the replica's event before; `log`: see
    `LogChange`; `rules`: the rules of the event's action, by index into `rules`."""
    arrows: list[dict[str, Any]]
    rules: list[dict[str, str]]
    """Keys: id, title, level, statement."""
    verdict: dict[str, Any] | None
    broken: str | None
    """What is wrong with the first line that is none of this format; the events are those before it."""
    complete: bool


class Numbered(NamedTuple):
    """An event and the number of its line in the file."""

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
) -> Document:
    """The document of a trace.

    Args:
        source: name of the file, for readers: it stands wherever the verdict and the error have a path.
        header: of the trace.
        lines: its events.
        verdict: what checking it came to; None if it was not checked.
        complete: the trace says that it holds the whole run.
        broken: what is wrong with the line after the last of `lines`; None if nothing is.
    """
    shown = _Events(header)
    events = [shown.event(index, numbered) for index, numbered in enumerate(lines)]
    shown.rules.name(header.switched_off)
    if verdict is not None and verdict.rejection is not None:
        shown.rules.name(verdict.rejection.rules)
    voters = {key.id for key in header.voters}
    return Document(
        source=source,
        header=to_builtins(header),
        replicas=[
            {
                "id": one.id,
                "voter": one.id in voters,
                "directory_id": one.directory_id,
                "start": shown.starts.get(one.id),
            }
            for one in sorted(header.replicas, key=lambda one: one.id)
        ],
        events=events,
        arrows=[arrow._asdict() for arrow in shown.flights.arrows()],
        rules=shown.rules.shown(),
        verdict=None if verdict is None else shown_verdict(verdict, source),
        broken=None if broken is None else shown_error(broken, source),
        complete=complete,
    )


class _Events:
    def __init__(self, header: HeaderLine) -> None:
        self.flights = Flights()
        self.rules = NamedRules()
        self.starts = _starts(header)
        self._states: dict[int, dict[str, Any]] = {}
        self._roles: dict[int, str | None] = {}
        self._logs = {one.id: ShownLog() for one in header.replicas}

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
        log = self._logs.setdefault(line.replica, ShownLog()).follow(line)
        if log is not None:
            event["log"] = log._asdict()
        return event

    def _rules_of(self, replica: int, line: EventLine) -> tuple[str, ...]:
        """A role that was shown some lines ago may be another one by now, so it counts for one line only."""
        before = self._roles.get(replica, self.starts.get(replica, {}).get("role"))
        after = self._roles[replica] = _role_after(line)
        return rules_of_event(line.event, before, _pre_vote(line), after)


def _starts(header: HeaderLine) -> dict[int, dict[str, Any]]:
    """The states from which the replicas start: those of the format, whatever software wrote the trace."""
    try:
        configuration = configuration_of(header)
    except UnknownProfileError:
        return {}
    world = World(configuration)
    return {replica: _observed(traced_state(world.state(replica))) for replica in configuration.replicas}


def _observed(state: TracedState) -> dict[str, Any]:
    observed: dict[str, Any] = to_builtins(state)
    return observed


def _role_after(line: EventLine) -> str | None:
    return None if line.state is UNSET or line.state.role is UNSET else str(line.state.role)


def _pre_vote(line: EventLine) -> bool | None:
    value = getattr(line.message, "pre_vote", None)
    return value if isinstance(value, bool) else None
