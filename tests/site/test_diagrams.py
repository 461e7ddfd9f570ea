"""Diagrams: they show all of their source, and the same source gives the same text."""

from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest
from tools.site.diagrams import diagram_of
from tools.site.diagrams.quorums import CASES, QuorumError, quorum_cases, quorum_picture
from tools.site.diagrams.roles import edges, role_diagram
from tools.site.diagrams.rows import Band, Run, Step, deciding_occurrence, folds, rows_of
from tools.site.diagrams.sequences import figure_of, sequence_diagram
from tools.site.diagrams.svg import Picture, Point
from tools.site.names import ALL_SCENARIOS

from kraft_mutants.playing import play
from kraft_partitions.scenarios import partition_scenario
from kraft_proofs.transitions import prove_transition
from kraft_reference.identity import ReplicaKey
from kraft_reference.roles import TRANSITIONS, Role
from kraft_simulation.occurrence import CutLink, DropMessage, HealLink
from kraft_simulation.scenarios import ScenarioRun, scenario
from kraft_traces.view.flights import Arrow


def _ran(name: str) -> ScenarioRun:
    of, _, variant = name.partition("/")
    return play(scenario(of), scenario(of).variant(variant))


def test_a_picture_is_well_formed_and_named() -> None:
    picture = Picture("a", "One < two", 'Both & "more"')
    picture.arrow(Point(0, 0), Point(10, 0.25), "edge")
    picture.text(Point(-0.01, 3), "<b>", anchor="middle")
    text = picture.finished(20, 10)
    root = ET.fromstring(text)
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "a-t a-d"
    assert [(element.get("id"), element.text) for element in root[:2]] == [
        ("a-t", "One < two"),
        ("a-d", 'Both & "more"'),
    ]
    assert (root[-1].text, root[-1].attrib) == (
        "<b>", {"class": "label", "x": "0", "y": "3", "text-anchor": "middle"}
    )  # fmt: skip
    assert "" not in text.splitlines()


def test_every_transition_is_in_the_role_diagram() -> None:
    drawn = edges()
    assert [edge.number for edge in drawn] == list(range(1, len(drawn) + 1))
    running = set(Role) - {Role.STOPPED}
    transitions = {
        (source, row.cause, edge.target)
        for edge in drawn
        for row in edge.rows
        for source in (running if edge.source is None else {edge.source})
    }
    assert transitions == {(row.source, row.cause, row.target) for row in TRANSITIONS}
    assert len({(edge.source, edge.target) for edge in drawn}) == len(drawn) == 23


def test_the_role_page_has_the_diagram_and_the_table(made: Mapping[str, str]) -> None:
    page = made["model/roles.md"]
    assert role_diagram(edges()) in page
    assert page.count("\n| ") == 1 + sum(len(edge.rows) for edge in edges())
    assert "| 18 | any running role | Stopped | crash | keep | keep | keep | `durable.soft-transitions` |\n" in page


@pytest.fixture(scope="module")
def ping_pong() -> Run:
    return rows_of(_ran("ping-pong/without-fetched-flag"))


def test_every_event_is_drawn_folded_or_a_loss(ping_pong: Run) -> None:
    occurrences = _ran("ping-pong/without-fetched-flag").occurrences
    network = [
        occurrence for occurrence in occurrences if isinstance(occurrence.event, DropMessage | CutLink | HealLink)
    ]
    steps = [row for row in ping_pong.rows if isinstance(row, Step)]
    assert len(occurrences) == 104
    assert len(steps) + ping_pong.folded + len(network) == len(occurrences)
    lost = [loss for step in steps for loss in step.lost if loss.dropped]
    assert len(lost) == sum(isinstance(occurrence.event, DropMessage) for occurrence in network) == 15


def test_the_text_of_the_bands(ping_pong: Run) -> None:
    assert [(row.kind, row.words) for row in ping_pong.rows if isinstance(row, Band)] == [
        ("folded", "events 30 to 41, replication only: 2 fetches of 2, 2 fetches of 3"),
        ("network", "cut 1→3, 3→1"),
        ("differs", "≠ the outcome differs from here on without fetch.fetched-flag"),
        ("network", "cut 1→2, 2→1"),
        ("violated", "✗ never happens: violates EventualLeader, NoPingPong"),
    ]


