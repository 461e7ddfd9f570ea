"""From what was seen of a cluster to a trace with the hidden events in it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from dataclasses import replace as replaced

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_reference.configuration import Configuration
from kraft_reference.profile import Profile
from kraft_simulation.checkpoint import Checkpoint
from kraft_traces.check.model import TraceModel
from kraft_traces.effects import TracedEffect, TracedSend
from kraft_traces.inference.known import known_of
from kraft_traces.inference.nodes import Event, Node
from kraft_traces.inference.order import sending
from kraft_traces.inference.replica import ReplicaModel
from kraft_traces.inference.resuming import Gap, resume
from kraft_traces.inference.search import DEFAULT_BOUND, Bound, Explained, Search, Unexplained
from kraft_traces.inference.sightings import OwnLine, Seen, Sighting, Span
from kraft_traces.inference.timing import LeastTimeouts
from kraft_traces.lines import EventLine
from kraft_traces.message_types import CHANGE_ANSWERS, TracedMessage
from kraft_traces.values import CHANGE_SUFFIX
from kraft_traces.vocabulary import HANDLE


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was inferred of one replica before one message that it was seen to send."""

    place: int
    time_ms: int
    replica: int
    message: str
    """Its type."""
    events: tuple[str, ...]
    """The events, the one that sent the message among them; none if an earlier one did."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """A trace with inferred events."""

    lines: tuple[EventLine, ...]
    stretches: tuple[Stretch, ...]
    failure: Unexplained | None
    """The message at which the search gave up; with a near miss the trace ends with what shows it."""
    messages: int
    """Number of messages of opaque replicas that are explained."""
    tried: int
    """How many nodes all searches went over."""
    steps: Mapping[int, int]
    """How often the model was asked of each opaque replica."""
    reordered: int
    """How many messages were seen after one that was sent later."""
    gaps: tuple[Gap, ...]
    """Messages that are not judged, the first of them those of `failure`."""


def of_opaque(profile: Profile) -> Profile:
    """The profile with the open answers that leave most to a replica nobody sees into: whom it may ask, unanswered, and
    to whom it announces itself.

    Rules: fetch.who-fetches, begin-quorum.resend.
    """
    return replaced(profile, name=f"{profile.name}+opaque", unanswered_fetch="servers-too", announced_to="all")


def infer(
    model: TraceModel,
    configuration: Configuration,
    seen: Sequence[Seen],
    opaque: Set[int],
    bound: Bound = DEFAULT_BOUND,
    on_seen: Callable[[], None] | None = None,
    *,
    start: Checkpoint | None = None,
    spans: Mapping[int, Span] | None = None,
    least: Mapping[int, LeastTimeouts] | None = None,
    go_on: bool = False,
) -> Inferred:
    """The likeliest hidden events of the opaque replicas.

    Args:
        model: what is searched.
        configuration: the cluster, its profile `of_opaque`.
        seen: in the order of their places, which count from 0.
        opaque: ids of the replicas of which only messages are seen.
        bound: how far each search goes.
        on_seen: called after each that was seen.
        start: where the run begins, if not on fresh disks.
        spans: lifetimes of the connections, as far as they are recorded.
        least: shortest timeouts by replica, as far as they are known.
        go_on: also judge the messages after one that nothing explains; the trace ends there all the same.
    """
    replicas = {one: ReplicaModel(model, configuration, one, start) for one in sorted(opaque)}
    known = known_of(seen, spans, least)
    searches = {one: Search(replica, known, bound) for one, replica in replicas.items()}
    tried = messages = 0
    failure, end = None, len(seen)
    ends: dict[int, Node] = {}
    gaps: dict[int, Gap] = {}
    all_gaps: list[Gap] = []
    sent_at = sending(seen, known.order)
    for place, one in enumerate(seen):
        for target in sent_at[place]:
            if (search := searches.get(target.source)) is None:
                continue
            if (gap := gaps.get(target.source)) is not None:
                leader = None if target.destination in gaps else searches.get(target.destination)
                if resume(search, leader, gap, target, place):
                    del gaps[target.source]
                continue
            found = search.sent(target, place)
            tried += found.tried
            if isinstance(found, Explained):
                messages += 1
                continue
            gaps[target.source] = gap = Gap(found)
            all_gaps.append(gap)
            if failure is None:
                failure, end = found, place
                ends = {one: search.nodes[0] for one, search in searches.items()}
        if failure is not None and not go_on:
            break
        if isinstance(one, Sighting) and one.destination in searches and one.arrives:
            searches[one.destination].received(one)
        if on_seen is not None:
            on_seen()
    ends = ends or {one: search.nodes[0] for one, search in searches.items()}
    if failure is not None and failure.miss is not None:
        ends[failure.target.source] = _with_miss(failure)
    own = [one for one in seen[:end] if isinstance(one, OwnLine)]
    written = _Written(seen, own, opaque, ends, end)
    return Inferred(
        tuple(written.lines(failure)),
        tuple(written.stretches()),
        failure,
        messages,
        tried,
        {one: replica.steps for one, replica in replicas.items()},
        sum(search.reordered for search in searches.values()),
        tuple(all_gaps),
    )


def _with_miss(failure: Unexplained) -> Node:
    """The replica after it has sent the message that comes nearest, taken for the one that was seen."""
    miss = failure.miss
    assert miss is not None
    last = miss.node.last
    assert last is not None
    return miss.node._replace(last=last._replace(seen=(*last.seen, (failure.target.number, miss.sent))))


class _Written:
    """The events of all replicas as the lines of one trace."""

    def __init__(
        self, seen: Sequence[Seen], own: Sequence[OwnLine], opaque: Set[int], ends: dict[int, Node], end: int
    ) -> None:
        self._seen, self._own_lines = seen, own
        self._opaque = opaque
        self._events: dict[int, list[Event]] = {one: [*node.history()][::-1] for one, node in ends.items()}
        self._end = end

    def lines(self, failure: Unexplained | None) -> Iterator[EventLine]:
        order: list[tuple[int, int, Event | OwnLine]] = [
            (event.place, replica, event) for replica, events in self._events.items() for event in events
        ]
        order += [(one.number, -1, one) for one in self._own_lines]
        order.sort(key=lambda row: row[:2])
        sequences: dict[tuple[int, int], int] = {}
        sent: dict[int, str] = {}
        shown: dict[int, dict[int, int]] = defaultdict(dict)
        for sequence, (_, replica, one) in enumerate(order, 1):
            if isinstance(one, OwnLine):
                for place in one.sends:
                    sent[place] = self._identifier(place, sequence)
            else:
                sequences[replica, one.line.sequence] = sequence
        for replica, events in self._events.items():
            for event in events:
                for place, number in event.seen:
                    by = sequences[replica, number]
                    sent[place] = self._identifier(place, by)
                    shown[by][self._sighting(place).destination] = place
        for sequence, (_, _, one) in enumerate(order, 1):
            if isinstance(one, OwnLine):
                yield self._own(one, sequence, sent)
            else:
                yield self._line(one, sequence, sent, shown[sequence])
        if failure is not None:
            yield self._arrival(failure.target, len(order) + 1, sent)

    def _arrival(self, target: Sighting, sequence: int, sent: dict[int, str]) -> EventLine:
        """The message that nothing explains, as it comes to its receiver."""
        return EventLine(
            sequence=sequence,
            time_ms=target.time_ms,
            replica=target.destination,
            event=f"{HANDLE}{target.type}",
            message=replace(target.message, id=sent.get(target.number, UNSET), correlation_id=UNSET),
        )

    def _identifier(self, place: int, sequence: int) -> str:
        sighting = self._sighting(place)
        suffix = CHANGE_SUFFIX if isinstance(sighting.message, CHANGE_ANSWERS) else ""
        return f"{sequence}.{sighting.destination}{suffix}"

    def _sighting(self, place: int) -> Sighting:
        one = self._seen[place]
        assert isinstance(one, Sighting), "a message stands there"
        return one

    def _line(self, event: Event, sequence: int, sent: dict[int, str], places: Mapping[int, int]) -> EventLine:
        """`places` are those of what it was seen to send, by receiver.

        Its effects are shown where they are messages alone, and each of these was seen.
        """
        line = replace(event.line, sequence=sequence, time_ms=self._time(event.place))
        if line.message is not UNSET:
            assert line.message.id is not UNSET
            place = int(line.message.id.split(".")[0])
            line = replace(line, message=self._message(place, sent))
        if line.effects:
            line = replace(line, effects=tuple([self._sent_by_it(one, sequence) for one in line.effects]))
        elif line.effects is UNSET and event.sends and set(event.sends) == set(places):
            shown = [replace(self._message(places[to], sent), correlation_id=UNSET) for to in event.sends]
            line = replace(line, effects=tuple(map(TracedSend, shown)))
        return line

    def _time(self, place: int) -> int | UnsetType:
        one = self._seen[place]
        return one.time_ms if isinstance(one, Sighting) else one.line.time_ms

    def _message(self, place: int, sent: dict[int, str]) -> TracedMessage:
        sighting = self._sighting(place)
        return replace(sighting.message, id=sent[place], correlation_id=self._correlation(sighting))

    def _correlation(self, sighting: Sighting) -> int | UnsetType:
        """Of messages between two opaque replicas the id says nothing that the message's own does not."""
        is_between = {sighting.source, sighting.destination} <= self._opaque
        return UNSET if is_between else sighting.message.correlation_id

    def _sent_by_it(self, effect: TracedEffect, sequence: int) -> TracedEffect:
        """An answer to a Fetch, whose correlation id is the place of the request."""
        assert isinstance(effect, TracedSend)
        message = effect.message
        assert message.correlation_id is not UNSET
        correlation = self._correlation(self._sighting(message.correlation_id))
        return TracedSend(replace(message, id=f"{sequence}.{message.destination}", correlation_id=correlation))

    def _own(self, own: OwnLine, sequence: int, sent: dict[int, str]) -> EventLine:
        line = replace(own.line, sequence=sequence, cause=UNSET)
        if own.delivers is not None and line.message is not UNSET:
            line = replace(line, message=replace(line.message, id=sent[own.delivers]))
        if line.effects:
            places = iter(own.sends)
            line = replace(
                line,
                effects=tuple(
                    [
                        TracedSend(replace(one.message, id=sent[next(places)])) if isinstance(one, TracedSend) else one
                        for one in line.effects
                    ]
                ),
            )
        return line

    def stretches(self) -> Iterator[Stretch]:
        by_place: dict[int, list[str]] = {}
        for events in self._events.values():
            for event in events:
                by_place.setdefault(event.place, []).append(event.line.event)
        for one in self._seen[: self._end]:
            if isinstance(one, Sighting) and one.source in self._opaque:
                events_there = tuple(by_place.get(one.number, ()))
                yield Stretch(one.number, one.time_ms, one.source, one.type, events_there)
