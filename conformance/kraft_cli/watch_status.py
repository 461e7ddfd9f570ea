"""Status of a watch and its display."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kraft_cli.verdicts import show_rejection
from kraft_conformance.console import say, show_table, stdout
from kraft_kafka.agent.watch.watched import WatchedAgents
from kraft_traces.check.model import ReplicaSummary
from kraft_traces.check.verdict import Rejection
from kraft_traces.watch.folder import WatchedProcesses
from kraft_traces.watch.reports import Alert
from kraft_traces.watch.whole import WatchedTrace

Watched = WatchedTrace | WatchedProcesses | WatchedAgents


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """Figures of a watch at one moment."""

    events: int
    alerts: int
    gaps: int
    judging: bool
    """False in a gap, which the next checkpoint ends."""
    behind_bytes: int
    waiting_events: int
    silent_s: float
    """Seconds since the last new line."""
    per_second: float
    """Events of the last interval."""
    replicas: Mapping[int, ReplicaSummary]

    @property
    def verdict(self) -> str:
        """The verdict so far, in words."""
        if self.alerts:
            return f"{self.alerts} {'alert' if self.alerts == 1 else 'alerts'}"
        if not self.judging:
            return "nothing judged yet" if not self.events else "not judged until the next checkpoint"
        return f"conforms but for {self.gaps} gap{'' if self.gaps == 1 else 's'}" if self.gaps else "conforms"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON object of the status."""
        replicas = {str(number): replica._asdict() for number, replica in self.replicas.items()}
        return {"report": "status", "verdict": self.verdict, **asdict(self), "replicas": replicas}


def status_of_watch(watched: Watched, silent_s: float, per_second: float) -> WatchStatus:
    """Return the status of a watch."""
    judge = watched.judge
    return WatchStatus(
        0 if judge is None else judge.events,
        0 if judge is None else judge.alerts,
        watched.gaps,
        judge is not None and not judge.is_in_gap,
        watched.behind,
        watched.waiting,
        round(silent_s, 1),
        round(per_second, 1),
        {} if judge is None else judge.statuses(),
    )


def status_line(status: WatchStatus) -> str:
    """Return the line that shows a status."""
    replicas = " ".join(
        f"{number} {replica.role} {replica.epoch}" for number, replica in sorted(status.replicas.items())
    )
    lag = f"{status.behind_bytes:,} bytes behind" if status.behind_bytes else "up to date"
    waiting = f", {status.waiting_events} waiting" if status.waiting_events else ""
    figures = f"{status.events:,} events, {status.per_second:,.0f}/s, {lag}{waiting}"
    silent = f", silent for {status.silent_s:,.0f} s" if status.silent_s >= 1 else ""
    return f"{figures}{silent} | {replicas or 'no replica is known'} | {status.verdict}"


def show_alert(alert: Alert) -> None:
    """Show an alert: the line, rules, differences, and the states of the replicas before the line."""
    if isinstance(alert.cause, Rejection):
        show_rejection(stdout, alert.cause)
    else:
        say(alert.cause, "red")
    if alert.replicas:
        columns = ("replica", "role", "epoch", "leader", "log end", "high watermark")
        rows = [
            (
                number,
                it.role,
                it.epoch,
                "none" if it.leader_id is None else it.leader_id,
                it.log_end_offset,
                mark_text(it),
            )
            for number, it in alert.replicas.items()
        ]
        show_table("Replicas before the line", columns, rows)


def mark_text(replica: ReplicaSummary) -> str:
    """Return the text of a high watermark."""
    return "unknown" if replica.high_watermark < 0 else str(replica.high_watermark)
