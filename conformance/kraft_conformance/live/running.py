"""Running cases: which share a process, and what each comes to."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from types import MappingProxyType

from kraft_conformance.live.bench import Bench, Inconclusive, Setup, Unobserved
from kraft_conformance.live.cases import Case, Failed
from kraft_conformance.live.peers import NoAnswerError
from kraft_conformance.live.process import REPLICA, Commands, LaunchError, Process, free_ports
from kraft_conformance.wire.errors import WireError

_CASE_S = 180.0
"""Seconds after which a case is given up: each wait in it has a limit of its own."""


class Status(StrEnum):
    """What a case comes to."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    UNOBSERVED = "unobserved"
    KNOWN = "known difference"


@dataclass(frozen=True, slots=True)
class Result:
    """The status of a case, and why."""

    case: Case
    status: Status
    reason: str = ""
    rules: tuple[str, ...] = ()
    """Of a failure: what is broken."""
    expected: str = ""
    actual: str = ""
    wire_log: str = ""
    """Of what is not a pass."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An implementation that runs already, and where its peers are to listen."""

    address: tuple[str, int]
    ports: Mapping[int, int]


Target = Commands | Endpoint


async def run_cases(
    cases: Sequence[Case], target: Target, known: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Result]:
    """The results of cases, those of one setup together.

    Args:
        cases: which.
        target: how the implementation is started, or where it runs.
        known: why a case is known to fail, by id.

    Raises:
        LaunchError: the implementation cannot be started at all.
    """
    ordered = sorted(cases, key=lambda one: ([one.setup for one in cases].index(one.setup), one.is_fresh))
    for setup, group in groupby(ordered, key=lambda one: one.setup):
        home = Path(tempfile.mkdtemp(prefix="kraft-spec-live-"))
        # The same for all of them: a formatted disk, which is copied, has the ports in it.
        ports = dict(zip((REPLICA, *setup.peers), free_ports(1 + len(setup.peers)), strict=True))
        bench: Bench | None = None
        try:
            for case in group:
                if bench is not None and (case.is_fresh or not bench.is_up):
                    await bench.close()
                    bench = None
                bench = bench or await _opened(setup, target, home, ports)
                result = _with_known(await _run(case, bench), known)
                yield result
                if case.is_fresh or result.status in (Status.FAIL, Status.INCONCLUSIVE):
                    await bench.close()
                    bench = None
        finally:
            if bench is not None:
                await bench.close()
            shutil.rmtree(home, ignore_errors=True)


async def _opened(setup: Setup, target: Target, home: Path, ports: Mapping[int, int]) -> Bench:
    if isinstance(target, Endpoint):
        bench = Bench(setup, target.ports, None, target.address)
    else:
        bench = Bench(setup, ports, Process(target, home, ports, setup.voters, setup.more))
    try:
        await bench.open()
    except BaseException:
        await bench.close()
        raise
    return bench


async def _run(case: Case, bench: Bench) -> Result:
    bench.new_log()
    try:
        async with asyncio.timeout(_CASE_S):
            await case.run(bench)
    except Failed as failed:
        rules = failed.rules or case.rules
        return Result(case, Status.FAIL, failed.what, rules, failed.expected, failed.actual, bench.seen_text())
    except Unobserved as error:
        return Result(case, Status.UNOBSERVED, str(error))
    except (Inconclusive, LaunchError, TimeoutError, WireError) as error:
        return Result(case, Status.INCONCLUSIVE, str(error) or "it took too long", wire_log=bench.seen_text())
    except NoAnswerError as error:
        return await _unanswered(case, bench, error)
    return Result(case, Status.PASS)


async def _unanswered(case: Case, bench: Bench, error: NoAnswerError) -> Result:
    # A process that fails may close its connections some time before it ends.
    if not await bench.eventually(lambda: not bench.is_up, 2.0):
        return Result(case, Status.FAIL, str(error), case.rules, "an answer", "none", bench.seen_text())
    return Result(case, Status.FAIL, "the process", case.rules, "it runs", "it ended", bench.seen_text())


def _with_known(result: Result, known: Mapping[str, str]) -> Result:
    if result.status is not Status.FAIL or result.case.id not in known:
        return result
    return Result(result.case, Status.KNOWN, known[result.case.id], result.rules, result.expected, result.actual)
