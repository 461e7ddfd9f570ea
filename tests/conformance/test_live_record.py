"""Three real Kafka controllers behind the recorder, whose leader is killed: their capture, and the trace of it."""

import asyncio
import gzip
import resource
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from msgspec.json import decode
from msgspec.structs import replace

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_dev.schemas.conformance import CAPTURE_SCHEMA
from kraft_kafka.live.capture import (
    SCHEMA,
    CapturedNode,
    CaptureError,
    CaptureHeader,
    CaptureWriter,
    FrameLine,
    read_capture,
)
from kraft_kafka.live.captured import messages_of
from kraft_kafka.live.process import free_ports
from kraft_kafka.live.recording import Recorder, Route
from kraft_kafka.live.start import start_of
from kraft_kafka.wire.connections import Connection, Server
from kraft_reference.profile import PROFILES
from kraft_traces.check.model import trace_model
from kraft_traces.check.run import check_lines
from kraft_traces.check.verdict import VerdictKind
from kraft_traces.inference.inferring import infer, opaque_profile
from kraft_traces.message_types import TracedVoteResponse

CONTROLLERS = Path(__file__).parent / "live" / "three-controllers.capture.gz"
"""Kafka 4.1.1; `controller.quorum.retry.backoff.ms=0`."""
FROM_DISKS = CONTROLLERS.with_name("from-disks.capture.gz")
"""The same on disks that are not fresh; the leader is killed and comes back."""
OVERTAKEN = CONTROLLERS.with_name("pre-vote-before-fetch.capture.gz")
"""Kafka 4.3.1 on fresh disks; a Pre-Vote passes before a Fetch with a smaller correlation id."""


def test_a_capture_fits_the_schema() -> None:
    validator = Draft202012Validator(CAPTURE_SCHEMA.committed())
    with gzip.open(CONTROLLERS) as stream:
        for line in stream:
            validator.validate(decode(line))


