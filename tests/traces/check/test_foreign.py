"""Foreign traces with missing fields: never rejected wrongly, and rejected rightly if enough fields are recorded."""

import json
from collections.abc import Callable
from random import Random

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.traces.check.alterations import Alteration, altered, line_from, line_of, places
from tests.traces.check.cases import Story, elected
from tests.traces.check.foreign import optional_places, with_holes, without
from tests.traces.check.recorded import recorded, verdict_on, verdict_on_every_way
from tests.traces.checkpointed import FOREIGN
from tests.traces.places import document_of

from kraft_reference.events import ClientAppend, ElectionTimeout, FetchTimeout, Poll, PollFetch
from kraft_reference.messages import VoteResponse
from kraft_simulation.scenarios.scenario import cluster
from kraft_simulation.workload import WORKLOADS
from kraft_simulation.world import World
from kraft_traces.check import RejectionKind, TraceChecker, Verdict, VerdictKind
from kraft_traces.check.model import trace_model
from kraft_traces.consistency import Inconsistency, check_event
from kraft_traces.lines import EventLine

Path = tuple[str | int, ...]

workloads = st.sampled_from(sorted(WORKLOADS))


@settings(max_examples=max(8, settings().max_examples // 6))  # each is a whole trace with many candidates
@given(workloads, st.integers(0, 20), st.sampled_from((0.02, 0.1, 0.3, 1.0)), st.integers(0, 2**32))
# An id that no line has shown is still awaited when another one is sent without its id.
@example("chaos", 19, 0.3, 1737275403)
def test_leaving_fields_out_never_makes_a_right_trace_wrong(
    workload: str, seed: int, share: float, choices: int
) -> None:
    trace, chance = recorded(workload, seed, 100), Random(choices)
    verdict = verdict_on(
        trace.header(FOREIGN), [with_holes(line, chance, share) for line in trace.lines], candidates_max=100
    )
    assert verdict.kind in (VerdictKind.ACCEPTED, VerdictKind.INCONCLUSIVE), verdict
    assert verdict.candidates_max <= 100
    if verdict.kind is VerdictKind.INCONCLUSIVE:
        assert "more than 100 candidate states" in str(verdict.reason) or "is missing" in str(verdict.reason)


AWAITED = ("state", "awaiting")
HIDDEN = ("granted", "rejected", "fetched", "searching", "awaiting", "acknowledged", "fetchers", "fetch_offsets")
"""What a replica of other software is least likely to write down."""

OMISSIONS: dict[str, tuple[Callable[[Path], bool], int]] = {
    "effects": (lambda path: path == ("effects",), 1),
    # Whether a new leader still knows a high watermark does not show until it has committed something, and when it
    # announces itself again to each voter that has not answered not before its next Poll.
    "state": (lambda path: path == ("state",), 8),
    "the message, but not its id": (lambda path: path == ("message",), 1),
    "effects and state": (lambda path: path in (("effects",), ("state",)), 8),
    "refusals, causes and times": (lambda path: path in (("refusal",), ("cause",), ("time_ms",)), 1),
    "hidden state": (lambda path: path[0] == "state" and path[-1] in HIDDEN, 4),
    "message ids": (lambda path: path[-1] in ("id", "message_id") and path[0] != "input", 20),
    "receivers that a replica chose": (lambda path: path == ("input", "destination"), 32),
    "how much of a log survived": (lambda path: path in (("input", "log_end_offset"), ("state",)), 20),
    "what was appended": (lambda path: path in (("input", "value"), ("input", "voters")), 1),
    "new directory ids": (lambda path: path == ("input", "directory_id"), 1),
    "answers of the network layer": (lambda path: path == ("answer",), 1),
}
"""What is left out everywhere, and how many candidates that may give."""


OMITTED = ("chaos", "mixed-versions", "observers", "crashes")
"""Workloads from which each of these is left out: two of the four on a push."""


@pytest.mark.parametrize(
    ("workload", "name"),
    [
        pytest.param(workload, name, marks=pytest.mark.nightly if (column + row) % 2 else ())
        for row, name in enumerate(OMISSIONS)
        for column, workload in enumerate(OMITTED)
    ],
)
def test_what_the_rest_of_a_trace_determines_may_be_left_out(workload: str, name: str) -> None:
    is_left_out, widest = OMISSIONS[name]
    trace = recorded(workload, 1, 250)
    raw = [
        without(line, *(place.path for place in optional_places(line) if is_left_out(place.path)))
        for line in trace.lines
    ]
    verdict = verdict_on(trace.header(FOREIGN), raw)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert verdict.candidates_max <= widest
    assert verdict.open_answers == ()


@pytest.mark.nightly
@settings(max_examples=max(8, settings().max_examples // 6))  # each has dozens of altered fields
@given(workloads, st.integers(0, 20), st.integers(0, 2**32))
# A replica that dies as it asks awaits nothing.
@example("impatient-changes", 14, 3768865)
@example("storm", 0, 43233107)
@example("storm", 0, 647)
def test_a_wrong_field_is_rejected_where_the_rest_determines_it(workload: str, seed: int, choices: int) -> None:
    """Without effects, refusals and causes there is one candidate, so the state is known."""
    trace, chance = recorded(workload, seed, 100), Random(choices)
    checker = TraceChecker(trace_model(), trace.configuration, "trace", own=False)
    for number, line in enumerate(trace.lines, 2):
        document = document_of(line)
        for field in ("effects", "refusal", "cause"):
            document.pop(field, None)
        candidates = [place for place in places(document) if place.path[0] in ("state", "message")]
        for place in chance.sample(candidates, min(len(candidates), 1 if number % 4 == 0 else 0)):
            alteration = altered(document, place, chance)
            if alteration is None or _says_less(place.path, alteration.altered) or _is_name(line, alteration):
                continue
            if _is_synced_earlier(line, alteration) or _leaves_own_vote_out(line, alteration):
                continue
            if _is_unknown_watermark(alteration):
                continue
            if _is_refused_by_the_reader(alteration.raw):
                continue
            rejection = checker.feed(number, line_of(alteration.raw))
            if rejection is None and (place.path == ("message", "correlation_id") or place.path[:2] == AWAITED):
                # Who died as it asked has shown no id of what it sent: this may be one.
                is_request = place.path[:2] != AWAITED and type(line.message).__name__.endswith("Request")
                asker = line.message.source if is_request else line.replica  # type: ignore[union-attr]
                assert asker in checker._correlations._unsure, alteration
                return
            if rejection is None:
                # Not wrong: it is what another answer to an open decision gives.
                assert checker.finish(complete=False).open_answers, alteration
                return
            assert (rejection.kind, rejection.line) == (RejectionKind.MISMATCH, number)
        assert checker.feed(number, line_from(document)) is None
    assert checker.finish(complete=True).candidates_max == 1


def _says_less(path: Path, says: object) -> bool:
    """Omitted fields, and null for the cluster id, agree with every value; the ids are the reader's."""
    if says == "(absent)" or path[:2] == ("message", "id") or path[-1] == "cluster_id":
        return True
    return path in (("state",), ("message",), ("state", "voters"))


def _is_refused_by_the_reader(raw: bytes) -> bool:
    try:
        check_event(line_of(raw))
    except (Inconsistency, msgspec.ValidationError):
        return True
    return False


def _is_synced_earlier(line: EventLine, alteration: Alteration) -> bool:
    """If effects are missing, a replica may have synced more of its log than the model."""
    if (alteration.path, type(alteration.altered)) != ("state.flushed_offset", int):
        return False
    end = getattr(line.state, "log_end_offset", 0)
    return bool(alteration.original < alteration.altered <= end)


def _leaves_own_vote_out(line: EventLine, alteration: Alteration) -> bool:
    """A leader need not name its vote for itself."""
    return (alteration.path, alteration.altered) == ("state.voted_key", None) and (
        getattr(line.state, "leader_id", None) == line.replica
    )


def _is_unknown_watermark(alteration: Alteration) -> bool:
    """Neither a high watermark of -1 nor one of 0 says that a record is committed."""
    return alteration.path.endswith(".high_watermark") and {alteration.original, alteration.altered} == {-1, 0}


def _is_name(line: EventLine, alteration: Alteration) -> bool:
    """If no message is observed, a correlation id first appears among the outstanding requests: any id is accepted."""
    match line.event, alteration.path.split("."), alteration.original, alteration.altered:
        case "Poll" | "PollFetch", ["state", "awaiting", _, "1"], _, _:
            return True
        case "Poll" | "PollFetch", ["state", "awaiting", _], [receiver, _], [same, _]:
            return bool(receiver == same)
        case _:
            return False


def foreign_verdict(story: Story, *lines: EventLine, candidates_max: int = 256) -> Verdict:
    """The verdict on a story that goes on with these lines."""
    checker = story.checker(own=False, candidates_max=candidates_max)
    rejection = None
    for number, line in enumerate(lines, len(story.lines) + 2):
        rejection = rejection or checker.feed(number, line)
    return checker.finish(complete=True, rejection=rejection)


# ---------------------------------------------------------------------------------------------------------
# Properties are judged on the branches that survive.
# ---------------------------------------------------------------------------------------------------------


def two_votes_of_one_replica() -> tuple[Story, str, str]:
    """Replica 1 leads epoch 1 by a vote of replica 3, whose disk is then replaced; it votes for replica 2 as well.

    At kraft.version 0 an empty disk keeps its identity, so nothing in the model forbids that.
    Returns the ids of the grant of replica 3 and of the refusal of replica 1, both on their way to replica 2.
    """
    story = Story(cluster(3, static=True))
    world = story.world
    for candidate in (1, 2):
        story.tell(world.happen(candidate, ElectionTimeout()), world.happen(candidate, Poll()))

    def pass_on(source: int, destination: int) -> str:
        identifier = _between(world, source, destination)
        story.tell(world.deliver(identifier))
        return identifier

    for candidate in (1, 2):
        pass_on(candidate, 3)
        pass_on(3, candidate)
        story.tell(world.happen(candidate, Poll()))
    pass_on(1, 3)
    pass_on(3, 1)
    story.tell(world.crash(3), world.replace_disk(3, "new"), world.restart(3))
    pass_on(2, 3)
    while not isinstance(world.in_flight[_between(world, 1, 2)].message, VoteResponse):
        story.tell(world.drop(_between(world, 1, 2)))
        pass_on(2, 1)
    return story, _between(world, 3, 2), _between(world, 1, 2)


def _between(world: World, source: int, destination: int) -> str:
    return next(identifier for identifier, _ in world.messages(source, destination))


def left_open(line: EventLine) -> EventLine:
    return line_of(without(line, ("message",), ("cause",), ("effects",), ("state",), ("refusal",)))


def test_a_dead_branch_that_violates_a_property_is_not_reported() -> None:
    story, _, refusal = two_votes_of_one_replica()
    before = len(story.lines)
    arrival = story.tell(story.world.deliver(refusal))
    witness = story.tell(story.world.happen(2, FetchTimeout()))
    del story.lines[before:]
    checker = story.checker(own=False)
    assert checker.feed(before + 2, left_open(arrival)) is None
    assert checker.feed(before + 3, witness) is None
    verdict = checker.finish(complete=True)
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert verdict.candidates_max > 1


def test_a_branch_that_survives_with_a_violated_property_is_reported() -> None:
    story, grant, _ = two_votes_of_one_replica()
    before = len(story.lines)
    arrival = story.tell(story.world.deliver(grant))
    witness = story.tell(story.world.happen(2, ClientAppend(1)))
    del story.lines[before:]
    verdict = foreign_verdict(story, left_open(arrival), witness)
    assert verdict.rejection is not None
    assert verdict.rejection.kind is RejectionKind.PROPERTY
    assert "ElectionSafety" in verdict.rejection.properties
    assert (verdict.rejection.line, verdict.rejection.event) == (before + 2, "HandleVoteResponse")


def test_no_property_is_reported_while_a_branch_without_a_violation_survives() -> None:
    story, grant, _ = two_votes_of_one_replica()
    before = len(story.lines)
    arrival = story.tell(story.world.deliver(grant))
    del story.lines[before:]
    verdict = foreign_verdict(story, left_open(arrival))
    assert verdict.kind is VerdictKind.ACCEPTED
    assert verdict.candidates_max > 1


# ---------------------------------------------------------------------------------------------------------
# Which messages a line may mean, the bound, and what cannot be inferred.
# ---------------------------------------------------------------------------------------------------------


def two_fetches() -> tuple[Story, EventLine]:
    """Two Fetches on their way to the leader, the one of replica 2 twice; and the arrival of that one."""
    story = elected()
    story.tell(story.world.happen(2, PollFetch(1)), story.world.happen(3, PollFetch(1)))
    identifier = _between(story.world, 2, 1)
    story.tell(story.world.duplicate(identifier))
    arrival = story.tell(story.world.deliver(identifier))
    story.lines.pop()
    return story, arrival


def test_only_messages_with_the_given_fields_are_tried() -> None:
    story, arrival = two_fetches()
    quiet: tuple[Path, ...] = (("message", "id"), ("cause",), ("effects",), ("state",), ("refusal",))
    assert foreign_verdict(story, line_of(without(arrival, *quiet))).candidates_max == 1
    # The copies are one message; without the sender the two senders are left.
    sender: tuple[Path, ...] = (("message", "source"), ("message", "replica_key"), ("message", "correlation_id"))
    verdict = foreign_verdict(story, line_of(without(arrival, *quiet, *sender)))
    assert (verdict.kind, verdict.candidates_max) == (VerdictKind.ACCEPTED, 2)


def test_more_candidates_than_the_bound_are_inconclusive() -> None:
    story, arrival = two_fetches()
    verdict = foreign_verdict(story, left_open(arrival), candidates_max=1)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    number = len(story.lines) + 2
    assert verdict.reason == f"line {number}: the trace omits too many fields: more than 1 candidate states"
    assert verdict.rejection is None


def test_the_cause_names_the_message_if_the_message_does_not() -> None:
    story, arrival = two_fetches()
    verdict = foreign_verdict(story, line_of(without(arrival, ("message",), ("effects",), ("state",))))
    assert (verdict.kind, verdict.candidates_max) == (VerdictKind.ACCEPTED, 1)


@pytest.mark.parametrize(("event", "field"), [("ClientAppend", "value"), ("AppendVoters", "voters")])
def test_what_cannot_be_found_by_trying_is_inconclusive(event: str, field: str) -> None:
    story = elected()
    # The leader has to have committed a record of its epoch before it may append a set.
    for replica in (2, 3, 2, 3):
        story.tell(story.world.happen(replica, PollFetch(1)))
        story.deliver_all()
    assert story.world.state(1).high_watermark > 0
    line = story.line(event, 1, effects=..., state=..., refusal=...)
    verdict = foreign_verdict(story, line)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.reason is not None
    assert verdict.reason.endswith(f"input.{field} is missing, and cannot be inferred")


@pytest.mark.parametrize("event", ["ClientAppend", "AppendVoters", "ReplaceDisk"])
def test_what_a_refused_event_would_have_brought_does_not_matter(event: str) -> None:
    story = elected()
    verdict = foreign_verdict(story, story.line(event, 2, effects=..., refusal=...))
    assert (verdict.kind, verdict.candidates_max) == (VerdictKind.ACCEPTED, 1)


def test_the_effects_tell_what_was_appended() -> None:
    story = elected()
    line = story.tell(story.world.happen(1, ClientAppend(41)))
    story.lines.pop()
    assert foreign_verdict(story, line_of(without(line, ("input",)))).kind is VerdictKind.ACCEPTED


def test_links_and_lost_messages_are_found_by_trying() -> None:
    story, _ = two_fetches()
    cut = foreign_verdict(story, story.line("CutLink", input={"source": 1}))
    assert (cut.kind, cut.candidates_max) == (VerdictKind.ACCEPTED, 2)
    lost = foreign_verdict(story, story.line("DropMessage"))
    assert (lost.kind, lost.candidates_max) == (VerdictKind.ACCEPTED, 2)


def test_an_event_that_is_not_possible_is_rejected_whatever_is_left_out() -> None:
    story = elected()
    everything = {"cause": ..., "effects": ..., "state": ...}
    for event, replica in (("Restart", 1), ("FetchTimeout", 1), ("HandleVoteRequest", 2), ("PollFetch", 1)):
        rejection = story.rejection_of(story.line(event, replica, **everything), own=False)
        assert rejection.kind is RejectionKind.NOT_ENABLED
        assert rejection.conjunct is not None


def test_a_foreign_cluster_id_is_rejected_and_none_is_not() -> None:
    story, arrival = two_fetches()
    for cluster_id, accepted in (("other", False), (None, True)):
        document = document_of(arrival)
        document["message"]["cluster_id"] = cluster_id
        verdict = foreign_verdict(story, line_of(json.dumps(document).encode()))
        assert (verdict.kind is VerdictKind.ACCEPTED) == accepted


def test_a_message_that_was_never_shown_is_compared_with_the_models() -> None:
    story, arrival = two_fetches()
    story.lines = [line_of(without(line, ("effects",))) for line in story.lines]
    assert foreign_verdict(story, arrival).kind is VerdictKind.ACCEPTED
    document = document_of(arrival)
    document["message"]["fetch_offset"] = 3
    verdict = foreign_verdict(story, line_from(document))
    assert verdict.rejection is not None
    assert [(difference.field, difference.expected) for difference in verdict.rejection.differences] == [
        ("message.fetch_offset", "0")
    ]


def test_the_candidates_of_all_lines_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """On every way, at the same line."""
    monkeypatch.setattr("kraft_traces.check.checker.BESIDES_MAX", 0)
    monkeypatch.setattr("kraft_traces.check.checker.BESIDES_PER_LINE", 0)
    monkeypatch.setattr("kraft_traces.check.fast.BESIDES_MAX", 0)
    monkeypatch.setattr("kraft_traces.check.fast.BESIDES_PER_LINE", 0)
    trace = recorded("chaos", 1, 60)
    chance = Random(1)
    verdict = verdict_on_every_way(trace.header(FOREIGN), [with_holes(line, chance, 0.1) for line in trace.lines])
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.reason is not None
    assert "the lines so far leave more than 0 additional candidate states" in verdict.reason
