"""Counts of random schedules on Apache Kafka, tested without Kafka."""

from pathlib import Path

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.random_runs.outcome import RandomOutcome
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_dev import kafka_seeds
from kraft_dev.cli import main
from kraft_dev.kafka_seeds import Campaign, count_campaign, load_campaigns, markdown, record, workloads_of
from kraft_kafka.patching.patches import patches
from kraft_kafka.releases import newest


def made(seed: int, status: Status, **fields: object) -> RandomOutcome:
    outcome = Outcome(f"calm.{seed}", status, "why", rules=("hw.own-epoch",))
    return RandomOutcome("calm", seed, outcome, "", **fields)  # type: ignore[arg-type]


def campaign() -> Campaign:
    runs = (
        made(5, Status.PASS, events=10, until_known=10, is_whole=True),
        made(6, Status.EXPECTED_FAILURE, events=20, until_known=7, known=("late",), is_whole=True),
        made(7, Status.FAIL, events=30, until_known=8, known=("late", "early")),
    )
    return count_campaign("4.3.1", None, "calm", 5, runs, "abc")


def test_runs_are_counted() -> None:
    counts = campaign()
    assert (counts.first, counts.end, counts.events, counts.until_known, counts.to_the_end) == (5, 8, 60, 25, 2)
    assert counts.statuses == {"expected failure": 1, "fail": 1, "pass": 1}
    assert counts.known == {"late": 2, "early": 1}
    assert counts.failures == ("calm.7: hw.own-epoch: why",)


def test_a_recorded_campaign_takes_the_place_of_those_with_a_seed_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_seeds, "FILE", tmp_path / "kafka-seeds.json")
    seeds = (made(0, Status.PASS),) * 2
    before, shorter = (count_campaign("4.3.1", None, "calm", first, seeds, "abc") for first in (3, 4))
    planted = count_campaign("4.3.1", patches()["votes-twice"], "calm", 5, seeds, "abc")
    for recorded in (before, planted, campaign()):
        record(recorded)
    assert load_campaigns() == (before, campaign(), planted)
    record(shorter)
    assert load_campaigns() == (shorter, planted)


def test_the_page_lists_unexplained_runs_and_the_command() -> None:
    page = markdown(
        (campaign(), count_campaign("4.3.1", patches()["votes-twice"], "calm", 0, (made(0, Status.FAIL),), "abc"))
    )
    assert "1 runs are unexplained" in page
    assert "- calm.7: hw.own-epoch: why" in page
    assert "| 4.3.1 | calm | 5 to 7 | 60 | 25 | 1 | 1 | 2 | 1 |" in page
    assert "| votes-twice | 4.3.1 | calm | 1 | calm.0: hw.own-epoch: why |" in page
    assert "kafka-seeds --cluster 4.3.1 --workload calm --seeds 5:8" in page


def test_recorded_failures_are_explained() -> None:
    for recorded in load_campaigns():
        assert recorded.workload in workloads_of(recorded.cluster)
        # In 4.1 an observer does not return to its leader, a finding that the final liveness check detects.
        assert recorded.bug or all("EventuallyFetching" in failure for failure in recorded.failures), recorded
        assert "dirty" not in recorded.commit


@pytest.mark.parametrize(
    "words", [("--cluster", "4.3.1,latest"), ("--cluster", "reference"), ("--mutant", "none"), ("--seeds", "5:5")]
)
def test_wrong_usage_is_reported(words: tuple[str, ...]) -> None:
    assert main(["kafka-seeds", *words]) == ExitCode.USAGE


def test_a_mixed_cluster_has_the_workloads_of_all_its_releases() -> None:
    assert "auto-join" in workloads_of(newest())
    assert "auto-join" not in workloads_of("4.1.2,4.3.1,reference")