@pytest.mark.parametrize(
    "capture",
    [
        pytest.param(CONTROLLERS, id="fresh"),
        pytest.param(FROM_DISKS, id="from disks", marks=pytest.mark.nightly),
        pytest.param(OVERTAKEN, id="overtaken", marks=pytest.mark.nightly),
    ],
)
def test_what_controllers_did_is_inferred_and_accepted(tmp_path: Path, capture: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    assert main(["live", "infer", str(capture), "-o", str(trace), "--profile", "kafka-4.1"]) == ExitCode.CONFORMANT
    assert main(["validate", str(trace)]) == ExitCode.CONFORMANT


def test_a_flipped_vote_is_explained_by_nothing_and_rejected_at_its_field() -> None:
    header, lines = read_capture(CONTROLLERS)
    start = start_of(header, lines, opaque_profile(PROFILES["kafka-4.1"]))
    captured = messages_of(header, lines)
    observed = list(captured.seen)
    place = next(i for i, item in enumerate(observed) if isinstance(getattr(item, "message", None), TracedVoteResponse))
    vote = observed[place]
    observed[place] = vote._replace(message=replace(vote.message, granted=not vote.message.granted))
    results = infer(trace_model(), start.configuration, observed, {1, 2, 3}, spans=captured.spans)
    assert results.failure is not None
    assert results.failure.target.number == place
    assert results.failure.miss is not None
    assert [difference.field for difference in results.failure.miss.differences] == ["message.granted"]
    verdict = check_lines(results.lines, start.configuration, "flipped", own=False)
    assert verdict.kind is VerdictKind.REJECTED
    assert verdict.rejection is not None
    assert [difference.field.rpartition(".")[2] for difference in verdict.rejection.differences] == ["granted"]


def test_every_frame_is_written_down_and_passed_on(tmp_path: Path) -> None:
    async def echoed() -> list[bytes]:
        async def answer(frame: bytes) -> bytes:
            return frame

        server = Server("127.0.0.1", 0, answer)
        await server.start()
        free = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = free.sockets[0].getsockname()[1]
        free.close()
        await free.wait_closed()
        header = CaptureHeader(
            schema=SCHEMA, generator="test", nodes=(CapturedNode(id=1, endpoint=f"127.0.0.1:{port}"),)
        )
        with (tmp_path / "capture").open("wb", buffering=0) as stream:
            recorder = Recorder(
                (Route(1, ("127.0.0.1", port), ("127.0.0.1", server.port)),), CaptureWriter(stream, header), {}
            )
            await recorder.start()
            connection = Connection("127.0.0.1", port, "test")
            got = [await connection.exchange(len(text).to_bytes(4, "big") + text) for text in (b"one", b"another")]
            connection.close()
            await recorder.stop()
            recorder.end()
        await server.stop()
        return got

    got = asyncio.run(echoed())
    _, lines = read_capture(tmp_path / "capture")
    frames = [bytes.fromhex(line.bytes) for line in lines if isinstance(line, FrameLine)]
    assert frames == [got[0], got[0], got[1], got[1]]


def test_a_recorder_that_cannot_write_passes_everything_on_and_says_so(tmp_path: Path) -> None:
    frames = [(200).to_bytes(4, "big") + bytes([number]) * 200 for number in range(30)]
    listen, output = free_ports(1)[0], tmp_path / "cut.capture"

    def with_a_small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    async def recorded() -> tuple[list[bytes], int | None, str]:
        async def answer(frame: bytes) -> bytes:
            return frame

        server = Server("127.0.0.1", 0, answer)
        await server.start()
        words = ["live", "record", "--node", f"1=127.0.0.1:{listen},127.0.0.1:{server.port}", "-o", str(output)]
        command = [sys.executable, "-m", "kraft_cli.cli", *words]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=with_a_small_disk) as recorder:
            assert recorder.stderr is not None
            assert "recording" in await asyncio.to_thread(recorder.stderr.readline)
            connection = Connection("127.0.0.1", listen, "test")
            try:
                got = [await asyncio.wait_for(connection.exchange(frame), 30) for frame in frames]
            finally:
                connection.close()
                recorder.send_signal(signal.SIGINT)
            _, printed = await asyncio.to_thread(recorder.communicate)
        await server.stop()
        return got, recorder.returncode, printed

    got, code, printed = asyncio.run(recorded())
    assert (got, code) == (frames, ExitCode.CANNOT_WRITE)
    assert printed.count("File too large: nothing more is written, and everything is still passed on") == 1
    assert "the capture ends before the recording" in printed
    _, lines = read_capture(output)
    written = [bytes.fromhex(line.bytes) for line in lines if isinstance(line, FrameLine)]
    assert written
    assert written == [frame for frame in frames for _ in range(2)][: len(written)]


def test_a_client_that_speaks_tls_is_reported_once(tmp_path: Path) -> None:
    listen, output = free_ports(1)[0], tmp_path / "tls.capture"
    context = ssl.create_default_context()
    with socket.create_server(("127.0.0.1", 0)) as node:
        words = ["live", "record", "--node", f"1=127.0.0.1:{listen},127.0.0.1:{node.getsockname()[1]}"]
        command = [sys.executable, "-m", "kraft_cli.cli", *words, "-o", str(output)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as recorder:
            assert recorder.stderr is not None
            assert "recording" in recorder.stderr.readline()
            for _ in range(2):
                with (
                    socket.create_connection(("127.0.0.1", listen)) as client,
                    pytest.raises((ssl.SSLError, ConnectionError)),
                ):
                    context.wrap_socket(client, server_hostname="node")
            recorder.send_signal(signal.SIGINT)
            _, printed = recorder.communicate()
    assert (
        printed.count("node 1: a client speaks TLS, which cannot be recorded: use `kraft-spec kafka attach PID`") == 1
    )
    assert "no frame was recorded, because all clients speak TLS" in printed
    assert recorder.returncode == ExitCode.UNAVAILABLE


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("", "header"),
        ('{"kind":"frame"}\n', ":1: "),
        ("{}\n", ":1: "),
    ],
)
def test_what_is_no_capture_is_refused_with_its_place(tmp_path: Path, text: str, printed: str) -> None:
    path = tmp_path / "capture"
    path.write_text(text)
    with pytest.raises(CaptureError, match=printed):
        read_capture(path)
