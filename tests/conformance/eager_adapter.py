"""Adapters for the tests: the reference that sends more requests than it must, rightly or wrongly.

`python eager_adapter.py MODE [LEVEL]`; LEVEL is what it shows: `state` with injection, or less without it.
"""

import sys
from collections.abc import Callable
from typing import cast

from msgspec import UNSET
from msgspec.structs import replace

from kraft_conformance.adapters.reference import ReferenceAdapter, serve_with
from kraft_conformance.adapters.showing import at_level
from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request, Step, StepReply
from kraft_reference.effects import Send
from kraft_reference.events import Draw
from kraft_reference.identity import ReplicaKey
from kraft_reference.leadership import begin_quorum_epoch_request, end_quorum_epoch_request
from kraft_reference.messages import Message
from kraft_reference.messages import Reply as ClientReply
from kraft_reference.outcome import Outcome
from kraft_reference.polling import after_poll, after_poll_fetch, due_fetch_targets
from kraft_reference.replica import Replica
from kraft_reference.replication import fetch_request
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState, other_voters
from kraft_traces.effects import TracedSend, traced_effect

Extra = Callable[[Replica, ReplicaState, str, Draw], tuple[Message, ...]]
"""What is sent besides, from the state before the event."""


def _messages(outcome: Outcome) -> tuple[Message, ...]:
    return tuple([one for one in outcome.sends if not isinstance(one, ClientReply)])


def _poll_without(*fields: str) -> Extra:
    def extra(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
        unaware = before._replace(**{name: type(getattr(before, name))() for name in fields})
        return _messages(after_poll(unaware, replica.configuration, draw)) if event == "Poll" else ()

    return extra


def _servers(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
    if event != "PollFetch":
        return ()
    idle = before._replace(awaiting={})
    targets = due_fetch_targets(idle, replica.configuration)
    outcomes = [after_poll_fetch(idle, replica.configuration, one, draw) for one in targets]
    return tuple([message for outcome in outcomes for message in _messages(outcome)])


def _to_observers(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
    if event != "Poll" or before.role is not Role.LEADER:
        return ()
    key = ReplicaKey(9, "U9")
    return (begin_quorum_epoch_request(before, replica.configuration, key, draw.correlation_id),)


def _of_another_epoch(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
    return _announced_to_all(replica, before._replace(epoch=before.epoch + 1), event, draw)


def _elsewhere(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
    if event != "PollFetch" or before.role is not Role.FOLLOWER or before.searching:
        return ()
    others = [one.id for one in other_voters(before) if one.id != before.leader_id]
    return tuple([fetch_request(before, replica.configuration, one, draw.correlation_id) for one in others])


def _ends_when_leading(replica: Replica, before: ReplicaState, event: str, draw: Draw) -> tuple[Message, ...]:
    if event != "Poll" or before.role is not Role.LEADER:
        return ()
    voters = other_voters(before)
    return tuple([end_quorum_epoch_request(before, replica.configuration, one, draw.correlation_id) for one in voters])


_announced_to_all = _poll_without("awaiting", "acknowledged", "fetchers")

MODES: dict[str, Extra] = {
    # Right ones.
    "announces-to-all": _announced_to_all,
    "repeats": _poll_without("awaiting"),
    "asks-all-servers": _servers,
    # Wrong ones.
    "announces-to-observers": _to_observers,
    "announces-another-epoch": _of_another_epoch,
    "asks-who-answered": _poll_without("awaiting", "granted", "rejected"),
    "ends-again": _poll_without("awaiting", "acknowledged"),
    "ends-when-leading": _ends_when_leading,
    "fetches-elsewhere": _elsewhere,
}


class Eager(ReferenceAdapter):
    """Sends more, waits for the newest of two requests on a connection, and sends no third while one is out."""

    def __init__(self, mode: str, level: Level = "state") -> None:
        super().__init__()
        self._extra = MODES[mode]
        self._level = level

    def shown(self, request: Request) -> Reply:
        """The reply, with what is sent besides, at the level that is shown."""
        extra: tuple[Message, ...] = ()
        if isinstance(request, Step) and request.crash is UNSET:
            replica = self.replica()
            draw = Draw(request.draw.correlation_id, 0, 0)
            before = replica.state
            extra = self._extra(replica, before, request.event, draw)
        reply = self.answer(request)
        if isinstance(reply, StepReply) and extra:
            reply = self._with(reply, extra)
        return at_level(reply, self._level, injects=self._level == "state")

    def _with(self, reply: StepReply, extra: tuple[Message, ...]) -> StepReply:
        sent = {one.message.destination for one in reply.effects if isinstance(one, TracedSend)}
        more = [one for one in extra if one.destination not in sent]
        replica = self.replica()
        awaiting = {**replica.state.awaiting, **{one.destination: one.correlation_id for one in more}}
        replica.state = replica.state._replace(awaiting=awaiting)
        return replace(
            reply,
            effects=(*reply.effects, *[traced_effect(1, Send(one)) for one in more]),
            refusal=None if more else reply.refusal,
        )


def main() -> None:
    """Answer until standard input ends."""
    mode, *level = sys.argv[1:]
    adapter = Eager(mode, *cast(list[Level], level))
    serve_with(adapter.shown, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
