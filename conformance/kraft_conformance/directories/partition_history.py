"""The history of the partitions of a simulated cluster: a kraft-partition-trace/1 that is replayed and written whole.

A request of which nothing is granted changes nothing, and is not kept.
"""

from dataclasses import dataclass
from pathlib import Path

from msgspec.json import encode

from kraft_conformance.directories.errors import bad_file, refused
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_reference.partitions.effects import AlterReassignmentsAnswer
from kraft_reference.partitions.events import Event
from kraft_reference.partitions.occurrence import PartitionOccurrence, happen
from kraft_reference.partitions.partition import Partitions
from kraft_reference.partitions.state import ControllerState, initial_state
from kraft_traces.errors import TruncatedFileError
from kraft_traces.partitions.encode import configuration_of, encoded, header_of, line_of
from kraft_traces.partitions.reader import partition_trace_of_bytes
from kraft_traces.partitions.restore import event_of
from kraft_traces.streams import open_bytes, whole_file

_ALTERED = "is not what the reference does here: the file was altered, or another version wrote it"


@dataclass(frozen=True, slots=True)
class PartitionHistory:
    """What the controller of a cluster has done so far; a longer one is another value."""

    configuration: PartitionConfiguration
    occurrences: tuple[PartitionOccurrence, ...] = ()

    @property
    def state(self) -> ControllerState:
        """The cluster now."""
        return self.occurrences[-1].state if self.occurrences else initial_state(self.configuration)

    def then(self, event: Event) -> "PartitionHistory":
        """The history with one more event."""
        last = happen(len(self.occurrences) + 1, self.state, event, self.configuration)
        return PartitionHistory(self.configuration, (*self.occurrences, last))

    def worked_on(self, event: Event) -> "PartitionHistory":
        """The history with one more event that the cluster itself causes, and so has no reason to refuse."""
        longer = self.then(event)
        assert longer.occurrences[-1].refusal is None, f"{event} is refused, and would be tried for ever"
        return longer

    def extended(self, configuration: PartitionConfiguration) -> "PartitionHistory":
        """The same history in a cluster with more brokers or topics, which are in the header from the beginning.

        Raises:
            CommandError: with them something else would have happened: a request asked for what there was not.
        """
        longer = PartitionHistory(configuration)
        for before in self.occurrences:
            longer = longer.then(before.event)
            after = longer.occurrences[-1]
            if _answer(after) != _answer(before) or not _has_all(after.state.partitions, before.state.partitions):
                raise refused(
                    f"event {before.sequence} of the history asked for a partition or a broker that there was not; "
                    "a trace has them in its header, so that this history cannot have it now: use another name, "
                    "or another cluster directory"
                )
        return longer


def _answer(occurrence: PartitionOccurrence) -> AlterReassignmentsAnswer | None:
    return next((effect for effect in occurrence.effects if isinstance(effect, AlterReassignmentsAnswer)), None)


def _has_all(after: Partitions, before: Partitions) -> bool:
    return all(after.get(name) == partition for name, partition in before.items())


def read_partition_history(source: Path) -> PartitionHistory:
    """The history in a file.

    Every line is compared with what the reference does, so that an altered history is noticed where it was altered.

    Raises:
        TraceError: the file is no trace of partitions.
        CommandError: it is not one of this reference; the message names the line.
    """
    with open_bytes(source) as stream:
        content = stream.read()
    reader = partition_trace_of_bytes(content, str(source))
    first, *texts = content.splitlines(keepends=True)
    configuration = configuration_of(reader.header)
    if encode(header_of(configuration, switched_off=reader.header.switched_off)) + b"\n" != first:
        raise bad_file(source, 1, None, "is not a header as `kraft-spec admin topics create` writes it")
    if reader.header.switched_off:
        raise bad_file(source, 1, "$.switched_off", "expected no rule that is switched off")
    history = PartitionHistory(configuration)
    if texts and not texts[-1].endswith(b"\n"):
        raise TruncatedFileError("expected a whole line", str(source), len(texts) + 1)
    for number, line in reader if texts else ():
        history = history.then(event_of(line.event))
        if encode(line_of(history.occurrences[-1])) + b"\n" != texts[number - 2]:
            raise bad_file(source, number, None, _ALTERED)
    return history


def write_partition_history(target: Path, history: PartitionHistory) -> None:
    """Write the whole history; the file changes in one step or not at all.

    Raises:
        OSError: the operating system refuses.
    """
    with whole_file(target) as stream:
        for line in encoded(history.configuration, history.occurrences):
            stream.write(line)
