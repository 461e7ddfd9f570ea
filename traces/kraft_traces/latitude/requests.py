"""Which requests a replica may send beside those of the reference: a table by role, and the requests that it gives.

The reference sends a request once and waits for the answer; the texts only say to whom it goes, and until when.
So what else is right is what the reference would send if it did not know what keeps it from sending.
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
from kraft_traces.effects import TracedSend, traced_effect
from kraft_traces.latitude.values import MaySend
from kraft_traces.message_types import TracedMessage


class Leeway(NamedTuple):
    """What the texts leave open of the requests of a role."""

    forgotten: tuple[str, ...]
    """Fields of the state that keep the reference from sending, and that the texts do not name as a reason not to."""
    reason: str


NOT_ANSWERED = ("awaiting",)

IN_A_POLL = {
    Role.PROSPECTIVE: Leeway(NOT_ANSWERED, "prevote.request.recipients repeats it to those that have not answered"),
    Role.CANDIDATE: Leeway(NOT_ANSWERED, "vote.request.contents repeats it to those that have not answered"),
    Role.LEADER: Leeway(
        ("awaiting", "acknowledged", "fetchers"),
        "begin-quorum.resend leaves open how often, and whether to voters that fetch",
    ),
    Role.RESIGNED: Leeway(NOT_ANSWERED, "end-quorum.send repeats it until it is acknowledged"),
}
"""Who has answered a Vote or an EndQuorumEpoch is not asked again, and nobody outside the voters set is announced to:
those fields and the voters stay.  A Follower has nobody but its leader to ask, and asks it what the step expects."""

IN_A_FETCH = {
    Role.UNATTACHED: Leeway(
        NOT_ANSWERED, "discovery.bootstrap leaves open how many of the servers are asked at a time"
    ),
    Role.FOLLOWER: Leeway(NOT_ANSWERED, "observer.fetch-timeout lets the servers be asked in addition to the leader"),
}
"""A Follower that does not search fetches from its leader alone: fetch.who-fetches."""


def may_send(
    event: Event, before: ReplicaState, configuration: Configuration, draw: Draw, sent: Sequence[Message]
) -> tuple[MaySend, ...]:
    """The requests that may come on top of those that are sent, in the order of their receivers.

    Args:
        event: of the step; requests are sent in `Poll` and `PollFetch` alone.
        before: the state that it happens in.
        configuration: of the cluster.
        draw: of the step.
        sent: what the reference sends in it.
    """
    taken = {(type(message), message.destination) for message in sent}
    return tuple(
        [
            MaySend(_traced(message), reason)
            for message, reason in _open_requests(event, before, configuration, draw)
            if (type(message), message.destination) not in taken
        ]
    )


def _open_requests(
    event: Event, before: ReplicaState, configuration: Configuration, draw: Draw
) -> Iterator[tuple[Message, str]]:
    match event:
        case Poll() if before.role in IN_A_POLL:
            leeway = IN_A_POLL[before.role]
            outcomes = [after_poll(_unaware(before, leeway), configuration, draw)]
        case PollFetch() if before.role in IN_A_FETCH:
            leeway = IN_A_FETCH[before.role]
            unaware = _unaware(before, leeway)
            targets = due_fetch_targets(unaware, configuration)
            outcomes = [after_poll_fetch(unaware, configuration, target, draw) for target in targets]
        case _:
            return
    for outcome in outcomes:
        for message in outcome.sends:
            assert not isinstance(message, Reply), "nobody is answered in a poll"
            yield message, leeway.reason


def _unaware(state: ReplicaState, leeway: Leeway) -> ReplicaState:
    return state._replace(**{name: type(getattr(state, name))() for name in leeway.forgotten})


def _traced(message: Message) -> TracedMessage:
    effect = traced_effect(1, Send(message))
    assert isinstance(effect, TracedSend), "a Send is shown as one"
    return replace(effect.message, id=UNSET)
