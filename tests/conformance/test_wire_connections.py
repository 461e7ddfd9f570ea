"""Frames over TCP on the loopback interface."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import closing

import pytest

from kraft_kafka.wire.connections import REQUEST_BYTES_MAX, Connection, Server
from kraft_kafka.wire.decoding import Document
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.frames import decode_request, decode_response, encode_frame, unsupported_api_versions
from kraft_kafka.wire.schema import Kind, message_of

_BODY: Document = {"clusterId": None, "topics": []}


async def _vote_response(raw: bytes) -> bytes | None:
    number = decode_request(raw).header["correlationId"]
    document = {"header": {"correlationId": number}, "body": {"errorCode": number, "topics": []}}
    return encode_frame(message_of("Vote", Kind.RESPONSE), 0, document)[0]


def _with_server(respond: Callable[[bytes], Awaitable[bytes | None]], run: Callable[[Server], Awaitable[None]]) -> None:
    async def main() -> None:
        server = Server("127.0.0.1", 0, respond)
        await server.start()
        try:
            await run(server)
        finally:
            await server.stop()

    asyncio.run(asyncio.wait_for(main(), 20))


def test_each_request_has_its_own_response() -> None:
    async def run(server: Server) -> None:
        connection = Connection(server.host, server.port, "client")
        answers = await asyncio.gather(*[connection.ask("Vote", 0, _BODY) for _ in range(5)])
        assert sorted(answer.body["errorCode"] for answer in answers) == [1, 2, 3, 4, 5]
        connection.close()

    _with_server(_vote_response, run)


def test_after_a_timeout_a_late_response_is_never_read() -> None:
    delays = iter((0.3, 0.0))

    async def slow(raw: bytes) -> bytes | None:
        await asyncio.sleep(next(delays))
        return await _vote_response(raw)

    async def run(server: Server) -> None:
        connection = Connection(server.host, server.port, "client")
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(connection.ask("Vote", 0, _BODY), 0.05)
        assert (await connection.ask("Vote", 0, _BODY)).body["errorCode"] == 2
        connection.close()

    _with_server(slow, run)


@pytest.mark.parametrize("length", [-1, 2**31 - 1, 17 * 2**20])
def test_a_length_that_no_frame_has_ends_the_connection(length: int) -> None:
    async def run(server: Server) -> None:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(length.to_bytes(4, "big", signed=True) + b"0123")
        assert await asyncio.wait_for(reader.read(), 10) == b""
        writer.close()

    _with_server(_vote_response, run)


def test_a_response_to_another_request_is_an_error() -> None:
    async def other(raw: bytes) -> bytes | None:
        document = {"header": {"correlationId": 77}, "body": {"errorCode": 0, "topics": []}}
        return encode_frame(message_of("Vote", Kind.RESPONSE), 0, document)[0]

    async def run(server: Server) -> None:
        with pytest.raises(WireError, match="correlationId"):
            await Connection(server.host, server.port, "client").ask("Vote", 0, _BODY)

    _with_server(other, run)


def test_nobody_listens() -> None:
    async def run(server: Server) -> None:
        await server.stop()
        with pytest.raises(OSError, match="Connect"):
            await Connection(server.host, server.port, "client").ask("Vote", 0, _BODY)

    _with_server(_vote_response, run)


def test_an_api_versions_of_the_future_is_answered_in_version_0() -> None:
    """Rule: wire.negotiation."""
    header = {"correlationId": 9, "clientId": None}
    body = {"clientSoftwareName": "x", "clientSoftwareVersion": "1"}
    requested, _ = encode_frame(message_of("ApiVersions", Kind.REQUEST), 4, {"header": header, "body": body})
    keys = [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]
    answer = unsupported_api_versions(requested[:6] + b"\0\x63" + requested[8:], keys)
    assert answer is not None
    frame = decode_response(answer, message_of("ApiVersions", Kind.RESPONSE), 0)
    assert (frame.header, frame.body) == ({"correlationId": 9}, {"errorCode": 35, "apiKeys": keys})
    assert unsupported_api_versions(b"\0" * 12, keys) is None


def test_a_client_that_pipelines_does_not_keep_others_waiting() -> None:
    count, answered, observed = 2_000, 0, []

    async def respond(raw: bytes) -> bytes | None:
        nonlocal answered
        answered += 1
        return await _vote_response(raw)

    async def run(server: Server) -> None:
        header = {"correlationId": 1, "clientId": "pipelines"}
        frame, _ = encode_frame(message_of("Vote", Kind.REQUEST), 0, {"header": header, "body": _BODY})
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(frame * count)
        await reader.readexactly(4)
        with closing(Connection(server.host, server.port, "client")) as client:
            await client.ask("Vote", 0, _BODY)
        observed.append(answered)
        writer.close()

    _with_server(respond, run)
    assert observed[0] < count


def test_requests_that_are_not_finished_hold_a_bounded_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraft_kafka.wire.connections.HELD_BYTES_MAX", 2**20)
    half = REQUEST_BYTES_MAX.to_bytes(4, "big") + bytes(REQUEST_BYTES_MAX // 2)

    async def run(server: Server) -> None:
        opened = [await asyncio.open_connection(server.host, server.port) for _ in range(5)]
        for _, writer in opened:
            writer.write(half)
        ends = [asyncio.ensure_future(reader.read()) for reader, _ in opened]
        while len([end for end in ends if end.done()]) < 4:
            await asyncio.wait([end for end in ends if not end.done()], return_when=asyncio.FIRST_COMPLETED)
        with closing(Connection(server.host, server.port, "client")) as client:
            assert (await client.ask("Vote", 0, _BODY)).body["errorCode"] == 1
        assert len([end for end in ends if not end.done()]) == 1
        for _, writer in opened:
            writer.close()
        await asyncio.gather(*ends, return_exceptions=True)

    _with_server(_vote_response, run)


def test_responses_that_clients_do_not_read_hold_a_bounded_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraft_kafka.wire.connections.HELD_BYTES_MAX", 2**24)
    served = 0

    async def respond(raw: bytes) -> bytes | None:
        nonlocal served
        served += 1
        return bytes(12 * 2**20)

    async def run(server: Server) -> None:
        opened = [await asyncio.open_connection(server.host, server.port, limit=1) for _ in range(3)]
        for _, writer in opened:
            writer.write(bytes(4))
        while served < 3 or len(server._tasks) > 1:
            await asyncio.sleep(0.01)
        for _, writer in opened:
            writer.transport.abort()

    _with_server(respond, run)
