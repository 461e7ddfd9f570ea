"""S20 to S24: a reference that reassigns in another way than KIP-642 is found by them, and readably."""

from typing import Any

import pytest

from kraft_reference import elections, quorum_reassignment
from kraft_reference.quorum_reassignment import ReassignmentSets
from kraft_reference.records import RecordKind
from kraft_reference.scenarios import ScenarioFailure, run, scenario
from kraft_reference.scenarios.membership.reassigning import ids
from kraft_reference.scenarios.membership.reassignment import TO_THE_HAND_OVER
from kraft_reference.state import ReplicaState


def failure(name: str, variant: str = "right") -> ScenarioFailure:
    one = scenario(name)
    with pytest.raises(ScenarioFailure) as caught:
        run(one, one.variant(variant))
    return caught.value


def test_the_record_sequence_of_s20() -> None:
    """Every offset, with its current and its target voters, as the table has it one offset lower."""
    one = scenario("s20")
    states = run(one, one.variant("right")).states
    table = [
        (0, 1, RecordKind.LEADER_CHANGE, (), None),
        (1, 1, RecordKind.KRAFT_VERSION, (), None),
        (2, 1, RecordKind.VOTERS, (1, 2, 3), None),
        (3, 1, RecordKind.VOTER_ASSIGNMENT, (1, 2, 3), (4, 5, 6)),
        (4, 1, RecordKind.VOTER_ASSIGNMENT, (1, 2, 3, 4), (4, 5, 6)),
        (5, 1, RecordKind.VOTER_ASSIGNMENT, (1, 2, 4), (4, 5, 6)),
        (6, 1, RecordKind.VOTER_ASSIGNMENT, (1, 2, 4, 5), (4, 5, 6)),
        (7, 1, RecordKind.VOTER_ASSIGNMENT, (1, 4, 5), (4, 5, 6)),
        (8, 1, RecordKind.VOTER_ASSIGNMENT, (1, 4, 5, 6), (4, 5, 6)),
        (9, 2, RecordKind.LEADER_CHANGE, (), None),
        (10, 2, RecordKind.VOTER_ASSIGNMENT, (4, 5, 6), (4, 5, 6)),
        (11, 2, RecordKind.VOTER_ASSIGNMENT, (4, 5, 6), None),
    ]
    for state in states.values():
        records = [
            (
                offset,
                record.epoch,
                record.kind,
                tuple(sorted(voter.id for voter in record.voters)),
                None if record.target is None else tuple(sorted(record.target)),
            )
            for offset, record in enumerate(state.log.records)
        ]
        assert (records, state.high_watermark) == (table, 12)
    assert [ids(row.current) for row in TO_THE_HAND_OVER] == [row[3] for row in table[4:9]]


def test_more_additions_than_removals_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_if_more(sets: ReassignmentSets) -> bool:
        return len(sets.new) > len(sets.removing)

    monkeypatch.setattr(quorum_reassignment, "adds_next", only_if_more)
    found = failure("s20")
    assert (found.subject, found.expected, found.actual) == ("next steps of N1", "4 5 6", "2 3")
    # Where removals and additions are never equal in number, there is no difference.
    run(scenario("s24"), scenario("s24").variant("right-grows"))


def test_a_leader_that_removes_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    next_steps = quorum_reassignment.next_steps

    def with_itself(state: ReplicaState) -> Any:
        steps = next_steps(state)
        hands_over = steps == frozenset((None,)) and state.key.id not in (state.target or ())
        return frozenset((state.key,)) if hands_over else steps

    monkeypatch.setattr(quorum_reassignment, "next_steps", with_itself)
    found = failure("s24", "right-leader-goes")
    assert found.step == "1 is the last to remove: EndQuorumEpoch"
    assert (found.expected, found.actual) == ("-", "1")


def test_a_step_before_the_commit_of_the_last_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quorum_reassignment, "set_is_committed", lambda *_: True)
    found = failure("s20")
    assert (found.step, found.subject, found.expected) == ("Alter(4,5,6): VA@3", "next steps of N1", "")


def test_a_target_that_is_answered_at_its_append_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    awaited = quorum_reassignment._awaited

    def at_once(before: Any, outcome: Any, configuration: Any, request: int, offset: int, draw: Any) -> Any:
        return awaited(before, outcome, configuration, request, -2, draw)

    monkeypatch.setattr(quorum_reassignment, "_awaited", at_once)
    assert failure("s20").subject == "answered requests"


def test_a_target_that_is_left_standing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    next_steps = quorum_reassignment.next_steps

    def never_done(state: ReplicaState) -> Any:
        reached = state.target == frozenset([voter.id for voter in state.voters])
        return frozenset() if reached else next_steps(state)

    monkeypatch.setattr(quorum_reassignment, "next_steps", never_done)
    found = failure("s24", "right-shrinks")
    assert (found.step, found.actual) == ("@6: clear", 0)


def test_a_voter_that_judges_by_the_other_reading_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elections, "refuses_non_voter", lambda *_: False)
    found = failure("s23", "right-kip-642")
    assert (found.subject, found.expected, found.actual) == ("the answer of N3 to N4", "refused", "granted")
