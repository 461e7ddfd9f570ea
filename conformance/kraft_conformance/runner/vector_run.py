"""The interface of a vector's run, of whichever subject."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from kraft_conformance.runner.faults import AdapterFault
from kraft_conformance.runner.outcome import Outcome
from kraft_conformance.runner.session import Adapter
from kraft_vectors.catalogue import AnyVector

VectorT = TypeVar("VectorT", bound=AnyVector)


class VectorRun(ABC, Generic[VectorT]):
    """A vector on an adapter."""

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
