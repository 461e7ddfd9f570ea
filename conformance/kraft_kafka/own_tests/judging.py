"""Verdicts on Kafka's own tests: each client's trace against the model, with its peers not observed."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from pathlib import Path

from kraft_conformance.failure import CommandError
from kraft_kafka.agent.joining import Joined, join, join_with_opaque
from kraft_kafka.agent.reading import RawFile
from kraft_kafka.own_tests.running import KafkaTest
from kraft_kafka.releases import number
from kraft_traces.check import Verdict, VerdictKind, check_reader
from kraft_traces.errors import TraceError
from kraft_traces.reader import open_trace


class Outcome(StrEnum):
    """Result of a test."""

    UNEXPLAINED = "unexplained"
    """The model rejects a trace, and the table of known tests does not say why."""
    FINDING = "finding"
    """It shows a finding about Kafka."""
    DIFFERENCE = "known difference"
    """Kafka does otherwise than the model on purpose, or harmlessly."""
    INCORRECT_PEER = "incorrect peer"
    """The test sends what no correct peer can send."""
    NOT_JUDGED = "not judged"
    """The trace has something that no trace can have, or the whole of it is not the client's doing."""
    IN_PART = "judged in part"
    """The trace is accepted up to something that has no event of the model, or without requests that have none."""
    NO_CLIENT = "no client"
    """The test starts no client."""
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class Known:
    """Tests whose traces are rejected for a known reason."""

    tests: tuple[str, ...]
    """Class and method of each; any test if empty."""
    outcome: Outcome
    reason: str
    events: tuple[str, ...]
    """The event that the model rejects, one of these; `malformed` for a trace that cannot be read."""
    fields: tuple[str, ...]
    """Beginnings of the fields that differ; any if empty."""
    expected: str
    """Beginning of each expected value."""
    until: tuple[int, ...]
    """Last minor version that it is about; empty for all."""

    def concerns(self, name: str, version: str | None, event: str) -> bool:
        """True if it is about this event in a test of a version of Kafka; None is the newest version."""
        is_old = not self.until or (version is not None and number(version)[: len(self.until)] <= self.until)
        return is_old and event in self.events and (not self.tests or name in self.tests)

    def explains(self, name: str, version: str | None, verdict: Verdict) -> bool:
        """True if it is the reason why the model rejects a trace of this test."""
        rejection = verdict.rejection
        if rejection is None or not self.concerns(name, version, rejection.event):
            return False
        return all(
            it.expected.startswith(self.expected) and (not self.fields or it.field.startswith(self.fields))
            for it in rejection.differences
        )


@dataclass(frozen=True, slots=True)
class JudgedTrace:
    """The verdict on the trace of one client."""

    outcome: Outcome
    reason: str | None
    events: int
    """Number of events that the model allows."""
    line: int | None = None
    """Line of the trace that the model rejects."""
    trace: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedTest:
    """The verdict on a test: the worst of its clients' traces."""

    test: KafkaTest
    traces: tuple[JudgedTrace, ...]

    @property
    def outcome(self) -> Outcome:
        order = list(Outcome)
        return min((trace.outcome for trace in self.traces), key=order.index, default=Outcome.NO_CLIENT)

    @property
    def reason(self) -> str | None:
        return next((trace.reason for trace in self.traces if trace.outcome is self.outcome), None)

    def as_dict(self, *, keeps_traces: bool) -> Mapping[str, object]:
        """Return the value that `--json` prints, with the traces' paths if they are kept."""
        return {
            "test": self.test.name,
            "parameters": self.test.parameters,
            "junit": self.test.result,
            "outcome": self.outcome,
            "reason": self.reason,
            "events": sum(trace.events for trace in self.traces),
            "traces": [
                {"outcome": it.outcome, "reason": it.reason, "events": it.events, "line": it.line}
                | ({"trace": it.trace} if keeps_traces else {})
                for it in self.traces
            ],
        }


@cache
def known_tests() -> Sequence[Known]:
    """Return the table of known tests."""
    table = tomllib.loads((files("kraft_kafka.own_tests") / "known.toml").read_text(encoding="utf-8"))
    return [
        Known(
            tuple(entry.get("tests", ())),
            Outcome(entry["outcome"]),
            entry["reason"],
            tuple(entry["events"]),
            tuple(entry.get("fields", ())),
            entry.get("expected", ""),
            number(entry.get("until", "")),
        )
        for entry in table["known"]
    ]


def judge(test: KafkaTest) -> JudgedTest:
    """Judge the traces of a test, which are written beside the agent's files.

    Raises:
        OSError: a trace cannot be written.
    """
    traced = [test.files] if test.is_simulation and test.files else [(file,) for file in test.files]
    return JudgedTest(test, tuple(_judge(test.name, files) for files in traced))


def _judge(name: str, files: Sequence[RawFile]) -> JudgedTrace:
    version = files[0].start.kafka
    trace = Path(files[0].source.replace(".raw.jsonl", ".jsonl"))
    try:
        joined = join_with_opaque(files, None) if len(files) == 1 else Joined(tuple(join(files, None)), None, 0)
        trace.write_bytes(b"".join(joined.lines))
        with open_trace(trace, source=str(trace)) as reader:
            verdict = check_reader(reader)
    except (CommandError, TraceError) as error:
        malformed = next((known for known in known_tests() if known.concerns(name, version, "malformed")), None)
        if malformed is not None:
            return JudgedTrace(malformed.outcome, malformed.reason, 0)
        return JudgedTrace(Outcome.NOT_JUDGED, _without_paths(str(error)), 0)
    if verdict.kind is VerdictKind.ACCEPTED and joined.unnamed_requests:
        return JudgedTrace(Outcome.IN_PART, _UNNAMED, verdict.events, trace=str(trace))
    if verdict.kind is VerdictKind.ACCEPTED:
        return JudgedTrace(Outcome.ACCEPTED, None, verdict.events, trace=str(trace))
    if verdict.rejection is None:
        reason = joined.unjudged or verdict.reason or "the trace is incomplete"
        outcome = Outcome.IN_PART if verdict.events else Outcome.NOT_JUDGED
        return JudgedTrace(outcome, _without_paths(reason), verdict.events, trace=str(trace))
    known = next((known for known in known_tests() if known.explains(name, version, verdict)), None)
    outcome = Outcome.UNEXPLAINED if known is None else known.outcome
    reason = _describe(verdict) if known is None else known.reason
    return JudgedTrace(outcome, reason, verdict.events, verdict.rejection.line, str(trace))


def _describe(verdict: Verdict) -> str:
    rejection = verdict.rejection
    assert rejection is not None, "the caller has checked it"
    differing = "; ".join(f"{it.field}: expected {it.expected}, got {it.actual}" for it in rejection.differences[:3])
    return f"{rejection.event}: {differing or rejection.note or ', '.join(rejection.properties) or rejection.kind}"


_UNNAMED = "a request without a replica id has no event"
_PATH = re.compile(r"\S*/\S+\.jsonl(:\d+)?: ")


def _without_paths(reason: str) -> str:
    return _PATH.sub("", reason)


def counts(judged: Iterable[JudgedTest]) -> Mapping[Outcome, int]:
    """Return the number of tests with each outcome, of those that occur."""
    outcomes = [it.outcome for it in judged]
    return {outcome: outcomes.count(outcome) for outcome in reversed(Outcome) if outcome in outcomes}
