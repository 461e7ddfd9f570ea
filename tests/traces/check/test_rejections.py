"""Every kind of rejection, and what it says."""

from importlib.resources import files
from typing import Any

import jpype
import pytest
from msgspec import structs
from tests.traces.check.alterations import line_from, line_of
from tests.traces.check.cases import Story, elected
from tests.traces.check.foreign import without
from tests.traces.places import document_of, value_at

from kraft_reference.events import ClientAppend, Crash, ElectionTimeout, Poll, PollFetch, RemoveVoter, Restart
from kraft_reference.identity import ReplicaKey
from kraft_traces.check import RejectionKind, VerdictKind
from kraft_traces.check.model import trace_model
from kraft_traces.message_types import TracedVoteRequest

# ---------------------------------------------------------------------------------------------------------
# NOT_ENABLED: the false conjunct and its place.
# ---------------------------------------------------------------------------------------------------------

NOT_ENABLED: list[tuple[str, int | None, dict[str, Any], str, tuple[str, ...], str]] = [
    # event, replica, fields, the false conjunct, its operands, a rule among the first
    (
        "ClientAppend",
        2,
        {"input": {"value": 1}},
        'replicas[r].role = "Leader"',
        ('"Follower"', '"Leader"'),
        "state.roles",
    ),
    ("FetchTimeout", 1, {}, 'replicas[r].role = "Follower"', ('"Leader"', '"Follower"'), "state.roles"),
    ("Restart", 1, {"input": {"endpoint": None}}, "~Runs(r)", ("TRUE",), "state.roles"),
    ("ReplaceDisk", 1, {"input": {"directory_id": "x"}}, "~Runs(r)", ("TRUE",), "state.roles"),
    ("Poll", 2, {}, "Due(s) # {} \\/ DueChangeRequest(s, Due(s), Correlation) # {}", (), "begin-quorum.endpoint"),
    ("VoterChangeTimeout", 1, {}, 's.pending_change.kind # "none"', ('"none"', '"none"'), "add-voter.timeout"),
    (
        "TakeSnapshot",
        1,
        {"input": {"end_offset": 9}},
        "end <= s.high_watermark",
        ("9", "-1"),
        "snapshot.control-records-first",
    ),
    (
        "PollFetch",
        2,
        {"input": {"destination": 3}},
        "to \\in FetchTargets(replicas[r])",
        ("3", "{1}"),
        "fetch.who-fetches",
    ),
    (
        "RequestTimeout",
        2,
        {"input": {"destination": 1}},
        "\\E a \\in replicas[r].awaiting",
        (),
        "prevote.response.correlate",
    ),
    ("Crash", 1, {"input": {"log_end_offset": 0}}, "kept \\in KeptAfterCrash(replicas[r])", ("0", "{3}"), ""),
    (
        "ClientAppend",
        1,
        {"input": {"value": 1}, "crash": {"completed": 3, "log_end_offset": 3}},
        "event.completed <= EffectCount(r, out)",
        ("3", "2"),
        "",
    ),
    (
        "ClientAppend",
        1,
        {"input": {"value": 1}, "crash": {"completed": 1, "log_end_offset": 2**40}},
        "kept \\in KeptAfterCrash(reached)",
        (str(2**31 - 1), "{3, 4}"),
        "",
    ),
    ("HealLink", None, {"input": {"source": 1, "destination": 2}}, "<<from, to>> \\in cuts", ("<<1, 2>>", "{}"), ""),
    ("DropMessage", None, {"input": {"message_id": "1.2"}}, "\\E w \\in Named", (), ""),
]


