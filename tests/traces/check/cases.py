"""Small runs by hand, for tests that need one certain line."""

from collections.abc import Collection
from typing import Any

import msgspec
from tests.traces.places import document_of

from kraft_reference.configuration import Configuration
from kraft_reference.events import ElectionTimeout, Event, Poll, PollFetch
from kraft_reference.roles import Role
from kraft_simulation.checkpoint import Checkpoints
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios.scenario import cluster
from kraft_simulation.world import World
from kraft_traces.check import Rejection, TraceChecker
from kraft_traces.check.model import trace_model
from kraft_traces.checkpoint_types import CheckpointLine
from kraft_traces.checkpoints import checkpoint_line
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine

THREE = cluster(3)
"""Replicas 1, 2 and 3, all of them voters."""


class Story:
    """A run by hand: `world` is where it stands, `lines` what happened so far, `states` what there was before each."""

    def __init__(self, configuration: Configuration = THREE) -> None:
        self.configuration = configuration
        self.world = World(configuration)
        self.lines: list[EventLine] = []
        self._checkpoints = Checkpoints(configuration)
        self.states = [self._checkpoints.now()]

    def tell(self, *occurrences: Occurrence) -> EventLine:
        """Note what just happened; the newest line."""
        for occurrence in occurrences:
            self.lines.append(event_line(occurrence))
            self._checkpoints.follow(occurrence)
            self.states.append(self._checkpoints.now())
        return self.lines[-1]

    def deliver_all(self, *, to: Collection[int] = ()) -> None:
        """Deliver what is on its way to these replicas, or to all, and what follows from it."""
        receivers = to or self.configuration.replicas
        while arriving := [name for name, message in self.world.messages() if message.destination in receivers]:
            self.tell(self.world.deliver(arriving[0]))

    def elect(self, replica: int) -> None:
        """Make a replica the leader of the next epoch."""
        self.tell(self.world.happen(replica, ElectionTimeout()), self.world.happen(replica, Poll()))
        self.deliver_all()
        self.tell(self.world.happen(replica, Poll()))
        self.deliver_all()
        assert self.world.state(replica).role is Role.LEADER

    def happen(self, replica: int, event: Event) -> None:
        """Add one event and its line."""
        self.tell(self.world.happen(replica, event))

    def settle(self, rounds: int = 5) -> None:
        """Fetch, poll and deliver until all follow replica 1 and know what is committed."""
        for _ in range(rounds):
            for replica in self.configuration.replicas:
                if replica != 1 and 1 not in self.world.state(replica).awaiting:
                    self.happen(replica, PollFetch(1))
            self.deliver_all()
            for replica in self.configuration.replicas:
                self.happen(replica, Poll())
            self.deliver_all()

    def line(self, event: str, replica: int | None = None, **fields: Any) -> EventLine:
        """Return the next line with these fields; by default, nothing changes."""
        document: dict[str, Any] = {
            "kind": "event",
            "sequence": self.world.sequence + 1,
            "time_ms": 0,
            "event": event,
            "cause": {"source": "poll"},
        }
        if replica is not None:
            last = next((line for line in reversed(self.lines) if line.replica == replica), None)
            unchanged = {} if last is None else document_of(last)["state"]
            document |= {"replica": replica, "effects": [], "refusal": None, "state": unchanged}
        document |= fields
        return msgspec.convert({key: value for key, value in document.items() if value is not ...}, EventLine)

    def checker(self, *, own: bool = True, **options: Any) -> TraceChecker:
        """Return a checker that has taken all lines so far."""
        checker = TraceChecker(trace_model(), self.configuration, "trace.jsonl", own=own, **options)
        for number, line in enumerate(self.lines, 2):
            assert checker.feed(number, line) is None
        return checker

    def checkpoint(self, sequence: int) -> CheckpointLine:
        """Return the checkpoint after `sequence` lines."""
        return checkpoint_line(self.states[sequence])

    def rejection_of(self, line: EventLine, *, own: bool = True) -> Rejection:
        """Return the rejection of a line that follows those so far."""
        rejection = self.checker(own=own).feed(len(self.lines) + 2, line)
        assert rejection is not None, "accepted"
        return rejection


def elected() -> Story:
    """Replica 1 leads epoch 1, and the others know."""
    story = Story()
    story.elect(1)
    story.tell(story.world.happen(1, Poll()))
    story.deliver_all()
    return story
