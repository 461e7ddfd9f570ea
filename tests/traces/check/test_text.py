"""The fast text of an observation is the text of the values that it stands for."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import UNSET
from tests.traces.strategies import effects, states

from kraft_reference.effects import Effect
from kraft_reference.state import ReplicaState
from kraft_traces.check.model import trace_model
from kraft_traces.check.observation import canonical_effects, canonical_state
from kraft_traces.check.text import effects_text, text_of, tla_text
from kraft_traces.effects import traced_effect
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state


@pytest.fixture(scope="module", autouse=True)
def _with_tlc() -> None:
    """TLC's own names of texts need a running JVM."""
    trace_model()


@given(states(2))
def test_the_text_of_a_state(state: ReplicaState) -> None:
    # Nobody but TLC knows in which order it shows two keys with one id, so such a line takes the slow way.
    for keys in (state.voters, state.fetch_offsets):
        assume(len({key.id for key in keys}) == len(keys))
    traced = traced_state(state)
    assert text_of(traced) == tla_text(canonical_state(traced))


@given(effects(1))
def test_the_text_of_effects(some: tuple[Effect, ...]) -> None:
    traced = tuple(traced_effect(5, effect) for effect in some)
    rows = tuple(row for _, row in canonical_effects(traced))
    assert effects_text(traced) == tla_text(rows)


@given(states(2), st.sampled_from(TracedState.__struct_fields__))
def test_a_state_that_leaves_a_field_out_has_a_text_that_tlc_never_gives(state: ReplicaState, field: str) -> None:
    traced = traced_state(state)
    left = {name: getattr(traced, name) for name in TracedState.__struct_fields__ if name != field}
    text = text_of(TracedState(**left))
    assert getattr(TracedState(**left), field) is UNSET
    assert "UNSET" in text or "None" in text
