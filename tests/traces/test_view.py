"""Documents of the viewer: with the changes applied, they agree with the trace and the run."""

import json
import re
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, to_builtins
from msgspec.structs import replace
from tests.traces.checkpointed import FOREIGN, Checkpointed, followed, simulated
from tests.traces.strategies import cluster, random_run

from kraft_reference.records import RecordKind
from kraft_simulation.workload import WORKLOADS
from kraft_spec.rules import load_registry
from kraft_traces.checkpoint_types import own_id
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.effects import TracedAppendRecords, TracedWriteSnapshot
from kraft_traces.encode import encode_line, header_line
from kraft_traces.lines import EventLine
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_traces.values import TracedRecord, TracedSnapshot, traced_record
from kraft_traces.view import Document, page_of, read_document, view_document
from kraft_traces.view.document import Numbered
from kraft_traces.view.page import legible
from kraft_traces.view.partitions import partition_page_of, read_partition_document

SAMPLES = Path("traces/kraft_traces/samples")


def told(run: Checkpointed, events: tuple[EventLine, ...] | None = None) -> Document:
    lines = [Numbered(number, line) for number, line in enumerate(events or run.events, 2)]
    return view_document("run.jsonl", header_line(run.configuration, FOREIGN), lines, None, complete=True)


class Rebuilt:
    """Apply the changes of the document as the page's script does."""

    def __init__(self, document: Document) -> None:
        self.states: dict[int, dict[str, Any]] = {}
        self.logs: dict[int, tuple[int, list[Any]]] = {}
        self.document = document

    def step(self, index: int) -> None:
        event = self.document["events"][index]
        replica: Any = event.get("replica")
        self.states.setdefault(replica, {}).update(event.get("changed", {}))
        if "log" in event:
            start, records = self.logs.get(replica, (0, []))
            change = event["log"]
            kept = records[change["start"] - start : change["end"] - start]
            added = [[None] * run if isinstance(run, int) else [run] for run in change["added"]]
            self.logs[replica] = (change["start"], [*kept, *chain.from_iterable(added)])


def assert_rebuilt(run: Checkpointed) -> None:
    document = told(run)
    rebuilt = Rebuilt(document)
    for index, line in enumerate(run.events):
        rebuilt.step(index)
        if line.replica is UNSET:
            continue
        state = run.states[index + 1].replicas[line.replica]
        assert rebuilt.states[line.replica] == to_builtins(traced_state(state))
        records = [to_builtins(traced_record(record)) for record in state.log.records]
        assert rebuilt.logs.get(line.replica, (0, [])) == (state.log.base.end_offset, records)
    in_flight = Counter(
        (arrow["message"], arrow["source"], arrow["destination"])
        for arrow in document["arrows"]
        if arrow["fate"] == "in flight"
    )
    there: Counter[tuple[str, int, int]] = Counter()
    for flight in run.states[-1].network.values():
        message = flight.message
        there[type(message).__name__, message.source, message.destination] += flight.copies
    assert in_flight == there


@given(st.integers(0, 2**32), st.integers(1, 80))
def test_random_moves(seed: int, steps: int) -> None:
    assert_rebuilt(followed(cluster(2), random_run(cluster(2), seed, steps)))


@pytest.mark.parametrize("workload", sorted(WORKLOADS))
def test_every_workload(workload: str) -> None:
    assert_rebuilt(simulated(workload, 5, 150))


def test_arrows_of_a_run() -> None:
    run = simulated("chaos", 5, 150)
    document = told(run)
    for arrow in document["arrows"]:
        sender = run.events[arrow["sent"]]
        assert arrow["fate"] == "in flight" or arrow["ended"] > arrow["sent"]
        if arrow["fate"] in ("delivered", "duplicate"):
            line = run.events[arrow["ended"]]
            assert (line.replica, type(line.message).__name__) == (arrow["destination"], f"Traced{arrow['message']}")
            assert sender.replica in (arrow["source"], UNSET)
    fates = Counter(arrow["fate"] for arrow in document["arrows"])
    ends = Counter(line.event for line in run.events)
    assert fates["dropped"] == ends["DropMessage"]
    assert fates["delivered"] + fates["duplicate"] == sum(line.message is not UNSET for line in run.events)
    assert 0 < fates["duplicate"] <= ends["DuplicateMessage"]


def _without_ids(line: EventLine) -> EventLine:
    """As software writes it that gives its messages no ids."""
    if line.message is not UNSET:
        line = replace(line, message=replace(line.message, id=UNSET), cause=UNSET)
    if line.effects is UNSET:
        return line
    effects = [
        replace(effect, message=replace(effect.message, id=UNSET)) if hasattr(effect, "message") else effect
        for effect in line.effects
    ]
    return replace(line, effects=tuple(effects))


def test_arrows_of_messages_without_ids() -> None:
    run = simulated("calm", 5, 150)
    with_ids = told(run)["arrows"]
    assert told(run, tuple(map(_without_ids, run.events)))["arrows"] == with_ids


