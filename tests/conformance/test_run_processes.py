"""The last part of `kraft-spec run`: Kafka's controllers where they can be had, nodes alone where not."""

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.conformance.adapter_builds import skipped_if_missing

from kraft_cli.cli import main
from kraft_cli.commands import live_quorum, run
from kraft_conformance.exit_codes import ExitCode
from kraft_kafka.agent.unread_voters import UNREAD_VOTERS, has_unread_voters
from kraft_kafka.jars import Kafka, KafkaUnavailableError, fetched
from kraft_kafka.live.process import LaunchError
from kraft_kafka.live.quorum import Plan
from kraft_kafka.patching.patches import javassist_jars
from kraft_kafka.releases import Jar
from kraft_kafka.whole import under_agent
from kraft_spec.difference import Difference
from kraft_traces.check import Rejection
from kraft_traces.check.verdict import RejectionKind


def judged(*, is_accepted: bool = True, second_leader: int = 4) -> Any:
    """Outcome of a run of nodes."""
    return SimpleNamespace(
        verdict=SimpleNamespace(rejection=None if is_accepted else "rejected"),
        lines=[SimpleNamespace(event="AddVoter")],
        leaders=((1, 2), (2, second_leader)),
        is_accepted=is_accepted,
    )


def row(monkeypatch: pytest.MonkeyPatch, result: Any, error: Exception) -> tuple[run.Part, list[Plan], list[Any]]:
    """The part, its plans and rejections, if Kafka cannot be had for this reason and the nodes' run ends so."""
    plans: list[Plan] = []

    def judged_run(plan: Plan, folder: Path) -> Any:
        assert folder.is_dir()
        plans.append(plan)
        return result

    monkeypatch.setattr(live_quorum, "judged_run", judged_run)
    kafka: Future[tuple[Kafka, Path]] = Future()
    kafka.set_exception(error)
    rejected: list[Any] = []
    return run._processes(kafka, rejected), plans, rejected


@pytest.mark.nightly
def test_kafkas_controllers_run_with_the_agent() -> None:
    kafka: Future[tuple[Kafka, Path]] = Future()
    with skipped_if_missing():
        kafka.set_result(run._fetch_kafka())
    rejected: list[Rejection] = []
    part = run._processes(kafka, rejected)
    assert (part.name, part.holds, rejected) == ("Kafka with the agent", True, [])
    assert part.detail in ("", UNREAD_VOTERS)


@pytest.mark.parametrize(
    "error",
    [
        KafkaUnavailableError("no `mvn` on PATH"),
        PermissionError(13, "no `mvn` on PATH"),
        KafkaUnavailableError("no `mvn` on PATH\nand more of what it said"),
    ],
)
def test_without_kafka_there_are_nodes_alone_and_a_line_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    part, plans, _ = row(monkeypatch, judged(), error)
    assert part.holds
    assert [(plan.kafka, plan.profile) for plan in plans] == [({}, "kip")]
    text = capsys.readouterr().err
    assert text.startswith("nodes alone, without Apache Kafka: ")
    assert text.count("\n") == 1
    assert "no `mvn` on PATH" in text


def test_controllers_that_do_not_start_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Path:
        raise LaunchError("it ended with 1 as it started")

    monkeypatch.setattr(under_agent, "record_controllers", fail)
    part = run._controllers(Kafka(run.KAFKA, ()), Path("agent.jar"), [])
    assert (part.name, part.holds, part.detail) == ("Kafka with the agent", False, "it ended with 1 as it started")


def test_a_rejected_run_of_nodes_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    part, _, rejected = row(monkeypatch, judged(is_accepted=False), KafkaUnavailableError("none"))
    assert (part.holds, rejected) == (False, ["rejected"])


def test_a_leader_that_comes_back_is_not_one_that_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    part, _, _ = row(monkeypatch, judged(second_leader=2), KafkaUnavailableError("none"))
    assert not part.holds


@pytest.mark.parametrize(
    ("field", "expected", "actual", "is_finding"),
    [
        ("state.voters.offset", "12", "7", True),
        ("state.voters.offset", "3", "-1", True),
        ("state.voters.offset", "7", "12", False),
        ("state.voters.offset", "7", "absent", False),
        ("state.epoch", "2", "1", False),
    ],
)
def test_an_older_voter_set_is_the_finding(field: str, expected: str, actual: str, is_finding: bool) -> None:
    differences = (Difference(field, expected, actual),)
    rejection = Rejection(
        RejectionKind.MISMATCH, "t", 9, 8, "HandleFetchResponse", 2, "Follower", (), differences=differences
    )
    assert has_unread_voters(rejection) == is_finding


def test_maven_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\nexec sleep 60\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KafkaUnavailableError, match=r"Maven has not fetched a-1\.jar in 0 s"):
        fetched([Jar("g", "a", "", "1", "0" * 64)], maven_s=0.2)


def test_the_agents_library_is_fetched_with_a_line_before_and_one_about_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    maven = tmp_path / "mvn"
    maven.write_text('#!/bin/sh\necho "[ERROR] no route"\nexit 1\n')
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["kafka", "agent"]) == ExitCode.UNAVAILABLE
    begins, fails = capsys.readouterr().err.splitlines()
    name = javassist_jars()[0].file_name
    assert begins == f"fetching {name} with Maven, for at most 600 s"
    assert f"Maven cannot fetch {name}; is there a network? It says: no route" in fails
