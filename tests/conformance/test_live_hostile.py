"""`live attach` to a hostile peer: a result for each case, and never an internal error."""

import asyncio
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.conformance.commands import Captured

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.live.peers import OFFERED, api_keys
from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES, free_ports
from kraft_kafka.wire.connections import read_frame
from kraft_kafka.wire.frames import decode_request, encode_frame
from kraft_kafka.wire.schema import Kind, message_of

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Mode = Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
"""Behaviour of the peer at a request frame, before it closes the connection."""


def answers_with(content: bytes) -> Mode:
    async def answer(request: bytes, writer: asyncio.StreamWriter) -> None:
        writer.write(content)
        await writer.drain()

    return answer


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


async def nothing(request: bytes, writer: asyncio.StreamWriter) -> None:
    """Close."""


async def silence(request: bytes, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3600)


async def half_and_silence(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(struct.pack(">i", 2**24) + bytes(2**20))
    await asyncio.sleep(3600)


async def reset(request: bytes, writer: asyncio.StreamWriter) -> None:
    opened: socket.socket = writer.get_extra_info("socket")
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def echo(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(request)


async def byte_by_byte(request: bytes, writer: asyncio.StreamWriter) -> None:
    for byte in framed(request[8:12] + bytes(6)):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(0.001)


async def huge_array(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(framed(request[8:12] + b"\0\0" + bytes.fromhex("ffffffff07")))


async def twice(request: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(framed(request[8:12] + bytes(7)) * 2)


async def api_versions(request: bytes, writer: asyncio.StreamWriter) -> None:
    """The one right response."""
    frame = decode_request(request)
    body = {"errorCode": 0, "apiKeys": api_keys(OFFERED), "throttleTimeMs": 0}
    document = {"header": {"correlationId": frame.header["correlationId"]}, "body": body}
    writer.write(encode_frame(message_of("ApiVersions", Kind.RESPONSE), frame.version, document)[0])


MODES: dict[str, Mode] = {
    "closes": nothing,
    "resets": reset,
    "says nothing": silence,
    "half a frame": answers_with(struct.pack(">i", 100) + bytes(20)),
    "half a frame and silence": half_and_silence,
    "negative length": answers_with(struct.pack(">i", -1)),
    "length of 2 GiB": answers_with(b"\x7f\xff\xff\xff"),
    "empty frame": answers_with(bytes(4)),
    "HTTP": answers_with(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "another correlation id": answers_with(framed(b"\x01\x02\x03\x04" + bytes(6))),
    "its own request": echo,
    "byte by byte": byte_by_byte,
    "huge array": huge_array,
    "two responses": twice,
}


@contextmanager
def peer(port: int, mode: Mode, answers_api_versions: bool) -> Iterator[None]:
    """A peer that listens in a thread."""
    loop, listens = asyncio.new_event_loop(), threading.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_over = False
        with suppress(OSError, EOFError, asyncio.CancelledError):
            while not is_over:
                request = await read_frame(reader)
                is_over = not (answers_api_versions and request[4:6] == b"\0\x12")
                await (mode if is_over else api_versions)(request, writer)
        writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", port)
        listens.set()
        with suppress(asyncio.CancelledError):
            await server.serve_forever()
        remaining = asyncio.all_tasks() - {asyncio.current_task()}
        for task in remaining:
            task.cancel()
        await asyncio.gather(*remaining, return_exceptions=True)

    task = loop.create_task(listen())
    thread = threading.Thread(target=loop.run_until_complete, args=[task])
    thread.start()
    assert listens.wait(20)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(20)
        loop.close()


def attached(mode: Mode, answers_api_versions: bool, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the exit code of `live attach` to such a peer."""
    monkeypatch.setattr("kraft_kafka.live.peers.ASK_S", 0.5)
    ports = dict(zip((1, 2, 3), free_ports(3), strict=True))
    voters = ",".join(f"{item}@127.0.0.1:{port}:{DIRECTORIES[item]}" for item, port in ports.items())
    where = ["--endpoint", f"127.0.0.1:{ports[1]}", "--cluster-id", CLUSTER_ID, "--voters", voters]
    with peer(ports[1], mode, answers_api_versions):
        return main(["live", "attach", *where, "-k", "vote/once-per-epoch"])


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
def test_a_peer_that_answers_nothing_right_is_no_controller(
    mode: Mode, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    code = attached(mode, False, monkeypatch)
    text = capsys.readouterr()
    assert (code, text.out) == (ExitCode.UNAVAILABLE, ""), text
    assert text.err.startswith("it does not answer ApiVersions version 3: "), text


@pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
def test_a_peer_that_answers_one_case_wrong_ends_that_case(
    mode: Mode, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    code = attached(mode, True, monkeypatch)
    text = capsys.readouterr()
    assert code in (ExitCode.VIOLATION, ExitCode.INCONCLUSIVE, ExitCode.NOTHING_JUDGED), text
    assert "vote/once-per-epoch" in text.out
    assert text.err == ""
