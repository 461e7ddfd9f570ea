"""The part of the runner that knows the events and the states of a subject."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from kraft_conformance.protocol.messages import HelloReply
from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import Outcome
from kraft_conformance.runner.session import Adapter
from kraft_mutants.attribution import AnyGiven
from kraft_vectors.catalogue import AnyVector
from kraft_vectors.features import Level

VectorT = TypeVar("VectorT", bound=AnyVector)


class VectorRun(ABC, Generic[VectorT]):
    """A vector of one subject on an adapter; the static methods are about any vector of the subject."""

    def __init__(self, session: Adapter, vector: VectorT, profile: str) -> None:
        self.session, self.vector, self.profile = session, vector, profile
        self.hello = session.hello

    @abstractmethod
    def outcome(self) -> Outcome:
        """Run it to its end.

        Raises:
            Failed: a step, or the state before the first, differs.
            NotAsked: the vector is not for this implementation.
            AdapterFault: the adapter does not answer as the protocol says.
        """

    @abstractmethod
    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """A failure with the rules behind what differs; `left_out` are mutants that it is not compared with."""

    def place(self, fault: AdapterFault) -> None:
        """Write into a fault where it happened, where that is known."""

    @staticmethod
    def as_asked(vector: VectorT, _hello: HelloReply) -> VectorT:
        """The vector for an adapter that lacks a KIP."""
        return vector

    @staticmethod
    @abstractmethod
    def steps(vector: VectorT) -> Sequence[AnyGiven]:
        """Inputs of the reference in each step; none where the vector allows several outcomes."""

    @staticmethod
    @abstractmethod
    def shown(step: Any, level: Level) -> object:
        """The part of a reference step that an adapter which passes shows at this level."""
