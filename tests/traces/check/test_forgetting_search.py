"""A search for wrong runs that only a checker which forgets would accept: one that keeps everything judges along."""

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.resources import files
from pathlib import Path
from shutil import copytree

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.traces.check.test_forgetting import StaticVoters

from kraft_reference.configuration import Configuration
from kraft_reference.events import ClientAppend, TakeSnapshot
from kraft_reference.roles import Role
from kraft_spec.edits import Edit, apply_edits
from kraft_traces.check import TraceChecker
from kraft_traces.check.model import TraceModel
from kraft_traces.lines import EventLine

pytestmark = pytest.mark.nightly

RUNS = 150
BROKEN_MIN = 10
"""So many of them at least break a property, or the search looks at nothing."""
SECONDS_MAX = 300

Verdict = tuple[int, tuple[str, ...]] | None
"""The first rejected line and the properties that it breaks; None if all are accepted."""
Move = tuple[str, int, tuple[int, ...]]

IDS = (1, 2, 3)
MOVES = st.tuples(
    st.sampled_from(["win", "win", "lose", "commit", "snapshots", "new disks"]),
    st.sampled_from(IDS),
    st.sampled_from([(1, 2), (1, 3), (2, 3), IDS]),
)


@cache
def model_in(directory: Path) -> TraceModel:
    """The model of the process that is asked."""
    return TraceModel(directory)


def judged(directory: Path, configuration: Configuration, lines: list[EventLine]) -> Verdict:
    """The verdict of the model in a directory, with the full invariants on every line."""
    checker = TraceChecker(model_in(directory), configuration, "trace.jsonl", own=True, every=1)
    for number, line in enumerate(lines, 2):
        rejection = checker.feed(number, line)
        if rejection is not None:
            return number, tuple(sorted(rejection.properties))
    return None


class Judge:
    """A model in a process of its own, because TLC keeps one in static fields."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.pool = ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn"))

    def verdict(self, story: StaticVoters) -> Verdict:
        return self.pool.submit(judged, self.directory, story.configuration, story.lines).result(SECONDS_MAX)


@pytest.fixture(scope="module")
def judges(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Judge, Judge]]:
    """The checker that everybody uses, and one that forgets nothing."""
    forgetful, whole = (
        Path(copytree(str(files("kraft_spec") / "tla"), tmp_path_factory.mktemp(name) / "tla"))
        for name in ("forgetful", "whole")
    )
    apply_edits(whole, [Edit("Trace.cfg", "  Remembered <- Forgetful\n", "")])
    pair = Judge(forgetful), Judge(whole)
    yield pair
    for judge in pair:
        judge.pool.shutdown(cancel_futures=True)


def move(story: StaticVoters, kind: str, replica: int, voters: tuple[int, ...]) -> None:
    """Make one move of a run, if it is possible, after the events of the story."""
    world = story.world
    to = (*voters, *({replica} - set(voters)))
    try:
        match kind:
            case "win":
                story.win(replica, to=to)
            case "lose":
                story.campaign(replica, to=to)
                story.lose(replica)
            case "commit":
                for leader in (replica for replica in IDS if world.state(replica).role is Role.LEADER):
                    story.tell(world.happen(leader, ClientAppend(len(story.lines))))
                    story.fetch(leader, *(set(to) - {leader}))
            case "snapshots":
                for voter in IDS:
                    end = world.state(voter).high_watermark or 0
                    if end > world.state(voter).log.start_offset:
                        story.tell(world.happen(voter, TakeSnapshot(end)))
            case "new disks":
                story.replace_disks(*voters)
            case _:
                return
    except AssertionError:
        # Nobody won: the voters did not follow.
        story.drop_all()


def test_whatever_is_forgotten_the_verdicts_are_those_of_the_whole_history(judges: tuple[Judge, Judge]) -> None:
    broken: list[Verdict] = []

    @seed(853)
    @settings(max_examples=RUNS, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(st.lists(MOVES, min_size=4, max_size=14))
    def search(moves: list[Move]) -> None:
        story = StaticVoters()
        for candidate in moves:
            move(story, *candidate)
        forgetful, whole = (judge.verdict(story) for judge in judges)
        assert forgetful == whole
        broken.append(whole)

    search()
    assert sum(verdict is not None for verdict in broken) >= BROKEN_MIN