def test_what_was_not_observed() -> None:
    run = simulated("calm", 5, 60)
    bare = tuple(replace(line, state=UNSET, effects=UNSET) for line in run.events)
    document = told(run, bare)
    assert document["arrows"] == []
    assert all("changed" not in event and "log" not in event for event in document["events"])
    ends = tuple(
        replace(line, effects=UNSET, state=type(line.state)(log_end_offset=line.state.log_end_offset))
        for line in run.events
        if line.state is not UNSET
    )
    rebuilt = Rebuilt(told(run, ends))
    for index in range(len(ends)):
        rebuilt.step(index)
    # That there are records is known, not what they are.
    assert any(records for _, records in rebuilt.logs.values())
    assert all(record is None for _, records in rebuilt.logs.values() for record in records)


def test_rules_are_named_with_their_titles() -> None:
    document = told(simulated("elections", 5, 100))
    registry = load_registry()
    assert document["rules"]
    for rule in document["rules"]:
        known = registry[rule["id"]]
        assert rule == {"id": known.id, "title": known.title, "level": known.level, "statement": known.statement}
    granted = [event for event in document["events"] if event["event"] == "HandleVoteRequest"]
    exercised = {document["rules"][place]["id"] for event in granted for place in event["rules"]}
    assert {"vote.once-per-epoch", "prevote.request.log-check"} <= exercised


def _rules_by_event(document: Document, name: str) -> list[set[str]]:
    rules = [rule["id"] for rule in document["rules"]]
    return [{rules[place] for place in event["rules"]} for event in document["events"] if event["event"] == name]


def test_the_rules_of_a_restart_speak_of_the_role_after_it() -> None:
    run = simulated("chaos", 5, 400)
    roles = [line.state.role for line in run.events if line.event == "Restart" and line.state is not UNSET]
    by_event = _rules_by_event(told(run), "Restart")
    assert len(by_event) == len(roles)
    assert {"Resigned", "Follower"} <= set(roles)
    for role, rules in zip(roles, by_event, strict=True):
        assert ("durable.restart.log-epoch" in rules) == (role == "Unattached")
        assert ("durable.restart.was-leader" in rules) == (role == "Resigned")
        assert "durable.restart.known-leader" in rules or role not in ("Unattached", "Follower")
        assert "durable.write-before-act" in rules


def test_no_rule_is_left_out_for_a_role_that_is_not_observed() -> None:
    run = simulated("elections", 5, 60)
    bare = told(run, tuple(replace(line, state=UNSET) for line in run.events))
    (_, *later) = _rules_by_event(bare, "HandleFetchRequest")
    spoken_of = {role for rules in later for rule in rules for role in load_registry()[rule].states}
    assert {"Leader", "Follower"} <= spoken_of


def test_a_rejected_trace_has_its_verdict() -> None:
    document, verdict, broken = read_document(str(SAMPLES / "mutant.jsonl"))
    assert broken is None
    assert verdict is not None
    assert verdict.rejection is not None
    wrong = json.loads(json.dumps(document["verdict"]))
    assert verdict.rejection.headline().startswith(f"{SAMPLES}/mutant.jsonl:83: ")
    assert wrong["headline"] == verdict.rejection.headline().removeprefix(f"{SAMPLES}/")
    # All rules that the page names have titles there.
    assert {*verdict.rejection.rules} <= {rule["id"] for rule in document["rules"]}
    assert wrong["rejection"]["differences"] == [
        {"field": "effects[0].message.granted", "expected": "false", "actual": "true"}
    ]
    # What comes after the wrong line is there as well.
    assert [event["sequence"] for event in document["events"]] == list(range(1, 313))
    assert document["complete"]


def document_in(page: str) -> Any:
    """Return the document of a page."""
    match = re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match.group(1))


@given(st.text(max_size=30), st.sampled_from(["</script><script>alert(1)</script>", "<!--", "]]>", "$title", "&lt;"]))
def test_nothing_in_a_trace_is_markup(text: str, attack: str) -> None:
    hostile = f"{attack}{text}"
    document = told(simulated("calm", 5, 20))
    document["source"] = hostile
    plain = page_of(told(simulated("calm", 5, 20)), "title")
    page = page_of(document, f"{hostile}")
    assert document_in(page)["source"] == legible(hostile)
    for tag in ("<script", "</script", "<!--"):
        assert page.count(tag) == plain.count(tag)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("größer → 大", "größer → 大"),
        ("two\nlines", "two\nlines"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u2066b\u2069\u200f\u061c", "a\\u2066b\\u2069\\u200f\\u061c"),
        ("\x1b[1m\x00", "\\x1b[1m\\x00"),
        ("\u05d0\u05d1", "\u2068\u05d0\u05d1\u2069"),
        ("a \u0661", "\u2068a \u0661\u2069"),
        ("\u2069\u05d0\u05d1", "\u2068\\u2069\u05d0\u05d1\u2069"),
    ],
)
def test_no_text_reorders_what_is_around_it(text: str, expected: str) -> None:
    assert legible(text) == expected
    document = told(simulated("calm", 5, 20))
    document["header"]["generator"]["name"] = text
    document["events"][0]["input"] = {text: [text]}
    page = page_of(document, text)
    assert f"<title>{expected}</title>" in page
    assert document_in(page)["header"]["generator"]["name"] == expected
    assert document_in(page)["events"][0]["input"] == {expected: [expected]}


