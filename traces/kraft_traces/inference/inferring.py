"""Inference of a trace with hidden events from the observations of a cluster."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_reference.configuration import Configuration
from kraft_reference.profile import Profile, with_settings
from kraft_simulation.checkpoint import Checkpoint
from kraft_traces.check.model import TraceModel
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.inference.captured import CapturedMessage, Span
from kraft_traces.inference.facts import facts_of
from kraft_traces.inference.nodes import Event, Node
from kraft_traces.inference.order import sending
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.resuming import Gap, resume
from kraft_traces.inference.search import DEFAULT_BOUND, Bound, Explained, Search, Unexplained
from kraft_traces.inference.timing import LeastTimeouts
from kraft_traces.lines import EventLine
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage
from kraft_traces.values import CHANGE_SUFFIX
from kraft_traces.vocabulary import HANDLE


@dataclass(frozen=True, slots=True)
class Stretch:
    """Inferred events of one replica before one captured message that it sent."""

    place: int
    time_ms: int
    replica: int
    message: str
    """Type of the message."""
    events: tuple[str, ...]
    """Names of the events, including the one that sent the message; empty if an earlier event did."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """Result of an inference: a trace with inferred events."""

    lines: tuple[EventLine, ...]
    stretches: tuple[Stretch, ...]
    failure: Unexplained | None
    """First unexplained message, at which the trace ends."""
    messages: int
    """Number of messages of opaque replicas that are explained."""
    tried: int
    """Number of nodes of all searches."""
    steps: Mapping[int, int]
    """Number of evaluations of the model for each opaque replica."""
    reordered: int
    """Number of messages captured after one that was sent later."""
    gaps: tuple[Gap, ...]
    """Messages that are not judged, beginning with those of `failure`."""


def opaque_profile(profile: Profile) -> Profile:
    """Return the profile with the settings that allow an opaque replica most: receivers of a Fetch after a timeout, and
    of announcements.

    Rules: fetch.who-fetches, begin-quorum.resend.
    """
    return with_settings(profile, f"{profile.name}+opaque", unanswered_fetch="servers-too", announced_to="all")


def infer(
    model: TraceModel,
    configuration: Configuration,
    seen: Sequence[CapturedMessage],
    opaque: Set[int],
    bound: Bound = DEFAULT_BOUND,
    on_seen: Callable[[], None] | None = None,
    *,
    start: Checkpoint | None = None,
    spans: Mapping[int, Span] | None = None,
    least: Mapping[int, LeastTimeouts] | None = None,
    go_on: bool = False,
) -> Inferred:
    """Infer the likeliest hidden events of the opaque replicas.

    Args:
        model: the model to search.
        configuration: the cluster, with the profile `opaque_profile`.
        seen: observations in the order of their places, from 0.
        opaque: ids of the opaque replicas.
        bound: limits of each search.
        on_seen: called after each observation.
        start: checkpoint at which the run begins, by default empty disks.
        spans: lifetimes of the connections, as far as they are recorded.
        least: shortest timeouts by replica, as far as they are known.
        go_on: True to also judge the messages after an unexplained one, although the trace ends there.
    """
    replicas = {id_: ReplicaModel(model, configuration, id_, start) for id_ in sorted(opaque)}
    facts = facts_of(seen, spans, least)
    searches = {id_: Search(replica, facts, bound) for id_, replica in replicas.items()}
    tried = messages = 0
    failure, end = None, len(seen)
    ends: dict[int, Node] = {}
    gaps: dict[int, Gap] = {}
    all_gaps: list[Gap] = []
    sent_at = sending(seen, facts.order)
    for place, observation in enumerate(seen):
        for target in sent_at[place]:
            if (search := searches.get(target.source)) is None:
                continue
            if (gap := gaps.get(target.source)) is not None:
                leader = None if target.destination in gaps else searches.get(target.destination)
                if resume(search, leader, gap, target, place):
                    del gaps[target.source]
                continue
            result = search.sent(target, place)
            tried += result.tried
            if isinstance(result, Explained):
                messages += 1
                continue
            gaps[target.source] = gap = Gap(result)
            all_gaps.append(gap)
            if failure is None:
                failure, end = result, place
                ends = {id_: search.nodes[0] for id_, search in searches.items()}
        if failure is not None and not go_on:
            break
        if observation.destination in searches:
            searches[observation.destination].received(observation)
        if on_seen is not None:
            on_seen()
    ends = ends or {id_: search.nodes[0] for id_, search in searches.items()}
    if failure is not None and failure.miss is not None:
        ends[failure.target.source] = _with_miss(failure)
    written = _Written(seen, opaque, ends, end)
    return Inferred(
        tuple(written.lines(failure)),
        tuple(written.stretches()),
        failure,
        messages,
        tried,
        {id_: replica.steps for id_, replica in replicas.items()},
        sum(search.reordered for search in searches.values()),
        tuple(all_gaps),
    )


def _with_miss(failure: Unexplained) -> Node:
    """Return the node after the nearest message of the model, matched with the captured one."""
    miss = failure.miss
    assert miss is not None
    last = miss.node.last
    assert last is not None
    return miss.node._replace(last=last._replace(matched=(*last.matched, (failure.target.number, miss.sent))))


class _Written:
    """Writer of the events of all replicas as the lines of one trace."""

    def __init__(
        self, observations: Sequence[CapturedMessage], opaque: Set[int], ends: dict[int, Node], end: int
    ) -> None:
        self._observations = observations
        self._opaque = opaque
        self._events: dict[int, list[Event]] = {id_: [*node.history()][::-1] for id_, node in ends.items()}
        self._end = end

    def lines(self, failure: Unexplained | None) -> Iterator[EventLine]:
        order = [(event.place, replica, event) for replica, events in self._events.items() for event in events]
        order.sort(key=lambda row: row[:2])
        sequences = {(replica, event.line.sequence): sequence for sequence, (_, replica, event) in enumerate(order, 1)}
        sent: dict[int, str] = {}
        captured_sends: dict[int, dict[int, int]] = defaultdict(dict)
        for replica, events in self._events.items():
            for event in events:
                for place, number in event.matched:
                    by = sequences[replica, number]
                    sent[place] = self._identifier(place, by)
                    captured_sends[by][self._observations[place].destination] = place
        for sequence, (_, _, event) in enumerate(order, 1):
            yield self._line(event, sequence, sent, captured_sends[sequence])
        if failure is not None:
            yield self._arrival(failure.target, len(order) + 1, sent)

    def _arrival(self, target: CapturedMessage, sequence: int, sent: dict[int, str]) -> EventLine:
        """Return the line that delivers the unexplained message."""
        return EventLine(
            sequence=sequence,
            time_ms=target.time_ms,
            replica=target.destination,
            event=f"{HANDLE}{target.type}",
            message=replace(target.message, id=sent.get(target.number, UNSET), correlation_id=UNSET),
        )

    def _identifier(self, place: int, sequence: int) -> str:
        captured = self._observations[place]
        suffix = CHANGE_SUFFIX if isinstance(captured.message, CHANGE_ANSWERS) else ""
        return f"{sequence}.{captured.destination}{suffix}"

    def _line(self, event: Event, sequence: int, sent: dict[int, str], places: Mapping[int, int]) -> EventLine:
        """Return the line of an event; `places` are those of its captured messages, by receiver.

        The line has its effects if all of them are captured messages.
        """
        line = replace(event.line, sequence=sequence, time_ms=self._observations[event.place].time_ms)
        if line.message is not UNSET:
            assert line.message.id is not UNSET
            place = int(line.message.id.split(".")[0])
            line = replace(line, message=self._message(place, sent))
        if line.effects:
            line = replace(line, effects=tuple([self._fetch_response(effect, sequence) for effect in line.effects]))
        elif line.effects is UNSET and event.sends and set(event.sends) == set(places):
            messages = [replace(self._message(places[to], sent), correlation_id=UNSET) for to in event.sends]
            line = replace(line, effects=tuple(map(TracedSend, messages)))
        return line

    def _message(self, place: int, sent: dict[int, str]) -> TracedMessage:
        captured = self._observations[place]
        return replace(captured.message, id=sent[place], correlation_id=self._correlation(captured))

    def _correlation(self, captured: CapturedMessage) -> int | UnsetType:
        """Return the correlation id, but UNSET between two opaque replicas, where the message id identifies it."""
        is_between = {captured.source, captured.destination} <= self._opaque
        return UNSET if is_between else captured.message.correlation_id

    def _fetch_response(self, effect: TracedEffect, sequence: int) -> TracedEffect:
        """Return a Fetch response with the correlation id of its request, given by place."""
        assert isinstance(effect, TracedSend)
        message = effect.message
        assert message.correlation_id is not UNSET
        correlation = self._correlation(self._observations[message.correlation_id])
        return TracedSend(replace(message, id=f"{sequence}.{message.destination}", correlation_id=correlation))

    def stretches(self) -> Iterator[Stretch]:
        by_place: dict[int, list[str]] = {}
        for events in self._events.values():
            for event in events:
                by_place.setdefault(event.place, []).append(event.line.event)
        for observation in self._observations[: self._end]:
            if observation.source in self._opaque:
                events_there = tuple(by_place.get(observation.number, ()))
                yield Stretch(
                    observation.number, observation.time_ms, observation.source, observation.type, events_there
                )
