"""Records in a leading process's log: those of clients, and the one that its controller writes on its own."""

import asyncio
import time
from contextlib import closing, suppress

from kraft_kafka.live.bench import Bench, Unobserved
from kraft_kafka.live.process import Process
from kraft_kafka.live.translating import CONFIG_KEY, Translation, config_value
from kraft_kafka.wire.connections import UNANSWERED, Connection
from kraft_kafka.wire.errors import WireError
from kraft_kafka.wire.other_requests import OtherRequest, encode_other_request

_WAIT_S = 5.0
"""Time limit for a controller to write a record."""
_ALTER_CONFIGS, _BROKER = 44, 4


class ClientRecords:
    """Clients' records, each a configuration of all brokers."""

    def __init__(self, bench: Bench, process: Process, places: Translation) -> None:
        self._bench, self._process, self._places = bench, process, places
        self._tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()

    def check(self) -> None:
        """Raise `Unobserved` if clients cannot write records."""
        if _ALTER_CONFIGS not in self._bench.versions:
            raise Unobserved("it does not offer IncrementalAlterConfigs, by which a client has a record written")

    async def append(self, value: int) -> None:
        """Write record number `value` as a client.

        Raises:
            Unobserved: the controller does not write it.
        """
        _, before = self._process.log_end()
        config = {"name": CONFIG_KEY, "config_operation": 0, "value": config_value(value)}
        resources = [{"resource_type": _BROKER, "resource_name": "", "configs": [config]}]
        request = OtherRequest(_ALTER_CONFIGS, 0, 0, {"resources": resources, "validate_only": False})
        raw = encode_other_request(request, "kraft-spec")
        end = time.monotonic() + _WAIT_S
        while time.monotonic() < end:
            task = asyncio.ensure_future(self._send(raw))
            self._tasks.add(task)
            # The response comes once the record is committed, or at once if it is not written.
            while not task.done() and time.monotonic() < end:
                if self._process.log_end()[1] > before:
                    return
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.05)
        raise Unobserved("its controller writes no record for a client now")

    async def _send(self, raw: bytes) -> None:
        port = self._places.ports[self._process.id]
        with closing(Connection("127.0.0.1", port, "kraft-spec")) as connection, suppress(*UNANSWERED):
            await connection.exchange(raw)

    async def look_for_hidden(self) -> None:
        """Find the record that a leader's controller may write on its own after the first commit."""

        def is_there() -> bool:
            self._places.hide(self._process.log())
            return self._places.hidden is not None

        with suppress(WireError):
            await self._bench.eventually(is_there, _WAIT_S)
