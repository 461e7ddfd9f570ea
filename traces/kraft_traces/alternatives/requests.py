"""Requests that a replica may send in addition to those of the reference, by role.

The reference sends a request once and waits for the response; the KIPs only say who receives it, and until when.
So a replica may also send what the reference would send without the state that keeps it from sending.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import UNSET
from msgspec.structs import replace

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Draw, Event, Poll, PollFetch
from kraft_reference.messages import Message, Reply
from kraft_reference.polling import after_poll, after_poll_fetch, due_fetch_targets
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.alternatives.values import MaySend
from kraft_traces.effects import TracedSend, traced_effect
from kraft_traces.message_types import TracedMessage


class OpenRequests(NamedTuple):
    """Additional requests that the KIPs allow a role."""

    forgotten: tuple[str, ...]
    """Fields of the state that keep the reference from sending, although the KIPs do not require that."""
    reason: str


NOT_ANSWERED = ("awaiting",)

IN_A_POLL = {
    Role.PROSPECTIVE: OpenRequests(
        NOT_ANSWERED, "prevote.request.recipients repeats it to those that have not answered"
    ),
    Role.CANDIDATE: OpenRequests(NOT_ANSWERED, "vote.request.contents repeats it to those that have not answered"),
    Role.LEADER: OpenRequests(
        ("awaiting", "acknowledging_voters", "fetchers"),
        "begin-quorum.resend leaves open how often, and whether to voters that fetch",
    ),
    Role.RESIGNED: OpenRequests(NOT_ANSWERED, "end-quorum.send repeats it until it is acknowledged"),
}
"""Additional requests in a Poll, by role.

A replica that answered a Vote or an EndQuorumEpoch gets no other one, and only voters get an announcement, so those
fields are not forgotten.  A Follower sends requests to its leader only, which are those that the step expects."""

IN_A_FETCH = {
    Role.UNATTACHED: OpenRequests(
        NOT_ANSWERED, "discovery.bootstrap leaves open how many of the servers are asked at a time"
    ),
    Role.FOLLOWER: OpenRequests(
        NOT_ANSWERED, "observer.fetch-timeout lets the servers be asked in addition to the leader"
    ),
}
"""Additional requests in a PollFetch, by role.

A Follower that is not searching fetches from its leader only: fetch.who-fetches."""


def may_send(
    event: Event, before: ReplicaState, configuration: Configuration, draw: Draw, sent: Sequence[Message]
) -> tuple[MaySend, ...]:
    """Return the requests that may be sent in addition to `sent`, in the order of their receivers.

    Args:
        event: event of the step; only `Poll` and `PollFetch` send requests.
        before: state before the step.
        configuration: configuration of the cluster.
        draw: random draw of the step.
        sent: messages that the reference sends in it.
    """
    receivers = {(type(message), message.destination) for message in sent}
    return tuple(
        [
            MaySend(_traced(message), reason)
            for message, reason in _open_requests(event, before, configuration, draw)
            if (type(message), message.destination) not in receivers
        ]
    )


def _open_requests(
    event: Event, before: ReplicaState, configuration: Configuration, draw: Draw
) -> Iterator[tuple[Message, str]]:
    match event:
        case Poll() if before.role in IN_A_POLL:
            allowed = IN_A_POLL[before.role]
            outcomes = [after_poll(_without_fields(before, allowed), configuration, draw)]
        case PollFetch() if before.role in IN_A_FETCH:
            allowed = IN_A_FETCH[before.role]
            unaware = _without_fields(before, allowed)
            targets = due_fetch_targets(unaware, configuration)
            outcomes = [after_poll_fetch(unaware, configuration, target, draw) for target in targets]
        case _:
            return
    for outcome in outcomes:
        for message in outcome.sends:
            assert not isinstance(message, Reply), "a poll sends no replies"
            yield message, allowed.reason


def _without_fields(state: ReplicaState, allowed: OpenRequests) -> ReplicaState:
    return state._replace(**{name: type(getattr(state, name))() for name in allowed.forgotten})


def _traced(message: Message) -> TracedMessage:
    effect = traced_effect(1, Send(message))
    assert isinstance(effect, TracedSend), "a Send is traced as one"
    return replace(effect.message, id=UNSET)
