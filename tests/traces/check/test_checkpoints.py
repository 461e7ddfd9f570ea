"""A checkpoint against the lines before it: it must show the state to which they lead."""

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
from tests.traces.check.alterations import line_from
from tests.traces.check.cases import Story
from tests.traces.check.foreign import without
from tests.traces.check.test_foreign import left_open, two_fetches, two_votes_of_one_replica
from tests.traces.checkpointed import (
    CHECKPOINT,
    FOREIGN,
    Checkpointed,
    alternatives,
    as_line,
    followed,
    played,
    simulated,
)
from tests.traces.places import (
    Document,
    FieldPath,
    document_of,
    fields_there,
    shown_field,
    value_at,
    with_value,
)
from tests.traces.strategies import cluster, random_run

from kraft_reference.configuration import Configuration
from kraft_reference.events import ClientAppend, TakeSnapshot
from kraft_reference.records import RecordKind
from kraft_reference.roles import Role
from kraft_simulation.scenarios.scenario import cluster as cluster_of
from kraft_simulation.workload import WORKLOADS
from kraft_spec.difference import Difference
from kraft_spec.mapping_forms import function_entries
from kraft_traces.check import RejectionKind, TraceChecker, Verdict, VerdictKind, check_reader
from kraft_traces.check.fast_path import COMPILED, INTERPRETED
from kraft_traces.check.model import TraceModel, trace_model
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import CheckpointError, checkpoint_line
from kraft_traces.encode import encode_line
from kraft_traces.errors import TraceError
from kraft_traces.lines import EventLine, Generator
from kraft_traces.message_types import TracedAddVoterRequest
from kraft_traces.parsing import parse_line
from kraft_traces.reader import trace_of_bytes
from kraft_traces.state_types import TracedState


def verdict_on(lines: list[bytes], **options: Any) -> Verdict:
    """The verdict on a trace."""
    return check_reader(trace_of_bytes(b"".join(lines), "trace.jsonl"), **options)


def accepted(verdict: Verdict) -> bool:
    """Accepted, with one candidate throughout."""
    assert verdict.rejection is None, verdict.rejection
    return verdict.kind is VerdictKind.ACCEPTED and verdict.candidates_max == 1


# ---------------------------------------------------------------------------------------------------------
# What the reference remembers is what the model remembers.
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "seed", "steps", "replicas", "first", "every"),
    [
        *[(workload, 4, 60, 3, 0, 4) for workload in sorted(WORKLOADS)],
        *[("chaos", 3, 60, replicas, 0, 5) for replicas in (1, 2, 5)],
        # A voter comes back with another disk: what it voted is forgotten.
        ("storm", 2, 120, 3, 85, 3),
        # A leader dies after its answer has left: what it was to commit is committed.
        ("crashes", 34, 120, 3, 70, 3),
        # What is forgotten held a voters set: it is kept beside the rest.
        ("snapshots", 4, 120, 3, 205, 3),
    ],
)
def test_runs_are_accepted_with_their_checkpoints(
    workload: str, seed: int, steps: int, replicas: int, first: int, every: int
) -> None:
    run = simulated(workload, seed, steps, replicas)
    assert accepted(verdict_on(run.lines(range(first, len(run.events) + 1, every))))


def test_epochs_that_all_have_left_are_remembered() -> None:
    run = simulated("storm", 2, 200)
    led = {epoch for state in run.states for epoch in state.recollection.epochs}
    last = run.states[-1]
    assert led == set(last.recollection.epochs)
    assert min(led) < min(state.epoch for state in last.replicas.values())
    assert accepted(verdict_on(run.lines(range(0, len(run.states), 5))))


def test_a_part_begins_with_the_epochs_put_away_that_every_replica_has_left() -> None:
    run = simulated("storm", 2, 200)
    model, checkpoint = trace_model(), run.states[-1]
    whole, part = (model.state_at(run.configuration, checkpoint, is_part=is_part) for is_part in (False, True))
    led = set(checkpoint.recollection.epochs)
    oldest = min(state.epoch for state in checkpoint.replicas.values())
    used = {epoch for epoch in led if epoch >= oldest} or {max(led)}
    history: Any = model.variable("history", part)
    assert dict(function_entries(history["epochs"])).keys() == used
    assert dict(function_entries(history["left"])).keys() == led - used != set()
    assert model.variables(part) == model.variables(whole)
    # Elsewhere, where nobody else judges what was before, all are held to the properties.
    history = model.variable("history", whole)
    assert not history["left"]


