"""The conformance vectors as a tool: which of them detect a mutant behind its adapter, and at which level.

A view of the adapter that shows less says what is detected at a lower level, or without state injection.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeVar

from kraft_conformance.protocol.messages import Reply, Request
from kraft_conformance.runner.outcome import FAILING, Outcome
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.session import Session
from kraft_dev.mutants.adapter import MutantProcess, mutant_process
from kraft_dev.mutants.showing import at_level
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import Means
from kraft_dev.results import Cell, one_line
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.features import LEVELS, Level

_Reply = TypeVar("_Reply", bound=Reply)

HISTORY = "history"
"""The detector beside the levels: at the level `state`, with nothing but histories from the first start."""
DETECTORS = (*LEVELS, HISTORY)
AT_HELLO = "hello"
"""In the place of a vector's id: the mutant does not come as far as its hello."""


class View(Session):
    """The session of an adapter as the runner would have it if the adapter said less in its hello, and showed less.

    It shares the process of the session that it is a view of, and does not end it.
    """

    def __init__(self, session: Session, observability: Level, *, injects: bool) -> None:
        self._whole = session
        self.hello = at_level(session.hello, observability, injects=injects)

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: object) -> _Reply:
        """As `Session.ask`; what the level does not show is left out of the reply."""
        reply = self._whole.ask(wanted, request, **fields)
        return at_level(reply, self.hello.observability, injects=self.hello.state_injection is True)

    def end(self, *, politely: bool = True) -> None:
        """Leave the process to the session."""


@cache
def all_vectors() -> tuple[AnyVector, ...]:
    """Every vector of the catalogue."""
    catalogue = Catalogue()
    return tuple([catalogue.vector(vector_id) for vector_id in catalogue])


def ask_vectors(subject: Subject, means: Means) -> tuple[Cell, ...]:
    """What the vectors of the mutant's part say, or those that are listed; all of them of the unbroken reference."""
    asked = [one for one in all_vectors() if one.subject == subject.part or not subject.edits]
    return cells_of(subject, [one for one in asked if not means.vectors or one.id in means.vectors], means)


def cells_of(subject: Subject, vectors: Iterable[AnyVector], means: Means) -> tuple[Cell, ...]:
    """What these vectors say; those about the mutant's rules are asked first, each group by id.

    Raises:
        ToolError: the process does not run the mutant.
        EditError: an edit does not fit.
    """
    about = frozenset(subject.breaks)
    ordered = sorted(vectors, key=lambda one: (about.isdisjoint(one.rules), one.id))
    with mutant_process(subject) as process:
        return _Asked(process, ordered, means.one_vector).cells()


_Detection = tuple[AnyVector, Outcome]


class _Asked:
    def __init__(self, process: MutantProcess, vectors: Sequence[AnyVector], one_is_enough: bool) -> None:
        self._process = process
        self._vectors = vectors
        self._one_is_enough = one_is_enough

    def cells(self) -> tuple[Cell, ...]:
        found = self._detecting(self._vectors, "state", injects=True, all_of_them=not self._one_is_enough)
        if found and self._process.hello is None:
            return tuple(Cell(name, True, one_line(found[0][1].reason), AT_HELLO) for name in DETECTORS)
        detecting = [vector for vector, _ in found]
        # Without injection a vector that detects is mostly one of the same; only if none is, all are asked.
        history = self._first(detecting, "state", injects=False)
        if history is None:
            rest = [vector for vector in self._vectors if vector not in detecting]
            unseen = self._detecting(rest, "state", injects=False, all_of_them=not (found or self._one_is_enough))
            history = next(iter(unseen), None)
            # What only shows on the way from the first start: a replica that is formatted wrongly.
            found = found or unseen
        vectors = [vector for vector, _ in found]
        at: dict[str, _Detection | None] = {
            level: self._first(vectors, level, injects=bool(detecting)) for level in LEVELS[:-1]
        }
        at |= {"state": next(iter(found), None), HISTORY: history}
        counted = 0 if self._one_is_enough or self._process.is_left_alone else len(found)
        return tuple(_cell(name, one, counted if name == "state" else 0) for name, one in at.items())

    def _first(self, vectors: Iterable[AnyVector], level: Level, *, injects: bool) -> _Detection | None:
        return next(iter(self._detecting(vectors, level, injects=injects)), None)

    def _detecting(
        self, vectors: Iterable[AnyVector], level: Level, *, injects: bool, all_of_them: bool = False
    ) -> list[_Detection]:
        """The vectors that detect it, up to the first one or all of them."""
        found: list[_Detection] = []
        for vector in vectors:
            outcome = self._process.outcome(
                vector, lambda session, one, profile: run_vector(View(session, level, injects=injects), one, profile)
            )
            if outcome.status in FAILING:
                found.append((vector, outcome))
                if not all_of_them or self._process.is_left_alone:
                    break
        return found


def _cell(detector: str, detection: _Detection | None, counted: int) -> Cell:
    if detection is None:
        return Cell(detector)
    vector, outcome = detection
    return Cell(detector, True, one_line(outcome.reason), vector.id, counted)
