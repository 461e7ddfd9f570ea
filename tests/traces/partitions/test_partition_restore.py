"""The event of a line is the event that was written, whatever it is."""

import msgspec

from kraft_dev.partition_workload import random_configuration, random_run
from kraft_reference.partitions import events
from kraft_traces.partitions.encode import event_of, line_of
from kraft_traces.partitions.lines import PartitionEventLine

KINDS = set(events.Event.__args__)


def _events(seed: int, length: int) -> list[tuple[events.Event, events.Event]]:
    """The events of a random run, each with what comes back of its line."""
    run = random_run(random_configuration(seed), seed, length)
    lines = [msgspec.json.decode(msgspec.json.encode(line_of(one)), type=PartitionEventLine) for one in run]
    return [(one.event, event_of(line.event)) for one, line in zip(run, lines, strict=True)]


def test_every_kind_of_event_comes_back() -> None:
    pairs = _events(1, 600)
    assert {type(read) for _, read in pairs} == KINDS
    assert all(read == written for written, read in pairs)