def test_a_checkpoint_of_an_early_version_is_held_to_the_lines_but_begins_no_part() -> None:
    """It has no past, no directory ids, and only epochs that somebody is still in, or the newest that was led."""
    run = simulated("storm", 2, 200)
    after = len(run.events)
    lines = run.lines([after])
    document = json.loads(lines[after + 1])
    history = document["history"]
    oldest = min(replica["state"]["epoch"] for replica in document["replicas"])
    led = [entry["epoch"] for entry in history["epochs"]]
    history["epochs"] = [entry for entry in history["epochs"] if entry["epoch"] in range(oldest, max(led) + 1)]
    assert len(history["epochs"]) < len(led)
    del history["directories"], history["committed"]["past"]
    lines[after + 1] = as_line(document)
    assert accepted(verdict_on(lines))
    with pytest.raises(CheckpointError, match="missing field 'past'"):
        TraceChecker(trace_model(), run.configuration, "trace.jsonl", own=True, start=_parsed(document))
    history["crashes"] += 1
    lines[after + 1] = as_line(document)
    rejection = verdict_on(lines).rejection
    assert rejection is not None
    assert [difference.field for difference in rejection.differences] == ["history.crashes"]


def test_the_last_committed_record_is_not_forgotten() -> None:
    """Not even when every replica has a snapshot of everything."""
    story = Story()
    story.elect(1)
    story.settle()
    end = story.world.state(1).high_watermark
    for replica in (1, 2, 3):
        assert story.world.state(replica).high_watermark == end == story.world.state(replica).log.end_offset
        story.happen(replica, TakeSnapshot(end))
    assert [len(state.recollection.committed.records) for state in story.states[-2:]] == [end, 1]
    assert accepted(verdict_on(checkpointed(story).lines([len(story.lines) - 1, len(story.lines)])))


@pytest.mark.parametrize("seed", range(4))
def test_random_moves_are_judged_with_checkpoints_as_without(seed: int) -> None:
    """Not every random move is one of the model; up to there, each checkpoint is right."""
    run = followed(cluster(2), random_run(cluster(2), seed, 120))
    plain = verdict_on(run.lines([]))
    marked = verdict_on(run.lines([*range(121), 0, 60, 120]))
    assert (plain.kind, plain.events, _what(plain)) == (marked.kind, marked.events, _what(marked))


def _what(verdict: Verdict) -> object:
    """A rejection without its line number, which is another one after each checkpoint."""
    rejection = verdict.rejection
    return rejection and (
        rejection.kind,
        rejection.sequence,
        rejection.event,
        rejection.differences,
        rejection.properties,
        rejection.conjunct,
    )


def test_replicas_of_any_ids() -> None:
    """TLC has sequences for functions over 1..n, and sets of pairs for others."""
    configuration = _renamed(cluster_of(3), {1: 7, 2: 12, 3: 1000})
    story = Story(configuration)
    story.elect(12)
    story.tell(story.world.happen(12, ClientAppend(5)))
    story.deliver_all()
    assert accepted(verdict_on(checkpointed(story).lines([0, 3, len(story.lines)])))


def _renamed(configuration: Configuration, ids: dict[int, int]) -> Configuration:
    return replace(
        configuration,
        replicas={
            ids[old]: replace(replica, key=replica.key._replace(id=ids[old]))
            for old, replica in configuration.replicas.items()
        },
        voters=frozenset(key._replace(id=ids[key.id]) for key in configuration.voters),
        bootstrap_servers=tuple(ids[old] for old in configuration.bootstrap_servers),
    )


def checkpointed(story: Story, *more: EventLine) -> Checkpointed:
    """A story, which may go on with more lines, as a run."""
    return Checkpointed(story.configuration, (*story.lines, *more), tuple(story.states))


# ---------------------------------------------------------------------------------------------------------
# Each variable.
# ---------------------------------------------------------------------------------------------------------

