"""Right lines at the speed of the compiled model, the others left to the checker that asks TLC.

The compiled checker (Lines.java of `kraft_spec.compiled`) takes bytes and accepts lines up to the first that it does
not know to be right.
That one goes to the other checker, with the state and the messages on their way before it, and so do the next few lines
if that happens often.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import jpype
from msgspec.json import Decoder, Encoder

from kraft_reference.configuration import Configuration
from kraft_spec.tlc.jvm import JavaObject
from kraft_traces.check.candidates import Branch, other_answers
from kraft_traces.check.checker import CANDIDATES_MAX, Begin, TraceChecker, unfinished
from kraft_traces.check.compared import ShownFields
from kraft_traces.check.fast import tables
from kraft_traces.check.model import TraceModel
from kraft_traces.check.verdict import Verdict, VerdictKind
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_of
from kraft_traces.latitude.decisions import ROLES_THAT_ASK, OpenAnswer, every_open_answer
from kraft_traces.lines import EventLine
from kraft_traces.message_types import TracedMessage
from kraft_traces.parsing import parse_line

LINES_MAX = 100
"""How many lines are handed over at once."""

_SLOW_MAX = 1024
"""After how many lines by the ordinary checker the compiled one is asked again, at most."""


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


@runtime_checkable
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

    @property
    def raw_line(self) -> bytes:
        """The newest line."""

    def ahead(self, lines_max: int) -> list[bytes]:
        """The bytes of lines that come next, without taking them."""

    def skip(self, raw_lines: list[bytes]) -> None:
        """Take the next lines, all of them events, as read."""

    def follow(self, time_ms: int, copies: dict[str, int]) -> None:
        """Go on from this time, with copies of these messages on their way: after the lines that were skipped."""


class FastPath:
    """Takes the lines of a trace that it knows to be right, and brings the checker to each of the others."""

    def __init__(
        self,
        model: TraceModel,
        reader: LinesAhead | None,
        make_checker: Callable[[], TraceChecker],
        *,
        own: bool,
        way: Way,
        every: int,
        candidates_max: int = CANDIDATES_MAX,
        start: CheckpointLine | None = None,
    ) -> None:
        """The checker is made when it is first needed, and begins where the trace does: at `start`, if not None.

        Without a reader no line is taken here.
        `own` says that the lines are those of this project's reference, which leave nothing out.
        After how many lines the full invariants are checked, `every`, and how many states a line may leave are the
        checker's.
        """
        self._model = model
        self._reader = None if way.sample is None else reader
        self._make_checker = make_checker
        self._own = own
        self._every = every
        self._candidates_max = candidates_max
        self._way = way
        self._start = start
        self._lines: JavaObject | None = None
        self._answers: tuple[OpenAnswer, ...] = ()
        """The other answers to open decisions: to the compiled checker the bits of a number, the first the lowest."""
        self._sent: dict[str, tuple[int, TracedMessage]] | None = None
        """The messages on their way where the compiled checker is; None where the other one has gone on from there."""
        self._alone = own or start is None
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
        return self._make_checker()

    @property
    def checker(self) -> TraceChecker:
        """The checker, brought to where the compiled one is, to take the lines that follow."""
        self._alone = False
        if self._sent is not None and self._given:
            assert self._lines is not None, "it has taken lines"
            assert self._reader is not None, "of a reader"
            number, raw_line = self._last
            last = (number, _parsed(raw_line, self._reader.source, number))
            begin = Begin(self._branches(self._lines), self._sent, json.loads(str(self._lines.known())))
            self._made.skip(begin, self._given, self._widest, last)
            self._given.clear()
        self._sent = None
        return self._made

    def verdict(self, *, complete: bool, ended: bool) -> Verdict | None:
        """That on a trace of which all lines were taken here, if all invariants hold after them; None of another.

        `complete` and `ended` are as for `TraceChecker.finish`.
        """
        if self._lines is None or self._reader is None or not self._alone or not self._given:
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
            open_answers=min(map(other_answers, map(self._taken, self._lines.answers())))[1],
            compared=shown.compared(),
        )

    def take(self, on_events: Callable[[int], None] | None = None) -> None:
        """Take the lines that come next, as far as the compiled checker knows them to be right.

        `on_events` is called with how many, some lines at a time.
        """
        reader, sample = self._reader, self._way.sample
        if reader is None or sample is None or self._slow:
            self._slow -= 1
            return
        lines = self._ready(reader)
        if lines is None:
            self._slow = LINES_MAX
            return
        taken = 0
        while raw_lines := reader.ahead(min(LINES_MAX, sample.until)):
            accepted = self._accepted(lines, reader, raw_lines, compared=len(raw_lines) == sample.until)
            if accepted:
                taken += accepted
                sample.until = sample.until - accepted or sample.every
                reader.skip(raw_lines[:accepted])
                if on_events is not None:
                    on_events(accepted)
            if accepted < len(raw_lines):
                break
        self._sent = {name: (copies, message) for name, copies, message in _DECODER.decode(str(lines.sent()))}
        if taken:
            reader.follow(int(lines.time()), {name: copies for name, (copies, _) in self._sent.items()})
            for event, counted in json.loads(str(lines.counts())).items():
                self._given.update({(event, int(bits)): number for bits, number in counted.items()})
            self._last = (reader.line_number, reader.raw_line)
            self._widest = max(self._widest, int(lines.widest()))
            self.taken += taken
        self._pause = 1 if taken > self._pause else min(2 * self._pause, _SLOW_MAX)
        self._slow = self._pause

    def _accepted(self, lines: JavaObject, reader: LinesAhead, raw_lines: list[bytes], *, compared: bool) -> int:
        """How many are accepted; `compared` says that TLC is asked of the last one as well."""
        if not compared:
            return _fed(lines, raw_lines)
        *others, last = raw_lines
        accepted = _fed(lines, others)
        if accepted < len(others):
            return accepted
        before = self._branches(lines)
        if not _fed(lines, [last]):
            return accepted
        number = reader.line_number + len(raw_lines)
        after = self._branches(lines)
        self.compared += 1
        line = _parsed(str(lines.line()).encode(), reader.source, number)
        if not self._made.agrees(number, line, before, after):
            raise CompiledModelError(
                f"{reader.source}:{number}: the compiled model and TLC disagree on this line, a defect of the compiler"
            )
        return len(raw_lines)

    def _ready(self, reader: LinesAhead) -> JavaObject | None:
        """The compiled checker, at the newest line; None if there is none, or it cannot go on from there."""
        if self._lines is None:
            found = self._model.compiled_lines(make=self._model.lines_alone >= self._way.made_from)
            if found is None:
                self._model.lines_alone += LINES_MAX
                return None
            self._lines = found(tables(reader.configuration, self._every, self._candidates_max, own=self._own))
            if not self._own:
                self._let_decide(self._lines, reader.configuration)
        if self._sent is not None:
            return self._lines
        if not self._alone:
            begin = self._made.begin_of_fast_path()
            if begin is None:
                return None
            known = json.dumps(begin.correlations)
            states = jpype.JArray(jpype.JClass("tlc2.tool.TLCState"))([branch.state for branch in begin.branches])
            answers = [self._bits(branch.taken) for branch in begin.branches]
            sent = _document(begin.on_their_way)
            self._lines.begin(states, answers, sent, known, reader.sequence, reader.time_ms)
        else:
            self._begin_the_trace(self._lines, reader.configuration)
        return self._lines

    def _let_decide(self, lines: JavaObject, configuration: Configuration) -> None:
        found = self._model.open_configurations(configuration)
        self._answers = tuple(sorted(every_open_answer(configuration.profile)))
        for event, others in found.items():
            for value, taken in others:
                lines.decision(event, ROLES_THAT_ASK.get(event), value, self._bits(taken))

    def _bits(self, taken: Iterable[OpenAnswer]) -> int:
        return sum(1 << self._answers.index(answer) for answer in taken)

    def _taken(self, bits: int) -> frozenset[OpenAnswer]:
        return frozenset(answer for place, answer in enumerate(self._answers) if bits >> place & 1)

    def _branches(self, lines: JavaObject) -> list[Branch]:
        """Where the compiled checker is."""
        states, answers = lines.states(self._model.any_state), lines.answers()
        return [Branch(state, taken=self._taken(bits)) for state, bits in zip(states, answers, strict=True)]

    def _begin_the_trace(self, lines: JavaObject, configuration: Configuration) -> None:
        start = self._start
        values = self._model.opening(configuration, None if start is None else checkpoint_of(start))
        sent, sequence, time_ms = {}, 0, 0
        if start is not None:
            sent = {str(one.message.id): (one.copies, one.message) for one in start.network}
            sequence, time_ms = start.sequence, start.time_ms
        names = jpype.JArray(jpype.JString)(list(values))
        lines.start(names, _java_values(values.values()), _document(sent), _NO_CORRELATIONS, sequence, time_ms)


def _java_values(values: Iterable[JavaObject]) -> JavaObject:
    return jpype.JArray(jpype.JClass("tlc2.value.impl.Value"))(list(values))


def _parsed(raw_line: bytes, source: str, number: int) -> EventLine:
    line = parse_line(raw_line, source, number)
    assert isinstance(line, EventLine), "only events are accepted"
    return line


def _document(sent: dict[str, tuple[int, TracedMessage]]) -> str:
    return _ENCODER.encode([(name, copies, message) for name, (copies, message) in sent.items()]).decode()


def _fed(lines: JavaObject, raw_lines: list[bytes]) -> int:
    return int(lines.feed(jpype.JArray(jpype.JByte)(b"".join(raw_lines)))) if raw_lines else 0
