"""Vectors from constructed states, and events that are not due, in the model."""

from dataclasses import replace

import pytest
from tests.conformance.commands import Captured, altered, output

from kraft_reference.events import ElectionTimeout
from kraft_reference.identity import ReplicaKey
from kraft_reference.outcome import Refusal
from kraft_reference.profile import PROFILES
from kraft_reference.roles import Role
from kraft_simulation.scenarios.opening import start
from kraft_traces.values import TracedKey
from kraft_vectors.acceptance import NotAcceptedError, accepted_by_model
from kraft_vectors.openings import rivals
from kraft_vectors.recording import Subject as Cut
from kraft_vectors.recording import vector_of
from kraft_vectors.staging import RecordingDirector, record_run
from kraft_vectors.target import THREE

CUT = Cut("constructed.made", "Made here", ("vote.candidate.rejects",), 1)


def votes_again(d: RecordingDirector, **fields: object) -> None:
    rivals(d)
    d.construct(1, "it has voted for itself", **fields)
    d.step("v(3>1)")
    d.vote(3, 1, "refused")


def test_a_vector_of_a_constructed_state_has_no_history_and_says_why() -> None:
    run = record_run("a script", THREE, lambda d: votes_again(d, voted_key=ReplicaKey(3, "U3")), accepted_by_model)
    vector = vector_of(run, CUT)
    assert vector is not None
    assert (vector.history, vector.constructed) == (None, "it has voted for itself")
    assert (vector.before.state.voted_key, vector.before.state.role) == (TracedKey(3, "U3"), "Candidate")
    assert vector.requires.profiles == tuple(PROFILES)


def test_the_model_is_asked_from_the_constructed_state() -> None:
    run = record_run("a script", THREE, lambda d: votes_again(d, voted_key=ReplicaKey(3, "U3")), lambda _: ("kip",))
    last = run.occurrences[-2]
    assert last.replica_id == 1
    assert last.state is not None
    cast = last._replace(state=last.state._replace(voted_key=ReplicaKey(1, "U1")))
    with pytest.raises(NotAcceptedError, match=r"a script: rejected: .* \(HandleVoteRequest at replica 1\)"):
        accepted_by_model(replace(run, occurrences=(*run.occurrences[:-2], cast)))


def test_a_state_that_is_not_well_typed_makes_no_vector() -> None:
    with pytest.raises(AssertionError, match="a script: the constructed state is not well-typed"):
        record_run("a script", THREE, lambda d: votes_again(d, voted_key=None), accepted_by_model)


def test_an_event_that_is_not_due_must_be_refused_by_the_model_too() -> None:
    def fires(d: RecordingDirector) -> None:
        start(d, 1, 1)
        d.step("et(1)")
        d.refuses(1, ElectionTimeout(), Refusal.NOT_IN_ROLE)

    run = record_run("a script", THREE, fires, accepted_by_model)
    assert run.profiles == tuple(PROFILES)
    assert run.occurrences[-1].state is not None
    assert run.occurrences[-1].state.role is Role.LEADER
    wrong = (*run.occurrences[:-1], run.occurrences[-1]._replace(refusal=Refusal.NOTHING_DUE))
    with pytest.raises(NotAcceptedError, match="ElectionTimeout at replica 1"):
        accepted_by_model(replace(run, occurrences=wrong))


def test_without_injection_a_constructed_vector_is_unsupported(capsys: Captured) -> None:
    _, text = output(capsys, "conformance", "run", "-k", "constructed.leader-asked", "--adapter", altered("history"))
    assert "1 unsupported: needs state_injection" in text


def test_an_adapter_may_take_constructed_states_and_no_others(capsys: Captured) -> None:
    def said(vector: str) -> str:
        code, text = output(capsys, "conformance", "replay", vector, "--adapter", altered("constructed"))
        assert code == 0
        return text

    assert '"before":' in said("constructed.leader-asked")
    assert '"before":' not in said("vote.granted")