LIED_IN = [
    *[(workload, 1, 60) for workload in ("mixed-versions", "observers", "upgrade", "islands", "crashes")],
    *[(workload, 1, 250) for workload in ("voter-changes", "auto-join", "hasty-reassignments", "snapshots", "storm")],
]
KEYED: dict[tuple[str | int, ...], Callable[[Any], str]] = {
    ("replicas",): lambda row: f"id={row['state']['replica_key']['id']}",
    ("network",): lambda row: f"id={row['message']['id']}",
    ("history", "epochs"): lambda row: f"epoch={row['epoch']}",
    ("history", "votes"): lambda row: f"replica={row['replica']}",
}


def named(document: Document, path: tuple[str | int, ...]) -> str:
    """A place in the words of a difference: members by their key, records by their index, other lists as a whole."""
    text, value = "", document
    for index, step in enumerate(path):
        value = value[step]  # type: ignore[index]
        if isinstance(step, str):
            text += f".{step}" if text else step
        elif path[:index] in KEYED:
            text += f"[{KEYED[path[:index]](value)}]"
        elif path[index - 1] == "records":
            text += f"[{step}]"
        else:
            break
    return text


@pytest.mark.nightly
def test_a_lie_in_any_field_of_a_checkpoint_is_rejected_there() -> None:
    model = trace_model()
    lied: set[FieldPath] = set()
    tried: Counter[FieldPath] = Counter()
    for workload, seed, steps in LIED_IN:
        run = simulated(workload, seed, steps)
        checker = TraceChecker(model, run.configuration, "trace.jsonl", own=True)
        for sequence, event in enumerate(run.events, 1):
            assert checker.feed(sequence + 1, event) is None
            document, right = json.loads(run.checkpoint(sequence)), checkpoint_line(run.states[sequence])
            for place in fields_there(document, CHECKPOINT):
                if place.field in lied or tried[place.field] >= 2 or place.field[0] in ("sequence", "time_ms"):
                    continue
                value = value_at(document, place.path)
                if value is None and place.field[-1] == "pending_change":
                    # The reader knows that the smallest change is none.
                    continue
                tried[place.field] += 1
                for other in alternatives(place, value):
                    altered = with_value(document, place.path, other)
                    try:
                        line = parse_line(as_line(altered), "trace.jsonl", sequence + 2)
                    except TraceError:
                        continue
                    assert isinstance(line, CheckpointLine)
                    if line == right:
                        # A target that is left out is none.
                        continue
                    rejection = checker.feed_checkpoint(sequence + 2, line)
                    assert rejection is not None, (place.path, value, other)
                    assert (rejection.kind, rejection.line, rejection.sequence, rejection.event) == (
                        RejectionKind.CHECKPOINT,
                        sequence + 2,
                        sequence,
                        "Checkpoint",
                    )
                    fields = [difference.field for difference in rejection.differences]
                    path = named(document, place.path)
                    assert any(path.startswith(field) or field.startswith(path) for field in fields), (path, fields)
                    lied.add(place.field)
                    break
    recorded = {shown_field(field) for field in lied}
    states = {f"replicas[].state.{name}" for name in TracedState.__struct_fields__}
    states -= {f"replicas[].state.{name}" for name in (*FOLLOWING, "replica_key")}
    assert states | ELSEWHERE <= recorded, (states | ELSEWHERE) - recorded
    assert len(lied) >= 250


FOLLOWING = ("log_start_offset", "log_end_offset", "last_epoch", "voters", "kraft_version")
"""Of a state: what the reader holds to the snapshot and the records."""

ELSEWHERE = {
    "cuts",
    "history.committed.epoch",
    "history.committed.kraft_version",
    "history.committed.records[].epoch",
    "history.committed.records[].value",
    "history.committed.start_offset",
    "history.committed.voters",
    "history.crashes",
    "history.directories",
    "history.epochs",
    "history.epochs[].end_offset",
    "history.epochs[].leaders",
    "history.epochs[].rewritten",
    "history.votes[].candidates",
    "history.votes[].epoch",
    "network",
    "network[].copies",
    "network[].message<FetchResponse>.records[].value",
    "network[].message<VoteRequest>.pre_vote",
    "replicas[].epoch_start_offset",
    "replicas[].preferred_candidates",
    "replicas[].records[].value",
    "replicas[].records[].details[].endpoint",
    "replicas[].snapshot.details[].endpoint",
    "replicas[].state.replica_key.directory_id",
}


