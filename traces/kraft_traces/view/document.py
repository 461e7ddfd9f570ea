"""What the page is told about a trace: a document of plain values.

States are told by what changed, so that a page for thousands of events stays small; the page puts them together again.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypedDict

from msgspec import UNSET, to_builtins

from kraft_spec.action_rules import rules_of_event
from kraft_spec.rules import load_registry
from kraft_traces.check import Verdict
from kraft_traces.lines import EventLine, HeaderLine
from kraft_traces.state_types import TracedState
from kraft_traces.view.flights import Flights
from kraft_traces.view.logs import ShownLog


class Document(TypedDict):
    """What the page is told; every list of events is by index, from 0."""

    source: str
    header: dict[str, Any]
    replicas: list[dict[str, Any]]
    events: list[dict[str, Any]]
    """Keys: sequence, line, time_ms, replica, event, cause, message, input, effects, refusal, crash, answer as in the
    line; `changed`: fields of the state that are other ones than in the replica's event before; `log`: see
    `LogChange`; `rules`: ids of the rules that the event exercises, by index into `rules`."""
    arrows: list[dict[str, Any]]
    rules: list[dict[str, str]]
    """Keys: id, title, level."""
    verdict: dict[str, Any] | None
    complete: bool


class Numbered(NamedTuple):
    """An event and the number of its line in the file."""

    number: int
    line: EventLine


def view_document(
    source: str, header: HeaderLine, lines: Iterable[Numbered], verdict: Verdict | None, *, complete: bool
) -> Document:
    """The document of a trace.

    Args:
        source: name of the file, for readers.
        header: of the trace.
        lines: its events.
        verdict: what checking it came to; None if it was not checked.
        complete: the trace says that it holds the whole run.
    """
    telling = _Telling(header)
    events = [telling.told(index, numbered) for index, numbered in enumerate(lines)]
    voters = {key.id for key in header.voters}
    return Document(
        source=source,
        header=to_builtins(header),
        replicas=[
            {"id": one.id, "voter": one.id in voters, "directory_id": one.directory_id}
            for one in sorted(header.replicas, key=lambda one: one.id)
        ],
        events=events,
        arrows=[arrow._asdict() for arrow in telling.flights.arrows()],
        rules=[_rule(rule) for rule in telling.rules],
        verdict=None if verdict is None else _verdict(verdict),
        complete=complete,
    )


class _Telling:
    def __init__(self, header: HeaderLine) -> None:
        self.flights = Flights()
        self.rules: dict[str, int] = {}
        self._states: dict[int, dict[str, Any]] = {}
        self._logs = {one.id: ShownLog() for one in header.replicas}

    def told(self, index: int, numbered: Numbered) -> dict[str, Any]:
        line = numbered.line
        self.flights.follow(index, line)
        told: dict[str, Any] = to_builtins(line)
        told.pop("state", None)
        told.pop("kind", None)
        told["line"] = numbered.number
        if line.replica is UNSET:
            return told
        before = self._states.setdefault(line.replica, {})
        told["rules"] = [
            self.rules.setdefault(rule, len(self.rules))
            for rule in rules_of_event(line.event, before.get("role"), _pre_vote(line))
        ]
        if line.state is not UNSET:
            changed = {name: value for name, value in _observed(line.state).items() if before.get(name, UNSET) != value}
            before.update(changed)
            if changed:
                told["changed"] = changed
        log = self._logs.setdefault(line.replica, ShownLog()).follow(line)
        if log is not None:
            told["log"] = log._asdict()
        return told


def _observed(state: TracedState) -> dict[str, Any]:
    observed: dict[str, Any] = to_builtins(state)
    return observed


def _rule(rule_id: str) -> dict[str, str]:
    rule = load_registry()[rule_id]
    return {"id": rule.id, "title": rule.title, "level": rule.level}


def _pre_vote(line: EventLine) -> bool | None:
    value = getattr(line.message, "pre_vote", None)
    return value if isinstance(value, bool) else None


def _verdict(verdict: Verdict) -> dict[str, Any]:
    told: dict[str, Any] = to_builtins(verdict.as_dict())
    if verdict.rejection is not None:
        told["headline"] = verdict.rejection.headline()
    return told
