"""Running of cases: shared processes, and each case's outcome."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby
from pathlib import Path
from types import MappingProxyType

from kraft_conformance.runner.outcome import ExpectedFailure, Outcome, Status, apply_expectation
from kraft_kafka.live.bench import Bench, Inconclusive, Setup, Unobserved
from kraft_kafka.live.cases import Case, Failed
from kraft_kafka.live.peers import NoAnswerError
from kraft_kafka.live.process import REPLICA, Commands, LaunchError, Process, free_ports
from kraft_kafka.wire.errors import WireError
from kraft_spec.difference import Difference

ROUND = "@"
"""Separator of a case's id and the round's number, from the second round on."""
_CASE_S = 180.0
"""Time limit of a case, in seconds; each wait in it has its own limit as well."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A running implementation, and the ports of its mock peers."""

    address: tuple[str, int]
    ports: Mapping[int, int]


Target = Commands | Endpoint


async def run_cases(
    cases: Sequence[Case],
    target: Target,
    expected: Mapping[str, ExpectedFailure] = MappingProxyType({}),
    kept: Path | None = None,
) -> AsyncIterator[Outcome]:
    """Yield the outcomes of cases, grouped by setup.

    Args:
        cases: the cases.
        target: the implementation's commands, or its address.
        expected: reasons of known failures, by case id.
        kept: folder that keeps the data folders, each named after its first case; None deletes them.

    Raises:
        LaunchError: the implementation cannot be started at all.
    """
    ordered = sorted(cases, key=lambda case: ([it.setup for it in cases].index(case.setup), case.is_fresh))
    for setup, group in groupby(ordered, key=lambda case: case.setup):
        home = Path(tempfile.mkdtemp(prefix="kraft-spec-live-"))
        # The same ports for all cases, because a formatted disk contains them and is copied.
        ports = dict(zip((REPLICA, *setup.peers), free_ports(1 + len(setup.peers)), strict=True))
        bench: Bench | None = None
        try:
            for case in group:
                if bench is not None and (case.is_fresh or not bench.is_up):
                    await bench.close()
                    bench = None
                bench = bench or await _open(setup, target, home, ports, kept and _data_folder(kept, case))
                outcome = apply_expectation(await _run(case, bench), expected)
                yield outcome
                if case.is_fresh or outcome.status in (Status.FAIL, Status.INCONCLUSIVE):
                    await bench.close()
                    bench = None
        finally:
            if bench is not None:
                await bench.close()
            shutil.rmtree(home, ignore_errors=True)


def _data_folder(kept: Path, case: Case) -> Path:
    """Return a new folder name for a case; repeated cases have the number of the round."""
    names = (case.id.replace("/", ".") + (f"{ROUND}{number}" if number > 1 else "") for number in count(1))
    return next(path for path in map(kept.joinpath, names) if not path.exists())


async def _open(setup: Setup, target: Target, home: Path, ports: Mapping[int, int], data: Path | None) -> Bench:
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
"""The rule for the message format of each API."""


async def _run(case: Case, bench: Bench) -> Outcome:
    """Run a case; if the implementation sends an unreadable frame, the case's rules are not judged."""
    outcome = await _judge(case, bench)
    damage = bench.log.damage
    if damage is None or outcome.status not in (Status.FAIL, Status.INCONCLUSIVE):
        return outcome
    rules = (_WIRE_RULES.get(damage.api, "wire.negotiation"),)
    return _fail(case, bench, Failed(damage.what, "a message of Kafka's protocol", str(damage.error), rules))


async def _judge(case: Case, bench: Bench) -> Outcome:
    bench.new_log()
    try:
        async with asyncio.timeout(_CASE_S):
            await case.run(bench)
    except Failed as failed:
        return _fail(case, bench, failed)
    except Unobserved as error:
        return Outcome(case.id, Status.UNOBSERVED, str(error))
    except (Inconclusive, LaunchError, TimeoutError, WireError) as error:
        return Outcome(case.id, Status.INCONCLUSIVE, str(error) or "it took too long", wire_log=bench.seen_text())
    except NoAnswerError as error:
        # A failing process may close its connections some time before it ends.
        if await bench.eventually(lambda: not bench.is_up, 2.0):
            return _fail(case, bench, Failed("the process", "it runs", "it ended", case.rules))
        return _fail(case, bench, Failed(str(error), "an answer", "none", case.rules))
    return Outcome(case.id, Status.PASS)


def _fail(case: Case, bench: Bench, failed: Failed) -> Outcome:
    return Outcome(
        case.id,
        Status.FAIL,
        str(failed),
        wire_log=bench.seen_text(),
        rules=failed.rules or case.rules,
        differences=(Difference(failed.what, failed.expected, failed.actual),),
    )
