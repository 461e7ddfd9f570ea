"""One mutant behind the adapter: which vectors notice, and at which level.

The adapter runs in a process of its own with the edited sources; the runner is the one that everybody uses.
A view of it that shows less says what is noticed at a lower level, or without state injection.
"""

import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from kraft_conformance.protocol.features import LEVELS, Level
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import FAILING, Outcome
from kraft_conformance.runner.running import errored, run_vector
from kraft_conformance.runner.session import Session
from kraft_conformance.vectors.catalogue import AnyVector
from kraft_dev.child import child_command
from kraft_dev.grading.mutant_adapter import NOT_THE_MUTANT
from kraft_dev.grading.table import Row
from kraft_dev.grading.views import View
from kraft_dev.mutation.campaign import Subject
from kraft_spec.edits import edited_packages

PROFILE = "kip"
"""Under which vectors are asked; those of other profiles alone, under the first of theirs."""
REPLY_TIMEOUT_S = 10.0
FAULTS_MAX = 3
"""A mutant that dies or hangs so often is left alone: each time costs a start, or the time of a reply."""
AT_HELLO = "hello"
"""In the place of a vector's id: the mutant does not come as far as its hello."""
_SAID_MAX = 160


class GradingError(Exception):
    """What was behind the adapter is not the mutant, or the unbroken reference fails."""


@dataclass(frozen=True, slots=True)
class Grader:
    """Grades mutants with a list of vectors."""

    vectors: tuple[AnyVector, ...]
    stops_at_first: bool = False
    """Whether to count only up to the first vector that notices."""

    def row(self, subject: Subject, rules: Sequence[str] = (), line: str = "") -> Row:
        """What notices a mutant; vectors about its rules are asked first, each group by id.

        Raises:
            GradingError: the process does not run the mutant.
            EditError: an edit does not fit.
        """
        about = frozenset(rules)
        ordered = tuple(sorted(self.vectors, key=lambda one: (about.isdisjoint(one.rules), one.id)))
        with broken_adapter(subject) as command:
            return _Attempt(command, ordered, self.stops_at_first).row(subject.name, tuple(rules), line)


@contextmanager
def broken_adapter(subject: Subject) -> Iterator[str]:
    """Yield the command line of the adapter that runs a mutant.

    Raises:
        EditError: an edit does not fit.
    """
    with edited_packages({"kraft_reference": subject.edits}) as environment:
        yield command_line(environment)


def command_line(environment: Mapping[str, str]) -> str:
    """The command line, which names its environment itself: the runner hands none on."""
    names = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")
    copy = environment["PYTHONPATH"].split(os.pathsep)[0]
    words = child_command("kraft_dev.grading.mutant_adapter", "--copy", copy)
    return shlex.join(["env", *[f"{name}={environment[name]}" for name in names], *words])


class _Attempt:
    """One mutant and its process."""

    def __init__(self, command: str, vectors: Sequence[AnyVector], stops_at_first: bool) -> None:
        self._command = command
        self._vectors = vectors
        self._stops_at_first = stops_at_first
        self._session: Session | None = None
        self._faults = 0

    def row(self, name: str, rules: tuple[str, ...], line: str) -> Row:
        try:
            self._session = self._started()
        except AdapterFault as fault:
            return Row(
                mutant=name, rules=rules, vectors=len(self._vectors), counted=False, line=line, said=_said(str(fault)),
                wire=AT_HELLO, effects=AT_HELLO, state=AT_HELLO, history=AT_HELLO,
            )  # fmt: skip
        try:
            return self._graded(name, rules, line)
        finally:
            if self._session is not None:
                self._session.end()

    def _graded(self, name: str, rules: tuple[str, ...], line: str) -> Row:
        found = self._noticing(self._vectors, "state", injects=True, all_of_them=not self._stops_at_first)
        noticing = [vector for vector, _ in found]
        # Without injection a vector that notices is mostly one of the same; only if none is, all are asked.
        history = self._first(noticing, "state", injects=False)
        if history is None:
            rest = [vector for vector in self._vectors if vector not in noticing]
            unseen = self._noticing(rest, "state", injects=False, all_of_them=not (found or self._stops_at_first))
            history = next(iter(unseen), None)
            # What only shows on the way from the first start: a replica that is formatted wrongly.
            found = found or unseen
        injects = bool(noticing)
        first = {level: self._first([vector for vector, _ in found], level, injects=injects) for level in LEVELS[:-1]}
        first["state"] = next(iter(found), None)
        lowest = next((one for one in first.values() if one is not None), None)
        ids = {level: None if one is None else one[0].id for level, one in first.items()}
        counted = not self._stops_at_first and self._faults < FAULTS_MAX
        return Row(
            mutant=name, rules=rules, vectors=len(found), counted=counted or not found, line=line,
            wire=ids["wire"], effects=ids["effects"], state=ids["state"],
            history=None if history is None else history[0].id,
            said="" if lowest is None else _said(lowest[1].reason),
        )  # fmt: skip

    def _first(self, vectors: Iterable[AnyVector], level: Level, *, injects: bool) -> tuple[AnyVector, Outcome] | None:
        return next(iter(self._noticing(vectors, level, injects=injects)), None)

    def _noticing(
        self, vectors: Iterable[AnyVector], level: Level, *, injects: bool, all_of_them: bool = False
    ) -> list[tuple[AnyVector, Outcome]]:
        """The vectors that notice, up to the first one or all of them."""
        found: list[tuple[AnyVector, Outcome]] = []
        for vector in vectors:
            outcome = self._outcome(vector, level, injects)
            if outcome.status in FAILING:
                found.append((vector, outcome))
                if not all_of_them or self._faults >= FAULTS_MAX:
                    break
        return found

    def _outcome(self, vector: AnyVector, level: Level, injects: bool) -> Outcome:
        try:
            if self._session is None:
                self._session = self._started()
            profiles = vector.requires.profiles
            profile = PROFILE if PROFILE in profiles else profiles[0]
            return run_vector(View(self._session, level, injects=injects), vector, profile)
        except AdapterFault as fault:
            self._faults += 1
            if self._session is not None:
                self._session.end(politely=False)
                self._session = None
            return errored(vector.id, fault)

    def _started(self) -> Session:
        try:
            return Session(self._command, REPLY_TIMEOUT_S)
        except AdapterFault as fault:
            if NOT_THE_MUTANT in fault.stderr:
                raise GradingError(NOT_THE_MUTANT) from fault
            raise


def _said(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SAID_MAX else f"{line[: _SAID_MAX - 1]}…"