def _one_more_record(document: Any) -> None:
    replica = document["replicas"][1]
    replica["records"].append(replica["records"][-1] | {"value": 99})
    replica["state"]["log_end_offset"] += 1


def _one_record_less(document: Any) -> None:
    replica = document["replicas"][1]
    replica["records"].pop()
    replica["state"]["log_end_offset"] -= 1


def _another_snapshot(document: Any) -> None:
    """The same records one offset later."""
    replica = document["replicas"][1]
    replica["snapshot"]["end_offset"] += 1
    for name in ("log_start_offset", "log_end_offset"):
        replica["state"][name] += 1
    if replica["state"]["voters"]["offset"] >= 0:
        replica["state"]["voters"]["offset"] += 1


def _committed_from_later_on(document: Any) -> None:
    document["history"]["committed"]["records"].pop(0)
    document["history"]["committed"]["start_offset"] += 1


def _without_a_message(document: Any) -> None:
    document["network"].pop()


def _with_a_message_that_is_gone(document: Any) -> None:
    flight = deepcopy(document["network"][0])
    _, _, receiver = flight["message"]["id"].partition(".")
    flight["message"]["id"] = f"1.{receiver}"
    document["network"].append(flight)


CONSISTENT: dict[Callable[[Any], None], str] = {
    _one_more_record: "replicas[id=2].state.log_end_offset",
    _one_record_less: "replicas[id=2].state.log_end_offset",
    _another_snapshot: "replicas[id=2].state.log_end_offset",
    _committed_from_later_on: "history.committed.start_offset",
    _without_a_message: "network[id=",
    _with_a_message_that_is_gone: "network[id=1.",
}


@pytest.mark.parametrize("lie", CONSISTENT, ids=lambda lie: lie.__name__.strip("_"))
def test_a_lie_that_agrees_with_itself_is_rejected(lie: Callable[[Any], None]) -> None:
    run = simulated("calm", 3, 90)
    after = next(
        n
        for n in range(60, 90)
        if run.states[n].network
        and run.states[n].recollection.committed.records
        and run.states[n].replicas[2].log.records[-1:]
        and run.states[n].replicas[2].log.records[-1].kind is RecordKind.DATA
    )
    lines = run.lines([after])
    document = json.loads(lines[after + 1])
    lie(document)
    lines[after + 1] = as_line(document)
    rejection = verdict_on(lines).rejection
    assert rejection is not None
    assert (rejection.kind, rejection.line) == (RejectionKind.CHECKPOINT, after + 2)
    assert rejection.differences[0].field.startswith(CONSISTENT[lie])


# ---------------------------------------------------------------------------------------------------------
# Before the first event, where no lines lead to it.
# ---------------------------------------------------------------------------------------------------------


def opened(change: Callable[[Any], None]) -> Verdict:
    """The verdict on a trace that begins on a changed checkpoint of a run."""
    run = simulated("calm", 3, 90)
    document = json.loads(run.checkpoint(90)) | {"sequence": 0, "network": []}
    change(document)
    crash = {"kind": "event", "sequence": 1, "time_ms": document["time_ms"], "replica": 3, "event": "Crash"}
    end = {"kind": "end", "events": 1, "complete": True}
    lines = [run.header(FOREIGN), *map(as_line, (document, crash, end))]
    verdict, interpreted = (replace(verdict_on(lines, way=way), compiled=0) for way in (COMPILED, INTERPRETED))
    assert interpreted == verdict
    return verdict


def _nothing(document: Any) -> None:
    pass


def _a_second_leader(document: Any) -> None:
    leader = next(replica for replica in document["replicas"] if replica["state"]["role"] == "Leader")
    other = next(replica for replica in document["replicas"] if replica["state"]["role"] == "Follower")
    key = other["state"]["replica_key"]
    other["state"] |= {"role": "Leader", "leader_id": key["id"], "voted_key": key, "fetched": False}
    other["state"] |= {name: [] for name in ("awaiting", "acknowledged", "fetchers", "fetch_offsets")}
    other["state"]["leader_endpoint"] = leader["state"]["leader_endpoint"]


