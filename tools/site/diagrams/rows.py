"""Rows of a sequence diagram from a recorded run: steps, bands across all replicas, and arrows."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from tools.site.diagrams.words import changes, event_words, message_words, role_words
from tools.site.markup import counted

from kraft_mutants.replicas import mutated_replicas
from kraft_reference.effects import Send
from kraft_reference.events import Draw, Receive
from kraft_reference.messages import FetchRequest, FetchResponse, Message
from kraft_reference.replica import Replica
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import CutLink, DropMessage, HealLink, Occurrence
from kraft_simulation.scenarios.scenario import ScenarioRun, Variant
from kraft_simulation.world import World
from kraft_traces.encode import event_line
from kraft_traces.view.flights import Arrow, Flights

FOLDED_FROM = 8
"""Number of consecutive rows of replication that become one band."""
_REPLICATION = ("ClientAppend", "Poll", "PollFetch", "HandleFetchRequest", "HandleFetchResponse")


class Lost(NamedTuple):
    """A message that never arrives, drawn beside the step that sends it."""

    destination: int
    words: str
    dropped: bool
    """True if dropped, False if still in flight at the end."""


class Step(NamedTuple):
    """An event at a replica."""

    at: int
    """Index of its occurrence."""
    sequence: int
    time_ms: int
    replica: int
    words: str
    refusal: str
    role: Role
    """Role after the step."""
    entered: str
    """New role, epoch and leader, if one of them changed."""
    notes: tuple[str, ...]
    lost: tuple[Lost, ...]


class Band(NamedTuple):
    """A line across all replicas."""

    kind: Literal["network", "folded", "violated", "differs"]
    words: str
    at: int = -1
    """Index of the occurrence, for an event of the network."""


class Landed(NamedTuple):
    """A delivered message, from the sending step to the receiving step."""

    sent: int
    ended: int
    source: int
    destination: int
    words: str


class Run(NamedTuple):
    """Contents of a diagram."""

    name: str
    replicas: tuple[int, ...]
    before: Mapping[int, ReplicaState]
    rows: tuple[Step | Band, ...]
    arrows: tuple[Landed, ...]
    occurrences: int
    folded: int
    """Number of steps folded into bands of replication."""


def rows_of(run: ScenarioRun) -> Run:
    """Return the rows of a run."""
    configuration, occurrences = run.configuration, run.occurrences
    world = World(configuration)
    before = {replica_id: world.state(replica_id) for replica_id in sorted(configuration.replicas)}
    flights = Flights()
    for index, occurrence in enumerate(occurrences):
        flights.follow(index, event_line(occurrence))
    arrows = flights.arrows()
    steps, quiet = _steps(occurrences, before, arrows)
    differing = deciding_occurrence(run.variant, occurrences, before)
    violated = _violated(run.violated)
    kept = {differing, *(sequence - 1 for sequence in violated)}
    in_bands = folds(quiet - kept, arrows, [index for index, _ in steps])
    return Run(
        f"{run.scenario.name}/{run.variant.name}",
        tuple(before),
        before,
        (*_with_bands(steps, in_bands, occurrences, violated, differing, run.variant.mutants), *_never(run.violated)),
        tuple(_landed(arrow, occurrences) for arrow in arrows if _is_shown(arrow, in_bands)),
        len(occurrences),
        len(in_bands),
    )


def deciding_occurrence(
    variant: Variant, occurrences: Sequence[Occurrence], before: Mapping[int, ReplicaState]
) -> int | None:
    """Return the index of the first occurrence whose outcome would differ with every rule in force."""
    if not variant.mutants:
        return None
    make_replica = mutated_replicas(variant.mutants)
    states = dict(before)
    for index, occurrence in enumerate(occurrences):
        if occurrence.replica_id is None or occurrence.state is None:
            continue
        event = occurrence.event
        assert not isinstance(event, DropMessage | CutLink | HealLink)
        if occurrence.crash is None:
            draw = Draw(occurrence.sequence, 0, 0)
            both = [make(states[occurrence.replica_id], variant.configuration) for make in (make_replica, Replica)]
            done, with_rules = [replica.outcome(event, draw) for replica in both]  # type: ignore[arg-type]
            if done != with_rules:
                return index
        states[occurrence.replica_id] = occurrence.state
    return None


def _violated(violated: Mapping[str, int | None]) -> dict[int, list[str]]:
    deciding_rules: dict[int, list[str]] = {}
    for name, sequence in sorted(violated.items()):
        if sequence is not None:
            deciding_rules.setdefault(sequence, []).append(name)
    return deciding_rules


def _never(violated: Mapping[str, int | None]) -> list[Band]:
    names = sorted(name for name, sequence in violated.items() if sequence is None)
    return [Band("violated", f"✗ never happens: violates {', '.join(names)}")] if names else []


def _steps(
    occurrences: Sequence[Occurrence], before: Mapping[int, ReplicaState], arrows: Sequence[Arrow]
) -> tuple[list[tuple[int, Step | Band]], set[int]]:
    """Return the rows by index, and the indexes of rows that only replicate."""
    lost: dict[int, list[Lost]] = {}
    fetches_only = set(range(len(occurrences)))
    for arrow in arrows:
        if arrow.ended is None or arrow.fate in ("dropped", "unsupported"):
            words = message_words(_sent(occurrences[arrow.sent], arrow))
            lost.setdefault(arrow.sent, []).append(Lost(arrow.destination or 0, words, arrow.ended is not None))
        if arrow.message not in (FetchRequest.__name__, FetchResponse.__name__) or arrow.fate != "delivered":
            fetches_only.discard(arrow.sent)
    states, quiet = dict(before), set()
    rows: list[tuple[int, Step | Band]] = []
    for index, occurrence in enumerate(occurrences):
        if occurrence.replica_id is None or occurrence.state is None:
            if not isinstance(occurrence.event, DropMessage):
                rows.append((index, Band("network", event_words(occurrence.event), index)))
            continue
        old, new = states[occurrence.replica_id], occurrence.state
        states[occurrence.replica_id] = new
        entered = (
            "" if (old.role, old.epoch, old.leader_id) == (new.role, new.epoch, new.leader_id) else role_words(new)
        )
        words = event_words(occurrence.event) + (" (crashes during the step)" if occurrence.crash is not None else "")
        step = Step(
            index,
            occurrence.sequence,
            occurrence.time_ms,
            occurrence.replica_id,
            words,
            occurrence.refusal or "",
            new.role,
            entered,
            (*([f"refused: {occurrence.refusal}"] if occurrence.refusal else []), *changes(old, new)),
            tuple(lost.get(index, ())),
        )
        rows.append((index, step))
        same = not entered and old.voters == new.voters and occurrence.refusal is None and occurrence.crash is None
        if same and index in fetches_only and event_line(occurrence).event in _REPLICATION:
            quiet.add(index)
    return rows, quiet


def _sent(occurrence: Occurrence, arrow: Arrow) -> Message:
    """Return the message of an arrow."""
    for effect in occurrence.effects:
        if not isinstance(effect, Send):
            continue
        message = effect.message
        if message.destination == arrow.destination and type(message).__name__ == arrow.message:
            return message
    assert occurrence.answer is not None, "an arrow comes from an effect or from the network's own answer"
    return occurrence.answer


def folds(quiet: Collection[int], arrows: Sequence[Arrow], visible: Sequence[int]) -> dict[int, int]:
    """Return the rows that fold into a band: index to the index of the band's first row.

    No arrow may enter or leave a band.

    Args:
        quiet: Indexes of rows that may be folded.
        arrows: Arrows between rows.
        visible: Indexes of all rows, in order.
    """
    left = set(quiet)
    while True:
        runs: dict[int, int] = {}
        for is_quiet, group in groupby(visible, key=left.__contains__):
            indexes = list(group)
            if is_quiet and len(indexes) >= FOLDED_FROM:
                runs.update(dict.fromkeys(indexes, indexes[0]))
        crossing = {
            end
            for arrow in arrows
            for end in (arrow.sent, arrow.ended)
            if end in runs and runs.get(arrow.sent) != runs.get(arrow.ended if arrow.ended is not None else -1)
        }
        if not crossing:
            return runs
        left -= crossing


def _with_bands(
    steps: Sequence[tuple[int, Step | Band]],
    folds: Mapping[int, int],
    occurrences: Sequence[Occurrence],
    violated: Mapping[int, Sequence[str]],
    differing: int | None,
    without: Sequence[str],
) -> list[Step | Band]:
    rows: list[Step | Band] = []
    for index, row in steps:
        if index in folds:
            if folds[index] == index:
                within = [occurrences[other] for other, first in folds.items() if first == index]
                rows.append(Band("folded", _folded_words(within)))
            continue
        last = rows[-1] if rows else None
        if index == differing:
            off = ", ".join(sorted(without))
            rows.append(Band("differs", f"≠ the outcome differs from here on without {off}"))
        occurrence = occurrences[index]
        if _goes_on(last, occurrence, occurrences):
            assert isinstance(last, Band)
            rows[-1] = last._replace(words=f"{last.words}, {event_words(occurrence.event).split(' ', 1)[1]}")
            continue
        rows.append(row)
        if names := violated.get(occurrence.sequence):
            rows.append(Band("violated", f"✗ violates {', '.join(names)}"))
    return rows


def _goes_on(last: Step | Band | None, occurrence: Occurrence, occurrences: Sequence[Occurrence]) -> bool:
    """True if links are cut, or healed, right after others."""
    return (
        isinstance(occurrence.event, CutLink | HealLink)
        and isinstance(last, Band)
        and last.kind == "network"
        and type(occurrences[last.at].event) is type(occurrence.event)
    )


def _folded_words(within: Sequence[Occurrence]) -> str:
    kinds = Counter(
        occurrence.event.message.source
        for occurrence in within
        if isinstance(occurrence.event, Receive) and isinstance(occurrence.event.message, FetchRequest)
    )
    appends = sum(type(occurrence.event).__name__ == "ClientAppend" for occurrence in within)
    parts = [f"{counted(number, 'fetch', 'fetches')} of {source}" for source, number in sorted(kinds.items())]
    parts += [counted(appends, "append")] if appends else []
    first, last = within[0].sequence, within[-1].sequence
    return f"events {first} to {last}, replication only: {', '.join(parts) or 'polls'}"


def _is_shown(arrow: Arrow, folds: Mapping[int, int]) -> bool:
    return arrow.ended is not None and arrow.fate in ("delivered", "duplicate") and arrow.sent not in folds


def _landed(arrow: Arrow, occurrences: Sequence[Occurrence]) -> Landed:
    assert arrow.ended is not None
    event = occurrences[arrow.ended].event
    assert isinstance(event, Receive), "only a delivery lands"
    message = event.message
    return Landed(arrow.sent, arrow.ended, message.source, message.destination, message_words(message))
