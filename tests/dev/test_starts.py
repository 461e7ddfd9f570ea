"""Starts in the middle of the model's slices: a way of the protocol leads to each."""

import pytest

from kraft_dev.starts import first_checks, goals, reach

NO_WAY_FOUND = {
    "liveness-observer-ahead",
    "reassign-restored",
    "reassign-undone",
    "voters-set-kept",
    "voters-set-kept-loss",
    "voters-set-on-commit",
}
"""Starts of which nobody knows yet whether the way is too narrow or they are too far."""
AT_NIGHT = sorted(first_checks().keys() - NO_WAY_FOUND - {"crash-candidate"})
REACHED = ("crash-candidate", *(pytest.param(name, marks=pytest.mark.nightly) for name in AT_NIGHT))


@pytest.mark.parametrize("name", REACHED)
def test_a_start_is_reached_from_the_first_one(name: str) -> None:
    for goal in goals(first_checks()[name]):
        assert reach(goal) is not None


def test_a_start_that_no_way_leads_to_is_found() -> None:
    """Replica 3 knows nothing to be committed, although the answer that brought the record told it."""
    (goal,) = goals(first_checks()["crash-candidate"])
    third = goal["replicas"].rindex("high_watermark |-> 1")
    wrong = goal["replicas"][:third] + goal["replicas"][third:].replace(
        "high_watermark |-> 1", "high_watermark |-> -1", 1
    )
    assert reach({**goal, "replicas": wrong}) is None
