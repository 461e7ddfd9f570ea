"""Properties that each line is checked against: those that a rejection can name, and each of them on every line."""

from importlib.resources import files

from kraft_traces.check.model import LINE_PROPERTIES

_ELSEWHERE = {"CommittedNeverLost": "StateMachineSafety"}
"""What another property holds as its first clause: it need not be asked twice."""


def _clauses(module: str, operator: str) -> list[str]:
    """The conjuncts of an operator, one to a line, without their comments."""
    text = (files("kraft_spec") / "tla" / f"{module}.tla").read_text(encoding="utf-8")
    lines = text.partition(f"\n{operator} ==\n")[2].split("\n\n")[0].splitlines()
    return [line.partition("\\*")[0].removeprefix("  /\\ ").strip() for line in lines]


def test_every_property_is_asked_on_every_line() -> None:
    clauses = [*_clauses("Trace", "LineInvariants"), *_clauses("Trace", "LineSteps")]
    expected = {
        f"Local{name}(event.replica)" if f"Local{name}(event.replica)" in clauses else operator
        for name, operator in LINE_PROPERTIES.items()
        if name not in _ELSEWHERE
    }
    assert sorted(clauses) == sorted(expected)


def test_what_is_not_asked_is_a_clause_of_what_is() -> None:
    for name, holder in _ELSEWHERE.items():
        assert _clauses("Properties", f"Local{holder}(r)")[0] == f"Local{name}(r)"
