"""Fast path of the checker: the compiled model accepts right lines, and TLC decides on all others.

The compiled checker (Lines.java of `kraft_spec.compiled`) takes bytes and accepts lines up to the first that it cannot
accept.
That line goes to the checker with TLC, with the state and the in-flight messages before it; so do the next few lines if
this happens often.
"""

import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import jpype
from msgspec.json import Decoder, Encoder

from kraft_reference.configuration import Configuration
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.alternatives.decisions import ROLES_WITH_CHOICE, OpenAnswer, every_open_answer
from kraft_traces.check.candidates import Branch, other_answers
from kraft_traces.check.checker import CANDIDATES_MAX, EVERY, TraceChecker, unfinished
from kraft_traces.check.compared import ShownFields
from kraft_traces.check.fast import tables
from kraft_traces.check.judged import compared_without, judged_without
from kraft_traces.check.model import TraceModel
from kraft_traces.check.opaque import Opaque
from kraft_traces.check.saved import Begin, SavedChecker
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.check.writes import SyncedAhead
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.parsing import parse_line

_SLOW_MAX = 1024
"""Maximum number of lines for TLC before the compiled checker is tried again."""

_SLOW_WITHOUT = 100
"""Number of lines for TLC before a missing compiled checker is looked for again."""


@dataclass(slots=True)
class Sample:
    """Sample of the compiled model's lines that TLC checks as well.

    Attributes:
        every: one line in so many is in the sample.
        until: number of lines before the next one in the sample, across traces.
    """

    every: int
    until: int


@dataclass(frozen=True, slots=True)
class Way:
    """Way to check the lines of a trace: the compiled model with TLC for the others, or TLC alone.

    Attributes:
        sample: sample of the compiled model's lines for TLC; None: TLC checks all lines.
        made_from: number of lines that TLC checks in this process before a missing compiled model is compiled.
    """

    sample: Sample | None
    made_from: int = 0


COMPILED = Way(Sample(every=1_000, until=100_000), made_from=20_000)
"""The default way.

TLC has to parse the model before its first line, which takes the time of 50,000 compiled lines, so a process that
checks fewer lines does not start it.  Compiling the model takes about as long as 20,000 lines in TLC.
"""

INTERPRETED = Way(None)
BOTH = Way(Sample(1, 1))

_DECODER: Decoder[list[tuple[str, int, TracedMessage]]] = Decoder(list[tuple[str, int, TracedMessage]])
_ENCODER = Encoder()
_NO_CORRELATIONS = "[[],[]]"


class CompiledModelError(Exception):
    """The compiled model and TLC disagree on a line."""


