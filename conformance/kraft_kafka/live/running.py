"""Running cases: which share a process, and what each comes to."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from types import MappingProxyType

from kraft_conformance.runner.outcome import ExpectedFailure, Outcome, Status, against_expectation
from kraft_kafka.live.bench import Bench, Inconclusive, Setup, Unobserved
from kraft_kafka.live.cases import Case, Failed
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.process import REPLICA, Commands, LaunchError, Process, free_ports
from kraft_kafka.wire.errors import WireError
from kraft_spec.difference import Difference

ROUND = "@"
"""Stands between the id of a case and the number of the round, from the second on."""
_CASE_S = 180.0
"""Seconds after which a case is given up: each wait in it has a limit of its own."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An implementation that runs already, and where its peers are to listen."""

    address: tuple[str, int]
    ports: Mapping[int, int]


Target = Commands | Endpoint


async def run_cases(
    cases: Sequence[Case],
    target: Target,
    known: Mapping[str, ExpectedFailure] = MappingProxyType({}),
    kept: Path | None = None,
) -> AsyncIterator[Outcome]:
    """What cases come to, those of one setup together.

    Args:
        cases: which.
        target: how the implementation is started, or where it runs.
        known: why a case is known to fail, by id.
        kept: where data folders are and stay, each under the name of the first case that had it; else they go.

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
                bench = bench or await _opened(setup, target, home, ports, kept and _data_folder(kept, case))
                outcome = against_expectation(await _run(case, bench), known)
                yield outcome
                if case.is_fresh or outcome.status in (Status.FAIL, Status.INCONCLUSIVE):
                    await bench.close()
                    bench = None
        finally:
            if bench is not None:
                await bench.close()
            shutil.rmtree(home, ignore_errors=True)


def _data_folder(kept: Path, case: Case) -> Path:
    """One that is not there yet: the second of a case is called as the second outcome is."""
    names = (case.id.replace("/", ".") + (f"{ROUND}{number}" if number > 1 else "") for number in count(1))
    return next(path for path in map(kept.joinpath, names) if not path.exists())


async def _opened(setup: Setup, target: Target, home: Path, ports: Mapping[int, int], data: Path | None) -> Bench:
    if isinstance(target, Endpoint):
        bench = Bench(setup, target.ports, None, target.address)
    else:
        bench = Bench(setup, ports, Process(target, home, ports, setup.voters, setup.more, data=data))
    try:
        await bench.open()
    except BaseException:
        await bench.close()
        raise
    return bench


_WIRE_RULES: Mapping[str, str] = {
    "Vote": "wire.vote-response",
    "BeginQuorumEpoch": "wire.begin-quorum",
    "EndQuorumEpoch": "wire.end-quorum",
    "Fetch": "wire.fetch-17",
    "FetchSnapshot": "wire.fetch-snapshot-1",
    "DescribeQuorum": "wire.describe-quorum-2",
    "AddRaftVoter": "wire.add-voter",
    "RemoveRaftVoter": "wire.remove-voter",
    "UpdateRaftVoter": "wire.update-voter",
}
"""The rule that says what is in the messages of an API."""


async def _run(case: Case, bench: Bench) -> Outcome:
    """Run a case; where the implementation sends what cannot be read, its rules are not judged."""
    outcome = await _judged(case, bench)
    damage = bench.log.damage
    if damage is None or outcome.status not in (Status.FAIL, Status.INCONCLUSIVE):
        return outcome
    rules = (_WIRE_RULES.get(damage.api, "wire.negotiation"),)
    return _failed(case, bench, Failed(damage.what, "a message of Kafka's protocol", str(damage.error), rules))


async def _judged(case: Case, bench: Bench) -> Outcome:
    bench.new_log()
    try:
        async with asyncio.timeout(_CASE_S):
            await case.run(bench)
    except Failed as failed:
        return _failed(case, bench, failed)
    except Unobserved as error:
        return Outcome(case.id, Status.UNOBSERVED, str(error))
    except (Inconclusive, LaunchError, TimeoutError, WireError) as error:
        return Outcome(case.id, Status.INCONCLUSIVE, str(error) or "it took too long", wire_log=bench.seen_text())
    except NoAnswerError as error:
        # A process that fails may close its connections some time before it ends.
        if await bench.eventually(lambda: not bench.is_up, 2.0):
            return _failed(case, bench, Failed("the process", "it runs", "it ended", case.rules))
        return _failed(case, bench, Failed(str(error), "an answer", "none", case.rules))
    return Outcome(case.id, Status.PASS)


def _failed(case: Case, bench: Bench, failed: Failed) -> Outcome:
    return Outcome(
        case.id,
        Status.FAIL,
        str(failed),
        wire_log=bench.seen_text(),
        rules=failed.rules or case.rules,
        differences=(Difference(failed.what, failed.expected, failed.actual),),
    )
