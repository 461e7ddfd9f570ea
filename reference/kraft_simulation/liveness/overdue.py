"""What a cluster owes for longer than it may."""

from typing import NamedTuple


class Overdue(NamedTuple):
    """Something that a property promises and that has not come."""

    replica_id: int | None
    """The replica that owes it; None for the whole cluster."""
    waited_for: str
    waited_ms: int


def overdue_of(waiting: Overdue | None, bound_ms: int) -> Overdue | None:
    """What is waited for, if that is so for longer than the bound."""
    return waiting if waiting is not None and waiting.waited_ms > bound_ms else None
