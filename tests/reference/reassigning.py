"""Leaders on their way to a target, for the tests of quorum reassignment."""

from typing import Any

from tests.reference.builders import SIX, key

from kraft_reference.changes import REASSIGNMENT
from kraft_reference.configuration import Configuration
from kraft_reference.log import append, flush
from kraft_reference.quorum_reassignment import next_steps
from kraft_reference.records import Record
from kraft_reference.state import ReplicaState

TARGET = frozenset((4, 5, 6))
"""The target of `reassigning`."""
FETCHED = {key(4): 2, key(5): 2, key(6): 2}
"""Observers that have fetched everything from `reassigning`."""
STEP: dict[str, Any] = {"requester": REASSIGNMENT, "request": 0}
"""Of a change that nobody asked for."""


def steps(state: ReplicaState, configuration: Configuration = SIX) -> list[int | None]:
    """The ids that a step may name; `None` for one that neither adds nor removes."""
    found = next_steps(state)
    return sorted((None if one is None else one.id for one in found), key=lambda one: one or 0)


def appended(state: ReplicaState, *records: Record) -> ReplicaState:
    """The leader with records at the end of its log."""
    return state._replace(log=flush(append(state.log, records)))
