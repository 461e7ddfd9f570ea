"""Verdict on a trace and reason of its rejection."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from kraft_spec.difference import Difference
from kraft_traces.alternatives.decisions import OpenAnswer
from kraft_traces.check.compared import NOTHING_COMPARED, Compared
from kraft_traces.check.judged import JUDGED_IN_FULL, Judged
from kraft_traces.check.wording import WHOLE


class VerdictKind(StrEnum):
    """The verdict on a trace."""

    ACCEPTED = "accepted"
    """Every line is a step of the model, all properties hold, and the trace says that it is complete."""
    REJECTED = "rejected"
    """A line is not a step of the model, or a property is violated."""
    INCONCLUSIVE = "inconclusive"
    """The trace stops early, or omits so many fields that there are too many candidate states."""


class RejectionKind(StrEnum):
    """Reason of a rejection."""

    NOT_ENABLED = "not-enabled"
    """The model does not allow the event in this state; the false conjunct is the reason."""
    MISMATCH = "mismatch"
    """The model allows the event, but the recorded outcome differs from the model's."""
    PROPERTY = "property"
    """The model has the step, but it violates a property (only with mutants)."""
    AMBIGUOUS = "ambiguous"
    """The model has several successors for a line of a complete trace: a defect of the model."""
    CHECKPOINT = "checkpoint"
    """A checkpoint differs from the state after the lines before it, or no run reaches its state."""


NOT_IN_FLIGHT = "\\E w \\in OnItsWay"
"""The conjunct that is false if the message of an event is not in flight."""


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A false conjunct of an action, with its place in the model."""

    text: str
    module: str
    line: int
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first line that does not conform, and the reason."""

    kind: RejectionKind
    source: str
    line: int
    """Line number in the file, from 1."""
    sequence: int
    event: str
    replica: int | None
    role: str | None
    """The replica's role in the model before the line."""
    rules: tuple[str, ...]
    """First those in `explained_by`, then those about the differences, then those that the action cites."""
    explained_by: tuple[str, ...] = ()
    """Rules that explain the line: it conforms to a model without that one rule."""
    conjunct: Conjunct | None = None
    differences: tuple[Difference, ...] = ()
    properties: tuple[str, ...] = ()
    """Names of the violated properties."""
    sent_at: int | None = None
    """Sequence number of the line that sent a similar message, if the delivered message was never sent."""
    is_attributed: bool = False
    """True if the first rules follow from the difference; False if all of them are those that the action cites."""
    left_out: Literal["nothing", "some", "all"] = "nothing"
    """Which of the differences are fields that are missing although the trace must have every field."""
    note: str = ""
    """The defect of kraft-spec that kept it from ranking rules; all rules are then those of the action."""

    def headline(self) -> str:
        """Return one line: the place and the problem."""
        replica = "" if self.replica is None else f" at replica {self.replica}"
        where = f"{self.source}:{self.line}: event {self.sequence} ({self.event}{replica})"
        match self.kind:
            case RejectionKind.NOT_ENABLED:
                is_unsent = self.conjunct is not None and self.conjunct.text == NOT_IN_FLIGHT
                why = "no such message is in flight" if is_unsent else "the model does not allow this event here"
                return f"{where}: {why}"
            case RejectionKind.MISMATCH:
                return f"{where}: {self._describe_mismatch()}"
            case RejectionKind.PROPERTY:
                return f"{where}: the step violates {', '.join(self.properties)}"
            case RejectionKind.AMBIGUOUS:
                return f"{where}: the model has several successors"
            case RejectionKind.CHECKPOINT if self.properties:
                return f"{self.source}:{self.line}: the checkpoint violates {', '.join(self.properties)}"
            case RejectionKind.CHECKPOINT:
                problem = f"differs from the state after event {self.sequence}"
                if not self.sequence:
                    problem = "is not a state in which a run can begin"
                return f"{self.source}:{self.line}: the checkpoint {problem}"

    def _describe_mismatch(self) -> str:
        match self.left_out:
            case "nothing" if self.differences and all(it.field.startswith("message.") for it in self.differences):
                sent = "" if self.sent_at is None else f"; event {self.sent_at} sent a different one"
                return f"no such message is in flight{sent}"
            case "nothing":
                return "the recorded outcome differs from the model"
            case "some":
                return f"the recorded outcome differs from the model, and fields are missing: {WHOLE}"
            case "all":
                return f"fields are missing: {WHOLE}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one trace."""

    kind: VerdictKind
    source: str
    events: int
    """Number of lines that are steps of the model."""
    complete: bool
    """True if the end line says that the run was over."""
    candidates_max: int
    """Most candidate states at one line; 1 for complete traces."""
    every: int
    """Number of events between two checks of the full invariants, which are checked at the end as well."""
    reason: str | None = None
    """Why the verdict is inconclusive."""
    rejection: Rejection | None = None
    switched_off: tuple[str, ...] = ()
    """Rules that the run omits according to the header; the model omits them too."""
    other_model: bool = False
    """True if the header has the hash of another model; an error only with --strict."""
    open_answers: tuple[OpenAnswer, ...] = ()
    """Settings of open decisions that the trace needs; only foreign traces have this choice."""
    compared: Compared = NOTHING_COMPARED
    """How much of the trace was compared."""
    judged: Judged = JUDGED_IN_FULL
    """Properties that are not judged in full, because the trace does not observe all replicas."""
    compiled: int = 0
    """Number of events that the compiled model accepted; TLC, which interprets the model, checked all others."""
    both: int = 0
    """Number of these that TLC checked as well."""

    def as_dict(self) -> dict[str, Any]:
        """Return the value that `--json` prints."""
        return asdict(self)