def _a_second_leader_in_states_and_history(document: Any) -> None:
    document["history"]["epochs"][-1]["leaders"] = [{"id": 1, "directory_id": "A1"}, {"id": 2, "directory_id": "A2"}]


def _no_votes(document: Any) -> None:
    document["history"]["votes"][0] |= {"epoch": 0, "candidates": []}


def _a_forgotten_vote(document: Any) -> None:
    follower = next(replica["state"] for replica in document["replicas"] if replica["state"]["role"] == "Follower")
    follower["voted_key"] = None


def _no_leader(document: Any) -> None:
    document["history"]["epochs"].pop()


def _a_shorter_epoch(document: Any) -> None:
    document["history"]["epochs"][-1]["end_offset"] -= 1


def _no_directories(document: Any) -> None:
    document["history"]["directories"] = []


@pytest.mark.parametrize("fields", [{"has_updated_leader": True}, {"acknowledging_voters": frozenset({3})}])
def test_a_field_of_another_role_is_no_state_of_the_model(fields: dict[str, Any]) -> None:
    run, model = simulated("calm", 3, 90), trace_model()

    def violated(**changes: Any) -> tuple[str, ...]:
        checkpoint = run.states[90]
        replicas = {**checkpoint.replicas, 3: checkpoint.replicas[3]._replace(role=Role.UNATTACHED, **changes)}
        state = model.state_at(run.configuration, checkpoint._replace(replicas=replicas))
        return model.violated_invariants(state)

    assert violated(fetched=False) == ()
    assert violated(fetched=False, **fields) == ("TypeOk",)


def test_a_run_may_begin_on_a_checkpoint() -> None:
    assert opened(_nothing).kind is VerdictKind.ACCEPTED


def _a_value_beyond_the_model(document: Any) -> None:
    for records in (
        document["history"]["committed"]["records"],
        *[replica["records"] for replica in document["replicas"]],
    ):
        for record in records:
            record["value"] += 2**40 if record["kind"] == "Data" else 0


def test_a_number_beyond_the_model_leaves_the_verdict_open() -> None:
    verdict = opened(_a_value_beyond_the_model)
    assert verdict.kind is VerdictKind.INCONCLUSIVE
    assert verdict.reason is not None
    assert verdict.reason.startswith("line 2: the model cannot represent this checkpoint: ")
    assert verdict.reason.endswith(" does not fit in TLC's 32-bit integers")


@pytest.mark.parametrize(
    ("change", "properties", "field"),
    [
        (_a_second_leader, ("ElectionSafety", "VoteOncePerEpoch"), "history.epochs[epoch="),
        (_a_second_leader_in_states_and_history, ("ElectionSafety",), ""),
        (_no_votes, (), "history.votes[replica=1]"),
        (_a_forgotten_vote, (), "history.votes[replica="),
        (_no_leader, (), "history.epochs[epoch="),
        (_a_shorter_epoch, (), "history.epochs[epoch="),
        (_no_directories, (), "history.directories"),
    ],
)
def test_a_run_does_not_begin_where_none_comes_to(
    change: Callable[[Any], None], properties: tuple[str, ...], field: str
) -> None:
    rejection = opened(change).rejection
    assert rejection is not None
    assert (rejection.kind, rejection.line, rejection.properties) == (RejectionKind.CHECKPOINT, 2, properties)
    first = rejection.differences[0].field if rejection.differences else ""
    assert first.startswith(field)
    assert bool(first) == bool(field)


def test_of_many_differences_a_hundred_are_named() -> None:
    """If a log lacks a record in the middle, all later records differ."""
    story = Story()
    story.elect(1)
    story.tell(*(story.world.happen(1, ClientAppend(value)) for value in range(230)))
    document = document_of(story.checkpoint(-1))
    replica = document["replicas"][0]
    del replica["records"][9]
    replica["state"]["log_end_offset"] -= 1
    rejection = story.checker().feed_checkpoint(len(story.lines) + 2, _parsed(document))
    assert rejection is not None
    assert len(rejection.differences) == 100
    assert [difference.field for difference in rejection.differences[:3]] == [
        "replicas[id=1].state.log_end_offset",
        "replicas[id=1].records[9].value",
        "replicas[id=1].records[10].value",
    ]


