"""pytest plugin that runs each vector as a test: `pytest --kraft-adapter CMD`.

A vector has a marker for each of its rules: `-m 'kraft_rule(id="vote.log-check")'` selects by rule, `-k` by id.
pytest loads this module wherever the package is installed, so nothing else is imported before the option is given.
"""

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kraft_conformance.runner.outcome import Outcome
    from kraft_conformance.runner.session import Session

_ADAPTERS: "pytest.StashKey[_Adapter]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, which pytest's settings can set with `addopts`."""
    group = parser.getgroup("kraft-spec", "KRaft's conformance vectors")
    group.addoption("--kraft-adapter", metavar="CMD", help="command line of an adapter: each vector is a test of it")
    group.addoption("--kraft-profile", metavar="NAME", help="profile; default: the one that the adapter names")
    group.addoption("--kraft-suite", metavar="VERSION", help="fail unless this is the suite's version, as 0.2")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, and check the options before pytest collects tests."""
    config.addinivalue_line("markers", "kraft_rule(id): the vector is about this rule of KRaft")
    if not config.getoption("--kraft-adapter"):
        return
    from kraft_conformance.runner.output.results import suite_version

    required = config.getoption("--kraft-suite")
    if required is not None and required != suite_version():
        raise pytest.UsageError(f"--kraft-suite {required}: this kraft-spec has the suite {suite_version()}")
    config.stash[_ADAPTERS] = _Adapter(config.getoption("--kraft-adapter"), config.getoption("--kraft-profile"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the vectors before `-k` and `-m` select tests."""
    adapter = config.stash.get(_ADAPTERS, None)
    if adapter is None:
        return
    vectors: list[pytest.Item | pytest.Collector] = []
    for entry in adapter.catalogue.manifest.vectors:
        item: _VectorItem = _VectorItem.from_parent(session, name=entry.id, nodeid=f"kraft-spec::{entry.id}")
        for rule in entry.rules:
            item.add_marker(pytest.mark.kraft_rule(id=rule))
        vectors.append(item)
        items.append(item)
    # Pytest counts the items of collection reports.
    config.hook.pytest_collectreport(report=pytest.CollectReport("kraft-spec", "passed", None, vectors))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Return the name of the suite."""
    adapter = config.stash.get(_ADAPTERS, None)
    if adapter is None:
        return []
    from kraft_conformance.runner.output.results import suite_of

    suite = suite_of(adapter.catalogue)
    return [f"kraft-spec: {suite}, {suite.vectors} vectors, manifest {suite.manifest_sha256[:12]}"]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the adapter's process."""
    adapter = config.stash.get(_ADAPTERS, None)
    if adapter is not None:
        adapter.end()


class VectorFailedError(Exception):
    """Error of a vector that does not pass; the message has all details."""


class _Adapter:
    """The adapter's process, started for the first vector and again after a fault."""

    def __init__(self, command: str, profile: str | None) -> None:
        from kraft_vectors.catalogue import Catalogue

        self.command = command
        self.profile = profile
        self.catalogue: Catalogue = Catalogue()
        self._session: Session | None = None

    def outcome(self, vector_id: str) -> "Outcome":
        """Run a vector and return its outcome."""
        from kraft_conformance.runner.faults import AdapterFault
        from kraft_conformance.runner.running import error_outcome, run_vector

        session = self._started()
        profile = self.profile or session.hello.profile
        if profile not in self.catalogue.profiles:
            pytest.exit(f"no vector is of the profile {profile!r}", returncode=pytest.ExitCode.USAGE_ERROR)
        try:
            outcome = run_vector(session, self.catalogue.vector(vector_id), profile, attributes=True)
            session.vectors += 1
            return outcome
        except AdapterFault as fault:
            self.end(politely=False)
            return error_outcome(vector_id, fault)

    def _started(self) -> "Session":
        from kraft_conformance.runner.campaign import REPLY_TIMEOUT_S
        from kraft_conformance.runner.faults import AdapterFault
        from kraft_conformance.runner.session import Session

        if self._session is None:
            try:
                self._session = Session(self.command, REPLY_TIMEOUT_S)
            except AdapterFault as fault:
                pytest.exit(f"the adapter did not answer hello: {fault}", returncode=pytest.ExitCode.USAGE_ERROR)
        return self._session

    def end(self, politely: bool = True) -> None:
        """End the process if it runs."""
        if self._session is not None:
            self._session.end(politely=politely)
            self._session = None


class _VectorItem(pytest.Item):
    """A vector."""

    def runtest(self) -> None:
        from kraft_conformance.runner.outcome import Status
        from kraft_conformance.runner.reports import details, repetition

        adapter = self.config.stash[_ADAPTERS]
        outcome = adapter.outcome(self.name)
        if outcome.status is Status.PASS:
            return
        if outcome.status in (Status.FAIL, Status.ERROR):
            raise VectorFailedError(details(outcome, repetition(adapter.command, self.name, adapter.profile)))
        pytest.skip(f"{outcome.status}: {outcome.reason}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, VectorFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"vector {self.name}"
