"""Adapter of the reference: the example for adapters of other implementations.

`python -m kraft_conformance.adapters.reference` reads a request from each line of standard input and writes its reply.
With `--mutant NAME` it breaks a rule on purpose, which shows what a failure looks like.
An adapter needs four operations of its implementation: set up a replica, give it an event, collect its writes and
messages, and read its state.
"""

import argparse
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import BinaryIO

from msgspec import UNSET

from kraft_conformance.adapters.partitions import PartitionAdapter
from kraft_conformance.protocol.messages import (
    SCHEMA,
    Bye,
    ByeReply,
    Crash,
    CrashReply,
    ErrorReply,
    Hello,
    HelloReply,
    Observe,
    ObserveReply,
    Reply,
    Request,
    Reset,
    ResetReply,
    Restart,
    RestartReply,
    Software,
    Step,
    StepReply,
)
from kraft_conformance.protocol.parsing import encode, parse_request
from kraft_conformance.protocol.partitions import PartitionObserve, PartitionReset, PartitionStep
from kraft_mutants import MutantError
from kraft_mutants.replicas import mutated_controllers, mutated_replicas
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_reference import events
from kraft_reference.events import Draw, Event
from kraft_reference.replica import Replica
from kraft_reference.replica import Step as Done
from kraft_reference.state import new_replica
from kraft_simulation.world import MakeReplica
from kraft_traces.checkpoints import replica_state_of
from kraft_traces.effects import TracedEffect, traced_effect
from kraft_traces.encode import REFERENCE_KIP_LEVELS
from kraft_traces.errors import IncompleteLineError, TraceError
from kraft_traces.lines import EventLine
from kraft_traces.restore import event_of
from kraft_traces.state_types import TracedState
from kraft_traces.states import traced_state
from kraft_vectors.cluster import configuration_from
from kraft_vectors.draw import TracedDraw, draw_of
from kraft_vectors.format import VectorEvent


class ReferenceAdapter:
    """A replica of the reference, and the controllers of partitions."""

    def __init__(
        self, profile: str = "kip", make_replica: MakeReplica = Replica, controllers: Controllers = REFERENCE
    ) -> None:
        """`profile` is the one in `hello`; the cluster of each `reset` has its own."""
        self._profile = profile
        self.make_replica = make_replica
        self._replica: Replica | None = None
        self.partitions = PartitionAdapter(controllers)

    def answer(self, request: Request) -> Reply:
        """Handle a request and return the reply.

        Raises:
            ValueError: the request is not possible in this state.
        """
        match request:
            case Hello(id=number):
                software = Software("kraft-reference", version("kraft-spec"))
                levels = {**REFERENCE_KIP_LEVELS, "KIP-455": "partial"}
                return HelloReply(
                    id=number,
                    schema=SCHEMA,
                    implementation=software,
                    kip_levels=levels,
                    kraft_versions=(0, 1),
                    profile=self._profile,
                    observability="state",
                    state_injection=True,
                    subjects=("replica", "partitions"),
                )
            case Reset(id=number):
                self._replica = _replica(request, self.make_replica)
                return ResetReply(id=number)
            case Step(id=number):
                done = self._step(event_at_replica(request), request.draw, request.crash)
                return StepReply(id=number, effects=_effects(done), refusal=done.refusal)
            case Crash(id=number):
                self._step(events.Crash(request.log_end_offset), _NO_DRAW)
                return CrashReply(id=number)
            case Restart(id=number):
                done = self._step(events.Restart(request.endpoint), request.draw)
                return RestartReply(id=number, effects=_effects(done), refusal=done.refusal)
            case Observe(id=number):
                return ObserveReply(id=number, state=self.state())
            case Bye(id=number):
                return ByeReply(id=number)
            case PartitionReset() | PartitionStep() | PartitionObserve():
                return self.partitions.answer(request)

    def state(self) -> TracedState:
        """Return the state of the replica, as traces record it.

        Raises:
            ValueError: there was no `reset` yet.
        """
        return traced_state(self.replica().state)

    def replica(self) -> Replica:
        """Return the replica.

        Raises:
            ValueError: there was no `reset` yet.
        """
        if self._replica is None:
            raise ValueError("there was no reset yet")
        return self._replica

    def _step(self, event: Event, draw: TracedDraw, crash: object = UNSET) -> Done:
        chance = draw_of(draw)
        if crash is UNSET:
            return self.replica().step(event, chance)
        return self.replica().crash_during(event, chance, crash.completed, crash.log_end_offset)  # type: ignore[attr-defined]


_NO_DRAW = TracedDraw(0, 0, 0)


def _replica(request: Reset, make_replica: MakeReplica) -> Replica:
    configuration = configuration_from(request.cluster)
    if request.before is not UNSET:
        return make_replica(replica_state_of("$.before", request.before), configuration)
    formatted = new_replica(configuration.replicas[request.replica].key, configuration.checkpoint(request.replica))
    replica = make_replica(formatted, configuration)
    replica.step(events.Restart(), Draw(0, 0, 0))
    return replica


def event_at_replica(step: Step | VectorEvent) -> Event:
    """Return the event of a step for the reference.

    Raises:
        ValueError: the event does not happen at a replica.
    """
    event = event_of(EventLine(sequence=1, event=step.event, message=step.message, input=step.input))
    if not isinstance(event, Event):
        raise ValueError(f"{step.event} happens in the network, not at a replica")
    return event


def _effects(done: Done) -> tuple[TracedEffect, ...]:
    return tuple([traced_effect(1, effect) for effect in done.effects])


def serve(answer: Callable[[Request], Reply], requests: BinaryIO, replies: BinaryIO) -> None:
    """Handle requests until `bye` or the end of the input."""
    for number, raw in enumerate(requests, 1):
        try:
            request = parse_request(raw, number)
            reply = answer(request)
        except (TraceError, IncompleteLineError, KeyError, ValueError) as error:
            reply = ErrorReply(id=number, code="failed", detail=str(error))
        replies.write(encode(reply))
        replies.flush()
        if isinstance(reply, ByeReply):
            return


def main() -> None:
    """Serve the reference with the options of the command line.

    Exits with a message if an argument is unknown.
    """
    parser = argparse.ArgumentParser(prog="python -m kraft_conformance.adapters.reference", description=main.__doc__)
    parser.add_argument("profile", nargs="?", default="kip")
    parser.add_argument("--mutant", metavar="NAME", action="append", default=[], help="a mutant, or a rule to omit")
    words = parser.parse_args()
    try:
        make_replica, controllers = mutated_replicas(words.mutant), mutated_controllers(words.mutant)
    except MutantError as error:
        parser.error(str(error))
    adapter = ReferenceAdapter(words.profile, make_replica=make_replica, controllers=controllers)
    serve(adapter.answer, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
