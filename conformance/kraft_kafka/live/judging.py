"""Judging of a quorum's run: one trace of all replicas from its folder, and the verdict on it."""

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
from kraft_traces.inference.captured import CapturedMessage
from kraft_traces.inference.inferring import Inferred, infer, opaque_profile
from kraft_traces.inference.traced import seen_of
from kraft_traces.lines import EventLine
from kraft_traces.merge import Merging
from kraft_traces.process_trace import ProcessTrace, merged_header, read_process_trace
from kraft_traces.restore import configuration_of
from kraft_traces.streams import atomic_file
from kraft_traces.vocabulary import HANDLE

TRACE = "quorum.jsonl"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of a run."""

    plan: Plan
    ran: Ran
    verdict: Verdict
    inferred: Inferred
    leaders: tuple[tuple[int, int], ...]
    """Epochs and their leaders, as the nodes know them."""
    unread_voters: int | None = None
    """Offset of the voters record that a controller with an unexplained message has not read: a known finding."""

    @property
    def is_accepted(self) -> bool:
        """True if all messages are explained and correct, and the run ended with a leader."""
        is_whole = self.inferred.failure is None and self.ran.has_leader
        return is_whole and self.verdict.kind is VerdictKind.ACCEPTED


def judge(folder: Path, on_seen: Callable[[], None] | None = None) -> Judged:
    """Merge the nodes' traces with the other replicas' messages, infer the latter's events, and check the whole trace.

    Raises:
        TraceError, MergeError, WireError: a file of the folder is damaged.
        OSError: a file cannot be read, or the trace cannot be written.
    """
    plan = read_plan(folder)
    opaque = frozenset(plan.kafka)
    nodes = [id_ for id_ in plan.replicas if id_ not in opaque]
    paths = [folder / f"replica-{id_}" / "data" / "trace.jsonl" for id_ in nodes]
    traces = [read_process_trace(path) for path in paths if path.exists()]
    header = merged_header(traces)
    ran = read_done(folder)
    configuration = configuration_of(header)
    if opaque:
        capture = folder / CAPTURE
        captured, frames = read_capture(capture)
        messages = messages_of(captured, frames, start_us=0).seen
        captured_messages = [message for message in messages if isinstance(message, CapturedMessage)]
        renumbered = passed_by_life(captured_messages, ran.starts)
        traces = [trace_by_life(trace, captured_messages, renumbered, ran.starts) for trace in traces]
        ordered = _as_sent(renumbered, opaque)
        traces.append(ProcessTrace(str(capture), header, list(enumerate(_to_lines(ordered, opaque), start=1))))
        # A node formatted without voters is only in its own header, and Kafka writes no header.
        observers = {
            it.id: ReplicaConfiguration(ReplicaKey(it.id, it.directory_id), it.endpoint, initial_voters=frozenset())
            for it in captured.nodes
            if it.id not in configuration.replicas
        }
        configuration = replaced(
            configuration,
            replicas={**configuration.replicas, **observers},
            profile=opaque_profile(configuration.profile),
        )
    events = tuple(line for line in Merging(traces).lines() if isinstance(line, EventLine))
    seen = seen_of(events, opaque, frames=True)
    inferred = infer(trace_model(), configuration, seen, opaque, on_seen=on_seen)
    with atomic_file(folder / TRACE) as stream:
        write_inferred(stream, Start(configuration, None), inferred)
    verdict = check_lines(inferred.lines, configuration, str(folder / TRACE), own=False, way=BOTH)
    unread = None
    if inferred.failure is not None:
        target = inferred.failure.target
        unread = unread_voters(seen[: target.number], target.source, ran.starts.get(target.source, ()))
    return Judged(plan, ran, verdict, inferred, _list_leaders(inferred.lines), unread)


def _as_sent(passed: Sequence[CapturedMessage], opaque: frozenset[int]) -> list[CapturedMessage]:
    """Return the messages, with each opaque replica's requests ordered by correlation id.

    A request waits for its connection: to a paused replica it passes seconds after it was made.
    """
    placed: dict[int, list[tuple[int, float]]] = {id_: [] for id_ in opaque}
    order: list[tuple[float, CapturedMessage]] = []
    for number, message in enumerate(passed):
        place = float(number)
        if message.request is None and message.source in opaque:
            before, id_ = placed[message.source], int(message.message.correlation_id)
            later = [at for other, at in before if other > id_]
            if later:
                place = min(later) - 0.5
            before.append((id_, place))
        order.append((place, message._replace(time_ms=passed[ceil(place)].time_ms)))
    return [message for _, message in sorted(order, key=lambda row: row[0])]


def _to_lines(passed: Iterable[CapturedMessage], opaque: frozenset[int]) -> Iterable[EventLine]:
    """Yield lines of the opaque replicas: the messages that each sent and received."""
    for it in passed:
        line = EventLine(sequence=0, time_ms=it.time_ms, replica=it.source, event="Poll")
        if it.source in opaque:
            yield replace(line, effects=(TracedSend(it.message),))
        elif it.destination in opaque:
            yield replace(line, replica=it.destination, event=f"{HANDLE}{it.type}", message=it.message)


def _list_leaders(lines: Sequence[EventLine]) -> tuple[tuple[int, int], ...]:
    states = [line.state for line in lines if line.state is not UNSET]
    leaders = {(state.epoch, state.leader_id) for state in states}
    return tuple(
        sorted((epoch, leader) for epoch, leader in leaders if isinstance(epoch, int) and isinstance(leader, int))
    )
