"""Nodes as a quorum with faults: a run, a run with a mutant, and an altered kept run."""

import json
import socket
from pathlib import Path

import msgspec
import pytest
from tests.conformance.commands import VERSION, Captured, assert_said
from tests.traces.checkpointed import simulated
from tests.traces.processes import processes_of, write_traces

from kraft_cli.cli import main
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.live.faults import LEADER, FaultKind, plan_of
from kraft_kafka.live.quorum import DONE, PLAN, Plan, Ran, read_plan

RULE = "prevote.follower.rejects-after-fetch"

pytestmark = pytest.mark.usefixtures("elsewhere")


def quorum(*words: str) -> int:
    return main(["live", "quorum", *words])


def test_a_seed_is_a_plan() -> None:
    plan = plan_of(3, 30, [*FaultKind], (1, 2, 3))
    assert plan == plan_of(3, 30, [*FaultKind], (1, 2, 3))
    assert plan != plan_of(4, 30, [*FaultKind], (1, 2, 3))
    assert {fault.kind for fault in plan} == {*FaultKind}
    assert {fault.replica for fault in plan} == {LEADER, 1, 2, 3}
    assert all(fault.at_ms < 30_000 for fault in plan)
    assert plan_of(3, 30, [], (1, 2, 3)) == ()


@pytest.mark.nightly
def test_nodes_lose_a_leader_and_change_their_voters(tmp_path: Path, capsys: Captured) -> None:
    words = ("--seconds", "5", "--seed", "21", "--faults", "voters,kill", "-o", "kept", "--json")
    assert quorum(*words) == ExitCode.CONFORMANT, capsys.readouterr()
    text = json.loads(capsys.readouterr().out)
    assert len({leader["leader"] for leader in text["leaders"]}) > 1
    assert {"kill", "add"} <= {item["what"].split()[0] for item in text["done"]}
    assert (text["of_kafka"], text["verdict"]["kind"]) == (0, "accepted")
    # All processes are gone: their ports can be had.
    for path in (tmp_path / "kept").glob("replica-*/replica.properties"):
        listener = next(line for line in path.read_text().splitlines() if line.startswith("listeners="))
        socket.create_server(("127.0.0.1", int(listener.rpartition(":")[2]))).close()
    assert read_plan(Path("kept")).seed == 21
    assert quorum("--again", "kept") == ExitCode.CONFORMANT
    trace = next(path for path in sorted((tmp_path / "kept").glob("replica-*/data/trace.jsonl")) if is_granted(path))
    trace.write_text(trace.read_text().replace('"granted":true', '"granted":false', 1))
    capsys.readouterr()
    assert quorum("--again", "kept") == ExitCode.VIOLATION
    assert "granted" in capsys.readouterr().out


def is_granted(path: Path) -> bool:
    return '"granted":true' in path.read_text()


def test_a_mutant_is_named_and_the_run_is_kept(capsys: Captured) -> None:
    """A resumed node sends Pre-Votes, and a follower of the leader grants one."""
    mutants = [word for replica_id in (1, 2, 3) for word in ("--mutant", f"{replica_id}={RULE}")]
    # The first seed stops each voter once: no Pre-Vote is asked for only where each led when it was.
    words = ("--seconds", "7", "--faults", "stop", *mutants)
    for seed in range(1276, 1280):
        code, text, kept_in = quorum("--seed", str(seed), *words), capsys.readouterr().out, f"quorum-{seed}"
        if code == ExitCode.VIOLATION:
            break
    assert code == ExitCode.VIOLATION
    assert f"explained by   breaking rule {RULE}" in text
    assert f"all of the run: {kept_in};" in text
    kept = {path.name for path in Path(kept_in).iterdir()}
    assert kept == {"plan.json", "done.json", "quorum.capture", "quorum.jsonl", "replica-1", "replica-2", "replica-3"}
    assert max(map(len, text.splitlines()[:4])) <= 80
    assert quorum("--again", kept_in) == ExitCode.VIOLATION


@pytest.mark.parametrize(("without", "code"), [((), ExitCode.CONFORMANT), (((2, 10),), ExitCode.INCONCLUSIVE)])
def test_a_run_with_missing_lines_is_not_accepted(
    tmp_path: Path, capsys: Captured, without: tuple[tuple[int, int], ...], code: ExitCode
) -> None:
    recorded = simulated("elections", 5, 100)
    folder = tmp_path / "kept"
    for path in write_traces(tmp_path, recorded, processes_of(recorded), without):
        data = folder / f"replica-{path.stem}" / "data"
        data.mkdir(parents=True)
        path.rename(data / "trace.jsonl")
    plan = Plan((1, 2, 3), (), {}, "kip", (), 1.0, 1)
    (folder / PLAN).write_bytes(msgspec.json.encode(plan))
    (folder / DONE).write_bytes(msgspec.json.encode(Ran((), True, 0)))
    assert quorum("--again", "kept", "--json") == code
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    is_missing = "events of replica 2 before it are not recorded" in (verdict["reason"] or "")
    assert (verdict["kind"] == "inconclusive", is_missing) == (bool(without), bool(without))


@pytest.mark.parametrize(
    ("code", "text", "words"),
    [
        (ExitCode.USAGE, "--faults burn: expected some of kill, stop, cut, voters", ("--faults", "burn")),
        (ExitCode.USAGE, "--mutant 4=x: expected ID=NAME with the id of a node, 1 to 3", ("--mutant", "4=x")),
        (ExitCode.USAGE, "7 voters, expected at most 5", ("--nodes", "5", "--kafka", "4.1.2:2")),
        (ExitCode.NO_INPUT, "plan.json: No such file or directory", ("--again", ".")),
        (ExitCode.CANNOT_WRITE, "expected a new folder", ("-o", ".")),
        (ExitCode.UNAVAILABLE, "expected a release such as 4.1.2, 4.3.1, 4.4.0, or a folder", ("--kafka", "nowhere")),
    ],
)
def test_what_cannot_be_run_is_said(
    tmp_path: Path, capsys: Captured, code: ExitCode, text: str, words: tuple[str, ...]
) -> None:
    assert_said(capsys, code, text, "live", "quorum", *words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.nightly
def test_a_mutant_beside_kafka_is_named(capsys: Captured) -> None:
    mutants = [word for replica_id in (1, 2) for word in ("--mutant", f"{replica_id}={RULE}")]
    words = ("--nodes", "2", "--kafka", VERSION, "--seconds", "12", "--seed", "5", "--faults", "stop")
    assert quorum(*words, *mutants) == ExitCode.VIOLATION
    assert f"explained by   breaking rule {RULE}" in capsys.readouterr().out


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("nodes", [3, 5])
def test_faults_of_all_kinds(nodes: int, seed: int) -> None:
    assert quorum("--nodes", str(nodes), "--seconds", "60", "--seed", str(seed)) == ExitCode.CONFORMANT
