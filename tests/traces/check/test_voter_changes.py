"""Runs with voter changes, upgrades and snapshots: accepted whole and with fields left out, rejected when altered."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

import pytest
from tests.traces.check.alterations import Place, altered, document_of, line_of, places
from tests.traces.check.changes import RUNS, Run
from tests.traces.check.foreign import optional_places, without
from tests.traces.check.replay import is_a_run
from tests.traces.test_voter_changes import ADDED_TO_THE_STATE

from kraft_reference.events import Poll
from kraft_reference.scenarios.scenario import cluster
from kraft_traces.check import TraceChecker, Verdict, VerdictKind
from kraft_traces.check.model import trace_model
from kraft_traces.errors import TraceError
from kraft_traces.lines import EventLine
from kraft_traces.parsing import parse_line

REQUESTS = ("AddVoter", "RemoveVoter", "UpdateFeatures", "TakeSnapshot", "Restart")


@cache
def run_of(name: str) -> Run:
    """The run, made once."""
    return RUNS[name]()


def verdict_on(run: Run, lines: list[EventLine], *, own: bool) -> Verdict:
    checker = TraceChecker(trace_model(), run.configuration, "trace", own=own)
    rejection = None
    for number, line in enumerate(lines, 2):
        rejection = checker.feed(number, line)
        if rejection is not None or checker.is_over:
            break
    return checker.finish(complete=True, rejection=rejection)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_accepted_with_one_successor_for_each_line(name: str) -> None:
    run = run_of(name)
    verdict = verdict_on(run, run.lines, own=True)
    assert (verdict.kind, verdict.candidates_max) == (VerdictKind.ACCEPTED, 1), verdict


def _is_new(place: Place) -> bool:
    path = place.path
    return path[-1] in ("details", "version", "snapshot_end_offset", "snapshot_epoch") or (
        path[0] == "state" and len(path) == 2 and path[1] in ADDED_TO_THE_STATE
    )


def _in_an_input(*kept: str) -> Callable[[Place], bool]:
    return lambda place: place.path[0] == "input" and len(place.path) == 2 and place.path[1] not in kept


LEFT_OUT: dict[str, tuple[Callable[[Place], bool], int]] = {
    "what a trace from before does not have": (_is_new, 1),
    # Whether a Restart that says nothing moved is found out by what its state shows.
    "what was asked for, but the number of the request": (_in_an_input("request", "destination", "message_id"), 12),
    "states and what was asked for": (
        lambda place: place.path == ("state",) or _in_an_input("request", "destination", "message_id")(place),
        256,
    ),
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_the_rest_of_a_run_determines_may_be_left_out(what: str, name: str) -> None:
    is_left_out, widest = LEFT_OUT[what]
    run = run_of(name)
    lines = [
        line_of(without(line, *(place.path for place in optional_places(line) if is_left_out(place))))
        if what == "what a trace from before does not have"
        or (
            line.event in REQUESTS
            # Where a replica moved to cannot be found by trying.
            and not (name == "moved" and what.startswith("states"))
        )
        else line
        for line in run.lines
    ]
    verdict = verdict_on(run, lines, own=False)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert verdict.candidates_max <= widest


def test_a_number_of_a_request_that_no_line_shows_is_inconclusive() -> None:
    run = run_of("removed")
    lines = list(run.lines)
    place = next(index for index, line in enumerate(lines) if line.event == "AddVoter")
    lines[place] = line_of(without(lines[place], ("input", "request"), ("state",), ("effects",)))
    verdict = verdict_on(run, lines, own=False)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert "input.request is left out" in str(verdict.reason)


def test_the_answer_shows_the_number_of_its_request() -> None:
    run = run_of("removed")
    lines = [
        line_of(without(line, ("input", "request"))) if line.event in ("AddVoter", "RemoveVoter") else line
        for line in run.lines
    ]
    verdict = verdict_on(run, lines, own=False)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict


NEW = (
    "pending_change",
    "reports",
    "wanted_snapshot",
    "log_start_offset",
    "quorum_state_version",
    "moved_to",
    "snapshot",
)


def judged_alterations(run: Run, chance: Random) -> int:
    """How many altered lines were rejected; stops at one that makes no difference."""
    checker = TraceChecker(trace_model(), run.configuration, "trace", own=True)
    judged = 0
    for number, line in enumerate(run.lines, 2):
        document: dict[str, Any] = document_of(line)
        chosen = [
            place
            for place in places(document)
            if place.there and (set(NEW) & set(place.path) or (line.event in REQUESTS and place.path[0] == "input"))
        ]
        for place in chance.sample(chosen, min(2, len(chosen))):
            alteration = altered(document, place, chance)
            if alteration is None:
                continue
            try:
                parsed = parse_line(alteration.raw, "trace", number)
            except TraceError:
                continue
            assert isinstance(parsed, EventLine)
            if checker.feed(number, parsed) is None:
                # What a refused request asked for makes no difference; the reference has to say so, too.
                assert place.path[0] == "input", alteration
                assert is_a_run(run.configuration, [*run.lines[: number - 2], parsed, *run.lines[number - 1 :]])
                return judged
            judged += 1
        assert checker.feed(number, line) is None
    return judged


@pytest.mark.parametrize("name", RUNS)
def test_an_altered_field_of_a_voter_change_is_rejected_at_once(name: str) -> None:
    assert sum(judged_alterations(run_of(name), Random(f"{name} {seed}")) for seed in range(3)) > 60


def test_replicas_formatted_with_other_lists_disagree_about_the_voters() -> None:
    alike = cluster(3)
    third = replace(alike.replicas[3], initial_voters=alike.voters - {alike.replicas[2].key})
    apart = replace(alike, replicas={**alike.replicas, 3: third})
    for configuration in (alike, apart):
        run = Run(configuration)
        run.happen(1, Poll())
        verdict = verdict_on(run, run.lines, own=True)
        if configuration is alike:
            assert verdict.kind is VerdictKind.ACCEPTED, verdict
        else:
            assert verdict.rejection is not None
            assert verdict.rejection.properties == ("ConfigAgreement",)
