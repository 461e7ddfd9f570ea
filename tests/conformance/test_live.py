"""`kraft-spec live`: cases on a mock implementation, right and wrong, and three on Kafka's controller."""

import asyncio
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from junitparser import JUnitXml
from tests.conformance.adapter_builds import skipped_if_missing
from tests.conformance.commands import Captured, assert_said, newest_by_day, output
from tests.conformance.test_conformance_reports import assert_harmless_page

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.protocol.messages import Software
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.output.junit import junit
from kraft_conformance.runner.output.page import page
from kraft_kafka.controllers import controllers
from kraft_kafka.live.bench import CALM
from kraft_kafka.live.cases.catalogue import cases
from kraft_kafka.live.differences import known_differences
from kraft_kafka.live.kafka import kafka_commands
from kraft_kafka.live.peers import Peer
from kraft_kafka.live.process import CLUSTER_ID, DIRECTORIES, Commands, Process, free_ports
from kraft_kafka.live.reports import results_of
from kraft_kafka.live.running import run_cases
from kraft_kafka.live.wire_log import WireLog
from kraft_spec.rules import load_registry

STALE = "vote/stale-epoch"
ACTED = ["pre-vote/unattached", "vote/once-per-epoch", STALE, "vote/not-a-voter"]


def results(names: list[str], commands: Commands) -> list[Outcome]:
    """Return the outcomes of these cases."""

    async def run() -> list[Outcome]:
        return [case async for case in run_cases([cases()[name] for name in names], commands)]

    return asyncio.run(run())


def acted(*words: str) -> Commands:
    """Command of the mock implementation."""
    start = shlex.join([sys.executable, str(Path(__file__).parent / "live_acted.py"), *words])
    return Commands(f"{start} {{properties}}", f"{shlex.join(['mkdir', '-p'])} {{data}}")


def test_every_case_names_rules_that_there_are_and_says_what_it_judges() -> None:
    registry = load_registry()
    for case in cases().values():
        assert case.title.endswith("."), case.id
        assert case.rules, case.id
        for rule in case.rules:
            assert registry[rule], case.id


def test_there_are_enough_cases_and_rules() -> None:
    assert len(cases()) >= 60
    assert len({rule for case in cases().values() for rule in case.rules}) >= 150


def test_known_differences_are_of_cases_that_there_are() -> None:
    for name, difference in known_differences().items():
        assert set(difference.rules) <= set(cases()[name].rules), name


def judged(capsys: Captured, *options: str, commands: Commands) -> tuple[int, str]:
    """Return exit code and standard output of `live run` with these commands."""
    return output(capsys, "live", "run", "--start", commands.start, "--format", commands.format, *options)


FEW = [word for name in ACTED for word in ("-k", name)]


def test_an_implementation_that_is_right_passes(capsys: Captured) -> None:
    code, text = judged(capsys, *FEW, commands=acted())
    rules = {rule for item in ACTED for rule in cases()[item].rules}
    assert (code, text.splitlines()[-1]) == (ExitCode.CONFORMANT, f"4 pass; {len(rules)} rules judged"), text


def test_a_wrong_one_fails_with_rule_values_wire_log_and_the_command_that_repeats_it(capsys: Captured) -> None:
    wrong = acted("votes-twice")
    code, text = judged(capsys, *FEW, commands=wrong)
    assert code == ExitCode.VIOLATION
    displayed = text[text.index("FAIL") :].splitlines()
    assert displayed[:4] == [
        "FAIL vote/once-per-epoch",
        "  error and grant of the vote for 3: expected (0, False), actual (0, True)",
        "  rule vote.once-per-epoch: At most one standard vote per epoch",
        "  on the wire:",
    ]
    assert "is asked 3: Vote v2" in text
    words = ["--start", wrong.start, "--format", wrong.format, "-k", "vote/once-per-epoch"]
    assert f"  repeat: {shlex.join(['kraft-spec', 'live', 'run', *words])}" in displayed


