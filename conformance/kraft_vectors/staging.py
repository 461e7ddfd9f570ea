"""Runs for vectors: scripts for a `Director` that records the first step and the draws.

Three methods go beyond the possible runs of a cluster: `construct` puts a replica into an unreachable state, `refuses`
gives it an event that is not due, and `unsent` delivers a request from outside of the cluster.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kraft_reference.configuration import Configuration
from kraft_reference.effects import Send
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.messages import Reply
from kraft_reference.outcome import Refusal
from kraft_reference.replica import Replica, handle
from kraft_simulation.checkpoint import NO_VOTES, CastVotes, Checkpoints
from kraft_simulation.occurrence import Occurrence
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.exchange import answer_to, verdict_of
from kraft_simulation.world import MakeReplica
from kraft_vectors.acceptance import UNSENT, Accepts, replace_fields
from kraft_vectors.recording import Construction, Run


class RecordingDirector(Director):
    """A director that records its draws."""

    def __init__(self, name: str, configuration: Configuration, make_replica: MakeReplica = Replica) -> None:
        super().__init__(name, configuration, make_replica)
        self.draws: dict[int, Draw] = {}
        self.construction: Construction | None = None

    def draw(self, replica_id: int) -> Draw:
        """Return the draw for the next move."""
        drawn = super().draw(replica_id)
        self.draws[drawn.correlation_id] = drawn
        return drawn

    def construct(self, replica_id: int, why: str, **fields: Any) -> None:
        """Change fields of a replica's state to one that no events lead to.

        The steps begin here.  `why` tells readers of the vector why the state is unreachable.
        """
        followed = Checkpoints(self.world.configuration)
        for occurrence in self.occurrences:
            followed.follow(occurrence)
        state = self.world.state(replica_id)._replace(**fields)
        self.world.replicas[replica_id].state = state
        there = followed.now()
        # Its votes follow from its new state, whatever it did before.
        cast = NO_VOTES if state.voted_key is None else CastVotes(state.epoch, frozenset((state.voted_key,)))
        remembered = there.recollection._replace(votes={**there.recollection.votes, replica_id: cast})
        replicas = {**there.replicas, replica_id: state}
        self.construction = Construction(there._replace(replicas=replicas, recollection=remembered), why)
        self.start = self.world.sequence + 1

    def refuses(self, replica_id: int, event: Event, refusal: Refusal = Refusal.NOTHING_DUE) -> None:
        """Give a replica an event of its own that is not due, or not in its role, and check its refusal."""
        self.world.time_ms += 1
        occurrence = self.world.happen(replica_id, event, self.draw(replica_id))
        self.check(f"refusal of N{replica_id}", occurrence.refusal, refusal)
        self.occurrences.append(occurrence)

    def without(self, request: str, field: str) -> None:
        """Remove an optional field from an in-flight request, as a sender of an older version would.

        The field is `cluster_id` or `voter_key`, and has the value of this cluster or replica.
        """
        flight = self.world.in_flight[request]
        self.world.in_flight[request] = flight._replace(message=replace_fields(flight.message, **{field: None}))

    def unsent(self, like: str, verdict: str, **fields: Any) -> None:
        """Deliver a copy of an in-flight request with changed fields, from outside of the cluster.

        Check that its only effect is the response, which is dropped.  The model does not see such requests, so the
        occurrence has the sequence number of the next one.
        """
        request = replace_fields(self.world.in_flight[like].message, **fields)
        replica_id = request.destination
        before, draw = self.state(replica_id), self.draw(replica_id)
        self.world.time_ms += 1
        outcome = handle(before, self.world.configuration, Receive(request), draw)
        occurrence = Occurrence(
            self.world.sequence + 1,
            self.world.time_ms,
            Receive(request),
            replica_id,
            UNSENT,
            tuple([Send(sent) for sent in outcome.sends if not isinstance(sent, Reply)]),
            outcome.refusal,
            state=outcome.state,
        )
        response = answer_to(request, occurrence)
        self.check(f"the answer of N{replica_id}", None if response is None else verdict_of(response), verdict)
        self.check(f"messages of N{replica_id}", len(outcome.sends), 1)
        self.check(f"timers of N{replica_id}", outcome.timers, ())
        self.check(f"the state of N{replica_id}", outcome.state, before)
        self.occurrences.append(occurrence)


def record_run(
    source: str,
    configuration: Configuration,
    script: Callable[[RecordingDirector], None],
    accepts: Accepts,
    make_replica: MakeReplica = Replica,
) -> Run:
    """Run a script with such replicas.

    Raises:
        ScenarioFailure: the reference differs from the script.
        NotAcceptedError: the model rejects it.
    """
    director = RecordingDirector(source, configuration, make_replica)
    script(director)
    start = 1 if director.start is None else director.start
    run = Run(source, configuration, tuple(director.occurrences), director.draws, start, (), director.construction)
    return replace(run, profiles=accepts(run))
