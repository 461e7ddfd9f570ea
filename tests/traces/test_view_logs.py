"""What the page of a trace is told of logs that the trace shows in part."""

import pytest
from msgspec import UNSET, to_builtins
from msgspec.structs import replace
from tests.traces.checkpointed import FOREIGN, simulated

from kraft_reference.records import RecordKind
from kraft_traces.effects import TracedAppendRecords, TracedWriteSnapshot
from kraft_traces.encode import header_line
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState
from kraft_traces.values import TracedRecord, TracedSnapshot
from kraft_traces.view import Document, page_of, view_document
from kraft_traces.view.document import Numbered

RUN = simulated("calm", 5, 20)


def told(lines: tuple[EventLine, ...]) -> Document:
    numbered = [Numbered(number, line) for number, line in enumerate(lines, 2)]
    return view_document("run.jsonl", header_line(RUN.configuration, FOREIGN), numbered, None, complete=True)


def _ends(*ends: int) -> tuple[EventLine, ...]:
    """Lines of a replica that show where its log ends, and nothing else."""
    (line, *_) = (line for line in RUN.events if line.state is not UNSET)
    return tuple(replace(line, effects=UNSET, state=TracedState(log_end_offset=end)) for end in ends)


@pytest.mark.parametrize("end", [1, 30_000_000, 2**63 - 1])
def test_an_offset_says_nothing_about_the_size_of_the_page(end: int) -> None:
    lines = _ends(end, end - 1, end)
    document = told(lines)
    assert [event["log"] for event in document["events"]] == [
        {"start": 0, "end": 0, "added": (end,)},
        {"start": 0, "end": end - 1, "added": ()},
        {"start": 0, "end": end - 1, "added": (1,)},
    ]
    assert len(page_of(document, "title")) < 150_000


def test_records_among_those_that_are_not_shown() -> None:
    record = TracedRecord(epoch=1, kind=RecordKind.DATA, value=7)
    (bare,) = _ends(2)
    appended = TracedAppendRecords(base_offset=5, records=(record, record))
    snapshot = TracedWriteSnapshot(
        TracedSnapshot(end_offset=3, epoch=1, kraft_version=1, voters=(), details=()), replaces_log=False
    )
    lines = (
        bare,
        replace(bare, effects=(appended,), state=UNSET),
        replace(bare, effects=(snapshot,), state=UNSET),
        replace(bare, effects=UNSET, state=TracedState(log_start_offset=2, log_end_offset=9)),
    )
    (before, *changes) = (event["log"] for event in told(lines)["events"])
    shown = to_builtins(record)
    assert before == {"start": 0, "end": 0, "added": (2,)}
    assert changes == [
        {"start": 0, "end": 2, "added": (3, shown, shown)},
        {"start": 3, "end": 7, "added": ()},
        {"start": 2, "end": 2, "added": (7,)},
    ]