# ---------------------------------------------------------------------------------------------------------
# At every position.
# ---------------------------------------------------------------------------------------------------------

OFFSETS = (-2, -1, 0, 1, 2)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("generator", [None, FOREIGN], ids=["own", "foreign"])
@pytest.mark.parametrize(
    "name",
    [
        "s3-automatic-joining/wrong",
        "resigned-leader-follows-itself/without-resigned-timeout-and-memory",
        "two-votes-after-forgotten-leader/without-memory",
    ],
)
def test_a_violation_near_a_checkpoint_is_found_on_its_line(
    name: str, generator: Generator | None, offset: int
) -> None:
    run = played(name)
    plain = verdict_on(run.lines([], generator=generator)).rejection
    assert plain is not None
    assert plain.kind is RejectionKind.PROPERTY
    after = min(plain.sequence + offset, len(run.events))
    lines = run.lines([after], generator=generator)
    rejection = verdict_on(lines).rejection
    assert rejection == replace(plain, line=plain.line + (after < plain.sequence))
    # What a checkpoint remembers is enough to find it.
    if after < plain.sequence:
        start, model = checkpoint_line(run.states[after]), trace_model(run.switched_off)
        checker = TraceChecker(model, run.configuration, "trace.jsonl", own=generator is None, start=start)
        rejections = [checker.feed(n + 2, event) for n, event in enumerate(run.events[after:], after + 1)]
        first = next((rejection for rejection in rejections if rejection is not None), None)
        assert checker.finish(complete=True, rejection=first).rejection == rejection


@pytest.mark.parametrize("offset", OFFSETS)
def test_whole_invariants_are_checked_at_every_checkpoint(offset: int) -> None:
    """As if one was broken from an event on, and no event line could show it."""
    run = simulated("calm", 1, 60)
    broken_from = 30
    model = trace_model()
    checker_events: list[int] = []

    def violated(_state: object) -> tuple[str, ...]:
        return ("ConfigAgreement",) if len(checker_events) >= broken_from else ()

    with patch.object(TraceModel, "violated_invariants", lambda _model, state: violated(state)):
        checker = TraceChecker(model, run.configuration, "trace.jsonl", own=True, every=10**6)
        for sequence, event in enumerate(run.events[: broken_from + offset], 1):
            checker_events.append(sequence)
            assert checker.feed(sequence + 1, event) is None
        rejection = checker.feed_checkpoint(broken_from + offset + 2, checkpoint_line(run.states[broken_from + offset]))
    if offset < 0:
        assert rejection is None
    else:
        assert rejection is not None
        assert (rejection.kind, rejection.properties) == (RejectionKind.PROPERTY, ("ConfigAgreement",))
        # The last event line before the checkpoint.
        assert (rejection.line, rejection.sequence) == (broken_from + offset + 1, broken_from + offset)


# ---------------------------------------------------------------------------------------------------------
# Traces of somebody else.
# ---------------------------------------------------------------------------------------------------------


def _two_candidates() -> tuple[Story, TraceChecker]:
    """A Fetch has arrived, from replica 2 or from replica 3."""
    story, arrival = two_fetches()
    quiet = (("message", "id"), ("cause",), ("effects",), ("state",), ("refusal",))
    sender = (("message", "source"), ("message", "replica_key"), ("message", "correlation_id"))
    checker = story.checker(own=False)
    assert checker.feed(len(story.lines) + 2, line_from(json.loads(without(arrival, *quiet, *sender)))) is None
    assert len(checker.states) == 2
    return story, checker


def test_a_checkpoint_says_which_candidate_it_was() -> None:
    story, checker = _two_candidates()
    assert checker.feed_checkpoint(len(story.lines) + 3, story.checkpoint(-1)) is None
    assert len(checker.states) == 1
    verdict = checker.finish(complete=True)
    assert (verdict.kind, verdict.candidates_max) == (VerdictKind.ACCEPTED, 2)


