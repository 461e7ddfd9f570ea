"""A mutant behind kraft-adapter/1: a separate process with the edited sources, and the ordinary runner."""

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
"""Profile under which vectors run; a vector without it runs under the first of its own."""
REPLY_TIMEOUT_S = 10.0
FAULTS_MAX = 3
"""Number of crashes or hangs after which a mutant is not run again, because each costs a start or a timeout."""


@contextmanager
def broken_adapter(subject: Subject) -> Iterator[str]:
    """Yield the command line of the adapter that runs a mutant.

    Raises:
        EditError: an edit does not fit.
    """
    with edited_packages(subject.edits, "kraft_reference") as environment:
        yield command_line(environment)


def command_line(environment: Mapping[str, str]) -> str:
    """Return the command line, which sets its environment itself because the runner passes none on."""
    names = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED")
    words = child_command("kraft_dev.mutants.mutant_adapter")
    return shlex.join(["env", *[f"{name}={environment[name]}" for name in names], *words])


Run = Callable[[Session, AnyVector, str], Outcome]
"""Runs a vector under a profile."""


class MutantProcess:
    """Process of an adapter, restarted after a crash or a hang.

    Attributes:
        hello: Its hello; None before the first.
        faults: Number of crashes and hangs.
    """

    def __init__(self, command: str) -> None:
        """Start it when the first vector is run."""
        self._command = command
        self._session: Session | None = None
        self.hello: HelloReply | None = None
        self.faults = 0

    @property
    def is_left_alone(self) -> bool:
        """True if it has crashed or hung too often to go on."""
        return self.faults >= FAULTS_MAX

    def outcome(self, vector: AnyVector, run: Run) -> Outcome:
        """Run a vector; a crash or a hang of the process is an outcome, too.

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
