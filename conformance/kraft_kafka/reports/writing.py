"""Unit tests in Kafka's style, and issue texts for Kafka's tracker, by finding."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from kraft_kafka.recorded import with_releases

_CONTROL_RECORDS = "org/apache/kafka/raft/internals/ControlRecordsAfterTruncationTest.java"
UNIT_TESTS: Mapping[str, str] = {
    "own-vote-before-known-leader": "org/apache/kafka/raft/QuorumStateOwnVoteTest.java",
    "unread-voters": _CONTROL_RECORDS,
    "outlived-voters-record": _CONTROL_RECORDS,
}
"""Path of each test below raft/src/test/java."""


def write_unit_tests(finding: str, folder: Path) -> Path:
    """Write the unit tests of a finding below a folder, and return their file.

    Raises:
        KeyError: the finding has none.
        OSError: the folder cannot be written.
    """
    name = UNIT_TESTS[finding]
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text((files("kraft_kafka.reports") / name).read_text(encoding="utf-8"), encoding="utf-8")
    return path


def tracker_text(finding: str) -> str:
    """Return the issue text for Kafka's tracker, which names the recorded releases that show the finding.

    Raises:
        FileNotFoundError: the finding has none.
    """
    text = (files("kraft_kafka.reports") / f"{finding}.md").read_text(encoding="utf-8")
    return with_releases(text, finding)
