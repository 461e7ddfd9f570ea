"""Logs in words."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from kraft_spec.counterexamples.state import value_words


def end_offset(replica: Mapping[Any, Any]) -> int:
    """Return the offset after the last record of a replica, or of the committed log."""
    end: int = replica["base"]["end_offset"] + len(replica["log"])
    return end


def record_words(record: Mapping[Any, Any]) -> str:
    """Return text such as `LeaderChange`, `Data 2`, `Voters {1-A, 2-B}`."""
    kind = str(record["kind"])
    match kind:
        case "Voters":
            return f"{kind} {value_words(record['voters'])}"
        case "VoterAssignment":
            return f"{kind} {value_words(record['voters'])} with target {value_words(record['target'])}"
        case "KRaftVersion":
            return f"{kind} {record['value']}"
        case "Data" if record["value"]:
            return f"{kind} {record['value']}"
    return kind


def records_words(records: Sequence[Mapping[Any, Any]]) -> str:
    """Return records by their epochs, such as `LeaderChange, Data of epoch 1, Data of epoch 2`."""
    runs = [
        f"{', '.join(map(record_words, run))} of epoch {epoch}"
        for epoch, run in groupby(records, key=lambda record: record["epoch"])
    ]
    return ", ".join(runs)


def log_words(replica: Mapping[Any, Any]) -> str:
    """Return a whole log with its snapshot; `empty log` if there is neither."""
    base = replica["base"]["end_offset"]
    parts = [f"a snapshot up to offset {base}"] if base else []
    if replica["log"]:
        parts.append(records_words(replica["log"]))
    return f"log [{'; '.join(parts)}]" if parts else "empty log"


def log_changes(before: Mapping[Any, Any], after: Mapping[Any, Any]) -> list[str]:
    """Return the changes of a log: a snapshot that replaces its beginning, truncation, appended records."""
    phrases: list[str] = []
    start, old_end, new_end = after["base"]["end_offset"], end_offset(before), end_offset(after)
    if before["base"]["end_offset"] != start:
        phrases.append(f"its log begins with a snapshot up to offset {start}")
    agreed = max(start, before["base"]["end_offset"])
    while agreed < min(old_end, new_end) and _at(before, agreed) == _at(after, agreed):
        agreed += 1
    if agreed < old_end:
        phrases.append(f"cuts its log at offset {agreed}")
    if agreed < new_end:
        appended = after["log"][agreed - start :]
        phrases.append(f"appends at offset {agreed}: {records_words(appended)}")
    return phrases


def _at(replica: Mapping[Any, Any], offset: int) -> Any:
    return replica["log"][offset - replica["base"]["end_offset"]]
