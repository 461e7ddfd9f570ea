"""No field of a line can be altered without the checker, or the reader before it, saying so."""

import json
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.traces.check.alterations import Prefix, altered, line_of, places
from tests.traces.check.recorded import Recorded, recorded, verdict_on
from tests.traces.check.replay import is_a_run
from tests.traces.places import EVENT, declared_fields, document_of

from kraft_simulation.workload import WORKLOADS
from kraft_traces.check import Rejection, VerdictKind
from kraft_traces.check.comparison import NETWORK_EVENTS
from kraft_traces.errors import TraceError

UNSEEN_AT_ONCE = frozenset(("event", "input.message_id", "input.source", "input.destination"))
"""The choices of the network.

A lost message, a second copy, a cut link show in later lines only, if ever: the network might have chosen otherwise."""

REQUESTS = frozenset(
    ("AddVoter", "RemoveVoter", "UpdateFeatures", "AlterPartitionReassignments", "TakeSnapshot", "AppendVoters")
)
"""Events of which a refused one asks for something that no line shows."""

REMOVES_ITSELF = "s4-disk-failure/right-auto-join"
"""The one run in which a replica asks for its own removal."""

ALTERED_LINES = 12
ALTERATIONS_PER_LINE = 4


@settings(max_examples=max(8, settings().max_examples // 3))  # each has dozens of altered fields
@given(
    st.sampled_from([*sorted(WORKLOADS), REMOVES_ITSELF]),
    st.integers(0, 20),
    st.sampled_from((3, 5)),
    st.integers(0, 2**32),
)
def test_an_altered_line_is_rejected_at_once(workload: str, seed: int, replicas: int, choices: int) -> None:
    trace, chance = recorded(workload, seed, 120, replicas), Random(choices)
    prefix = Prefix(trace.configuration, trace.lines)
    # One line of each kind of event, so that the frequent ones do not crowd out the rest.
    kinds = sorted({line.event for line in trace.lines})
    chosen = {
        chance.choice([n for n, line in enumerate(trace.lines, 2) if line.event == kind])
        for kind in chance.sample(kinds, min(ALTERED_LINES, len(kinds)))
    }
    for number, line in enumerate(trace.lines[: max(chosen) - 1], 2):
        if number in chosen:
            document = document_of(line)
            every = list(places(document))
            for place in chance.sample(every, min(ALTERATIONS_PER_LINE, len(every))):
                alteration = altered(document, place, chance)
                if alteration is None:
                    continue
                outcome = prefix.outcome(alteration.raw)
                if outcome is None:
                    _judge_unseen(trace, number, alteration.path, alteration.raw, prefix)
                    return
                if isinstance(outcome, Rejection):
                    assert outcome.line == number
                    assert outcome.differences or outcome.conjunct is not None, outcome
        prefix.proceed()


def _judge_unseen(trace: Recorded, number: int, path: str, raw: bytes, prefix: Prefix) -> None:
    """Judge an alteration that no line can reveal at once, such as a choice of the network."""
    line = line_of(raw)
    if prefix.checker.is_over:
        assert path == "input.value"
        assert "32 bits" in str(prefix.checker.finish(complete=True).reason)
        return
    if line.event in REQUESTS:
        # What a refused request asked for, and which cluster's id it names if it is this one's.
        assert path.startswith("input."), (path, line)
    else:
        assert line.event in NETWORK_EVENTS, (path, line)
        assert path in UNSEEN_AT_ONCE, (path, line)
    lines = [*trace.lines[: number - 2], line, *trace.lines[number - 1 :]]
    every_raw = trace.raw
    every_raw[number - 2] = raw
    try:
        verdict = verdict_on(trace.header(), every_raw)
    except TraceError:
        return
    # The network might as well have done the other thing: accepted only if the reference would have gone on the same.
    assert (verdict.kind is VerdictKind.ACCEPTED) <= is_a_run(trace.configuration, lines)


@pytest.mark.parametrize("workload", ["auto-join", "chaos", "hasty-reassignments", "snapshots", "upgrade"])
def test_the_reference_agrees_that_a_recorded_trace_is_a_run(workload: str) -> None:
    trace = recorded(workload, 3, 300)
    assert is_a_run(trace.configuration, trace.lines)
    # A message that goes lost in place of another one is missed later, at the latest by a replay.
    assert not is_a_run(trace.configuration, trace.lines[1:])


@pytest.mark.nightly
def test_alterations_reach_every_field_of_every_type() -> None:
    """The workloads have every structure that a line of our own can hold; `unrecorded` is of merged traces."""
    # Of three voters one follower completes a majority: only a larger quorum counts who fetched so far.
    traces = [recorded(*run) for run in product(sorted(WORKLOADS), range(2))]
    traces += [recorded("calm", replicas=5), recorded(REMOVES_ITSELF)]
    reached = {place.field for trace in traces for line in trace.lines for place in places(document_of(line))}
    assert [field for field in declared_fields(EVENT) if field not in reached and field[0] != "unrecorded"] == []


@pytest.mark.parametrize(
    ("field", "is_wrong"),
    [*((field, False) for field in ("time_ms", "cause", "message", "effects", "refusal", "state")), ("effects", True)],
)
def test_a_line_of_our_own_with_a_field_missing_is_rejected(field: str, is_wrong: bool) -> None:
    trace = recorded("elections", 1, 120)
    number, line = next((n, line) for n, line in enumerate(trace.lines, 2) if line.event == "HandleVoteRequest")
    document = document_of(line)
    document["state"]["epoch"] += is_wrong
    del document[field]
    raw = trace.raw
    raw[number - 2] = json.dumps(document).encode() + b"\n"
    rejection = verdict_on(trace.header(), raw).rejection
    assert rejection is not None
    assert rejection.line == number
    assert (field, "missing") in [(difference.field, difference.actual) for difference in rejection.differences]
    # Whoever reads "missing" in a trace of another program under this name learns why that is wrong.
    assert rejection.left_out == ("some" if is_wrong else "all")
    problem = (
        "the recorded outcome differs from the model, and fields are missing" if is_wrong else "fields are missing"
    )
    assert f"): {problem}: only traces of other software may omit fields" in rejection.headline()
