"""Adapter for a running process: the suite's vectors (kraft-adapter/1) over Kafka's wire protocol."""

import asyncio
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec import UNSET

from kraft_conformance.protocol.messages import (
    SCHEMA,
    Bye,
    ByeReply,
    Crash,
    CrashReply,
    ErrorReply,
    Hello,
    HelloReply,
    Reply,
    Request,
    Reset,
    ResetReply,
    Restart,
    RestartReply,
    Software,
    Step,
    StepReply,
)
from kraft_conformance.protocol.parsing import LINE_BYTES_MAX, encode, parse_request
from kraft_kafka.live.bench import Unobserved
from kraft_kafka.live.exchanges import Unsupported
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.played import PlayedReplica
from kraft_kafka.live.process import Commands, LaunchError
from kraft_kafka.wire.errors import WireError
from kraft_traces.errors import IncompleteLineError, TraceError
from kraft_vectors.features import Feature

UNSUPPORTED: tuple[Feature, ...] = (
    "crash-in-step",
    "snapshots",
    "disk-replacement",
    "append-voters",
    "kraft-version-upgrade",
    "quorum-reassignment",
    "fetch-limit",
)
_UNOBSERVED = ("WriteSnapshot", "TruncateLog", "AppendRecords", "FlushLog", "StartTimer")


class LiveAdapter:
    """Serves the runner's requests with one process at a time."""

    def __init__(self, commands: Commands, home: Path, software: Software, profile: str) -> None:
        """Start nothing yet; each process gets a folder in `home`."""
        self._commands, self._home, self._software, self._profile = commands, home, software, profile
        self._played: PlayedReplica | None = None
        self._resets = 0

    async def answer(self, request: Request) -> Reply:
        """Carry out a request; the reply is `unsupported` for what cannot be done to a process."""
        number = request.id
        try:
            match request:
                case Hello():
                    return self._hello(number)
                case Reset():
                    await self._reset(request)
                    return ResetReply(id=number)
                case Step():
                    return await self._step(request)
                case Crash():
                    self._replica().crash(request)
                    return CrashReply(id=number)
                case Restart():
                    effects = await self._replica().restart(request)
                    return RestartReply(id=number, effects=effects, died=self._replica().died())
                case Bye():
                    await self.close()
                    return ByeReply(id=number)
                case _:
                    raise Unsupported("its state is not to be seen from outside")
        except (Unsupported, Unobserved) as reason:
            return ErrorReply(id=number, code="unsupported", detail=str(reason))
        except (LaunchError, NoAnswerError, OSError, WireError, msgspec.ValidationError) as error:
            return ErrorReply(id=number, code="failed", detail=str(error))

    async def close(self) -> None:
        if self._played is not None:
            await self._played.close()
            self._played = None

    def _hello(self, number: int) -> HelloReply:
        return HelloReply(
            id=number,
            schema=SCHEMA,
            implementation=self._software,
            kip_levels={"KIP-595": "full", "KIP-853": "full", "KIP-996": "full"},
            kraft_versions=(0, 1),
            profile=self._profile,
            observability="effects",
            unsupported=UNSUPPORTED,
            unobserved=_UNOBSERVED,
        )

    def _replica(self) -> PlayedReplica:
        if self._played is None:
            raise Unsupported("there was no reset yet")
        return self._played

    async def _reset(self, request: Reset) -> None:
        await self.close()
        self._resets += 1
        self._played = PlayedReplica(request, self._commands, self._home / str(self._resets))
        await self._played.start()

    async def _step(self, step: Step) -> StepReply:
        played = self._replica()
        try:
            effects = await played.step(step)
        except NoAnswerError:
            # A process that a request kills does not respond.
            if (died := played.died()) is UNSET:
                raise
            return StepReply(id=step.id, effects=(), died=died)
        return StepReply(id=step.id, effects=effects, died=played.died())


async def serve(adapter: LiveAdapter, requests: BinaryIO, replies: BinaryIO) -> None:
    """Serve requests until `bye` or the end of the input, which also cancels the current request."""
    reader = asyncio.StreamReader(LINE_BYTES_MAX)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), requests)
    line, number = asyncio.ensure_future(reader.readline()), 0
    try:
        while raw := await line:
            number += 1
            line = asyncio.ensure_future(reader.readline())
            reply = asyncio.ensure_future(_reply(adapter, raw, number))
            await asyncio.wait([line, reply], return_when=asyncio.FIRST_COMPLETED)
            if not reply.done() and line.done() and not line.result():
                reply.cancel()
                return
            replies.write(encode(await reply))
            replies.flush()
            if isinstance(reply.result(), ByeReply):
                return
    finally:
        line.cancel()
        await adapter.close()


async def _reply(adapter: LiveAdapter, raw: bytes, number: int) -> Reply:
    try:
        return await adapter.answer(parse_request(raw, number))
    except (TraceError, IncompleteLineError) as error:
        return ErrorReply(id=number, code="failed", detail=str(error))
