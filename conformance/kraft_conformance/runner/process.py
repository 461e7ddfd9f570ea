"""The process of an adapter: a line in, a line out, each in bounded time and memory; and nothing of it stays behind.

It runs in a session of its own, so that what it starts in turn (a JVM behind a shell script, say) ends with it.
"""

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import time
from collections import deque
from typing import IO

from kraft_conformance.protocol.parsing import LINE_BYTES_MAX
from kraft_conformance.runner.faults import CannotStart, Died, Hang, OversizedReply, StrayOutput

_CHUNK_BYTES = 65_536
_STDERR_CHUNKS = 8
"""How much of standard error is kept for messages."""
_LEAVE_S = 2.0
"""How long a process may take to end after its input has ended."""
_SHOWN_BYTES = 120


class AdapterProcess:
    """One running adapter.  Use it as a context: the process is gone afterwards."""

    def __init__(self, command: str, reply_timeout_s: float) -> None:
        """Start it.

        Args:
            command: the command line, split as a shell does, without a shell.
            reply_timeout_s: how long a reply may take.

        Raises:
            CannotStart: there is no such program, or it cannot be run.
        """
        self._timeout_s = reply_timeout_s
        self._received = bytearray()
        self._said: deque[bytes] = deque(maxlen=_STDERR_CHUNKS)
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise CannotStart(f"the command line {command!r} cannot be split: {error}") from error
        if not words:
            raise CannotStart("the command line of the adapter is empty")
        try:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as error:
            raise CannotStart(f"{words[0]}: {error.strerror}") from error
        for stream in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(stream.fileno(), False)
        self._streams = selectors.DefaultSelector()
        """Of its outputs, and of its input while it has not read all of a request."""
        for stream in (self._stdout, self._stderr):
            self._streams.register(stream, selectors.EVENT_READ)

    def __enter__(self) -> "AdapterProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def stderr(self) -> str:
        """The end of what it wrote to standard error."""
        return b"".join(self._said).decode("utf-8", "replace")

    def exchange(self, line: bytes) -> bytes:
        """Send a line, its newline included, and wait for the line that answers it.

        Raises:
            StrayOutput: it had said something before it was asked, or says more than one line.
            Hang, Died, OversizedReply: there is no such line.
        """
        self._look(0)
        if self._received:
            raise StrayOutput(f"output without a request: {_shown(self._received)}", self.stderr)
        reply = self._await_line(line)
        # A line that is no JSON object is told as such by whoever reads it, however fast the next one follows.
        if self._received and reply.lstrip().startswith(b"{"):
            lines = f"{_shown(reply)}, then {_shown(self._received)}"
            raise StrayOutput(f"more than one line in reply: {lines}", self.stderr)
        return reply

    def end(self) -> None:
        """End it, and whatever it has started: at its own will within two seconds, or by force."""
        process = self._process
        if process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            self._stdin.close()
        deadline = time.monotonic() + _LEAVE_S
        # The process is waited for without being reaped, so that its group cannot become anybody else's meanwhile.
        while not _has_ended(process.pid) and time.monotonic() < deadline:
            self._drain()
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        self._streams.close()
        self._stdout.close()
        self._stderr.close()

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None, "it is a pipe"
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None, "it is a pipe"
        return self._process.stdout

    @property
    def _stderr(self) -> IO[bytes]:
        assert self._process.stderr is not None, "it is a pipe"
        return self._process.stderr

    def _await_line(self, line: bytes) -> bytes:
        unsent = self._written(memoryview(line))
        deadline = time.monotonic() + self._timeout_s
        with contextlib.ExitStack() as watching:
            if unsent:
                self._streams.register(self._stdin, selectors.EVENT_WRITE)
                watching.callback(self._streams.unregister, self._stdin)
            while True:
                end = self._received.find(b"\n")
                if end + 1 > LINE_BYTES_MAX or (end < 0 and len(self._received) > LINE_BYTES_MAX):
                    raise OversizedReply(
                        f"the reply is longer than {LINE_BYTES_MAX} bytes: {_shown(self._received)}", self.stderr
                    )
                if end >= 0:
                    reply = bytes(self._received[: end + 1])
                    del self._received[: end + 1]
                    return reply
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise Hang(self._hang(len(unsent)), self.stderr)
                if not self._look(left_s):
                    raise Died(self._death(), self.stderr)
                if unsent:
                    unsent = self._written(unsent)
                    if not unsent:
                        watching.close()

    def _hang(self, unsent: int) -> str:
        if unsent:
            return f"the adapter did not read the request within {self._timeout_s:g} s"
        if self._received:
            return f"no newline after the reply within {self._timeout_s:g} s: {_shown(self._received)}"
        return f"no reply within {self._timeout_s:g} s"

    def _written(self, unsent: memoryview) -> memoryview:
        """Write as much as it takes, and return the rest."""
        try:
            return unsent[os.write(self._stdin.fileno(), unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            # It does not read any more; what it still says, or that it has ended, is seen at its output.
            return unsent[:0]

    def _read(self, stream: IO[bytes]) -> bool:
        """Take what there is; False at the end of the stream."""
        try:
            chunk = os.read(stream.fileno(), _CHUNK_BYTES)
        except BlockingIOError:
            return True
        if stream is self._stdout:
            self._received += chunk
        else:
            self._said.append(chunk)
        return bool(chunk)

    def _look(self, wait_s: float) -> bool:
        """Take what has been said meanwhile; False at the end of its standard output."""
        is_open = True
        for key, _ in self._streams.select(wait_s):
            if key.fileobj is not self._stdin and not self._read(key.fileobj):  # type: ignore[arg-type]  # a pipe
                if key.fileobj is self._stderr:
                    self._streams.unregister(self._stderr)
                else:
                    is_open = False
        return is_open

    def _drain(self) -> None:
        """Keep the pipes of a process that is leaving from filling up."""
        self._look(0)
        self._received.clear()

    def _death(self) -> str:
        deadline = time.monotonic() + _LEAVE_S
        while not _has_ended(self._process.pid) and time.monotonic() < deadline:
            time.sleep(0.005)
        self._look(0)
        status = _status(self._process.pid)
        return "the adapter closed its standard output, but still runs" if status is None else status


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _status(pid: int) -> str | None:
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is None:
        return None
    if ended.si_code == os.CLD_EXITED:
        return f"the adapter exited with code {ended.si_status} instead of replying"
    return f"the adapter was killed by {signal.Signals(ended.si_status).name} instead of replying"


def _shown(raw: bytes | bytearray) -> str:
    text = repr(bytes(raw[:_SHOWN_BYTES]).decode("utf-8", "replace"))
    return text if len(raw) <= _SHOWN_BYTES else f"{text} and {len(raw) - _SHOWN_BYTES} bytes more"
