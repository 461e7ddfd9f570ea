"""The conformance vectors as a tool: the reference that is imported, behind its own adapter in this process."""

from typing import Any, TypeVar

from kraft_conformance.adapters.reference import ReferenceAdapter
from kraft_conformance.protocol.messages import SCHEMA, Hello, HelloReply, Reply, Request, Software
from kraft_conformance.runner.outcome import FAILING
from kraft_conformance.runner.running import run_vector
from kraft_conformance.runner.session import Session
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_dev.mutation.sighting import Sighting, Tally, Target

_Reply = TypeVar("_Reply", bound=Reply)


class _InThisProcess(Session):
    """A session without a process: what the adapter raises comes through."""

    def __init__(self) -> None:
        self._adapter = ReferenceAdapter()
        self.hello = self.ask(HelloReply, Hello, schema=SCHEMA, runner=Software("kraft-spec", ""))

    def ask(self, wanted: type[_Reply], request: type[Request], **fields: Any) -> _Reply:
        reply = self._adapter.answer(request(id=1, **fields))
        assert isinstance(reply, wanted), "the adapter answers what it is asked"
        return reply


def replay_vectors(target: Target, tally: Tally) -> Sighting | None:
    """Run each vector of a replica under each of its profiles, as the runner does."""
    session = _InThisProcess()
    for vector in Catalogue().of_replicas():
        for profile in vector.requires.profiles:
            tally.where = vector.id
            tally.amount += len(vector.steps)
            outcome = run_vector(session, vector, profile)
            if outcome.status in FAILING:
                return Sighting(outcome.reason, vector.id)
    return None
