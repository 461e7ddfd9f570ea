"""The conformance vectors as a tool: which of them detect a mutant behind its adapter, and at which level.

Views with less information show which vectors still detect it at a lower observability level, or without injection.
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
from kraft_dev.results import Cell, single_line
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.features import LEVELS, Level

_Reply = TypeVar("_Reply", bound=Reply)

HISTORY = "history"
"""Detector beside the levels: observability level `state`, restricted to histories from the initial state."""
DETECTORS = (*LEVELS, HISTORY)
AT_HELLO = "hello"
"""Placeholder for a vector's id if the mutant fails before its hello."""


class View(Session):
    """Session of an adapter that announces a lower observability level and shows less.

    It shares the process of the session that it is a view of, and does not end it.
    """

    def __init__(self, session: Session, observability: Level, *, injects: bool) -> None:
        self._whole = session
        self.hello = at_level(session.hello, observability, injects=injects)

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: object) -> _Reply:
        """Send a request as `Session.ask` does; remove the fields above the level from the reply."""
        reply = self._whole.ask(wanted, request, **fields)
        return at_level(reply, self.hello.observability, injects=self.hello.state_injection is True)

    def end(self, *, politely: bool = True) -> None:
        """Leave the process running, because it belongs to the session."""


@cache
def all_vectors() -> tuple[AnyVector, ...]:
    """Return every vector of the catalogue."""
    catalogue = Catalogue()
    return tuple([catalogue.vector(vector_id) for vector_id in catalogue])


def ask_vectors(subject: Subject, means: Means) -> tuple[Cell, ...]:
    """Run the vectors of the mutant's part, or the listed ones; all on the unmodified reference."""
    selected = [vector for vector in all_vectors() if vector.subject == subject.part or not subject.edits]
    return cells_of(subject, [vector for vector in selected if not means.vectors or vector.id in means.vectors], means)


def cells_of(subject: Subject, vectors: Iterable[AnyVector], means: Means) -> tuple[Cell, ...]:
    """Return the results of these vectors, run with those of the mutant's rules first, each group by id.

    Raises:
        ToolError: the process does not run the mutant.
        EditError: an edit does not fit.
    """
    about = frozenset(subject.breaks)
    ordered = sorted(vectors, key=lambda vector: (about.isdisjoint(vector.rules), vector.id))
    with mutant_process(subject) as process:
        return _Asked(process, ordered, means.one_vector).cells()


_Detection = tuple[AnyVector, Outcome]


class _Asked:
    def __init__(self, process: MutantProcess, vectors: Sequence[AnyVector], one_is_enough: bool) -> None:
        self._process = process
        self._vectors = vectors
        self._one_is_enough = one_is_enough

    def cells(self) -> tuple[Cell, ...]:
        detections = self._detecting(self._vectors, "state", injects=True, all_of_them=not self._one_is_enough)
        if detections and self._process.hello is None:
            return tuple(Cell(name, True, single_line(detections[0][1].reason), AT_HELLO) for name in DETECTORS)
        detecting = [vector for vector, _ in detections]
        # Without injection the detecting vector is mostly one of those already detecting; only if none is, run all.
        history = self._first(detecting, "state", injects=False)
        if history is None:
            remaining = [vector for vector in self._vectors if vector not in detecting]
            unseen = self._detecting(
                remaining, "state", injects=False, all_of_them=not (detections or self._one_is_enough)
            )
            history = next(iter(unseen), None)
            # Histories from the initial state detect faults such as a wrongly formatted replica.
            detections = detections or unseen
        vectors = [vector for vector, _ in detections]
        at: dict[str, _Detection | None] = {
            level: self._first(vectors, level, injects=bool(detecting)) for level in LEVELS[:-1]
        }
        at |= {"state": next(iter(detections), None), HISTORY: history}
        counted = 0 if self._one_is_enough or self._process.is_left_alone else len(detections)
        return tuple(_cell(name, detection, counted if name == "state" else 0) for name, detection in at.items())

    def _first(self, vectors: Iterable[AnyVector], level: Level, *, injects: bool) -> _Detection | None:
        return next(iter(self._detecting(vectors, level, injects=injects)), None)

    def _detecting(
        self, vectors: Iterable[AnyVector], level: Level, *, injects: bool, all_of_them: bool = False
    ) -> list[_Detection]:
        """Return the vectors that detect the mutant, up to the first or all of them."""
        detections: list[_Detection] = []
        for vector in vectors:
            outcome = self._process.outcome(
                vector,
                lambda session, chosen, profile: run_vector(View(session, level, injects=injects), chosen, profile),
            )
            if outcome.status in FAILING:
                detections.append((vector, outcome))
                if not all_of_them or self._process.is_left_alone:
                    break
        return detections


def _cell(detector: str, detection: _Detection | None, counted: int) -> Cell:
    if detection is None:
        return Cell(detector)
    vector, outcome = detection
    return Cell(detector, True, single_line(outcome.reason), vector.id, counted)
