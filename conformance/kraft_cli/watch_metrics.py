"""Figures of a watch for Prometheus, in its text format, on the loopback.

The format is a few lines, and the server is that of the standard library.  A client library would be an extra that
users have to install, for nine figures.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from kraft_cli.watch_status import WatchStatus
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError

_LOOPBACK = "127.0.0.1"
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Newest figures; the watch replaces them, and the server's thread reads them."""

    def __init__(self) -> None:
        self.text = ""

    def show(self, status: WatchStatus) -> None:
        """Take the figures of a status."""
        self.text = metrics_text(status)


def metrics_text(status: WatchStatus) -> str:
    """Return the figures in Prometheus's text format."""
    figures: dict[str, tuple[str, str, list[tuple[str, float]]]] = {
        "events_total": ("counter", "Events that were read.", [("", status.events)]),
        "alerts_total": ("counter", "Lines that do not conform.", [("", status.alerts)]),
        "gaps_total": ("counter", "Gaps, behind which judging went on.", [("", status.gaps)]),
        "judging": ("gauge", "1 if lines are judged, 0 until the checkpoint after a gap.", [("", int(status.judging))]),
        "behind_bytes": ("gauge", "Bytes that are written and not read yet.", [("", status.behind_bytes)]),
        "waiting_events": ("gauge", "Events that wait for another process.", [("", status.waiting_events)]),
        "silent_seconds": ("gauge", "Seconds since the last new line.", [("", round(status.silent_s, 1))]),
        "replica_epoch": (
            "gauge",
            "Epoch of a replica.",
            [(f'{{replica="{number}"}}', replica.epoch) for number, replica in status.replicas.items()],
        ),
        "replica_role": (
            "gauge",
            "1 for the role of a replica.",
            [(f'{{replica="{number}",role="{replica.role}"}}', 1) for number, replica in status.replicas.items()],
        ),
    }
    lines: list[str] = []
    for name, (kind, description, rows) in figures.items():
        lines += [f"# HELP kraft_watch_{name} {description}", f"# TYPE kraft_watch_{name} {kind}"]
        lines += [f"kraft_watch_{name}{labels} {value}" for labels, value in rows]
    return "\n".join([*lines, ""])


@contextmanager
def serve_metrics(port: int | None) -> Iterator[Metrics]:
    """Serve the figures at /metrics of a port of the loopback; nothing is served without a port.

    Raises:
        CommandError: the port is in use, or not allowed.
    """
    metrics = Metrics()
    if port is None:
        yield metrics
        return

    class Handler(BaseHTTPRequestHandler):
        """Returns the figures, whatever is asked after /metrics."""

        def do_GET(self) -> None:
            """Send the figures."""
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(HTTPStatus.NOT_FOUND, "expected /metrics")
                return
            body = metrics.text.encode()
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", _CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Log nothing: standard error has the status."""

    try:
        server = ThreadingHTTPServer((_LOOPBACK, port), Handler)
    except OSError as error:
        detail = f"--prometheus {port}: {error.strerror}, expected a free port of {_LOOPBACK}"
        raise CommandError(detail, ExitCode.UNAVAILABLE) from error
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield metrics
        finally:
            server.shutdown()
