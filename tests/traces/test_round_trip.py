"""Written lines, events, effects, configurations and whole runs are read back equal."""

from dataclasses import replace
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.traces.check.replay import is_a_run
from tests.traces.strategies import (
    GENERATOR,
    cluster,
    configurations,
    messages,
    occurrences,
    random_run,
    replica_ids,
    states,
)

from kraft_reference.configuration import Configuration
from kraft_reference.events import event_name
from kraft_reference.messages import Message
from kraft_reference.profile import Profile
from kraft_reference.state import ReplicaState
from kraft_simulation.occurrence import (
    NetworkEvent,
    Occurrence,
)
from kraft_traces.checkpoints import replica_state_of, traced_replica_state
from kraft_traces.encode import encode_line, event_line, header_line
from kraft_traces.errors import IncompleteLineError, TraceError, UnknownProfileError
from kraft_traces.lines import EventLine
from kraft_traces.messages import message_of, traced_message
from kraft_traces.parsing import parse_header, parse_line
from kraft_traces.reader import trace_of_bytes
from kraft_traces.restore import configuration_of, crash_point_of, draw_of, effects_of, event_of
from kraft_traces.writer import trace_bytes


@given(messages(replica_ids, replica_ids))
def test_messages_come_back(message: Message) -> None:
    traced = traced_message("1.2", message)
    assert message_of(traced) == message


@given(states(1))
def test_states_come_back(state: ReplicaState) -> None:
    assert replica_state_of("$", traced_replica_state(state)) == state


@given(occurrences())
def test_occurrences_come_back(occurrence: Occurrence) -> None:
    line = event_line(occurrence)
    raw = encode_line(line)
    assert raw.count(b"\n") == 1
    assert raw.endswith(b"\n")
    read = parse_line(raw, "memory", 2)
    assert isinstance(read, EventLine)
    assert read == line
    assert encode_line(read) == raw
    assert event_of(read) == occurrence.event
    assert crash_point_of(read) == occurrence.crash
    if occurrence.replica_id is not None:
        assert effects_of(read) == occurrence.effects
        assert read.refusal == occurrence.refusal
        assert not isinstance(occurrence.event, get_args(NetworkEvent))
        assert read.event == event_name(occurrence.event)  # type: ignore[arg-type]


@given(configurations(), st.none() | st.just("0123456789abcdef" * 4))
def test_configurations_come_back(configuration: Configuration, spec_hash: str | None) -> None:
    header = header_line(configuration, GENERATOR, spec_hash=spec_hash)
    read = parse_header(encode_line(header), "memory")
    assert read == header
    assert configuration_of(read) == configuration


def test_a_profile_of_ones_own_comes_back_with_its_answers() -> None:
    own = replace(cluster(), profile=Profile("kip-refusal-lasts", observer_refusal="lasts"))
    header = header_line(own, GENERATOR)
    assert configuration_of(header) == own
    clash = msgspec.structs.replace(header, profile="kip")
    with pytest.raises(UnknownProfileError, match=r"^x\.jsonl:1: \$\.decisions: the settings differ"):
        configuration_of(clash, "x.jsonl")


def test_a_setting_of_an_older_header_is_read_if_every_profile_has_it() -> None:
    own = replace(cluster(), profile=Profile("kip-refusal-lasts", observer_refusal="lasts"))
    raw = encode_line(header_line(own, GENERATOR))
    old = raw.replace(b'"decisions":{', b'"decisions":{"vote_of_non_voter":"by-log",')
    assert old != raw
    assert configuration_of(parse_header(old, "x.jsonl")) == own
    with pytest.raises(TraceError, match=r"\$\.decisions\.vote_of_non_voter: invalid enum value 'refuse-and-campaign'"):
        parse_header(old.replace(b"by-log", b"refuse-and-campaign"), "x.jsonl")


def test_a_profile_without_a_name_is_neither_written_nor_read() -> None:
    odd = replace(cluster(), profile=Profile("kip", observer_refusal="lasts"))
    with pytest.raises(ValueError, match="has the name of another profile"):
        header_line(odd, GENERATOR)
    header = msgspec.structs.replace(header_line(cluster(), GENERATOR), profile="kafka-9")
    with pytest.raises(UnknownProfileError, match=r"^x\.jsonl:1: \$\.profile: unknown profile 'kafka-9'"):
        configuration_of(header, "x.jsonl")


@pytest.mark.parametrize("unsupported", [None, 2])
def test_a_run_is_read_back_and_runs_again_to_the_same_bytes(unsupported: int | None) -> None:
    configuration = cluster(unsupported)
    run = random_run(configuration, seed=996, steps=3000)
    assert {type(occurrence.event).__name__ for occurrence in run} >= {"Receive", "Poll", "Crash", "CutLink"}
    content = b"".join(trace_bytes(run, configuration, GENERATOR))

    with trace_of_bytes(content) as trace:
        lines = list(trace)
        assert trace.complete
        assert trace.events == len(run)
        assert trace.configuration == configuration
    assert is_a_run(configuration, lines)
    assert trace.raw_header + b"".join(map(encode_line, lines)) == content[: content.rindex(b'{"kind":"end"')]


def test_what_was_not_observed_is_named() -> None:
    timeout = parse_line(b'{"kind":"event","sequence":1,"replica":1,"event":"RequestTimeout"}', "memory", 2)
    assert isinstance(timeout, EventLine)
    with pytest.raises(IncompleteLineError, match=r"^\$\.input was not observed$"):
        event_of(timeout)
    with pytest.raises(IncompleteLineError, match=r"^\$\.effects was not observed$"):
        draw_of(timeout)
    partial = parse_line(
        b'{"kind":"event","sequence":1,"replica":1,"event":"HandleFetchRequest",'
        b'"message":{"type":"FetchRequest","source":2,"destination":1,"correlation_id":3}}',
        "memory",
        2,
    )
    assert isinstance(partial, EventLine)
    with pytest.raises(IncompleteLineError, match=r"^\$\.message\.epoch was not observed$"):
        event_of(partial)
