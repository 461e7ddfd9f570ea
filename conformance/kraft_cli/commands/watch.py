"""`kraft-spec watch`: check of traces while they grow."""

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.live import Live
from rich.text import Text

from kraft_cli.commands.options import Candidates, Every, Json
from kraft_cli.commands.signals import noted_signals
from kraft_cli.verdicts import EXIT_CODES, summary
from kraft_cli.watch_metrics import Metrics, serve_metrics
from kraft_cli.watch_status import Watched, show_alert, status_line, status_of_watch
from kraft_conformance.console import print_json, say, stderr, stdout
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_kafka.agent.watch.files import has_agent_files
from kraft_kafka.agent.watch.followed import SavedAgents
from kraft_kafka.agent.watch.watched import WatchedAgents
from kraft_traces.check import CANDIDATES_MAX, EVERY, Rejection, VerdictKind
from kraft_traces.errors import UnreadableFileError
from kraft_traces.process_trace import MergeError
from kraft_traces.watch.folder import SUFFIXES, SavedFolder, WatchedProcesses
from kraft_traces.watch.reports import Alert, Report
from kraft_traces.watch.state import read_state, write_state
from kraft_traces.watch.whole import SavedTrace, WatchedTrace

Sources = Annotated[
    list[str],
    typer.Argument(help="A trace of a whole cluster, or - for standard input; or files and folders of processes."),
]
KeepGoing = Annotated[bool, typer.Option("--keep-going", help="Go on after an alert; default: end with its exit code.")]
Prometheus = Annotated[
    int | None,
    typer.Option("--prometheus", metavar="PORT", min=1, max=65535, help="Serve figures at /metrics of the loopback."),
]
State = Annotated[
    Path | None, typer.Option("--state", metavar="FILE", help="Where to continue after a restart; written by itself.")
]
Wait = Annotated[
    float, typer.Option("--wait", min=0.0, help="Seconds to wait for the line that sends a received message.")
]

_Saved = TypeVar("_Saved")

_IDLE_SECONDS = 0.05
"""Time between two looks at sources without new lines."""
_FIGURES_SECONDS, _PLAIN_SECONDS = 1.0, 10.0
"""Time between two updates of the figures and of the terminal, and between two status lines elsewhere."""
_SAVE_SECONDS, _SAVE_SHARE = 5.0, 0.05
"""Least time between two saved states, and the largest share of time that saving takes: long logs take seconds."""


def watch(
    sources: Sources,
    keep_going: KeepGoing = False,
    prometheus: Prometheus = None,
    state: State = None,
    wait: Wait = 5.0,
    every: Every = EVERY,
    candidates: Candidates = CANDIDATES_MAX,
    as_json: Json = False,
) -> int:
    """Check traces while they grow: an alert about a second after a wrong line.

    One file, or standard input, is the trace of a whole cluster, which is judged as `validate` judges it. Several
    files, and a folder in which files may appear, are the traces of processes, which are merged as `trace merge` merges
    them. The watch ends at the first alert, when every trace has its end line, or by Ctrl-C or SIGTERM. Exit code: 1 if
    a line does not conform, else 65 if one is malformed, else 2 if lines are missing, or standard input ends without an
    end line; 0 after a signal if nothing was wrong. --json prints one object a line.
    """
    session = _Session(sources, keep_going, state, as_json)
    if not as_json:
        say(f"watching {', '.join(sources)} ...", console=stderr)
    try:
        with serve_metrics(prometheus) as metrics, noted_signals() as is_stopped:
            while _are_empty(sources) and not is_stopped():
                time.sleep(_IDLE_SECONDS)
            session.open(every, candidates, wait)
            return session.run(metrics, is_stopped)
    except MergeError as error:
        raise CommandError(str(error), ExitCode.BAD_INPUT) from error