def test_arrows_join_the_rows_of_sender_and_receiver(ping_pong: Run) -> None:
    steps = {row.at: row for row in ping_pong.rows if isinstance(row, Step)}
    for arrow in ping_pong.arrows:
        assert arrow.sent < arrow.ended
        assert (steps[arrow.sent].replica, steps[arrow.ended].replica) == (arrow.source, arrow.destination)


def _fetch(sent: int, ended: int | None) -> Arrow:
    return Arrow("FetchRequest", sent, ended, 2, 1, "in flight" if ended is None else "delivered")


def test_no_arrow_leads_into_a_band_or_out_of_it() -> None:
    rows = range(20)
    assert folds(set(rows), [_fetch(3, 5)], rows) == dict.fromkeys(rows, 0)
    # The remaining run beyond the interruption is long enough on one side only.
    assert folds(set(rows) - {19}, [_fetch(7, 19)], rows) == dict.fromkeys(range(8, 19), 8)
    assert folds(set(rows), [_fetch(9, None)], rows) == {
        **dict.fromkeys(range(9), 0), **dict.fromkeys(range(10, 20), 10)
    }  # fmt: skip
    # Between two bands: both lose their end.
    assert folds(set(rows) - {10}, [_fetch(9, 11)], rows) == {
        **dict.fromkeys(range(9), 0), **dict.fromkeys(range(12, 20), 12)
    }  # fmt: skip


def test_a_violation_stands_after_its_event() -> None:
    rows = rows_of(_ran("disk-loss/wrong-disk-without-replica-key")).rows
    marks = [(place, row.words) for place, row in enumerate(rows) if isinstance(row, Band) and row.kind == "violated"]
    before = [rows[place - 1] for place, _ in marks]
    assert [words for _, words in marks] == [
        "✗ violates IdentityBinding", "✗ violates CommittedNeverLost, LeaderCompleteness"
    ]  # fmt: skip
    assert [row.sequence for row in before if isinstance(row, Step)] == [41, 68]


def test_where_a_rule_decides() -> None:
    ran = _ran("s11-two-changes/wrong")
    decided = deciding_occurrence(ran.variant, ran.occurrences, rows_of(ran).before)
    assert decided is not None
    assert ran.occurrences[decided].sequence == 63
    right = _ran("s11-two-changes/right")
    assert deciding_occurrence(right.variant, right.occurrences, rows_of(right).before) is None


def test_every_variant_of_every_scenario_has_a_picture() -> None:
    for entry in ALL_SCENARIOS:
        for variant in entry.variants:
            assert diagram_of(entry.name, variant.name), (entry.name, variant.name)


def test_a_diagram_is_the_same_every_time_and_well_formed(ping_pong: Run) -> None:
    text = sequence_diagram(ping_pong)
    assert text == sequence_diagram(rows_of(_ran("ping-pong/without-fetched-flag")))
    assert ET.fromstring(text).get("role") == "img"
    assert "12 events of replication are summarised in one line." in text
    assert figure_of(ping_pong).startswith("<details><summary>Sequence diagram: 104 events, 12 of replication")


def test_a_table_of_partitions() -> None:
    text = diagram_of(partition_scenario("s27").name, "right-refused")
    root = ET.fromstring(text)
    assert [cell.text or "" for cell in root.findall("thead/tr/th")] == [
        "#", "event", "partition", "R", "I", "AR", "RR", "leader", ""
    ]  # fmt: skip
    assert "refused: " in text


def test_the_quorums_are_those_of_the_proof() -> None:
    result = prove_transition([ReplicaKey(n) for n in (1, 2, 3)], [ReplicaKey(n) for n in (1, 2, 4)])
    root = ET.fromstring(quorum_picture("swap", result))
    framed = [element for element in root if (element.get("class") or "").startswith("quorum ")]
    assert [element.get("class") for element in framed] == ["quorum old", "quorum old", "quorum new", "quorum new"]
    assert "the majorities 1, 3 and 2, 4 have no replica in common." in (root[1].text or "")


def test_the_page_is_not_made_if_a_proof_says_otherwise(made: Mapping[str, str]) -> None:
    assert made["model/quorums.md"].count("<svg") == len(CASES) + 3
    for case in CASES:
        with pytest.raises(QuorumError, match=case.heading):
            list(quorum_cases([case._replace(safe=not case.safe)]))