def test_a_checkpoint_that_no_candidate_shows_is_rejected_with_what_the_closest_one_differs_in() -> None:
    story, checker = _two_candidates()
    number = len(story.lines) + 3
    document = document_of(story.checkpoint(-1))
    document["history"]["crashes"] = 3
    rejection = checker.feed_checkpoint(number, _parsed(document))
    assert rejection is not None
    assert (rejection.kind, rejection.line, rejection.event) == (RejectionKind.CHECKPOINT, number, "Checkpoint")
    assert rejection.differences == (Difference("history.crashes", "0", "3"),)
    assert checker.finish(complete=True, rejection=rejection).kind is VerdictKind.REJECTED


def _parsed(document: Document) -> CheckpointLine:
    line = parse_line(as_line(document), "trace.jsonl", 2)
    assert isinstance(line, CheckpointLine)
    return line


def test_a_checkpoint_comes_too_late_for_too_many_candidates() -> None:
    story, arrival = two_fetches()
    events = [encode_line(line) for line in story.lines]
    events.append(without(arrival, ("message",), ("cause",), ("effects",), ("state",), ("refusal",)))
    lines = checkpointed(story, arrival).lines([len(events)], generator=FOREIGN, events=events)
    assert verdict_on(lines).kind is VerdictKind.ACCEPTED
    verdict = verdict_on(lines, candidates_max=1)
    assert (verdict.kind, verdict.rejection) == (VerdictKind.INCONCLUSIVE, None)
    assert "more than 1 candidate states" in str(verdict.reason)


@pytest.mark.parametrize("granted", [True, False])
def test_a_violation_counts_on_the_candidate_that_the_checkpoint_shows(granted: bool) -> None:
    story, grant, refusal = two_votes_of_one_replica()
    before = len(story.lines)
    arrival = story.tell(story.world.deliver(grant if granted else refusal))
    story.lines.pop()
    checker = story.checker(own=False)
    assert checker.feed(before + 2, left_open(arrival)) is None
    assert len(checker.states) > 1
    rejection = checker.feed_checkpoint(before + 3, story.checkpoint(-1))
    if granted:
        assert rejection is not None
        assert (rejection.kind, rejection.line, rejection.event) == (
            RejectionKind.PROPERTY,
            before + 2,
            "HandleVoteResponse",
        )
        assert "ElectionSafety" in rejection.properties
    else:
        assert rejection is None
        assert checker.finish(complete=True).kind is VerdictKind.ACCEPTED


@pytest.mark.parametrize("generator", [None, FOREIGN], ids=["own", "foreign"])
@pytest.mark.parametrize(("field", "value"), [("timeout_ms", 1), ("cluster_id", "another")])
def test_a_message_is_the_one_that_its_line_showed(generator: Generator | None, field: str, value: object) -> None:
    """The model has no durations and one cluster, so that it cannot tell."""
    run = simulated("auto-join", 1, 250)
    after, flight = next(
        (sequence, index)
        for sequence in range(1, len(run.states))
        for index, flight in enumerate(checkpoint_line(run.states[sequence]).network)
        if isinstance(flight.message, TracedAddVoterRequest)
    )
    lines = run.lines([after], generator=generator)
    document = json.loads(lines[after + 1])
    document["network"][flight]["message"][field] = value
    lines[after + 1] = as_line(document)
    rejection = verdict_on(lines).rejection
    assert rejection is not None
    assert (rejection.kind, rejection.line) == (RejectionKind.CHECKPOINT, after + 2)
    identifier = document["network"][flight]["message"]["id"]
    assert [difference.field for difference in rejection.differences] == [f"network[id={identifier}].message.{field}"]


def test_little_is_observed_between_checkpoints() -> None:
    run = simulated("elections", 2, 60)
    events = [without(event, ("effects",), ("state",), ("refusal",), ("cause",)) for event in run.events]
    after = range(5, len(run.events), 10)
    lines = run.lines(after, generator=FOREIGN, events=events)
    assert verdict_on(lines).kind is VerdictKind.ACCEPTED
    at = 25 + 1 + 2
    document = json.loads(lines[at])
    document["replicas"][0]["state"]["high_watermark"] = 2**40
    lines[at] = as_line(document)
    rejection = verdict_on(lines).rejection
    assert rejection is not None
    assert (rejection.kind, rejection.line, rejection.sequence) == (RejectionKind.CHECKPOINT, at + 1, 25)
    assert rejection.differences[0].field == "replicas[id=1].state.high_watermark"
    assert rejection.differences[0].actual == str(2**40)
