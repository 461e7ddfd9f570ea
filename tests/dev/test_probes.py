"""Everything that can happen is reached, by simulation and by the model; and what is not would be reported."""

import pytest

from kraft_dev.child import ChildError
from kraft_dev.probes import walk
from kraft_dev.probes.hand import ByHand, told
from kraft_dev.probes.kinds import KINDS, Kind, effect_names, event_names, fault_names
from kraft_dev.probes.report import Probed, ProbeRow, Unreached, load_unreached, markdown, rows
from kraft_dev.probes.rows import Brief, UnexplainedStepError, rows_taken
from kraft_dev.probes.schedules import BY_HAND
from kraft_dev.probes.simulated import SOURCES, Amount, Source, counted_transitions, probe_reference
from kraft_dev.probes.tally import Tally
from kraft_dev.results import Measured
from kraft_reference import transitions
from kraft_reference.cluster.world import World
from kraft_reference.events import ElectionTimeout
from kraft_reference.outcome import Refusal
from kraft_reference.roles import TRANSITION, Cause, Role
from kraft_reference.scenarios.scenario import cluster

pytestmark = pytest.mark.nightly
"""Minutes, and what no change of a rule reaches: a push has the scenarios, the edges and the mutants."""


@pytest.fixture(scope="module")
def reference() -> dict[Source, Tally]:
    return probe_reference()


@pytest.fixture(scope="module")
def model() -> Tally:
    return walk.probe_model()


def problems(table: tuple[ProbeRow, ...]) -> list[str]:
    return [f"{row.kind} {row.name} {problem}" for row in table for problem in row.problems]


def test_everything_is_reached_or_cannot_be(reference: dict[Source, Tally], model: Tally) -> None:
    assert problems(rows(reference, model, load_unreached())) == []


@pytest.mark.parametrize("seed", [2, 3])
def test_the_model_reaches_it_from_other_seeds_too(reference: dict[Source, Tally], seed: int) -> None:
    assert problems(rows(reference, walk.probe_model(4 * walk.STEPS, seed), load_unreached())) == []


def test_a_refusal_that_nothing_gives_is_reported(reference: dict[Source, Tally], model: Tally) -> None:
    more = Kind("refusal", lambda: (*Refusal, "OUT_OF_ORDER"))
    kinds = [more if kind.name == "refusal" else kind for kind in KINDS]
    assert problems(rows(reference, model, load_unreached(), kinds)) == [
        "refusal OUT_OF_ORDER is never reached by the reference",
        "refusal OUT_OF_ORDER is never reached by the model",
    ]


def test_each_thing_that_is_not_reached_is_reported() -> None:
    nothing = {source: Tally() for source in SOURCES}
    table = rows(nothing, Tally(), ())
    assert len(problems(table)) == 2 * sum(len(kind.names()) for kind in KINDS)


def test_a_reason_for_what_is_reached_is_stale(reference: dict[Source, Tally], model: Tally) -> None:
    stale = Unreached("error", "NONE", "model", "never")
    (problem,) = problems(rows(reference, model, (*load_unreached(), stale)))
    assert problem.startswith("error NONE is listed as out of reach of the model, which reaches it ")


def test_a_reason_for_what_nobody_asks_for_is_stale(reference: dict[Source, Tally], model: Tally) -> None:
    stale = Unreached("error", "NO_SUCH_ERROR", "model", "never")
    assert problems(rows(reference, model, (*load_unreached(), stale))) == [
        "error NO_SUCH_ERROR is listed as out of reach, and nobody asks for it"
    ]


def test_a_count_that_no_source_lists_is_reported(reference: dict[Source, Tally], model: Tally) -> None:
    kinds = [Kind("refusal", lambda: tuple(one for one in Refusal if one is not Refusal.STALE_EPOCH))]
    unreached = [one for one in load_unreached() if one.kind == "refusal"]
    assert problems(rows(reference, model, unreached, kinds)) == [
        "refusal STALE_EPOCH is counted, but no source lists it"
    ]


def test_without_the_schedules_by_hand_refusals_are_missing(reference: dict[Source, Tally], model: Tally) -> None:
    without: dict[Source, Tally] = {**reference, "by hand": Tally()}
    missing = {row.name for row in rows(without, model, load_unreached()) if row.kind == "refusal" and row.problems}
    assert {"RUNNING", "NOT_IN_ROLE", "NOTHING_DUE", "SNAPSHOT_OUT_OF_RANGE", "SNAPSHOT_NOT_WANTED"} <= missing


def test_the_names_are_those_of_the_sources() -> None:
    assert len(event_names()) == 43
    assert {"DuplicateMessage", "HandleFetchRequest", "ReplaceDisk", "UpdateFeatures"} <= set(event_names())
    assert set(effect_names()) >= {"PersistQuorumState", "WriteSnapshot", "Send", "Answer", "StartTimer"}
    assert {"drop_chance", "crash_interval_ms", "early_timer_interval_ms"} <= set(fault_names())


def test_rows_of_the_table_are_counted_where_they_are_looked_up() -> None:
    tally = Tally()
    with counted_transitions(tally):
        World(cluster(3)).happen(1, ElectionTimeout())
    assert tally.count("transition", "Unattached -> Prospective: election timeout") == 1
    assert transitions.__dict__["TRANSITION"] is TRANSITION


NOBODY = (-1, "")
OWN = (1, "A")


def test_a_step_of_the_model_is_explained_by_rows() -> None:
    before = Brief(Role.UNATTACHED, 1, -1, NOBODY, OWN)
    after = Brief(Role.LEADER, 2, 1, OWN, OWN)
    causes = [row.cause for row in rows_taken("ElectionTimeout", before, after, pre_vote_unsupported=False)]
    assert causes == [Cause.ELECTION_TIMEOUT, Cause.PRE_VOTE_WON, Cause.ELECTION_WON]


def test_a_step_that_is_not_in_the_table_is_an_error() -> None:
    before = Brief(Role.FOLLOWER, 1, 2, NOBODY, OWN)
    with pytest.raises(UnexplainedStepError, match="HandleFetchResponse"):
        rows_taken("HandleFetchResponse", before, before._replace(role=Role.LEADER), pre_vote_unsupported=False)


def test_the_process_says_what_went_wrong() -> None:
    with pytest.raises(ChildError, match="invalid literal"):
        walk.probe_model(steps="none")  # type: ignore[arg-type]


def test_the_same_seed_counts_the_same() -> None:
    once, again = (probe_reference(Amount(seeds=1, steps=100)) for _ in range(2))
    assert {source: once[source].as_dict() for source in SOURCES} == {
        source: again[source].as_dict() for source in SOURCES
    }


def test_the_page_has_a_row_for_each_thing(reference: dict[Source, Tally], model: Tally) -> None:
    table = rows(reference, model, load_unreached())
    text = markdown(Probed(Measured("", ""), 1, 2, 3, table))
    assert all(f"| {row.name} |" in text for row in table)


@pytest.mark.parametrize("schedule", BY_HAND, ids=lambda schedule: schedule.name)
def test_a_schedule_by_hand_is_told_what_it_says(schedule: ByHand) -> None:
    assert told(schedule.occurrences()) == (schedule.refusals, schedule.ends, schedule.starts)
