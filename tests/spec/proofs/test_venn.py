"""Sets as the cardinalities of their regions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraft_proofs.venn import Diagram, SetExpression

DIAGRAM = Diagram("a", "b", "c")
A, B, C = (DIAGRAM[name] for name in DIAGRAM.names)
REGIONS = tuple("only:" + "&".join(name for name in DIAGRAM.names if name in region) for region in DIAGRAM.regions)
counts = st.fixed_dictionaries({name: st.integers(0, 3) for name in REGIONS})


def test_a_diagram_has_a_region_for_each_choice_of_sets() -> None:
    assert REGIONS == ("only:c", "only:b", "only:b&c", "only:a", "only:a&c", "only:a&b", "only:a&b&c")


def test_a_set_within_another_has_no_region_outside_it() -> None:
    inner = Diagram("a", "b", within={"b": "a"})
    assert inner.regions == (frozenset("a"), frozenset("ab"))
    with pytest.raises(KeyError):
        inner["c"]


@given(counts)
def test_statements_about_sizes_are_true_of_the_sets(values: dict[str, int]) -> None:
    sets = {name: frozenset(members) for name, members in DIAGRAM.sets(values).items()}
    a, b, c = sets["a"], sets["b"], sets["c"]

    def size(expression: SetExpression) -> int:
        return DIAGRAM.size(expression).value(values)

    assert (size(A), size(A & B), size(A | B), size(A - B), size(A ^ B)) == tuple(
        map(len, (a, a & b, a | b, a - b, a ^ b))
    )
    assert size((A | B) - (B & C)) == len((a | b) - (b & c))
    assert DIAGRAM.same("", A, B).holds(values) == (a == b)
    assert DIAGRAM.inside("", A, B).holds(values) == (a <= b)
    assert DIAGRAM.disjoint("", A, B | C).holds(values) == a.isdisjoint(b | c)
    assert DIAGRAM.singleton("", A - B).holds(values) == (len(a - b) == 1)
    assert DIAGRAM.majority("", A, B).holds(values) == (2 * len(a & b) > len(b))


def test_a_problem_lists_the_regions_and_then_other_variables() -> None:
    assert DIAGRAM.problem("p", DIAGRAM.disjoint("d", A, B), more=["n"]).variables == (*REGIONS, "n")
