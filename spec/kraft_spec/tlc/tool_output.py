"""Parser of TLC's output under -tool: numbered messages between marks, and free text around them.

The numbers are those of tlc2.output.EC, the same in the jars of 2020 and later.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kraft_spec.tlc.model_report import ActionCount, Outcome, Progress, TraceState

_START = re.compile(r"@!@!@STARTMSG (-?\d+)(?::(\d+))? @!@!@")
_END = re.compile(r"@!@!@ENDMSG (-?\d+) @!@!@")

_SEVERITY_ERROR, _SEVERITY_BUG, _SEVERITY_WARNING = 1, 2, 3

_INVARIANT_INITIAL, _PROPERTY_INITIAL = 2107, 2108
_INVARIANT, _ACTION_PROPERTY, _TEMPORAL = 2110, 2112, 2116
_DEADLOCK = 2114
_BEHAVIOUR_FOLLOWS, _COUNTEREXAMPLE_FOLLOWS = 2121, 2264
_BACK_TO_STATE, _STATE, _STUTTERING = 2122, 2217, 2218
_FINISHED, _SUCCESS = 2186, 2193
_DEPTH, _STATS, _PROGRESS, _PROGRESS_SIMULATION, _STATS_SIMULATION = 2194, 2199, 2200, 2209, 2210
_COVERAGE_ACTION, _RECOVERED, _COLLECTOR_ADVICE = 2772, 2198, 2401

_VIOLATIONS = (_INVARIANT_INITIAL, _PROPERTY_INITIAL, _INVARIANT, _ACTION_PROPERTY, _TEMPORAL)
_VIOLATED_NAME = re.compile(r"(?:Invariant|Action property|Property|property) (\S+) is (?:violated|false)")
_COUNTS = re.compile(
    r"(-?[\d,]+) states generated.*?, (-?[\d,]+) distinct states found.*?, (-?[\d,]+) states left on queue"
)
# TLC prints the place of a disjunct in parentheses after the place of the next-state relation.
_ACTION = re.compile(r"<(\S+) line (\d+), .* of module ([^\s>(]+?)(?: \((\d+) \d+ \d+ \d+\))?>: (\d+):(\d+)")
_STATE_HEAD = re.compile(r"^(\d+): (?:<(.*)>)?")


@dataclass(frozen=True, slots=True)
class ToolMessage:
    """A message of TLC.

    Attributes:
        code: Its number; None for a line outside of messages.
        severity: TLC's class of message: 1 error, 2 bug, 3 warning, 4 state, 0 other.
        text: Its text, without the marks.
    """

    code: int | None
    severity: int
    text: str


def tool_messages(lines: Iterable[str]) -> Iterator[ToolMessage]:
    """Split TLC's output into messages; drop one without end (TLC was killed)."""
    open_code: int | None = None
    severity = 0
    collected: list[str] = []
    for raw in lines:
        line = raw.rstrip("\n")
        start = _START.search(line)
        if start:
            open_code, severity, collected = int(start.group(1)), int(start.group(2) or 0), []
        elif open_code is not None and _END.match(line):
            yield ToolMessage(open_code, severity, "\n".join(collected).strip("\n"))
            open_code = None
        elif open_code is not None:
            collected.append(line)
        elif line.strip() and not _END.match(line):
            yield ToolMessage(None, 0, line)


def parsed_variables(text: str) -> tuple[tuple[str, str], ...]:
    r"""Split the text of a state into its variables: `/\\ name = value`, where a value may take several lines."""
    variables: list[tuple[str, str]] = []
    for line in text.splitlines():
        assignment = re.match(r"^(?:/\\ )?([A-Za-z_]\w*) = (.*)$", line)
        if assignment and (line.startswith("/\\ ") or not variables):
            variables.append((assignment.group(1), assignment.group(2)))
        elif variables and line.strip():
            name, value = variables[-1]
            variables[-1] = (name, f"{value}\n{line}")
    return tuple(variables)


def parsed_state(text: str) -> TraceState:
    """Read the text of message 2217: a head with number and action, then the variables."""
    head, _, body = text.partition("\n")
    match = _STATE_HEAD.match(head)
    described = (match.group(2) or "") if match else head
    name, _, location = described.partition(" line ")
    return TraceState(
        number=int(match.group(1)) if match else 0,
        action=name,
        location=f"line {location}" if location else "",
        text=body.strip(),
        variables=parsed_variables(body),
    )


def _count(digits: str) -> int:
    """Read a number with thousands separators; TLC's -1, for unknown, counts as 0."""
    return max(0, int(digits.replace(",", "")))


