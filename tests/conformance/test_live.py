"""`kraft-spec live`: cases on an acted implementation, right and wrong, and three of them on Kafka's controller."""

import asyncio
import json
import shlex
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.conformance.commands import Captured, assert_said

from kraft_conformance.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.kafka.controllers import controllers
from kraft_conformance.kafka.jars import KafkaUnavailableError
from kraft_conformance.live.bench import CALM
from kraft_conformance.live.cases.catalogue import cases
from kraft_conformance.live.differences import known_differences
from kraft_conformance.live.kafka import kafka_commands
from kraft_conformance.live.peers import Peer
from kraft_conformance.live.process import CLUSTER_ID, DIRECTORIES, Commands, Process, free_ports
from kraft_conformance.live.reports import document, exit_code, junit, lines
from kraft_conformance.live.running import Result, Status, run_cases
from kraft_conformance.live.wire_log import WireLog
from kraft_spec.rules import load_registry

STALE = "vote/stale-epoch"
ACTED = ["pre-vote/unattached", "vote/once-per-epoch", STALE, "vote/not-a-voter"]


def results(names: list[str], commands: Commands) -> list[Result]:
    """What these cases come to."""

    async def run() -> list[Result]:
        return [one async for one in run_cases([cases()[name] for name in names], commands)]

    return asyncio.run(run())


def acted(*words: str) -> Commands:
    """The acted implementation."""
    start = shlex.join([sys.executable, str(Path(__file__).parent / "live_acted.py"), *words])
    return Commands(f"{start} {{properties}}", f"{shlex.join(['mkdir', '-p'])} {{data}}")


def test_every_case_names_rules_that_there_are_and_says_what_it_judges() -> None:
    registry = load_registry()
    for one in cases().values():
        assert one.title.endswith("."), one.id
        assert one.rules, one.id
        for rule in one.rules:
            assert registry[rule], one.id


def test_there_are_enough_cases_and_rules() -> None:
    assert len(cases()) >= 60
    assert len({rule for one in cases().values() for rule in one.rules}) >= 150


def test_known_differences_are_of_cases_that_there_are() -> None:
    for name, one in known_differences().items():
        assert set(one.rules) <= set(cases()[name].rules), name


def test_an_implementation_that_is_right_passes_and_leaves_nothing_behind() -> None:
    found = results(ACTED, acted())
    assert [one.status for one in found] == [Status.PASS] * len(ACTED), [lines(one) for one in found]
    assert exit_code(found) is ExitCode.CONFORMANT


def test_a_wrong_one_fails_with_rule_values_and_wire_log() -> None:
    found = results(ACTED, acted("votes-twice"))
    failed = [one for one in found if one.status is Status.FAIL]
    assert [one.case.id for one in failed] == ["vote/once-per-epoch"]
    assert failed[0].rules == ("vote.once-per-epoch",)
    assert (failed[0].expected, failed[0].actual) == ("(0, False)", "(0, True)")
    assert all(len(line) <= 80 for line in failed[0].wire_log.splitlines())
    assert "is asked 3: Vote v2" in failed[0].wire_log
    assert exit_code(found) is ExitCode.VIOLATION
    assert b'classname="kraft-spec.live.vote" name="once-per-epoch"' in junit(found) or (
        b'name="once-per-epoch" classname="kraft-spec.live.vote"' in junit(found)
    )
    assert json.loads(json.dumps(document(found)))["counts"] == {"pass": 3, "fail": 1}


def test_a_process_that_ends_is_said_to_have_ended() -> None:
    found = results([STALE], acted("dies"))
    assert (found[0].status, found[0].actual) == (Status.FAIL, "it ended")


def test_the_command_wants_an_implementation(capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "expected --kafka, or --start and --format", "live", "run")


def attached(commands: Commands, folder: Path, *options: str) -> int:
    """The exit code of `live attach` to a controller that these commands format and start."""
    ports = dict(zip((1, 2, 3), free_ports(3), strict=True))
    process = Process(commands, folder, ports, tuple(ports))
    process.format(CALM)
    voters = ",".join(f"{one}@127.0.0.1:{port}:{DIRECTORIES[one]}" for one, port in ports.items())
    where = ["--endpoint", f"127.0.0.1:{ports[1]}", "--cluster-id", CLUSTER_ID, "--voters", voters]
    asyncio.run(process.start())
    try:
        return main(["live", "attach", *where, *options])
    finally:
        process.kill()


def node() -> Commands:
    """The reference as a process."""
    program = shlex.join([sys.executable, "-m", "kraft_conformance.cli", "node"])
    formats = f"{program} format -t {{cluster_id}} -c {{properties}} {{initial}}"
    return Commands(f"{program} run -c {{properties}}", formats)


def test_a_controller_that_runs_already_is_judged_by_what_it_sends(tmp_path: Path, capsys: Captured) -> None:
    names = ["announcement/not-a-voter", "vote/once-per-epoch", "election/candidate", "add/version-not-supported"]
    wanted = [option for name in names for option in ("-k", name)]
    # Twice, in epochs that it knows by then.
    code = attached(node(), tmp_path, "--repeat", "2", *wanted)
    said = capsys.readouterr().out
    assert code == ExitCode.INCONCLUSIVE
    assert "UNOBSERVED election/candidate: needs an implementation that is started here" in said
    assert said.splitlines()[-1].startswith("6 pass, 2 unobserved"), said


OPEN = ["vote/log-check", "leader/parked-fetch", "versions/malformed-partition", "vote/follower"]


def test_cases_on_a_node() -> None:
    assert [one.status for one in results(OPEN, node())] == [Status.PASS] * len(OPEN)


@pytest.mark.parametrize("name", ["{propertis}", "--x={initial}"])
@pytest.mark.parametrize("command", ["run", "adapter"])
def test_what_is_not_replaced_is_named(command: str, name: str, capsys: Captured) -> None:
    wanted = ["--start", f"x {name}", *(["--format", "y"] if command == "run" else [])]
    assert_said(capsys, ExitCode.USAGE, f"{name.removeprefix('--x=')} is none of", "live", command, *wanted)


def test_the_list_of_cases_fits_into_80_columns(capsys: Captured) -> None:
    assert main(["live", "run", "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert max(map(len, said)) <= 80
    assert set(cases()) <= set(said)


@pytest.mark.parametrize("version", controllers())
def test_kafka(version: str) -> None:
    try:
        commands = kafka_commands(version)
    except KafkaUnavailableError as error:
        if shutil.which("mvn") is None or "cannot fetch" in str(error):
            pytest.skip(f"SKIPPED: {error}: KAFKA IS NOT RUN")
        raise
    found = results(["vote/durable", "vote/leader", "leader/start-of-epoch"], commands)
    assert [one.status for one in found] == [Status.PASS] * 3, [lines(one) for one in found]


def test_who_stops_asking_when_the_answer_comes_has_stopped() -> None:
    """A peer that fetches all the while is ended so; twice in ten rounds one went on for ever."""

    async def run() -> bool:
        answer: asyncio.Future[SimpleNamespace] = asyncio.get_running_loop().create_future()
        peer = Peer(WireLog(), 2, 0, ("127.0.0.1", 1))
        peer._out = SimpleNamespace(ask=lambda *_: answer)  # type: ignore[assignment]
        asking = asyncio.ensure_future(peer.ask("Fetch", 17, {}))
        await asyncio.sleep(0)
        answer.set_result(SimpleNamespace(body={}))
        asking.cancel()
        await asyncio.wait([asking])
        return asking.cancelled()

    assert asyncio.run(run())
