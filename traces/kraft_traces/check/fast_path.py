"""Right lines at the speed of the compiled model, the others left to the checker that asks TLC.

The compiled checker (Lines.java of `kraft_spec.compiled`) takes bytes and accepts lines up to the first that it does
not know to be right.
That one goes to the other checker, with the state and the messages on their way before it, and so do the next few lines
if that happens often.
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
from kraft_traces.check.candidates import Branch, other_answers
from kraft_traces.check.checker import CANDIDATES_MAX, EVERY, Begin, TraceChecker, unfinished
from kraft_traces.check.compared import ShownFields
from kraft_traces.check.fast import tables
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.latitude.decisions import ROLES_THAT_ASK, OpenAnswer, every_open_answer
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.parsing import parse_line

_SLOW_MAX = 1024
"""After how many lines by the ordinary checker the compiled one is asked again, at most."""

_SLOW_WITHOUT = 100
"""The same where there is no compiled one."""


@dataclass(slots=True)
class Sample:
    """The lines that the compiled model takes and that TLC is asked of as well: one in `every`.

    Attributes:
        every: how many that is.
        until: after so many lines comes the next of them, in whatever trace.
    """

    every: int
    until: int


@dataclass(frozen=True, slots=True)
class Way:
    """Who judges the lines of a trace: the compiled model, as far as it knows them to be right, or TLC alone.

    Attributes:
        sample: Of which lines that the compiled model takes TLC is asked as well; None: TLC alone.
        made_from: A compiled model that is not there is made once TLC alone has judged this many lines in this process.
    """

    sample: Sample | None
    made_from: int = 0


COMPILED = Way(Sample(every=1_000, until=100_000), made_from=20_000)
"""The usual one.

Before TLC can be asked of a line it parses the model, which takes the time in which 50,000 lines are checked; a process
that checks fewer does without.  Making a compiled model takes TLC's time for 20,000 lines, more or less.
"""

INTERPRETED = Way(None)
BOTH = Way(Sample(1, 1))

_DECODER: Decoder[list[tuple[str, int, TracedMessage]]] = Decoder(list[tuple[str, int, TracedMessage]])
_ENCODER = Encoder()
_NO_CORRELATIONS = "[[],[]]"


class CompiledModelError(Exception):
    """The compiled model and TLC disagree."""


class LinesAhead(Protocol):
    """A source of lines that shows those to come: a `TraceReader`, or what stands for one."""

    @property
    def source(self) -> str: ...
    @property
    def configuration(self) -> Configuration: ...
    @property
    def sequence(self) -> int:
        """Of the newest line."""

    @property
    def line_number(self) -> int: ...
    @property
    def time_ms(self) -> int:
        """Of the newest line that has a time."""

    def next_line(self) -> EventLine | CheckpointLine | None: ...
    def ahead(self) -> bytes:
        """Lines that come next, without taking them: none at the end, and where there is a doubt about the next."""

    def skip(self, lines: int, size: int) -> None:
        """Take the first of these, all of them events, as read: so many, of so many bytes."""

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Go on from this time, with copies of these messages on their way: after the lines that were skipped."""


