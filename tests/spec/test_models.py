"""Named model checks: small ones run, changed models are detected, and every action is expected to occur."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from kraft_spec.edits import Edit, apply_edits
from kraft_spec.models import (
    CHECKS,
    GROUPS,
    checks_of,
    counterexample_actions,
    find_check,
    fired_actions,
    model_directory,
    next_actions,
    run_check,
    write_model,
)
from kraft_spec.models.firing import firing_actions
from kraft_spec.tlc.model_check import ModelCheckError
from kraft_spec.tlc.model_report import ActionCount, ModelCheckReport, Outcome, Progress, TraceState

HEAP_MEGABYTES = 3072  # coverage keeps a node for each place that names an operator: with 1 GB Java mostly collects


@pytest.mark.nightly
def test_smoke_holds_and_an_action_beyond_its_bounds_never_fires() -> None:
    smoke = find_check("smoke")
    report = run_check(replace(smoke, fires=smoke.fires | {"Crash"}), heap_megabytes=HEAP_MEGABYTES)
    assert report.never_fired == ("Crash",)
    assert not report.as_expected
    assert replace(report, never_fired=()).as_expected, report.report.message
    assert report.exhaustive
    assert report.report.progress.states_distinct > 1000


def test_the_checks_of_every_push_go_through_their_whole_slice() -> None:
    """A time limit would be an accepted end, too."""
    assert [check.name for check in checks_of("ci") if check.simulation or check.time_limit_seconds is not None] == []


def test_a_search_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(ModelCheckError, match=r"(?s)smoke: cannot tell which actions fire: .*no such file"):
        firing_actions(find_check("smoke"), {"Poll"}, next_actions(), tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "caught_by"),
    [
        (
            "IF s.voted_key # NoKey THEN Names(s.voted_key, m.replica_key)",
            "IF FALSE THEN Names(s.voted_key, m.replica_key)",
            {"VoteOncePerEpoch", "ElectionSafety"},
        ),
        (
            "THEN Outcome(now, <<VoteResponse(now, m, GrantsPreVote(now, m)",
            "THEN Outcome(WithVote(now, m.replica_key), <<VoteResponse(now, m, GrantsPreVote(now, m)",
            {"PreVoteIsPure"},
        ),
    ],
)
def test_a_changed_model_is_caught(tmp_path: Path, old: str, new: str, caught_by: set[str]) -> None:
    shutil.copytree(model_directory(), tmp_path, dirs_exist_ok=True)
    apply_edits(tmp_path, [Edit("Elections.tla", old, new)])
    report = run_check(find_check("smoke"), directory=tmp_path, heap_megabytes=HEAP_MEGABYTES)
    assert report.report.outcome is Outcome.VIOLATION, report.report.message
    assert set(report.report.violated.split(" or ")) & caught_by
    assert report.report.trace
    assert not report.as_expected


@pytest.mark.parametrize(
    "guard",
    [
        "log-check",
        # `make models` runs all six, and a nightly check compares their lengths.
        *(pytest.param(guard, marks=pytest.mark.nightly) for guard in ("divergence", "log-matching")),
    ],
)
def test_local_forms_fail_at_the_step_at_which_the_whole_ones_do(guard: str) -> None:
    whole, local = (
        run_check(find_check(f"broken-{guard}-{form}"), heap_megabytes=HEAP_MEGABYTES) for form in ("whole", "local")
    )
    assert whole.as_expected, whole.report.message
    assert local.as_expected, local.report.message
    assert len(local.report.trace) == len(whole.report.trace)


@pytest.mark.nightly  # TLC's coverage takes several times as long as the slice, and as the search of `make models`
@pytest.mark.parametrize("name", sorted(check.name for check in CHECKS if check.coverage))
def test_the_search_finds_the_actions_that_tlc_counts(name: str, tmp_path: Path) -> None:
    check = find_check(name)
    model = write_model(check, tmp_path / "model")
    report = run_check(check, workers=2, heap_megabytes=HEAP_MEGABYTES, coverage=True)
    assert report.report.outcome is Outcome.OK, report.report.message
    assert report.never_fired == ()
    every = set(next_actions().values())
    counted = {name for name, states in fired_actions(report.report).items() if states}
    assert firing_actions(check, every, next_actions(), model) == counted & every


def test_a_counterexample_without_an_expected_action_is_not_as_expected() -> None:
    check = find_check("voters-snapshot-newest")
    report = run_check(replace(check, fires=frozenset({"TakeSnapshot", "Restart"})), heap_megabytes=HEAP_MEGABYTES)
    assert report.report.violated == check.violates
    assert report.never_fired == ("Restart",)
    assert not report.as_expected
    assert replace(report, never_fired=()).as_expected


@pytest.mark.slow
@pytest.mark.nightly
def test_a_stopped_check_resumes_from_its_checkpoint(tmp_path: Path) -> None:
    check = find_check("election-nightly")
    # The clock of the limit starts with the search, so these seconds are enough on any machine.
    first = run_check(check, checkpoint_directory=tmp_path, time_limit_seconds=5)
    assert first.as_expected
    assert first.report.outcome is Outcome.TIME_LIMIT
    assert first.report.progress.queue_left > 0
    again = run_check(check, checkpoint_directory=tmp_path, resume=True, time_limit_seconds=2)
    assert again.as_expected
    assert again.report.states_recovered > 0
    assert again.report.progress.states_distinct >= first.report.progress.states_distinct


def test_next_is_read_whole() -> None:
    text = (model_directory() / "KRaft.tla").read_text(encoding="utf-8")
    disjuncts = re.findall(r"^  \\/ ", text[text.index("\nNext ==") :], flags=re.MULTILINE)
    assert len(next_actions()) == len(disjuncts)


def test_every_action_of_next_fires_in_some_ci_check() -> None:
    """Every action occurs within the bounds of a check, or in an expected counterexample."""
    fired = {name for check in checks_of("ci") for name in check.fires}
    assert fired == set(next_actions().values())


def test_a_disjunct_of_next_is_named_by_its_line() -> None:
    line = next(number for number, name in next_actions().items() if name == "HandleVoteRequest")
    place = f"line {line}, col 6 to line {line}, col 52 of module KRaft"
    report = ModelCheckReport(
        outcome=Outcome.OK,
        violated="",
        message="",
        trace=(
            TraceState(1, "Initial predicate", "", "", ()),
            TraceState(2, "Next", place, "", ()),
            TraceState(3, "TakeSnapshot", "line 3, col 1 to line 7, col 9 of module KRaft", "", ()),
            TraceState(4, "Next", place.replace("KRaft", "MCElection"), "", ()),
        ),
        loop="",
        progress=Progress(),
        seconds=0.0,
        actions=(ActionCount("Next", "KRaft", line, 1, 2), ActionCount("Init", "MCElection", 30, 1, 1)),
        warnings=(),
        checkpoint=None,
        states_recovered=0,
        exit_code=0,
    )
    assert fired_actions(report) == {"HandleVoteRequest": 2, "Init": 1}
    assert counterexample_actions(report) == {"Initial predicate", "HandleVoteRequest", "TakeSnapshot", "Next"}


def test_names_are_unique_and_files_exist() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        assert (model_directory() / f"{check.configuration.module}.tla").is_file(), check.name
        assert check.groups
        assert set(check.groups) <= set(GROUPS)
        assert check.bounds
        assert check.leaves_out
