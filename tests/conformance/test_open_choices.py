"""An implementation that makes every choice that the rules leave open is right; the nearest wrong one is not."""

import shlex
import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.conformance.choosing_adapter import Choosing

from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request
from kraft_conformance.random_runs.campaign import RandomPlan, random_campaign
from kraft_conformance.random_runs.seats import InProcess, Reference
from kraft_conformance.runner.campaign import Campaign, Plan
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.format import OpenChoice, Vector

CHOOSING = Path(__file__).with_name("choosing_adapter.py")
VECTORS = {one.id: one for one in Catalogue().of_replicas()}
OPEN = tuple([one.id for one in VECTORS.values() if one.courses])
"""The vectors with more courses than one."""


def ran(ids: tuple[str, ...], level: str, *modes: str, profile: str = "kip") -> tuple[Outcome, ...]:
    command = shlex.join([sys.executable, str(CHOOSING), level, profile, *modes])
    return Campaign(Plan(command, ids), Catalogue()).run()


def with_choice(answer: str) -> tuple[str, ...]:
    return tuple([one for one in OPEN if any(choice.answer == answer for choice in choices_of(VECTORS[one]))])


def choices_of(vector: Vector) -> list[OpenChoice]:
    return [choice for course in vector.courses or () for choice in course.choices]


@pytest.mark.parametrize(
    ("level", "profile"),
    [("injected", "kip"), ("state", "kip"), ("effects", "kip"), ("wire", "kip"), ("state", "kafka-4")],
)
def test_all_choices_at_once_are_right(level: str, profile: str) -> None:
    found = ran(OPEN, level, "all", profile=profile)
    assert [(one.id, str(one.reason)) for one in found if one.status is Status.FAIL] == []
    applying = [one for one in found if one.status is not Status.SKIPPED]
    assert Counter(one.status for one in applying).keys() <= {Status.PASS, Status.UNOBSERVED, Status.UNSUPPORTED}
    assert level in ("effects", "wire") or all(one.status is not Status.UNOBSERVED for one in applying)


def test_the_three_ways_to_restart_with_an_own_vote_are_right() -> None:
    for mode in ("restarts-unattached", "restarts-prospective"):
        assert {one.status for one in ran(with_choice("unattached"), "state", mode)} == {Status.PASS}


@pytest.mark.parametrize(
    ("answer", "modes"),
    [
        ("unknown", ("high-watermark-unknown", "high-watermark-falls")),
        ("unknown", ("commits-at-election",)),
        ("kept", ("goes-on-refusing", "refuses-for-ever")),
        ("unattached", ("restarts-unattached", "restarts-without-vote")),
        ("by-timer", ("announces-by-timer", "never-announces-again")),
        ("smaller-offset", ("cuts-at-the-smaller-offset", "cuts-everything")),
    ],
)
def test_the_nearest_wrong_behaviour_fails(answer: str, modes: tuple[str, ...]) -> None:
    assert Status.FAIL in {one.status for one in ran(with_choice(answer), "state", *modes)}


class _Shown:
    """An adapter of this process that announces itself again by its timer."""

    def __init__(self, level: Level, *wrong: str) -> None:
        self._choosing = Choosing(level, "kip", ["announces-by-timer", *wrong])

    def answer(self, request: Request) -> Reply:
        """Carry out a request."""
        return self._choosing.shown(request)


@pytest.mark.parametrize("level", ["state", "effects"])
def test_a_leader_that_waits_for_its_timer_is_right_in_a_cluster_and_one_that_gives_up_is_not(level: Level) -> None:
    def outcome(*wrong: str) -> Outcome:
        seats = (InProcess(lambda: _Shown(level, *wrong)), Reference())
        (found,) = random_campaign(RandomPlan(seats, range(4, 5), ("partitions",), 300, checks_model=False))
        return found.outcome

    assert outcome().status is Status.PASS
    gives_up = outcome("never-announces-again")
    assert gives_up.status is Status.FAIL
    assert "BeginQuorumEpochRequest to 1" in gives_up.reason
    assert "begin-quorum.resend" in gives_up.rules
