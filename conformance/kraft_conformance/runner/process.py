"""Process of an adapter: exchanges lines in bounded time and memory, and leaves no process behind.

It runs in its own session, so that its child processes (a JVM behind a shell script, say) end with it.
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
"""Maximum number of chunks of standard error that are kept for messages."""
_LEAVE_S = 2.0
"""Seconds that a process has to exit after the end of its input."""
_SHOWN_BYTES = 120


class AdapterProcess:
    """A running adapter.  As a context manager it ends the process."""

    def __init__(self, command: str, reply_timeout_s: float) -> None:
        """Start the adapter.

        Args:
            command: the command line; it is split as a shell does, and run without one.
            reply_timeout_s: timeout of a reply.

        Raises:
            CannotStart: the program does not exist or cannot be run.
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
        """Its outputs, and its input while a request is not written completely."""
        for stream in (self._stdout, self._stderr):
            self._streams.register(stream, selectors.EVENT_READ)

    def __enter__(self) -> "AdapterProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def stderr(self) -> str:
        """End of its standard error."""
        return b"".join(self._said).decode("utf-8", "replace")

    def exchange(self, line: bytes) -> bytes:
        """Send a line with its newline, and return the line of the reply.

        Raises:
            StrayOutput: output without a request, or more than one line.
            Hang, Died, OversizedReply: no complete line.
        """
        self._look(0)
        if self._received:
            raise StrayOutput(f"a line on standard output before any request: {_shown(self._received)}", self.stderr)
        reply = self._await_line(line)
        # The parser reports a line that is not a JSON object, whether another line follows or not.
        if self._received and reply.lstrip().startswith(b"{"):
            lines = f"{_shown(reply)}, then {_shown(self._received)}"
            raise StrayOutput(f"more than one line in reply: {lines}", self.stderr)
        return reply

    def end(self) -> None:
        """End the process and its children: close its input, and kill them after two seconds."""
        process = self._process
        if process.returncode is not None:
            return
        with contextlib.suppress(OSError):
            self._stdin.close()
        deadline = time.monotonic() + _LEAVE_S
        # Wait without reaping the process, so that its process group id cannot be reused meanwhile.
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
        """Write as much as the pipe takes, and return the remainder."""
        try:
            return unsent[os.write(self._stdin.fileno(), unsent[:_CHUNK_BYTES]) :]
        except BlockingIOError:
            return unsent
        except BrokenPipeError:
            # It no longer reads; its output shows a last reply, or that the process has ended.
            return unsent[:0]

    def _read(self, stream: IO[bytes]) -> bool:
        """Read the available bytes; False at the end of the stream."""
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
        """Read available output; False at the end of standard output."""
        is_open = True
        for key, _ in self._streams.select(wait_s):
            if key.fileobj is not self._stdin and not self._read(key.fileobj):  # type: ignore[arg-type]  # a pipe
                if key.fileobj is self._stderr:
                    self._streams.unregister(self._stderr)
                else:
                    is_open = False
        return is_open

    def _drain(self) -> None:
        """Read and discard output, so that an exiting process does not block on full pipes."""
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
