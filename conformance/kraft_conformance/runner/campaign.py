"""Runs of many vectors on one adapter or on several copies of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread

from msgspec.structs import replace

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.clearing import Clearing
from kraft_conformance.runner.faults import AdapterFault, MalformedReply, UnknownProfile
from kraft_conformance.runner.outcome import (
    FAILING,
    ExpectedFailure,
    Outcome,
    Status,
    apply_expectation,
    without_should,
)
from kraft_conformance.runner.running import error_outcome, run_vector
from kraft_conformance.runner.session import Session, Watch
from kraft_conformance.runner.whole_run import likeliest_first
from kraft_mutants.attribution import defect_line
from kraft_reference.profile import PROFILES
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.profiles import provenance

REPLY_TIMEOUT_S = 10.0
"""Default timeout of a reply in seconds."""


_CHECKS_MAX = 3
"""Maximum number of failures that run again in a new process, because each costs a start."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Vectors to run, and how."""

    command: str
    """Command line of the adapter."""
    ids: tuple[str, ...]
    reply_timeout_s: float = REPLY_TIMEOUT_S
    profile: str | None = None
    """None for the profile in the adapter's hello."""
    jobs: int = 1
    """Number of copies of the adapter that run at the same time."""
    stops_at_first: bool = False
    must_only: bool = False
    """True to exclude failures that only a SHOULD or MAY decides."""
    expected_failures: Mapping[str, ExpectedFailure] = field(default_factory=dict)
    """Expected failures by vector id."""


class Campaign:
    """Runs a plan; outcomes are in the order of its ids for any number of jobs."""

    def __init__(self, plan: Plan, catalogue: Catalogue, watch: Watch | None = None) -> None:
        self._plan = plan
        self._catalogue = catalogue
        self._watch = watch
        self._stop = Event()
        self._outcomes: dict[str, Outcome] = {}
        self._failures: list[BaseException] = []
        self._checks_left = _CHECKS_MAX
        self.hello: HelloReply | None = None
        """Hello of the adapter."""

    def run(self, on_outcome: Callable[[Outcome], None] | None = None) -> tuple[Outcome, ...]:
        """Run the plan.

        Raises:
            AdapterFault: the adapter cannot be started, or its hello is wrong.
            VectorFileError: a vector cannot be read.
        """
        waiting: SimpleQueue[str] = SimpleQueue()
        for vector_id in self._plan.ids:
            waiting.put(vector_id)
        report = on_outcome or (lambda _: None)
        # The first hello is checked here, so that an error is raised before any vector runs.
        first = self._session()
        self.hello = first.hello
        try:
            self._check_profile(first.stderr)
        except UnknownProfile:
            first.end(politely=False)
            raise
        jobs = max(1, min(self._plan.jobs, len(self._plan.ids)))
        threads = [Thread(target=self._work, args=(waiting, None, report), daemon=True) for _ in range(jobs - 1)]
        try:
            for thread in threads:
                thread.start()
            self._work(waiting, first, report)
            for thread in threads:
                thread.join()
        except BaseException:
            self._stop.set()
            for thread in threads:
                thread.join()
            raise
        if self._failures:
            raise self._failures[0]
        outcomes = tuple(map(self._outcome, self._plan.ids))
        passed = {outcome.id for outcome in outcomes if outcome.status is Status.PASS}
        clearing = Clearing(self._catalogue, first.hello.observability, passed)
        try:
            return likeliest_first(outcomes, clearing)
        except Exception as error:  # a defect of attribution must not change the verdict
            note = defect_line(error)
            failed = {outcome.id for outcome in outcomes if outcome.status in FAILING}
            return tuple(
                [
                    replace(outcome, remark=outcome.remark or note) if outcome.id in failed else outcome
                    for outcome in outcomes
                ]
            )

    @property
    def profile(self) -> str:
        """Profile of the plan, or of the adapter's hello."""
        return self._plan.profile or ("" if self.hello is None else self.hello.profile)

    def _check_profile(self, stderr: str) -> None:
        """Reject an unknown profile, under which every vector would be skipped."""
        names = sorted(PROFILES.keys() | self._catalogue.profiles)
        if self.profile not in names:
            detail = f"the adapter's hello names the profile {self.profile!r}, expected one of {', '.join(names)}"
            raise UnknownProfile(f"{detail}; choose one with --profile", stderr)

    def _outcome(self, vector_id: str) -> Outcome:
        # Files are read in this thread only: msgspec crashes if two threads first decode the same type.
        outcome = self._outcomes.get(vector_id)
        if outcome is None:
            return Outcome(vector_id, Status.SKIPPED, "after the first failure")
        return replace(outcome, provenance=provenance(vector_id))

    def _session(self) -> Session:
        session = Session(self._plan.command, self._plan.reply_timeout_s, self._watch)
        if self.hello is not None and session.hello != self.hello:
            stderr = session.stderr
            session.end(politely=False)
            raise MalformedReply("its hello differs from that of the first process", stderr)
        return session

    def _work(self, waiting: "SimpleQueue[str]", session: Session | None, report: Callable[[Outcome], None]) -> None:
        try:
            while not self._stop.is_set():
                try:
                    vector_id = waiting.get_nowait()
                except Empty:
                    break
                vector = self._catalogue.vector(vector_id)
                try:
                    session = session or self._session()
                    outcome = run_vector(session, vector, self.profile, attributes=True)
                    if outcome.status is Status.FAIL and session.vectors and self._checks_left:
                        self._checks_left -= 1
                        session.end()
                        session = self._session()
                        outcome = _alone(outcome, run_vector(session, vector, self.profile, attributes=True))
                    session.vectors += 1
                except AdapterFault as fault:
                    outcome = error_outcome(vector_id, fault)
                    if session is not None:
                        session.end(politely=False)
                        session = None
                outcome = without_should(outcome) if self._plan.must_only else outcome
                outcome = apply_expectation(outcome, self._plan.expected_failures)
                self._outcomes[vector_id] = outcome
                report(outcome)
                if self._plan.stops_at_first and outcome.status in FAILING:
                    self._stop.set()
        except BaseException as failure:
            self._stop.set()
            self._failures.append(failure)
        finally:
            if session is not None:
                session.end(politely=not self._failures)


def _alone(outcome: Outcome, again: Outcome) -> Outcome:
    """Return the outcome of a failure that was run again in a new process."""
    if again.status is Status.FAIL:
        return again
    remark = f"{again.status} in a new process: reset does not clear the state of earlier vectors"
    return replace(outcome, remark=remark)
