"""Interface of the runner to the events and states of a subject."""

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
    """Run of a vector on an adapter; the static methods take any vector of the subject."""

    def __init__(self, session: Adapter, vector: VectorT, profile: str) -> None:
        self.session, self.vector, self.profile = session, vector, profile
        self.hello = session.hello

    @abstractmethod
    def outcome(self) -> Outcome:
        """Run the vector.

        Raises:
            Failed: a step, or the state before the first, differs.
            NotApplicable: the vector does not apply to this implementation.
            AdapterFault: the adapter violates the protocol.
        """

    @abstractmethod
    def attributed(self, outcome: Outcome, left_out: frozenset[str]) -> Outcome:
        """Return a failure with the rules behind the differences, without comparing it with the mutants `left_out`."""

    def place(self, fault: AdapterFault) -> None:
        """Record in a fault its position, if it is known."""

    @staticmethod
    def as_asked(vector: VectorT, _hello: HelloReply) -> VectorT:
        """Return the vector for this adapter, which may lack a KIP."""
        return vector

    @staticmethod
    @abstractmethod
    def steps(vector: VectorT) -> Sequence[AnyGiven]:
        """Return the inputs of the reference in each step; none if the vector allows several outcomes."""

    @staticmethod
    @abstractmethod
    def shown(step: Any, level: Level) -> object:
        """Return the part of a reference step that a passing adapter shows at this level."""