def test_a_run_can_be_had_in_the_formats_of_the_runner(capsys: Captured, tmp_path: Path) -> None:
    files = {name: tmp_path / f"r.{name}" for name in ("junit", "sarif", "html")}
    requested = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    code, text = judged(capsys, *FEW, "--repeat", "2", "--json", *requested, commands=acted("votes-twice"))
    assert code == ExitCode.VIOLATION
    head, *cases_of, summary = map(json.loads, text.splitlines())
    assert (head["kind"], head["schema"]) == ("run", "kraft-live-results/1")
    assert [item["kind"] for item in cases_of] == ["case"] * 8
    assert summary == {"kind": "summary", "counts": {"pass": 6, "fail": 2}, "exit_code": 1}
    failed = [item for item in cases_of if item["status"] == "fail"]
    assert [outcome["id"] for outcome in failed] == ["vote/once-per-epoch", "vote/once-per-epoch@2"]
    repeat = failed[0]["repeat"]

    suite = next(iter(JUnitXml.fromstring(files["junit"].read_bytes())))
    assert (suite.name, suite.tests, suite.failures, suite.skipped) == ("kraft-spec live", 8, 2, 0)
    assert {(case.classname, case.name) for case in suite} >= {("kraft-spec.live.vote", "once-per-epoch")}

    (run,) = json.loads(files["sarif"].read_bytes())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["vote.once-per-epoch"] * 2
    assert [result["partialFingerprints"] for result in run["results"]] == [
        {"case/v1": outcome["id"]} for outcome in failed
    ]

    page = assert_harmless_page(files["html"].read_text())
    texts = [item for _, item in page.texts]
    assert {repeat, "(0, True)", "All cases"} <= {*texts}
    assert any("is asked 3: Vote v2" in text for text in texts)


def test_each_format_says_of_a_case_that_it_is_inconclusive() -> None:
    outcome = Outcome(STALE, Status.INCONCLUSIVE, "nobody led")
    run = results_of(("kraft-spec", "live", "run"), "start", Software("node", "")).with_outcome(outcome)
    suite = next(iter(JUnitXml.fromstring(junit(run))))
    assert (suite.tests, suite.failures, suite.skipped) == (1, 0, 1)
    html = page(run).decode()
    assert_harmless_page(html)
    assert '<li><b>1</b><span class="status inconclusive">' in html


def test_data_folders_are_kept_where_they_are_asked_for(capsys: Captured, tmp_path: Path) -> None:
    kept = tmp_path / "data"
    few = ["-k", STALE, "-k", "vote/not-a-voter", "--repeat", "2", "--data", str(kept)]
    assert judged(capsys, *few, commands=acted())[0] == ExitCode.CONFORMANT
    assert {path.name for path in kept.iterdir()} == {"vote.stale-epoch", "vote.stale-epoch@2"}


@pytest.mark.parametrize("what", ["not empty", "a file"])
def test_a_folder_with_something_in_it_keeps_no_data(capsys: Captured, tmp_path: Path, what: str) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path if what == "not empty" else tmp_path / "file"
    words = ["--start", "x", "--format", "y", "--data", str(folder)]
    assert_said(capsys, ExitCode.USAGE, f"it is {what}, expected", "live", "run", *words)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_process_that_ends_is_said_to_have_ended() -> None:
    findings = results([STALE], acted("dies"))
    assert (findings[0].status, findings[0].differences[0].actual) == (Status.FAIL, "it ended")


@pytest.mark.parametrize("wrong", ["garbles", "breaks-frames"])
def test_a_response_that_cannot_be_read_is_not_blamed_on_the_rules_of_the_case(wrong: str) -> None:
    (outcome,) = results(["vote/once-per-epoch"], acted(wrong))
    assert (outcome.status, outcome.rules) == (Status.FAIL, ("wire.vote-response",))
    assert outcome.reason.startswith("the response to Vote version 2 of replica 2: expected a message of Kafka's")
    assert "cannot be read" in outcome.wire_log


