"""A foreign trace counts correlation ids as it likes; which request is answered follows from them all the same."""

import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from tests.traces.check.recorded import Recorded, recorded, verdict_on, verdict_on_every_way
from tests.traces.checkpointed import FOREIGN
from tests.traces.places import document_of

from kraft_traces.check import Verdict, VerdictKind

Documents = list[dict[str, Any]]


def _messages(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from (line[name] for name in ("message", "answer") if line.get(name))
    yield from (effect["message"] for effect in line.get("effects") or () if "message" in effect)


def counted(trace: Recorded) -> Documents:
    """The lines with ids that each replica counts for itself, from 500 on."""
    numbers = {replica: count(500) for replica in trace.configuration.replicas}
    own: dict[tuple[int, int, int], int] = {}

    def named(requester: int, receiver: int, drawn: int) -> int:
        if (requester, receiver, drawn) not in own:
            own[requester, receiver, drawn] = next(numbers[requester])
        return own[requester, receiver, drawn]

    lines = [document_of(line) for line in trace.lines]
    for line in lines:
        for message in _messages(line):
            ends = (message["source"], message["destination"])
            requester, receiver = ends if message["type"].endswith("Request") else ends[::-1]
            message["correlation_id"] = named(requester, receiver, message["correlation_id"])
        state = line.get("state")
        if state:
            replica = line["replica"]
            state["awaiting"] = [[to, named(replica, to, drawn)] for to, drawn in state["awaiting"]]
            pending = state["pending_change"]
            if pending and isinstance(pending["requester"], int):
                pending["request"] = named(pending["requester"], replica, pending["request"])
    return lines


def verdict_of(trace: Recorded, lines: Documents) -> Verdict:
    return verdict_on(trace.header(FOREIGN), [json.dumps(line).encode() + b"\n" for line in lines])


@pytest.mark.parametrize("workload", ["chaos", "auto-join"])
def test_any_numbers_are_right(workload: str) -> None:
    trace = recorded(workload, 3, 200)
    verdict = verdict_of(trace, counted(trace))
    assert verdict.kind is VerdictKind.ACCEPTED, verdict
    assert verdict.candidates_max == 1


def test_an_id_that_only_its_receiver_shows_is_right() -> None:
    trace = recorded("chaos", 3, 200)
    lines = counted(trace)
    for line in lines:
        if line["event"] in ("Poll", "PollFetch"):
            del line["effects"], line["state"]
    assert verdict_of(trace, lines).kind is VerdictKind.ACCEPTED


def _of_another_request(lines: Documents) -> str:
    *_, line = (line for line in lines if line["event"] == "HandleFetchRequest" and line["effects"])
    _set(line, "FetchResponse", lambda correlation_id: correlation_id - 1)
    return "event.fetches.late"


def _of_none(lines: Documents) -> str:
    line = next(line for line in lines if line["event"] == "HandleVoteResponse")
    line["message"]["correlation_id"] = 7
    return "message.correlation_id"


def _twice(lines: Documents) -> str:
    """A replica that gives one id to a request that timed out and to the next one to the same receiver."""
    timeout = next(place for place, line in enumerate(lines) if line["event"] == "RequestTimeout")
    replica, to = lines[timeout]["replica"], lines[timeout]["input"]["destination"]
    sends = [
        (place, effect["message"])
        for place, line in enumerate(lines)
        for effect in line.get("effects") or ()
        if line.get("replica") == replica
        and effect.get("message", {}).get("destination") == to
        and effect["message"]["type"].endswith("Request")
    ]
    earlier = [message for place, message in sends if place < timeout][-1]
    later = next(message for place, message in sends if place > timeout)
    later["correlation_id"] = earlier["correlation_id"]
    return "message.correlation_id"


def _set(line: dict[str, Any], kind: str, change: Callable[[int], int]) -> None:
    for effect in line["effects"]:
        if effect.get("message", {}).get("type") == kind:
            effect["message"]["correlation_id"] = change(effect["message"]["correlation_id"])


@pytest.mark.parametrize("spoil", [_of_another_request, _of_none, _twice])
def test_a_wrong_id_is_rejected(spoil: Callable[[Documents], str]) -> None:
    trace = recorded("chaos", 3, 200)
    lines = counted(trace)
    field = spoil(lines)
    verdict = verdict_of(trace, lines)
    assert verdict.rejection is not None
    conjunct = verdict.rejection.conjunct
    places = [difference.field for difference in verdict.rejection.differences] if conjunct is None else [conjunct.text]
    assert any(field in it for it in places), verdict.rejection


def _without_ids_of_requests(lines: Documents) -> None:
    for line in lines:
        for message in _messages(line):
            message.pop("correlation_id")


def test_a_pending_change_is_compared_where_the_id_of_its_request_is_hidden() -> None:
    trace = recorded("auto-join", 3, 200)
    lines = counted(trace)
    _without_ids_of_requests(lines)
    for line in lines:
        line.get("state", {}).pop("awaiting", None)
    assert verdict_of(trace, lines).kind is VerdictKind.ACCEPTED
    changes = (line["state"]["pending_change"] for line in lines if line.get("state"))
    pending = next(change for change in changes if change and isinstance(change["requester"], int))
    pending["when_committed"] = not pending["when_committed"]
    verdict = verdict_of(trace, lines)
    assert verdict.rejection is not None
    assert [difference.field for difference in verdict.rejection.differences] == ["state.pending_change"]


def test_what_is_awaited_tells_the_ids_that_the_requests_do_not_show() -> None:
    trace = recorded("chaos", 3, 200)
    lines = counted(trace)
    _without_ids_of_requests(lines)
    assert verdict_of(trace, lines).kind is VerdictKind.ACCEPTED
    later = (line for line in lines if line["event"] not in ("Poll", "PollFetch"))
    *_, state = (line["state"] for line in later if line.get("state", {}).get("awaiting"))
    receiver, correlation_id = state["awaiting"][-1]
    state["awaiting"][-1] = [receiver, correlation_id + 1]
    verdict = verdict_of(trace, lines)
    assert verdict.rejection is not None
    assert [difference.field for difference in verdict.rejection.differences] == ["state.awaiting"]


def test_an_id_that_no_request_has_is_wrong_even_if_it_is_the_number_in_the_model() -> None:
    trace = recorded("chaos", 3, 200)
    lines = counted(trace)
    line, own = next(
        (line, document_of(it)["state"]["awaiting"])
        for line, it in zip(lines, trace.lines, strict=True)
        if line["event"] not in ("Poll", "PollFetch") and line.get("state", {}).get("awaiting")
    )
    line["state"]["awaiting"] = own
    rejection = verdict_on_every_way(
        trace.header(FOREIGN), [json.dumps(line).encode() + b"\n" for line in lines]
    ).rejection
    assert rejection is not None
    (difference,) = rejection.differences
    assert (rejection.sequence, difference.field) == (line["sequence"], "state.awaiting")
    assert difference.expected == "ids of requests that replica 1 has sent"


def test_so_is_that_of_a_pending_change() -> None:
    trace = recorded("auto-join", 3, 200)
    lines = counted(trace)
    line, own = next(
        (line, pending)
        for line, it in zip(lines, trace.lines, strict=True)
        if (pending := document_of(it).get("state", {}).get("pending_change")) and isinstance(pending["requester"], int)
    )
    line["state"]["pending_change"] = own
    rejection = verdict_on_every_way(
        trace.header(FOREIGN), [json.dumps(line).encode() + b"\n" for line in lines]
    ).rejection
    assert rejection is not None
    assert [difference.field for difference in rejection.differences] == ["state.pending_change.request"]
