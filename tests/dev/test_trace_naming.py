"""`validate` names first the rule that a mutant breaks."""

import pytest

from kraft_dev.grading.subjects import graded_mutants
from kraft_dev.grading.trace_naming import trace_naming_of


@pytest.mark.parametrize(
    "name",
    [
        "follower-forgets-vote-and-leader",
        "follower-trusts-the-published-high-watermark",
        "repeated-vote-request-is-refused",
    ],
)
def test_the_broken_rule_is_named_first(name: str) -> None:
    (row,) = trace_naming_of(graded_mutants((name,)), lambda _: None)
    assert row.where, "no trace is rejected"
    assert row.is_first, row