class FastPath:
    """Takes the lines of a trace that it knows to be right, and brings the checker to each of the others."""

    def __init__(
        self,
        model: TraceModel,
        reader: LinesAhead,
        *,
        own: bool,
        way: Way,
        every: int = EVERY,
        candidates_max: int = CANDIDATES_MAX,
    ) -> None:
        """The checker, which takes the same options, is made when it is first needed."""
        self._model = model
        self._reader = reader
        self._own = own
        self._every = every
        self._candidates_max = candidates_max
        self._way = way
        self._lines: JavaObject | None = None
        self._kind: Hashable = None
        """What the compiled checker is made for."""
        self._answers: tuple[OpenAnswer, ...] = ()
        """The other answers to open decisions: to the compiled checker the bits of a number, the first the lowest."""
        self._is_ahead = False
        """Is the compiled checker where the newest line is?"""
        self._alone = True
        """Was nothing left to the other one?"""
        self._given: Counter[tuple[str, int]] = Counter()
        """How many lines the other one has not been told of, by their event and what they showed, in bits."""
        self._last = (0, b"")
        """The last line that was taken, with its number."""
        self._widest = 1
        """The most states that a line left."""
        self._slow = 0
        self._pause = 1
        self.taken = 0
        """How many lines were taken."""
        self.compared = 0
        """How many of these were asked of TLC as well."""

    @cached_property
    def _made(self) -> TraceChecker:
        return TraceChecker(
            self._model,
            self._reader.configuration,
            self._reader.source,
            own=self._own,
            every=self._every,
            candidates_max=self._candidates_max,
        )

    @property
    def checker(self) -> TraceChecker:
        """The checker, brought to where the compiled one is, to take the lines that follow."""
        self._alone = False
        if self._is_ahead and self._given:
            assert self._lines is not None, "it has taken lines"
            number, raw_line = self._last
            last = (number, _parsed(raw_line, self._reader.source, number))
            sent = {name: (copies, message) for name, copies, message in _DECODER.decode(str(self._lines.sent()))}
            known, besides = json.loads(str(self._lines.known())), int(self._lines.besides())
            begin = Begin(self._branches(self._lines), sent, known, besides)
            self._made.skip(begin, self._given, self._widest, last)
            self._given.clear()
        self._is_ahead = False
        return self._made

    def verdict(self, *, complete: bool, ended: bool) -> Verdict | None:
        """That on a trace of which all lines were taken here, if all invariants hold after them; None of another.

        `complete` and `ended` are as for `TraceChecker.finish`.
        """
        if self._lines is None or not self._alone or not self._given:
            return None
        if not self._lines.holds():
            return None
        shown = ShownFields(own=self._own)
        for (event, bits), lines in self._given.items():
            shown.count_lines(event, bits, lines)
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
            compared=shown.compared(),
        )

    def release(self) -> None:
        """The trace is over: the next one of its kind can have the compiled checker."""
        if self._lines is not None:
            self._model.keep(self._kind, self._lines)
            self._lines = None

    def take(self, on_events: Callable[[int], None] | None = None) -> None:
        """Take the lines that come next, as far as the compiled checker knows them to be right.

        `on_events` is called with how many, some lines at a time.
        """
        reader, sample = self._reader, self._way.sample
        if sample is None or self._slow:
            self._slow -= 1
            return
        lines = self._ready()
        if lines is None:
            self._slow = _SLOW_WITHOUT
            return
        taken = 0
        while raw_lines := reader.ahead():
            accepted = int(lines.feed(self._model.handed_over(raw_lines), len(raw_lines), sample.until))
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
                break
        self._is_ahead = True
        if taken:
            reader.follow(int(lines.time()), json.loads(str(lines.copies())))
            for event, counted in json.loads(str(lines.counts())).items():
                self._given.update({(event, int(bits)): number for bits, number in counted.items()})
            self._widest = max(self._widest, int(lines.widest()))
            self.taken += taken
        self._pause = 1 if taken > self._pause else min(2 * self._pause, _SLOW_MAX)
        self._slow = self._pause

    def _compare(self, lines: JavaObject, source: str, number: int) -> None:
        """Ask TLC of the line that was accepted last as well."""
        self.compared += 1
        line = _parsed(str(lines.line()).encode(), source, number)
        if not self._made.agrees(number, line, self._branches(lines, before=True), self._branches(lines)):
            raise CompiledModelError(
                f"{source}:{number}: the compiled model and TLC disagree on this line, a defect of kraft-spec"
            )

    def _ready(self) -> JavaObject | None:
        """The compiled checker, at the newest line; None if there is none, or it cannot go on from there."""
        try:
            return self._at_newest_line()
        except jpype.JException as failure:
            # It reads no letters beyond ASCII, no escapes and no number of more than 18 digits.
            if failure.getClass().getName() != "kraftspec.Json$Declined":
                raise
            return None

    def _at_newest_line(self) -> JavaObject | None:
        reader = self._reader
        if self._lines is None:
            found = self._model.compiled_lines(make=self._model.lines_alone >= self._way.made_from)
            if found is None:
                self._model.lines_alone += _SLOW_WITHOUT
                return None
            configuration = reader.configuration
            self._answers = () if self._own else tuple(sorted(every_open_answer(configuration.profile)))
            self._kind = found, str(configuration), self._every, self._candidates_max, self._own
            self._lines = self._model.idle(self._kind) or self._new_lines(found, configuration)
        if self._is_ahead:
            return self._lines
        if not self._alone:
            begin = self._made.begin_of_fast_path()
            if begin is None:
                return None
            known = json.dumps(begin.correlations)
            states = jpype.JArray(jpype.JClass("tlc2.tool.TLCState"))([branch.state for branch in begin.branches])
            answers = [self._bits(branch.taken) for branch in begin.branches]
            sent = _document(begin.on_their_way)
            self._lines.begin(states, answers, begin.besides, sent, known, reader.sequence, reader.time_ms)
        else:
            self._lines.start("[]", _NO_CORRELATIONS, 0, 0)
        return self._lines

    def _new_lines(self, compiled: JavaObject, configuration: Configuration) -> JavaObject:
        lines = compiled(tables(configuration, self._every, self._candidates_max, own=self._own))
        others_of = {} if self._own else self._model.open_configurations(configuration)
        for event, others in others_of.items():
            for value, taken in others:
                lines.decision(event, ROLES_THAT_ASK.get(event), value, self._bits(taken))
        values = self._model.opening(configuration)
        lines.opening(jpype.JArray(jpype.JString)(list(values)), _java_values(values.values()))
        return lines

    def _bits(self, taken: Iterable[OpenAnswer]) -> int:
        return sum(1 << self._answers.index(answer) for answer in taken)

    def _taken(self, bits: int) -> frozenset[OpenAnswer]:
        return frozenset(answer for place, answer in enumerate(self._answers) if bits >> place & 1)

    def _branches(self, lines: JavaObject, *, before: bool = False) -> list[Branch]:
        """Where the compiled checker is, or was before the newest line."""
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
