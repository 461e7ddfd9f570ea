"""The last part of `kraft-spec run`: with Kafka where it can be had, with nodes alone where not, and its finding."""

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraft_cli.commands import live_quorum, run
from kraft_kafka.jars import KafkaUnavailableError, fetched
from kraft_kafka.live.process import LaunchError
from kraft_kafka.live.quorum import Plan
from kraft_kafka.releases import Jar

TARGET = SimpleNamespace(source=4)


def judged(unread_voters: int | None = None, is_accepted: bool = True, second_leader: int = 4) -> Any:
    """Outcomes of a run: accepted, or an unexplained message of replica 4."""
    failure = None if is_accepted else SimpleNamespace(target=TARGET)
    return SimpleNamespace(
        verdict=SimpleNamespace(rejection=None if is_accepted else "rejected"),
        inferred=SimpleNamespace(lines=[SimpleNamespace(event="AddVoter")], failure=failure),
        leaders=((1, 2), (2, second_leader)),
        unread_voters=unread_voters,
        is_accepted=is_accepted,
    )


def row(monkeypatch: pytest.MonkeyPatch, result: Any, error: Exception | None = None) -> tuple[run.Part, list[Plan]]:
    """The part and the plans of its runs, if they come to `found`, and Kafka cannot be fetched if there is an error."""
    plans: list[Plan] = []

    def judged_run(plan: Plan, folder: Path) -> Any:
        assert folder.is_dir()
        plans.append(plan)
        if isinstance(result, Exception) and plan.kafka:
            raise result
        return judged() if isinstance(result, Exception) else result

    monkeypatch.setattr(live_quorum, "judged_run", judged_run)
    kafka: Future[None] = Future()
    if error is None:
        kafka.set_result(None)
    else:
        kafka.set_exception(error)
    rejected: list[Any] = []
    part = run._quorum(kafka, rejected)
    assert bool(rejected) == (not part.holds and not result.is_accepted)
    return part, plans


def test_kafkas_controller_is_the_voter_that_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    part, plans = row(monkeypatch, judged())
    assert (part.holds, part.detail, part.done.split(", ")[1]) == (True, "", f"add Kafka {run.KAFKA}")
    assert [(plan.kafka, plan.profile) for plan in plans] == [({4: run.KAFKA}, "kafka-4.1")]


@pytest.mark.parametrize(
    ("result", "error", "runs"),
    [
        (judged(), KafkaUnavailableError("no `mvn` on PATH"), 1),
        (judged(), PermissionError(13, "no `mvn` on PATH"), 1),
        (LaunchError("no `mvn` on PATH\nand more of what it said"), None, 2),
    ],
)
def test_without_kafka_there_are_nodes_alone_and_a_line_says_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], result: Any, error: Exception | None, runs: int
) -> None:
    part, plans = row(monkeypatch, result, error)
    assert (part.holds, len(plans), plans[-1].kafka, plans[-1].profile) == (True, runs, {}, "kip")
    text = capsys.readouterr().err
    assert text.startswith("nodes alone, without Apache Kafka: ")
    assert text.count("\n") == 1
    assert "no `mvn` on PATH" in text


def test_kafkas_finding_is_told_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    part, _ = row(monkeypatch, judged(unread_voters=7, is_accepted=False))
    assert (part.holds, part.detail) == (True, "4 has not read the voters at 7: Kafka's finding unread-voters")
    part, _ = row(monkeypatch, judged(is_accepted=False))
    assert not part.holds


def test_a_leader_that_comes_back_is_not_one_that_was_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    part, _ = row(monkeypatch, judged(second_leader=2))
    assert not part.holds


def test_maven_is_waited_for_only_so_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    maven = tmp_path / "mvn"
    maven.write_text("#!/bin/sh\nexec sleep 60\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KafkaUnavailableError, match=r"Maven has not fetched a-1\.jar in 0 s"):
        fetched([Jar("g", "a", "", "1", "0" * 64)], maven_s=0.2)
