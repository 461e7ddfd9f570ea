"""What the texts leave to who fetches and who answers a Fetch is right, all of it at once; the nearest to it is not."""

import shlex
import sys
from pathlib import Path

import pytest
from tests.conformance.fetching_adapter import RIGHT, Fetching

from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.seats import InProcess
from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.format import Vector
from kraft_traces.effects import TracedSend
from kraft_traces.message_types import TracedFetchResponse

ADAPTER = Path(__file__).with_name("fetching_adapter.py")


def _answers(vector: Vector) -> bool:
    """Is a Fetch answered in it, in not too many steps?"""
    outputs = [one.message for step in vector.steps for one in step.outputs if isinstance(one, TracedSend)]
    return len(vector.steps) < 60 and any(isinstance(one, TracedFetchResponse) for one in outputs)


ANSWERING = tuple([one.id for one in Catalogue().of_replicas() if _answers(one)])


def ran(modes: str, level: str, ids: tuple[str, ...]) -> tuple[Outcome, ...]:
    command = shlex.join([sys.executable, str(ADAPTER), modes, level])
    return Campaign(Plan(command, ids), Catalogue()).run()


@pytest.mark.parametrize("level", ["state", "wire"])
def test_all_choices_at_once_are_right(level: str) -> None:
    outcomes = ran(",".join(RIGHT), level, ANSWERING)
    assert not {one.id: one.reason for one in outcomes if one.status in FAILING}
    assert sum(one.status is Status.PASS for one in outcomes) > len(ANSWERING) // 2


@pytest.mark.parametrize(
    ("mode", "vector_id", "field", "expected"),
    [
        (
            "one-id",
            "scenario.check-quorum.with-the-rule.replica-2",
            "Send VoteRequest to 1.correlation_id",
            "an id that no other open request to this receiver has",
        ),
        ("skips-a-record", "change.catch-up", "Send FetchResponse to 4.records[0].value", "2"),
        ("no-record", "change.removed", "Send FetchResponse to 3.records", None),
        ("watermark-too-far", "foreign.fetch", "Send FetchResponse to 2.high_watermark", "-1"),
        ("waits-with-records", "change.removed", "Send FetchResponse to 3", None),
        ("late-skips", "reassign.waits-for-its-epoch", "Send FetchResponse to 3.records", None),
        ("late-twice", "fetch.removed-leader", "Send FetchResponse to 2", "nothing"),
    ],
)
def test_the_nearest_is_wrong(mode: str, vector_id: str, field: str, expected: str | None) -> None:
    (outcome,) = ran(mode, "state", (vector_id,))
    assert outcome.status is Status.FAIL
    assert outcome.differences[0].field == field
    assert expected in (None, outcome.differences[0].expected)


def test_a_limit_on_records_need_not_be_had() -> None:
    limited = [one.id for one in Catalogue().of_replicas() if "fetch-limit" in one.requires.features]
    assert limited
    assert {one.status for one in ran("no-limit", "state", tuple(limited))} == {Status.UNSUPPORTED}


def random_status(modes: tuple[str, ...]) -> Status:
    seat = InProcess(lambda: Fetching(frozenset(modes)))
    (outcome,) = random_campaign(RandomPlan((seat,), workloads=("chaos",), seeds=(1,), steps=150, shrinks=False))
    return outcome.outcome.status


def test_all_choices_at_once_are_right_in_a_cluster() -> None:
    assert random_status(RIGHT) is Status.PASS


def test_a_late_answer_that_skips_a_record_is_wrong_in_a_cluster() -> None:
    assert random_status(("late-skips",)) is Status.FAIL
