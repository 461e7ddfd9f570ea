"""Starts in the middle of the model's slices: a way of the protocol leads to each."""

from kraft_dev.starts import first_checks, goals, reach


def test_a_start_is_reached_from_the_first_one() -> None:
    """All others are reached in the nights of a week."""
    (goal,) = goals(first_checks()["crash-candidate"])
    assert reach(goal) is not None


def test_a_start_that_no_way_leads_to_is_found() -> None:
    """Replica 3 knows nothing to be committed, although the answer that brought the record told it."""
    (goal,) = goals(first_checks()["crash-candidate"])
    third = goal["replicas"].rindex("high_watermark |-> 1")
    wrong = goal["replicas"][:third] + goal["replicas"][third:].replace(
        "high_watermark |-> 1", "high_watermark |-> -1", 1
    )
    assert reach({**goal, "replicas": wrong}) is None