def test_what_a_start_script_leaves_in_the_background_is_ended(tmp_path: Path) -> None:
    served = acted().start.replace("{properties}", "$1")
    script = tmp_path / "start.sh"
    script.write_text(f"#!/bin/sh\n{served} &\nsleep 3\n")
    commands = Commands(f"sh {script} {{properties}}", acted().format)
    (port,) = free_ports(1)
    process = Process(commands, tmp_path / "home", {1: port}, (1,))

    async def left() -> bool:
        await process.start()
        while process.is_alive:
            await asyncio.sleep(0.05)
        assert await is_open()
        process.kill()
        for _ in range(100):
            if not await is_open():
                return False
            await asyncio.sleep(0.05)
        return True

    async def is_open() -> bool:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            return False
        writer.close()
        return True

    process.configure(CALM)
    assert not asyncio.run(left())


def test_relative_paths_are_those_of_the_folder_in_which_the_command_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("start").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n', encoding="utf-8")
    Path("start").chmod(0o755)
    Path("server.py").symlink_to(Path(__file__).parent / "live_acted.py")
    commands = Commands("./start server.py {properties}", acted().format)
    assert [result.status for result in results(["pre-vote/unattached"], commands)] == [Status.PASS]


def test_the_command_wants_an_implementation(capsys: Captured) -> None:
    assert_said(capsys, ExitCode.USAGE, "expected --kafka, or --start and --format", "live", "run")


def attached(commands: Commands, folder: Path, *options: str) -> int:
    """Return the exit code of `live attach` to a controller that these commands format and start."""
    ports = dict(zip((1, 2, 3), free_ports(3), strict=True))
    process = Process(commands, folder, ports, tuple(ports))
    process.format(CALM)
    voters = ",".join(f"{item}@127.0.0.1:{port}:{DIRECTORIES[item]}" for item, port in ports.items())
    where = ["--endpoint", f"127.0.0.1:{ports[1]}", "--cluster-id", CLUSTER_ID, "--voters", voters]
    asyncio.run(process.start())
    try:
        return main(["live", "attach", *where, *options])
    finally:
        process.kill()


def node() -> Commands:
    """Command of the reference as a process."""
    program = shlex.join([sys.executable, "-m", "kraft_cli.cli", "node"])
    formats = f"{program} format -t {{cluster_id}} -c {{properties}} {{initial}}"
    return Commands(f"{program} run -c {{properties}}", formats)


def test_a_controller_that_runs_already_is_judged_by_what_it_sends(tmp_path: Path, capsys: Captured) -> None:
    names = ["announcement/not-a-voter", "vote/once-per-epoch", "election/candidate", "add/version-not-supported"]
    wanted = [option for name in names for option in ("-k", name)]
    # Twice, in epochs that it knows by then.
    code = attached(node(), tmp_path, "--repeat", "2", *wanted)
    text = capsys.readouterr().out
    assert code == ExitCode.INCONCLUSIVE
    assert "UNOBSERVED election/candidate: needs an implementation that is started here" in text
    assert text.splitlines()[-1].startswith("6 pass, 2 unobserved"), text


OPEN = ["vote/log-check", "leader/parked-fetch", "versions/malformed-partition", "vote/follower"]


def test_cases_on_a_node() -> None:
    assert [result.status for result in results(OPEN, node())] == [Status.PASS] * len(OPEN)


@pytest.mark.parametrize("name", ["{propertis}", "--x={initial}"])
@pytest.mark.parametrize("command", ["run", "adapter"])
def test_what_is_not_replaced_is_named(command: str, name: str, capsys: Captured) -> None:
    wanted = ["--start", f"x {name}", *(["--format", "y"] if command == "run" else [])]
    assert_said(capsys, ExitCode.USAGE, f"{name.removeprefix('--x=')} is none of", "live", command, *wanted)


def test_the_list_of_cases_fits_into_80_columns(capsys: Captured) -> None:
    assert main(["live", "run", "--list"]) == 0
    text = capsys.readouterr().out.splitlines()
    assert max(map(len, text)) <= 80
    assert set(cases()) <= set(text)


@pytest.mark.parametrize("version", newest_by_day(controllers()))
def test_kafka(version: str) -> None:
    with skipped_if_missing():
        commands = kafka_commands(version)
    findings = results(["vote/durable", "vote/leader", "leader/start-of-epoch"], commands)
    assert [finding.status for finding in findings] == [Status.PASS] * 3, [finding.reason for finding in findings]


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
