"""What a trace check comes to, as values."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal

from kraft_spec.difference import Difference
from kraft_traces.check.compared import NOTHING_COMPARED, Compared
from kraft_traces.check.wording import WHOLE
from kraft_traces.latitude.decisions import OpenAnswer


class VerdictKind(StrEnum):
    """The verdict on a trace."""

    ACCEPTED = "accepted"
    """Every line is a step of the model, all properties hold, and the trace says that it is complete."""
    REJECTED = "rejected"
    """A line is no step of the model, or a property is violated."""
    INCONCLUSIVE = "inconclusive"
    """The trace stops early, or leaves out so much that the candidates outgrew their bound."""


class RejectionKind(StrEnum):
    """Why a line is rejected."""

    NOT_ENABLED = "not-enabled"
    """The model's action is not possible here; the false conjunct says why."""
    MISMATCH = "mismatch"
    """The action is possible but shows something else."""
    PROPERTY = "property"
    """The step is the model's but violates a property (only with mutants)."""
    AMBIGUOUS = "ambiguous"
    """The model gives several successors for a line of a complete trace: a defect of the model."""
    CHECKPOINT = "checkpoint"
    """A checkpoint shows another state than the one to which the lines before it lead, or one that no run comes to."""


NOBODY_SENT = "\\E w \\in OnItsWay"
"""The conjunct that is false where a message arrives that is not on its way."""


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of an action that is false, and where it stands in the model."""

    text: str
    module: str
    line: int
    operands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejection:
    """The first line that is not right, and why."""

    kind: RejectionKind
    source: str
    line: int
    """Line number in the file, from 1."""
    sequence: int
    event: str
    replica: int | None
    role: str | None
    """The replica's role before the line, by the model."""
    rules: tuple[str, ...]
    """First those that explain the line, then those behind what differs, then those that the action states."""
    explained_by: tuple[str, ...] = ()
    """Rules without any one of which the line would be right: the traced software does not keep one of them."""
    conjunct: Conjunct | None = None
    differences: tuple[Difference, ...] = ()
    properties: tuple[str, ...] = ()
    """Names of the violated properties."""
    sent_at: int | None = None
    """Of a message that no line has sent so: the sequence number of the line that sent one like it."""
    is_attributed: bool = False
    """Do the first rules follow from what is wrong with the line, or are all of them just those of its action?"""
    left_out: Literal["nothing", "some", "all"] = "nothing"
    """How many of the differences are fields that the line leaves out although its trace must be whole."""
    note: str = ""
    """Why the rules are those of the action alone, if a defect of kraft-spec kept it from ranking others."""

    def headline(self) -> str:
        """One line: where and what."""
        where = f"{self.source}:{self.line}: event {self.sequence} {self.event}"
        where += "" if self.replica is None else f" at replica {self.replica}"
        match self.kind:
            case RejectionKind.NOT_ENABLED:
                is_unsent = self.conjunct is not None and self.conjunct.text == NOBODY_SENT
                why = ": no such message is on its way" if is_unsent else ""
                return f"{where} is not possible in the model{why}"
            case RejectionKind.MISMATCH:
                return f"{where} is possible but {self._shown()}"
            case RejectionKind.PROPERTY:
                return f"{where} violates {', '.join(self.properties)}"
            case RejectionKind.AMBIGUOUS:
                return f"{where} has several successors in the model"
            case RejectionKind.CHECKPOINT if self.properties:
                return f"{self.source}:{self.line}: the checkpoint violates {', '.join(self.properties)}"
            case RejectionKind.CHECKPOINT:
                expected = (
                    f"the state after event {self.sequence}" if self.sequence else "one in which the run can begin"
                )
                return f"{self.source}:{self.line}: the checkpoint is not {expected}"

    def _shown(self) -> str:
        match self.left_out:
            case "nothing" if self.differences and all(one.field.startswith("message.") for one in self.differences):
                sent = "" if self.sent_at is None else f": event {self.sent_at} sent another one"
                return f"no such message is on its way{sent}"
            case "nothing":
                return "shows something else"
            case "some":
                return f"shows something else, and leaves fields out: {WHOLE}"
            case "all":
                return f"leaves fields out: {WHOLE}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one trace."""

    kind: VerdictKind
    source: str
    events: int
    """Lines that were steps of the model."""
    complete: bool
    """Whether the trace says that it ended where it was meant to."""
    candidates_max: int
    """Most candidate states at one line; 1 for complete traces."""
    every: int
    """The full invariants were checked every so many events and at the end."""
    reason: str | None = None
    """Why the verdict is inconclusive."""
    rejection: Rejection | None = None
    switched_off: tuple[str, ...] = ()
    """Rules that the header says were omitted; the model omits them too."""
    other_model: bool = False
    """The header names the hash of another model; fatal only under --strict."""
    open_answers: tuple[OpenAnswer, ...] = ()
    """Answers to open decisions without which some line would not be right; only other software has the choice."""
    compared: Compared = NOTHING_COMPARED
    """How much of the trace was compared."""
    compiled: int = 0
    """So many events the compiled model accepted; TLC, which interprets the model, all others."""
    both: int = 0
    """So many of these were asked of TLC as well."""

    def as_dict(self) -> dict[str, Any]:
        """For --json."""
        return asdict(self)
