"""Model checks that start in the middle: a path of the protocol reaches each start."""

import pytest

from kraft_dev.starts import first_checks, goals, path_length


def test_a_start_is_reached_from_the_first_one() -> None:
    """The nightly checks of a week cover all others."""
    (goal,) = goals(first_checks()["crash-candidate"])
    assert path_length(goal) is not None


@pytest.mark.nightly
def test_an_unreachable_start_is_detected() -> None:
    """Replica 3 knows no committed record, although the response with the record reported the high watermark."""
    (goal,) = goals(first_checks()["crash-candidate"])
    third = goal["replicas"].rindex("high_watermark |-> 1")
    wrong = goal["replicas"][:third] + goal["replicas"][third:].replace(
        "high_watermark |-> 1", "high_watermark |-> -1", 1
    )
    assert path_length({**goal, "replicas": wrong}) is None
