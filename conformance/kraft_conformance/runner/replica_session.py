"""The replica behind an adapter, for vectors and random runs: takes events, returns observations.

The reference runs beside it.  Observations have the reference's correlation ids, and the reference's values where the
rules leave the quorum state or the high watermark open.
"""

from functools import partial

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from kraft_conformance.protocol.messages import (
    Crash,
    CrashReply,
    Observe,
    ObserveReply,
    Restart,
    RestartReply,
    Step,
    StepReply,
)
from kraft_conformance.runner.asking import fields_of
from kraft_conformance.runner.correlations import Correlations
from kraft_conformance.runner.session import Adapter
from kraft_reference.state import ReplicaState
from kraft_traces.alternatives.high_watermarks import as_unknown, is_first_of_all, published_as_unknown
from kraft_traces.alternatives.own_votes import with_own_vote, with_own_votes
from kraft_traces.state_types import TracedState
from kraft_vectors.format import VectorEvent


class ReplicaSession:
    """Replica that the adapter has set up."""

    def __init__(self, session: Adapter) -> None:
        self._session = session
        self._keeps_votes = session.hello.has_pre_vote
        self._correlations = Correlations()

    def happen(self, event: VectorEvent, before: ReplicaState, after: ReplicaState) -> StepReply | RestartReply | None:
        """Send an event and return its effects; None for a crash between steps.

        Args:
            event: event of the vector or the run.
            before: the reference's state before it.
            after: the reference's state after it.

        Raises:
            AdapterFault: the adapter does not answer as the protocol says.
        """
        fields = fields_of(replace(event, message=self._correlations.addressed(event.event, event.message)))
        reply: StepReply | RestartReply
        if event.event == "Crash":
            self._session.ask(CrashReply, Crash, **fields)
            return None
        if event.event == "Restart":
            reply = self._session.ask(RestartReply, Restart, **fields)
        else:
            reply = self._session.ask(StepReply, Step, **fields)
        effects = with_own_votes(reply.effects, after, before, keeps_votes=self._keeps_votes)
        published = published_as_unknown(effects, partial(is_first_of_all, before))
        return replace(reply, effects=self._correlations.drawn(event.draw, published))

    def observed(self, *states: ReplicaState) -> TracedState | UnsetType:
        """Return the state, UNSET if it is not observable; `states` are the reference's at that moment.

        Raises:
            AdapterFault: the adapter does not answer as the protocol says.
        """
        if self._session.hello.observability != "state":
            return UNSET
        state = self._session.ask(ObserveReply, Observe).state
        return self._correlations.observed(as_unknown(with_own_vote(state, *states, keeps_votes=self._keeps_votes)))
