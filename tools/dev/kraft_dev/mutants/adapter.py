"""A mutant behind kraft-adapter/1: a process of its own with the edited sources, and the runner that everybody uses."""

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import Outcome
from kraft_conformance.runner.running import error_outcome
from kraft_conformance.runner.session import Session
from kraft_dev.child import child_command
from kraft_dev.mutants.mutant_adapter import NOT_THE_MUTANT
from kraft_dev.mutants.subjects import Subject
from kraft_dev.mutants.tool import ToolError
from kraft_spec.edits import edited_packages
from kraft_vectors.catalogue import AnyVector

PROFILE = "kip"
"""Under which vectors are asked; those of other profiles alone, under the first of theirs."""
REPLY_TIMEOUT_S = 10.0
FAULTS_MAX = 3
"""A mutant that dies or hangs so often is left alone: each time costs a start, or the time of a reply."""


@contextmanager
def broken_adapter(subject: Subject) -> Iterator[str]:
    """Yield the command line of the adapter that runs a mutant.

    Raises:
        EditError: an edit does not fit.
    """
    with edited_packages(subject.edits, "kraft_reference") as environment:
        yield command_line(environment)


def command_line(environment: Mapping[str, str]) -> str:
    """The command line, which names its environment itself: the runner hands none on."""
    names = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")
    words = child_command("kraft_dev.mutants.mutant_adapter")
    return shlex.join(["env", *[f"{name}={environment[name]}" for name in names], *words])


Run = Callable[[Session, AnyVector, str], Outcome]
"""Runs a vector under a profile."""


class MutantProcess:
    """The process of an adapter, started again after it has died or hung.

    Attributes:
        hello: Its hello; None before the first.
        faults: How often it has died or hung.
    """

    def __init__(self, command: str) -> None:
        """Start it when the first vector is run."""
        self._command = command
        self._session: Session | None = None
        self.hello: HelloReply | None = None
        self.faults = 0

    @property
    def is_left_alone(self) -> bool:
        """Has it died or hung too often to go on?"""
        return self.faults >= FAULTS_MAX

    def outcome(self, vector: AnyVector, run: Run) -> Outcome:
        """What the runner says; that the process dies or hangs is an outcome too.

        Raises:
            ToolError: the process does not run the mutant.
        """
        profiles = vector.requires.profiles
        try:
            if self._session is None:
                self._session = self._started()
                self.hello = self._session.hello
            return run(self._session, vector, PROFILE if PROFILE in profiles else profiles[0])
        except AdapterFault as fault:
            self.faults += 1
            self.end(politely=False)
            return error_outcome(vector.id, fault)

    def end(self, *, politely: bool = True) -> None:
        """End it, if it runs."""
        if self._session is not None:
            self._session.end(politely=politely)
            self._session = None

    def _started(self) -> Session:
        try:
            return Session(self._command, REPLY_TIMEOUT_S)
        except AdapterFault as fault:
            if NOT_THE_MUTANT in fault.stderr:
                raise ToolError(NOT_THE_MUTANT) from fault
            raise


@contextmanager
def mutant_process(subject: Subject) -> Iterator[MutantProcess]:
    """Yield the process of a mutant's adapter.

    Raises:
        EditError: an edit does not fit.
    """
    with broken_adapter(subject) as command:
        process = MutantProcess(command)
        try:
            yield process
        finally:
            process.end()