class LinesAhead(Protocol):
    """Source of lines with a view of the lines ahead, such as `TraceReader`."""

    @property
    def source(self) -> str: ...
    @property
    def configuration(self) -> Configuration: ...
    @property
    def opaque(self) -> frozenset[int]:
        """Replicas that are not observed where the trace begins."""

    @property
    def sequence(self) -> int:
        """Sequence of the newest line."""

    @property
    def line_number(self) -> int: ...
    @property
    def time_ms(self) -> int:
        """Time of the newest line that has one."""

    def next_line(self) -> EventLine | CheckpointLine | None: ...
    def ahead(self) -> bytes:
        """Return complete lines that come next, without taking them; empty at the end, or if the next is malformed."""

    def skip(self, lines: int, size: int) -> None:
        """Take the first `lines` event lines of `ahead`, which have `size` bytes."""

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Continue after skipped lines, from this time and with these copies of messages in flight."""


class FastPath:
    """Fast path over one trace, which hands over to the checker at each line that it cannot accept."""

    def __init__(
        self,
        model: TraceModel,
        reader: LinesAhead,
        *,
        own: bool,
        way: Way,
        every: int = EVERY,
        candidates_max: int = CANDIDATES_MAX,
        start: CheckpointLine | SavedChecker | None = None,
        attributes: bool = True,
    ) -> None:
        """Create the fast path; the checker with TLC is created when it is first needed.

        `start` is a checkpoint or the state of an earlier checker from which to continue; it is trusted.
        """
        self._start = start
        self._attributes = attributes
        self._model = model
        self._reader = reader
        self._own = own
        self._every = every
        self._candidates_max = candidates_max
        self._way = way
        self._lines: JavaObject | None = None
        self._kind: Hashable = None
        """Key of the compiled checker among idle ones."""
        self._answers: tuple[OpenAnswer, ...] = ()
        """Other settings of open decisions; bits of a number in the compiled checker, the first one lowest."""
        self._is_ahead = False
        """True if the compiled checker is at the newest line."""
        self._alone = start is None
        """True if the compiled checker has accepted all lines so far."""
        self._pending: Counter[tuple[str, int]] = Counter()
        """Number of accepted lines that the checker has not taken yet, by event and bits of the recorded fields."""
        self._last = (0, b"")
        """Last accepted line, with its number."""
        self._widest = 1
        """Maximum number of candidate states after a line."""
        self._slow = 0
        self._pause = 1
        self.taken = 0
        """Number of accepted lines."""
        self.compared = 0
        """Number of these that TLC checked as well."""

    @cached_property
    def _slow_checker(self) -> TraceChecker:
        checker = TraceChecker(
            self._model,
            self._reader.configuration,
            self._reader.source,
            own=self._own,
            every=self._every,
            candidates_max=self._candidates_max,
            start=self._start if isinstance(self._start, CheckpointLine) else None,
            opaque=self._reader.opaque,
            attributes=self._attributes,
        )
        if isinstance(self._start, SavedChecker):
            checker.resume(self._start)
        self._start = None
        return checker

    @property
    def checker(self) -> TraceChecker:
        """Checker with TLC, advanced to the line of the compiled one, for the lines that follow."""
        self._alone = False
        if self._is_ahead and self._pending:
            assert self._lines is not None, "it has taken lines"
            number, raw_line = self._last
            last = (number, _parsed(raw_line, self._reader.source, number))
            sent = {name: (copies, message) for name, copies, message in _DECODER.decode(str(self._lines.sent()))}
            correlations, besides = json.loads(str(self._lines.known())), int(self._lines.besides())
            ahead = json.loads(str(self._lines.synced(False)))
            begin = Begin(self._branches(self._lines), sent, correlations, ahead, besides, {})
            self._slow_checker.skip(begin, self._pending, self._widest, last)
            self._pending.clear()
        self._is_ahead = False
        return self._slow_checker

    def verdict(self, *, complete: bool, ended: bool) -> Verdict | None:
        """Return the verdict if all lines were accepted here and all invariants hold after them; else None.

        `complete` and `ended` are as for `TraceChecker.finish`.
        """
        if self._lines is None or not self._alone or not self._pending:
            return None
        if not self._lines.holds():
            return None
        recorded = ShownFields(own=self._own)
        for (event, bits), lines in self._pending.items():
            recorded.count_lines(event, bits, lines)
        return Verdict(
            kind=VerdictKind.ACCEPTED if complete else VerdictKind.INCONCLUSIVE,
            source=self._reader.source,
            events=self._reader.sequence,
            complete=complete,
            candidates_max=self._widest,
            every=self._every,
            reason=None if complete else unfinished(ended=ended),
            switched_off=tuple(sorted(self._model.switched_off)),
            open_answers=min(map(other_answers, map(self._taken, self._lines.answers(False))))[1],
            compared=compared_without(recorded.compared(), self._reader.opaque),
            judged=judged_without(self._reader.opaque),
        )

    def release(self) -> None:
        """Return the compiled checker to the model for the next trace."""
        if self._lines is not None:
            self._model.keep(self._kind, self._lines)
            self._lines = None

    def take(self, on_events: Callable[[int], None] | None = None) -> None:
        """Take the lines that come next, up to the first that the compiled checker does not accept.

        `on_events` is called with the number of lines, some at a time.
        """
        reader, sample = self._reader, self._way.sample
        if sample is None or self._slow:
            self._slow -= 1
            return
        lines = self._ready()
        if lines is None:
            self._slow = _SLOW_WITHOUT
            return
        taken, declined = 0, False
        while raw_lines := reader.ahead():
            accepted = int(lines.feed(self._model.share_bytes(raw_lines), len(raw_lines), sample.until))
            if accepted:
                number, size = reader.line_number + accepted, int(lines.position)
                if accepted == sample.until:
                    self._compare(lines, reader.source, number)
                self._last = number, raw_lines[raw_lines.rfind(b"\n", 0, size - 1) + 1 : size]
                taken += accepted
                sample.until = sample.until - accepted or sample.every
                reader.skip(accepted, size)
                if on_events is not None:
                    on_events(accepted)
            if lines.why is not None:
                declined = True
                break
        self._is_ahead = True
        if taken:
            reader.follow(int(lines.time()), json.loads(str(lines.copies())))
            for event, counted in json.loads(str(lines.counts())).items():
                self._pending.update({(event, int(bits)): number for bits, number in counted.items()})
            self._widest = max(self._widest, int(lines.widest()))
            self.taken += taken
        if declined:
            self._pause = 1 if taken > self._pause else min(2 * self._pause, _SLOW_MAX)
            self._slow = self._pause

    def _compare(self, lines: JavaObject, source: str, number: int) -> None:
        """Check the line that was accepted last with TLC as well."""
        self.compared += 1
        line = _parsed(str(lines.line()).encode(), source, number)
        before, ahead = self._branches(lines, before=True), json.loads(str(lines.synced(True)))
        if not self._slow_checker.agrees(number, line, before, self._branches(lines), ahead):
            raise CompiledModelError(
                f"{source}:{number}: the compiled model and TLC disagree on this line, a defect of kraft-spec"
            )

    def _ready(self) -> JavaObject | None:
        """Return the compiled checker at the newest line; None if there is none, or it cannot continue from there."""
        try:
            return self._at_newest_line()
        except jpype.JException as failure:
            # It cannot read characters beyond ASCII, escapes and numbers of more than 18 digits.
            if failure.getClass().getName() != "kraftspec.Json$Declined":
                raise
            return None

    def _at_newest_line(self) -> JavaObject | None:
        reader = self._reader
        if self._lines is None:
            compiled = self._model.compiled_lines(make=self._model.lines_alone >= self._way.made_from)
            if compiled is None:
                self._model.lines_alone += _SLOW_WITHOUT
                return None
            configuration = reader.configuration
            self._answers = () if self._own else tuple(sorted(every_open_answer(configuration.profile)))
            opaque = reader.opaque
            self._kind = compiled, str(configuration), self._every, self._candidates_max, self._own, opaque
            self._lines = self._model.idle(self._kind) or self._new_lines(compiled, configuration)
        if self._is_ahead:
            return self._lines
        if not self._alone:
            begin = self._slow_checker.begin_of_fast_path()
            if begin is None:
                return None
            correlations, ahead = json.dumps(begin.correlations), json.dumps(begin.ahead)
            states = jpype.JArray(jpype.JClass("tlc2.tool.TLCState"))([branch.state for branch in begin.branches])
            answers = [self._bits(branch.taken) for branch in begin.branches]
            sent = _document(begin.in_flight)
            opaque_now = json.dumps(begin.opaque)
            self._lines.begin(
                states, answers, begin.besides, sent, correlations, ahead, opaque_now, reader.sequence, reader.time_ms
            )
        else:
            opaque_now = json.dumps(Opaque.of(reader.opaque).as_json())
            ahead = json.dumps(SyncedAhead().snapshot())
            self._lines.start("[]", _NO_CORRELATIONS, ahead, opaque_now, 0, 0)
        return self._lines

    def _new_lines(self, compiled: JavaObject, configuration: Configuration) -> JavaObject:
        opaque = self._reader.opaque
        lines = compiled(tables(configuration, self._every, self._candidates_max, own=self._own, opaque=opaque))
        others_of = {} if self._own else self._model.open_configurations(configuration)
        for event, alternatives in others_of.items():
            for value, taken in alternatives:
                lines.decision(event, ROLES_WITH_CHOICE.get(event), value, self._bits(taken))
        values = self._model.opening(configuration, opaque=opaque)
        lines.opening(jpype.JArray(jpype.JString)(list(values)), _java_values(values.values()))
        return lines

    def _bits(self, taken: Iterable[OpenAnswer]) -> int:
        return sum(1 << self._answers.index(answer) for answer in taken)

    def _taken(self, bits: int) -> frozenset[OpenAnswer]:
        return frozenset(answer for place, answer in enumerate(self._answers) if bits >> place & 1)

    def _branches(self, lines: JavaObject, *, before: bool = False) -> list[Branch]:
        """Return the states of the compiled checker after the newest line, or before it."""
        states, answers = lines.states(self._model.any_state, before), lines.answers(before)
        return [Branch(state, taken=self._taken(bits)) for state, bits in zip(states, answers, strict=True)]


def _java_values(values: Iterable[JavaObject]) -> JavaObject:
    return jpype.JArray(jpype.JClass("tlc2.value.impl.Value"))(list(values))


def _parsed(raw_line: bytes, source: str, number: int) -> EventLine:
    line = parse_line(raw_line, source, number)
    assert isinstance(line, EventLine), "only events are accepted"
    return line


def _document(sent: dict[str, tuple[int, TracedMessage]]) -> str:
    return _ENCODER.encode([(name, copies, message) for name, (copies, message) in sent.items()]).decode()