def test_the_states_before_the_first_event() -> None:
    run = simulated("voter-changes", 5, 40)
    for replica in told(run)["replicas"]:
        assert replica["start"] == to_builtins(traced_state(run.states[0].replicas[replica["id"]]))
        assert (replica["start"]["role"], replica["start"]["epoch"]) == ("Unattached", 0)


def test_a_profile_that_is_not_known_here() -> None:
    run = simulated("calm", 5, 20)
    header = replace(header_line(run.configuration, FOREIGN), profile="of-their-own")
    document = view_document("run.jsonl", header, [], None, complete=True)
    assert [replica["start"] for replica in document["replicas"]] == [None, None, None]


@pytest.mark.parametrize("subject", ["quorum", "partitions"])
def test_a_page_fetches_nothing(subject: str) -> None:
    if subject == "quorum":
        page = page_of(told(simulated("calm", 5, 20)), "title")
    else:
        sample = str(SAMPLES / "partition-normal.jsonl")
        page = partition_page_of(read_partition_document(sample, checked=False).document, "title")
    assert "default-src 'none'" in page
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([a-z]+:|//)""", page)
    assert outside == ["data:"]
    assert set(re.findall(r"https?://[^\s\"']+", page)) == {"http://www.w3.org/2000/svg"}


def test_large_integers_stay_exact() -> None:
    document = told(simulated("calm", 5, 20))
    document["events"][0]["input"] = {"value": 2**63 - 1, "small": 2**53 - 1, "flag": True}
    displayed = document_in(page_of(document, "title"))["events"][0]["input"]
    assert displayed == {"value": str(2**63 - 1), "small": 2**53 - 1, "flag": True}


# ---------------------------------------------------------------------------------------------------------
# Logs that a trace shows in part.
# ---------------------------------------------------------------------------------------------------------


CALM = simulated("calm", 5, 20)


def _ends(*ends: int) -> tuple[EventLine, ...]:
    """Lines of a replica that show where its log ends, and nothing else."""
    (line, *_) = (line for line in CALM.events if line.state is not UNSET)
    return tuple(replace(line, effects=UNSET, state=TracedState(log_end_offset=end)) for end in ends)


@pytest.mark.parametrize("end", [1, 30_000_000, 2**63 - 1])
def test_an_offset_says_nothing_about_the_size_of_the_page(end: int) -> None:
    lines = _ends(end, end - 1, end)
    document = told(CALM, lines)
    assert [event["log"] for event in document["events"]] == [
        {"start": 0, "end": 0, "added": (end,)},
        {"start": 0, "end": end - 1, "added": ()},
        {"start": 0, "end": end - 1, "added": (1,)},
    ]
    assert len(page_of(document, "title")) < 150_000


def test_records_among_those_that_are_not_shown() -> None:
    record = TracedRecord(epoch=1, kind=RecordKind.DATA, value=7)
    (bare,) = _ends(2)
    appended = TracedAppendRecords(base_offset=5, records=(record, record))
    snapshot = TracedWriteSnapshot(
        TracedSnapshot(end_offset=3, epoch=1, kraft_version=1, voters=(), details=()), replaces_log=False
    )
    lines = (
        bare,
        replace(bare, effects=(appended,), state=UNSET),
        replace(bare, effects=(snapshot,), state=UNSET),
        replace(bare, effects=UNSET, state=TracedState(log_start_offset=2, log_end_offset=9)),
    )
    (before, *changes) = (event["log"] for event in told(CALM, lines)["events"])
    document = to_builtins(record)
    assert before == {"start": 0, "end": 0, "added": (2,)}
    assert changes == [
        {"start": 0, "end": 2, "added": (3, document, document)},
        {"start": 3, "end": 7, "added": ()},
        {"start": 2, "end": 2, "added": (7,)},
    ]


def test_a_trace_that_begins_with_a_checkpoint_begins_with_its_states_and_logs(tmp_path: Path) -> None:
    run = simulated("chaos", 3, 150)
    checkpoint = checkpoint_line(run.states[100])
    event = next(event for event in run.events[100:] if event.message is UNSET)
    opening, first = replace(checkpoint, sequence=0, network=()), replace(event, sequence=1)
    path = tmp_path / "later.jsonl"
    header = header_line(run.configuration, FOREIGN)
    path.write_bytes(encode_line(header) + encode_line(opening) + encode_line(first))
    document = read_document(str(path), checked=False).document
    by_id = {own_id(replica): replica for replica in checkpoint.replicas}
    for replica_document in document["replicas"]:
        replica = by_id[replica_document["id"]]
        assert replica_document["start"] == to_builtins(replica.state)
        start, end, records = replica_document["start_log"].values()
        assert (start, end) == (replica.snapshot.end_offset,) * 2
        assert len(records) == len(replica.records)