@dataclass(slots=True)
class Findings:
    """Findings of the messages so far; call `add` for each message.

    Attributes:
        outcome: Outcome so far; None before a message decides it.
        violated: Name of the violated property, if a message names it.
        messages: Texts of the errors and violations.
        free_text: Lines outside of messages: the parser's errors, and output of the model.
        finished: True if TLC reported the end of the search.
        temporal: True if a temporal property is violated, which TLC does not name.
    """

    outcome: Outcome | None = None
    violated: str = ""
    messages: list[str] = field(default_factory=list)
    free_text: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    trace: list[TraceState] = field(default_factory=list)
    loop: str = ""
    progress: Progress = field(default_factory=Progress)
    actions: dict[tuple[str, int, str], ActionCount] = field(default_factory=dict)
    states_recovered: int = 0
    finished: bool = False
    temporal: bool = False

    def add(self, message: ToolMessage) -> bool:
        """Process a message.

        Returns:
            True if it changed `progress`.
        """
        code, text = message.code, message.text
        if code is None:
            self.free_text.append(text)
        elif code in (_STATE, _STUTTERING, _BACK_TO_STATE):
            self._add_state(code, text)
        elif code in _VIOLATIONS or code == _DEADLOCK:
            self._add_violation(code, text)
        elif code in (_BEHAVIOUR_FOLLOWS, _COUNTEREXAMPLE_FOLLOWS, _COLLECTOR_ADVICE):
            pass
        elif message.severity in (_SEVERITY_ERROR, _SEVERITY_BUG):
            self.outcome = self.outcome or Outcome.ERROR
            self.messages.append(text)
        elif message.severity == _SEVERITY_WARNING:
            self.warnings.append(text)
        elif code == _COVERAGE_ACTION:
            self._add_action(text)
        elif code == _SUCCESS:
            self.outcome = self.outcome or Outcome.OK
        elif code == _FINISHED:
            self.finished = True
        elif code == _RECOVERED:
            recovered = re.search(r"([\d,]+) states examined", text)
            self.states_recovered = _count(recovered.group(1)) if recovered else 0
        else:
            return self._add_progress(code, text)
        return False

    def _add_state(self, code: int, text: str) -> None:
        if code == _STATE:
            self.trace.append(parsed_state(text))
        elif code == _STUTTERING:
            self.loop = "Stuttering"
        else:
            number = re.search(r"\d+", text)
            self.loop = f"Back to state {number.group()}" if number else text

    def _add_violation(self, code: int, text: str) -> None:
        if self.outcome is not None:
            return
        self.outcome = Outcome.DEADLOCK if code == _DEADLOCK else Outcome.VIOLATION
        self.temporal = code == _TEMPORAL
        name = _VIOLATED_NAME.search(text)
        self.violated = name.group(1) if name else ""
        self.messages.append(text.splitlines()[0] if text else "")
        if code in (_INVARIANT_INITIAL, _PROPERTY_INITIAL):
            # A violation in the initial state has no trace: the message contains the state.
            state = text.partition("\n")[2]
            self.trace.append(parsed_state(f"1: <Initial predicate>\n{state}"))

    def _add_action(self, text: str) -> None:
        match = _ACTION.search(text)
        if match:
            name, defined_at, module, disjunct_at, distinct, generated = match.groups()
            line = disjunct_at or defined_at
            # Coverage is printed repeatedly; the last count is final.
            self.actions[name, int(line), module] = ActionCount(
                name, module, int(line), states_distinct=int(distinct), states_generated=int(generated)
            )

    def _add_progress(self, code: int, text: str) -> bool:
        before = self.progress
        depth = before.depth
        if code == _DEPTH:
            match = re.search(r"is (\d+)", text)
            depth = int(match.group(1)) if match else depth
        elif code == _PROGRESS:
            match = re.search(r"Progress\((-?[\d,]+)", text)
            depth = _count(match.group(1)) if match else depth
        elif code not in (_STATS, _PROGRESS_SIMULATION, _STATS_SIMULATION):
            return False
        self.progress = Progress(before.states_generated, before.states_distinct, before.queue_left, depth)
        counts = _COUNTS.search(text)
        if counts:
            generated, distinct, left = (_count(digits) for digits in counts.groups())
            self.progress = Progress(generated, distinct, left, depth)
        else:
            # Simulation has another wording, which differs between jars.
            simulated = re.search(r"([\d,]+) states (?:generated|checked)|generated: ([\d,]+)", text)
            if simulated:
                generated = _count(simulated.group(1) or simulated.group(2))
                self.progress = Progress(generated, before.states_distinct, before.queue_left, depth)
        return self.progress != before