class _Session:
    """Run of the command."""

    def __init__(self, sources: list[str], keep_going: bool, state: Path | None, as_json: bool) -> None:
        _check_sources(sources, state)
        self._sources = sources
        self._keep_going = keep_going
        self._state = state
        self._as_json = as_json
        self._codes: set[ExitCode] = set()
        self._is_over = False
        self._live: Live | None = None
        self._watched: Watched
        self._measured = (0, time.monotonic())
        """Number of events and time of the last status."""
        self._printed_at = time.monotonic()
        self._grew = (0, time.monotonic())
        """Number of events, and time at which it last changed."""
        self._save_due = time.monotonic() + _SAVE_SECONDS

    def open(self, every: int, candidates: int, wait: float) -> None:
        """Open the sources, where an earlier run stopped if there is a state.

        Raises:
            TraceError: a source or the state cannot be read.
        """
        saved: SavedTrace | SavedFolder | SavedAgents | None
        options = {"every": every, "candidates_max": candidates}
        if has_agent_files(self._sources):
            saved = agents = self._read_state(SavedAgents)
            self._watched = WatchedAgents(self._sources, **options, patience_s=wait, saved=agents)
        elif len(self._sources) == 1 and not Path(self._sources[0]).is_dir():
            saved = trace = self._read_state(SavedTrace)
            self._watched = WatchedTrace(self._sources[0], **options, saved=trace)
        else:
            saved = folder = self._read_state(SavedFolder)
            self._watched = WatchedProcesses(self._sources, **options, patience_s=wait, saved=folder)
        if saved is not None:
            self._codes |= {ExitCode.VIOLATION} if saved.alerts > saved.malformed else set()
            self._codes |= {ExitCode.BAD_INPUT} if saved.malformed else set()

    def _read_state(self, kind: type[_Saved]) -> _Saved | None:
        return None if self._state is None else read_state(self._state, self._sources, kind)

    def run(self, metrics: Metrics, is_stopped: Callable[[], bool]) -> ExitCode:
        """Watch until the end; return the exit code."""
        watched = self._watched
        self._live = Live(console=stderr, transient=True, auto_refresh=False) if stderr.is_terminal else None
        if self._live is not None:
            self._live.start()
        try:
            while not self._is_over and not is_stopped() and not watched.has_ended:
                before = self._events()
                self._report(watched.poll(time.monotonic()))
                now = time.monotonic()
                if self._events() != before:
                    self._grew = (self._events(), now)
                elif not self._is_over:
                    time.sleep(_IDLE_SECONDS)
                if now >= self._save_due:
                    self._save()
                if now >= self._measured[1] + _FIGURES_SECONDS:
                    self._show_status(metrics)
        finally:
            if self._live is not None:
                self._live.stop()
        has_ended = watched.has_ended and not self._is_over
        if has_ended:
            self._report(watched.finish())
        self._save()
        self._show_status(metrics, is_last=True)
        return self._finish(has_ended=has_ended and not self._is_over)

    def _events(self) -> int:
        judge = self._watched.judge
        return 0 if judge is None else judge.events

    def _report(self, reports: Iterable[Report]) -> None:
        for report in reports:
            if isinstance(report, Alert):
                is_rejection = isinstance(report.cause, Rejection)
                self._codes.add(ExitCode.VIOLATION if is_rejection else ExitCode.BAD_INPUT)
            if self._as_json:
                print_json(report.as_dict())
                stdout.file.flush()
            elif isinstance(report, Alert):
                show_alert(report)
            else:
                say(report, "yellow")
            if isinstance(report, Alert) and not self._keep_going:
                self._is_over = True
                return

    def _save(self) -> None:
        if self._state is None:
            return
        began = time.monotonic()
        if (saved := self._watched.save()) is not None:
            write_state(self._state, self._sources, saved)
        ended = time.monotonic()
        self._save_due = ended + max(_SAVE_SECONDS, (ended - began) / _SAVE_SHARE)

    def _show_status(self, metrics: Metrics, *, is_last: bool = False) -> None:
        now, events = time.monotonic(), self._events()
        events_before, measured_at = self._measured
        status = status_of_watch(
            self._watched, now - self._grew[1], (events - events_before) / max(now - measured_at, 0.001)
        )
        self._measured = (events, now)
        metrics.show(status)
        if self._live is not None and self._live.is_started:
            self._live.update(Text(status_line(status), no_wrap=True, overflow="ellipsis"), refresh=True)
        if self._live is not None and not is_last and not self._as_json:
            return
        if not is_last and now < self._printed_at + _PLAIN_SECONDS:
            return
        self._printed_at = now
        if self._as_json:
            print_json(status.as_dict())
            stdout.file.flush()
        else:
            say(status_line(status), console=stderr)

    def _finish(self, *, has_ended: bool) -> ExitCode:
        """Show the verdict on traces that have ended; return the exit code."""
        judge = self._watched.judge
        if self._watched.gaps or judge is None:
            self._codes.add(ExitCode.INCONCLUSIVE)
        if has_ended and judge is not None and not self._codes:
            verdict = judge.finish()
            if verdict is not None:
                self._codes.add(EXIT_CODES[verdict.kind])
                if verdict.rejection is not None:
                    self._report([Alert(verdict.source, verdict.rejection.line, verdict.rejection, {})])
                if self._as_json:
                    print_json({"report": "end", **verdict.as_dict()})
                elif verdict.kind is not VerdictKind.REJECTED:
                    say(summary(verdict))
        order = (ExitCode.VIOLATION, ExitCode.BAD_INPUT, ExitCode.INCONCLUSIVE)
        return next((code for code in order if code in self._codes), ExitCode.CONFORMANT)


def _are_empty(sources: list[str]) -> bool:
    """True if all sources are folders without a file that can be followed; what they will have decides how."""
    folders = [Path(source) for source in sources if source != "-"]
    are_folders = len(folders) == len(sources) and all(folder.is_dir() for folder in folders)
    return are_folders and not any(path.suffix in SUFFIXES for folder in folders for path in folder.rglob("*"))


def _check_sources(sources: list[str], state: Path | None) -> None:
    """Check that the sources can be followed.

    Raises:
        TraceError: nothing is there.
        CommandError: they cannot be followed.
    """
    for source in sources:
        if source == "-":
            if len(sources) > 1:
                raise usage_error("-: standard input is the trace of a whole cluster, expected no other source")
            if state is not None:
                raise usage_error("--state: nobody can return to a place in standard input, expected files")
        elif not Path(source).exists():
            raise UnreadableFileError("no such file or folder", source)
        elif not Path(source).is_dir() and Path(source).suffix in (".gz", ".parquet"):
            raise usage_error(f"{source}: does not grow line by line, expected a file such as {' or '.join(SUFFIXES)}")