@pytest.mark.parametrize(
    ("event", "replica", "fields", "text", "operands", "rule"),
    NOT_ENABLED,
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_what_is_not_possible_names_the_false_conjunct(
    event: str, replica: int | None, fields: dict[str, Any], text: str, operands: tuple[str, ...], rule: str
) -> None:
    story = elected()
    rejection = story.rejection_of(story.line(event, replica, **fields))
    assert (rejection.kind, rejection.event, rejection.replica) == (RejectionKind.NOT_ENABLED, event, replica)
    assert (rejection.source, rejection.line, rejection.sequence) == (
        "trace.jsonl",
        len(story.lines) + 2,
        len(story.lines) + 1,
    )
    assert rejection.headline().endswith("): the model does not allow this event here")
    assert rejection.conjunct is not None
    assert (rejection.conjunct.text, rejection.conjunct.operands) == (text, operands)
    assert rule in ("", *rejection.rules[:6])
    assert text.split("(")[0] in _source_line(rejection.conjunct.module, rejection.conjunct.line)


def _source_line(module: str, line: int) -> str:
    source = (files("kraft_spec") / "tla" / f"{module}.tla").read_text(encoding="utf-8")
    return source.splitlines()[line - 1]


def test_a_message_over_a_cut_link_names_the_link() -> None:
    story = elected()
    story.tell(story.world.happen(2, PollFetch(1)))
    arrival = story.tell(story.world.deliver(next(iter(story.world.in_flight))))
    story.lines.pop()
    story.world.sequence -= 1
    story.tell(story.world.cut(2, 1))
    for own in (True, False):
        rejection = story.rejection_of(structs.replace(arrival, sequence=len(story.lines) + 1), own=own)
        assert rejection.conjunct is not None
        assert rejection.conjunct.text == "<<w.message.source, w.message.destination>> \\notin cuts"
        assert rejection.conjunct.operands == ("<<2, 1>>", "{<<2, 1>>}")


@pytest.mark.parametrize("own", [True, False])
def test_a_message_that_arrived_already_is_not_on_its_way(own: bool) -> None:
    story = elected()
    arrival = next(line for line in story.lines if line.event == "HandleVoteRequest")
    rejection = story.rejection_of(structs.replace(arrival, sequence=len(story.lines) + 1), own=own)
    assert rejection.conjunct is not None
    assert rejection.conjunct.text == "\\E w \\in OnItsWay"
    assert rejection.headline().endswith("): no such message is in flight")
    assert rejection.rules == ("vote.request.contents", "prevote.request.contents")


def test_a_refusal_that_the_role_does_not_give_is_rejected() -> None:
    story = elected()
    for event, replica, refusal in (("FetchTimeout", 2, "NOT_IN_ROLE"), ("ElectionTimeout", 1, "NOTHING_DUE")):
        rejection = story.rejection_of(story.line(event, replica, refusal=refusal))
        assert rejection.kind is RejectionKind.MISMATCH
        assert "refusal" in {difference.field for difference in rejection.differences}


# ---------------------------------------------------------------------------------------------------------
# MISMATCH: field, expected, actual, in the words of a trace.
# ---------------------------------------------------------------------------------------------------------

MISMATCHES: list[tuple[tuple[str | int, ...], Any, str, str, str]] = [
    (("state", "voted_key"), {"id": 2, "directory_id": "U2"}, "state.voted_key", "1-U1", "2-U2"),
    (("state", "voted_key"), None, "state.voted_key", "1-U1", "null"),
    (("state", "leader_id"), 1, "state.leader_id", "null", "1"),
    (("state", "leader_endpoint"), "", "state.leader_endpoint", "null", "(empty)"),
    (("state", "epoch"), 2, "state.epoch", "1", "2"),
    (("state", "granted"), [1, 2], "state.granted", "[]", "[1, 2]"),
    (("state", "awaiting"), [[1, 5]], "state.awaiting", "[]", "[[1, 5]]"),
    (("state", "voters", "offset"), 0, "state.voters.offset", "-1", "0"),
    (("state", "fetch_offsets"), [[{"id": 3, "directory_id": None}, 7]], "state.fetch_offsets", "[]", "[[3, 7]]"),
    (("state", "fetched"), True, "state.fetched", "false", "true"),
    (("refusal",), "STALE_EPOCH", "refusal", "null", "STALE_EPOCH"),
    (("effects", 0, "leader_id"), 3, "effects[0].leader_id", "null", "3"),
    (("effects", 1, "message", "granted"), False, "effects[1].message.granted", "true", "false"),
    (("effects", 1, "message", "error"), "INVALID_REQUEST", "effects[1].message.error", "NONE", "INVALID_REQUEST"),
    (("message", "end_offset"), 4, "message.end_offset", "0", "4"),
    (("message", "cluster_id"), "other", "message.cluster_id", "kraft-spec", "other"),
    (("message", "cluster_id"), None, "message.cluster_id", "kraft-spec", "null"),
]


def _grant() -> tuple[Story, dict[str, Any]]:
    """A run up to the moment in which replica 2 votes for replica 1, and that line."""
    story = elected()
    requests = [n for n, line in enumerate(story.lines) if isinstance(line.message, TracedVoteRequest)]
    at = next(n for n in requests if getattr(story.lines[n].message, "pre_vote", None) is False)
    document = document_of(story.lines[at])
    del story.lines[at:]
    return story, document


@pytest.mark.parametrize(("path", "value", "field", "expected", "actual"), MISMATCHES)
def test_a_wrong_field_is_named_in_the_words_of_a_trace(
    path: tuple[str | int, ...], value: Any, field: str, expected: str, actual: str
) -> None:
    story, document = _grant()
    value_at(document, path[:-1])[path[-1]] = value
    rejection = story.rejection_of(line_from(document))
    assert rejection.kind is RejectionKind.MISMATCH
    assert [(difference.field, difference.expected, difference.actual) for difference in rejection.differences] == [
        (field, expected, actual)
    ]
    differs = "the recorded outcome differs from the model"
    problem = "no such message is in flight" if field.startswith("message.") else differs
    assert rejection.headline().endswith(f" at replica 2): {problem}")
    assert (rejection.role, rejection.conjunct) == ("Unattached", None)


def test_effects_are_set_against_each_other_by_kind_and_receiver() -> None:
    story, document = _grant()
    document["effects"] = document["effects"][1:]
    rejection = story.rejection_of(line_from(document))
    (only,) = rejection.differences
    assert (only.field, only.actual) == ("effects[0]", "nothing")
    assert only.expected == "PersistQuorumState epoch 1 leader_id null voted_key 1-U1 version 1"


def test_a_wrong_record_is_named() -> None:
    story = elected()
    document = document_of(story.tell(story.world.happen(1, ClientAppend(5))))
    story.lines.pop()
    document["effects"][0]["records"][0]["value"] = 6
    (only,) = story.rejection_of(line_from(document)).differences
    assert (only.field, only.expected, only.actual) == (
        "effects[0].records[0]",
        "Data 5 of epoch 1",
        "Data 6 of epoch 1",
    )


def test_a_line_that_no_rule_explains_says_so() -> None:
    story, document = _grant()
    document["state"]["epoch"] = 9
    rejection = story.rejection_of(line_from(document))
    assert (rejection.explained_by, rejection.is_attributed) == ((), False)
    assert rejection.rules


# ---------------------------------------------------------------------------------------------------------
# AMBIGUOUS, and what else a checker says.
# ---------------------------------------------------------------------------------------------------------


def test_several_successors_of_a_complete_line_are_a_defect_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    story = elected()
    line = story.tell(story.world.happen(1, ClientAppend(5)))
    story.lines.pop()
    checker = story.checker()
    model = trace_model()
    successors = model.successors

    def two(action: str, state: Any) -> list[Any]:
        (rejection,) = successors(action, state)
        return [rejection, story_start]

    story_start = model.start(story.configuration)
    monkeypatch.setattr(model, "successors", two)
    rejection = checker.feed(len(story.lines) + 2, line)
    assert rejection is not None
    assert rejection.kind is RejectionKind.AMBIGUOUS
    assert rejection.headline().endswith("): the model has several successors")


def test_what_the_model_cannot_evaluate_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    story = elected()
    checker = story.checker()

    def failing(*_: Any) -> list[Any]:
        raise jpype.JClass("java.lang.RuntimeException")("no value")

    monkeypatch.setattr(trace_model(), "successors", failing)
    assert checker.feed(99, story.line("Poll", 1)) is None
    verdict = checker.finish(complete=True)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert "line 99: the model cannot evaluate Poll here" in str(verdict.reason)


def test_a_number_that_the_model_does_not_have_is_inconclusive() -> None:
    story = Story()
    story.elect(1)
    checker = story.checker()
    assert checker.feed(30, story.line("ClientAppend", 1, input={"value": 2**40})) is None
    assert checker.is_over
    assert "32 bits" in str(checker.finish(complete=True).reason)


def test_a_foreign_line_names_the_closest_message() -> None:
    story = elected()
    story.tell(story.world.happen(2, PollFetch(1)), story.world.happen(3, PollFetch(1)))
    fetch = story.tell(story.world.deliver(next(iter(story.world.in_flight))))
    story.lines.pop()
    document = document_of(line_of(without(fetch, ("message", "id"), ("cause",))))
    document["message"]["fetch_offset"] = 77
    rejection = story.rejection_of(line_from(document), own=False)
    assert [(difference.field, difference.expected, difference.actual) for difference in rejection.differences] == [
        ("message.fetch_offset", "0", "77")
    ]
    sent_at = next(line.sequence for line in story.lines if line.event == "PollFetch")
    assert rejection.headline().endswith(f"): no such message is in flight; event {sent_at} sent a different one")
    assert rejection.rules == ("fetch.replica-key", "fetch.leader-only")


@pytest.mark.parametrize("left_out", ["id", "cluster_id", "voter_key", "correlation_id"])
def test_what_a_message_leaves_out_hides_no_rule(left_out: str) -> None:
    story = elected()
    at = next(n for n, line in enumerate(story.lines) if isinstance(line.message, TracedVoteRequest))
    document = document_of(line_of(without(story.lines[at], ("message", left_out))))
    voted = {"voted_key": {"id": 1, "directory_id": "U1"}}
    document["state"] |= voted
    persisted = {"kind": "PersistQuorumState", "epoch": 0, "leader_id": None, "version": 1, **voted}
    document["effects"].insert(0, persisted)
    del story.lines[at:]
    rejection = story.rejection_of(line_from(document), own=False)
    assert (rejection.rules[0], rejection.is_attributed) == ("prevote.grant.no-side-effects", True)


def test_a_wrong_error_names_the_rule_of_the_right_one() -> None:
    story = elected()
    story.settle()
    document = document_of(story.tell(story.world.happen(1, RemoveVoter(1, ReplicaKey(9, "U9")))))
    story.lines.pop()
    assert document["effects"][0]["reply"]["error"] == "VOTER_NOT_FOUND"
    document["effects"][0]["reply"]["error"] = "NONE"
    assert story.rejection_of(line_from(document)).rules[0] == "remove-voter.exact-key"


def test_the_role_before_the_line_is_the_models() -> None:
    story = Story()
    story.tell(story.world.happen(1, ElectionTimeout()))
    rejection = story.rejection_of(story.line("Poll", 1, effects=[]))
    assert rejection.role == "Prospective"
    story.tell(story.world.happen(1, Poll()))
    assert story.rejection_of(story.line("Restart", 1, input={"endpoint": None})).role == "Prospective"


def test_a_wrong_restart_names_the_rules_of_restarts() -> None:
    story = Story()
    story.tell(story.world.happen(1, ElectionTimeout()))
    story.tell(story.world.happen(1, Crash(0)))
    rejection = story.rejection_of(story.line("Restart", 1, input={"endpoint": None}, state={"role": "Leader"}))
    assert rejection.role == "Stopped"
    assert {"durable.restart.was-leader", "durable.restart.log-epoch"} <= set(rejection.rules)


def test_a_restart_without_its_vote_names_the_rule_of_what_is_on_disk() -> None:
    story = elected()
    story.tell(story.world.happen(2, Crash(0)), story.world.happen(2, Restart()))
    restart = document_of(story.lines.pop())
    assert restart["state"]["voted_key"] == {"id": 1, "directory_id": "U1"}
    restart["state"]["voted_key"] = None
    assert "durable.restart.was-leader" not in story.rejection_of(line_from(restart)).rules[:3]
