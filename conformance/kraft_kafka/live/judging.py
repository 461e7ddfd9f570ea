"""Judging of a quorum's run: one trace of all replicas from its folder, and the verdict on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from msgspec import UNSET

from kraft_kafka.agent.mixed import with_controllers
from kraft_kafka.agent.reading import read_raw
from kraft_kafka.agent.unread_voters import has_unread_voters
from kraft_kafka.live.quorum import AGENT_FILES, Plan, Ran, read_done, read_plan
from kraft_traces.check.fast_path import BOTH
from kraft_traces.check.run import check_reader
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EndLine, EventLine, Generator
from kraft_traces.merge import Merging
from kraft_traces.process_trace import merged_header, read_process_trace
from kraft_traces.reader import open_trace
from kraft_traces.restore import configuration_of
from kraft_traces.streams import atomic_file

TRACE = "quorum.jsonl"
_GENERATOR = "kraft-spec live quorum"


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of a run."""

    plan: Plan
    ran: Ran
    verdict: Verdict
    lines: tuple[EventLine, ...]
    leaders: tuple[tuple[int, int], ...]
    """Epochs and their leaders, as the lines show them."""

    @property
    def is_accepted(self) -> bool:
        """True if every line is one of the model's, and the run ended with a leader."""
        return self.ran.has_leader and self.verdict.kind is VerdictKind.ACCEPTED

    @property
    def has_unread_voters(self) -> bool:
        """True if a controller of Kafka's has not read a voters record: a known finding."""
        rejection = self.verdict.rejection
        return rejection is not None and rejection.replica in self.plan.kafka and has_unread_voters(rejection)


def judge(folder: Path) -> Judged:
    """Merge the nodes' traces with the agent's files of Kafka's controllers, and check the whole trace.

    Raises:
        TraceError, MergeError, CommandError: a file of the folder is damaged.
        CompiledModelError: the compiled model and TLC disagree.
        OSError: a file cannot be read, or the trace cannot be written.
    """
    plan, ran = read_plan(folder), read_done(folder)
    paths = [folder / f"replica-{id_}" / "data" / "trace.jsonl" for id_ in plan.replicas if id_ not in plan.kafka]
    traces = [read_process_trace(path) for path in paths if path.exists()]
    configuration = configuration_of(merged_header(traces))
    if plan.kafka:
        files = read_raw(sorted(folder.glob(AGENT_FILES)))
        configuration, traces = with_controllers(traces, files, ran.clock_offset_us)
    merging = Merging(traces)
    lines = tuple(merging.lines())
    events = tuple(line for line in lines if isinstance(line, EventLine))
    is_complete = not merging.has_unrecorded and all(trace.is_complete for trace in traces)
    path = folder / TRACE
    with atomic_file(path) as stream:
        stream.write(encode_line(header_line(configuration, _generator(), kip_levels={})))
        stream.writelines(map(encode_line, lines))
        stream.write(encode_line(EndLine(len(events), is_complete)))
    with open_trace(path) as reader:
        verdict = check_reader(reader, way=BOTH)
    return Judged(plan, ran, verdict, events, _list_leaders(events))


def _generator() -> Generator:
    return Generator(_GENERATOR, version("kraft-spec"))


def _list_leaders(lines: Sequence[EventLine]) -> tuple[tuple[int, int], ...]:
    states = [line.state for line in lines if line.state is not UNSET]
    leaders = {(state.epoch, state.leader_id) for state in states}
    return tuple(
        sorted((epoch, leader) for epoch, leader in leaders if isinstance(epoch, int) and isinstance(leader, int))
    )
