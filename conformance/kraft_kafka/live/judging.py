"""From the folder of a quorum's run to one trace of all replicas, and the verdict on it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replaced
from math import ceil
from pathlib import Path

from msgspec import UNSET
from msgspec.structs import replace

from kraft_kafka.live.capture import read_capture
from kraft_kafka.live.captured import messages_of
from kraft_kafka.live.lives import passed_by_life, trace_by_life
from kraft_kafka.live.quorum import CAPTURE, Plan, Ran, read_done, read_plan
from kraft_kafka.live.start import Start
from kraft_kafka.live.traced import write_inferred
from kraft_kafka.live.unread_voters import unread_voters
from kraft_reference.configuration import ReplicaConfiguration
from kraft_reference.identity import ReplicaKey
from kraft_traces.check.fast_path import BOTH
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.effects import TracedSend
from kraft_traces.inference.inferring import Inferred, infer, of_opaque
from kraft_traces.inference.sightings import Sighting
from kraft_traces.inference.traced import seen_of
from kraft_traces.lines import EventLine
from kraft_traces.merge import Merging
from kraft_traces.process_trace import ProcessTrace, merged_header, read_process_trace
from kraft_traces.restore import configuration_of
from kraft_traces.streams import whole_file
from kraft_traces.vocabulary import HANDLE

TRACE = "quorum.jsonl"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a run comes to."""

    plan: Plan
    ran: Ran
    verdict: Verdict
    inferred: Inferred
    leaders: tuple[tuple[int, int], ...]
    """Who led, by epoch, as far as nodes know."""
    unread_voters: int | None = None
    """Of a controller whose message nothing explains: the offset of voters that it has not read, a known finding."""

    @property
    def is_accepted(self) -> bool:
        """Whether all of it was explained and is right, and somebody leads at the end."""
        is_whole = self.inferred.failure is None and self.ran.has_leader
        return is_whole and self.verdict.kind is VerdictKind.ACCEPTED


def judge(folder: Path, on_seen: Callable[[], None] | None = None) -> Judged:
    """Merge the traces of the nodes with what passed of the others, infer what these did, and check the trace of all.

    Raises:
        TraceError, MergeError, WireError: a file of the folder is damaged.
        OSError: one cannot be read, or the trace cannot be written.
    """
    plan = read_plan(folder)
    opaque = frozenset(plan.kafka)
    nodes = [one for one in plan.replicas if one not in opaque]
    paths = [folder / f"replica-{one}" / "data" / "trace.jsonl" for one in nodes]
    traces = [read_process_trace(path) for path in paths if path.exists()]
    header = merged_header(traces)
    ran = read_done(folder)
    configuration = configuration_of(header)
    if opaque:
        capture = folder / CAPTURE
        captured, frames = read_capture(capture)
        found = messages_of(captured, frames, start_us=0).seen
        seen_to_pass = [one for one in found if isinstance(one, Sighting)]
        made = passed_by_life(seen_to_pass, ran.starts)
        traces = [trace_by_life(one, seen_to_pass, made, ran.starts) for one in traces]
        passed = _as_sent(made, opaque)
        traces.append(ProcessTrace(str(capture), header, list(enumerate(_frames(passed, opaque), start=1))))
        # Whoever was formatted without voters is in no header but its own, and Kafka writes none.
        observers = {
            one.id: ReplicaConfiguration(ReplicaKey(one.id, one.directory_id), one.endpoint, initial_voters=frozenset())
            for one in captured.nodes
            if one.id not in configuration.replicas
        }
        configuration = replaced(
            configuration,
            replicas={**configuration.replicas, **observers},
            profile=of_opaque(configuration.profile),
        )
    events = tuple(Merging(traces).events())
    seen = seen_of(events, opaque, frames=True)
    inferred = infer(trace_model(), configuration, seen, opaque, on_seen=on_seen)
    with whole_file(folder / TRACE) as stream:
        write_inferred(stream, Start(configuration, None), inferred)
    verdict = check_lines(inferred.lines, configuration, str(folder / TRACE), own=False, way=BOTH)
    unread = None
    if inferred.failure is not None:
        target = inferred.failure.target
        unread = unread_voters(seen[: target.number], target.source, ran.starts.get(target.source, ()))
    return Judged(plan, ran, verdict, inferred, _leaders(inferred.lines), unread)


def _as_sent(passed: Sequence[Sighting], opaque: frozenset[int]) -> list[Sighting]:
    """The messages, with the requests of each opaque replica in the order of their correlation ids.

    A request waits for its connection, and to a replica that stands still it passes seconds after it was made.
    """
    known: dict[int, list[tuple[int, float]]] = {one: [] for one in opaque}
    order: list[tuple[float, Sighting]] = []
    for number, one in enumerate(passed):
        place = float(number)
        if one.request is None and one.source in opaque:
            before, id_ = known[one.source], int(one.message.correlation_id)
            later = [at for other, at in before if other > id_]
            if later:
                place = min(later) - 0.5
            before.append((id_, place))
        order.append((place, one._replace(time_ms=passed[ceil(place)].time_ms)))
    return [one for _, one in sorted(order, key=lambda row: row[0])]


def _frames(passed: Iterable[Sighting], opaque: frozenset[int]) -> Iterable[EventLine]:
    """What passed to and from the opaque replicas, as lines of theirs: what one sent, and what it got."""
    for one in passed:
        line = EventLine(sequence=0, time_ms=one.time_ms, replica=one.source, event="Poll")
        if one.source in opaque:
            yield replace(line, effects=(TracedSend(one.message),))
        elif one.destination in opaque:
            yield replace(line, replica=one.destination, event=f"{HANDLE}{one.type}", message=one.message)


def _leaders(lines: Sequence[EventLine]) -> tuple[tuple[int, int], ...]:
    states = [line.state for line in lines if line.state is not UNSET]
    known = {(state.epoch, state.leader_id) for state in states}
    return tuple(
        sorted((epoch, leader) for epoch, leader in known if isinstance(epoch, int) and isinstance(leader, int))
    )
