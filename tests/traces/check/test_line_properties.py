"""Properties that each line is checked against: those that a rejection can name, and each of them on every line."""

from importlib.resources import files

from kraft_traces.check.judged import NEED_WHOLE_HISTORY
from kraft_traces.check.model import LINE_PROPERTIES

_ELSEWHERE = {"CommittedNeverLost": "StateMachineSafety"}
"""What another property holds as its first clause: it need not be asked twice."""


_PARTS = ("PartLineInvariants", "StepsWithoutHistory")
"""Operators whose conjuncts are those of others, too."""


def _clauses(module: str, operator: str) -> list[str]:
    """The conjuncts of an operator, one to a line, without their comments."""
    text = (files("kraft_spec") / "tla" / f"{module}.tla").read_text(encoding="utf-8")
    lines = text.partition(f"\n{operator} ==\n")[2].split("\n\n")[0].splitlines()
    clauses = [line.partition("\\*")[0].removeprefix("  /\\ ").strip() for line in lines]
    return [part for clause in clauses for part in (_clauses(module, clause) if clause in _PARTS else [clause])]


def test_every_property_is_asked_on_every_line() -> None:
    clauses = [*_clauses("Trace", "LineInvariants"), *_clauses("Trace", "LineSteps")]
    expected = {
        f"Local{name}(event.replica)" if f"Local{name}(event.replica)" in clauses else operator
        for name, operator in LINE_PROPERTIES.items()
        if name not in _ELSEWHERE
    }
    assert sorted(clauses) == sorted(expected)


def test_a_trace_with_opaque_replicas_is_asked_the_same_but_for_what_compares_with_everything_committed() -> None:
    clauses = {*_clauses("Trace", "PartLineInvariants"), *_clauses("Trace", "PartLineSteps")}
    missing = {*_clauses("Trace", "LineInvariants"), *_clauses("Trace", "LineSteps")} - clauses
    judged_elsewhere = {"ConfigAgreement", "CommittedNeverLost"}
    assert {LINE_PROPERTIES[name] for name in NEED_WHOLE_HISTORY - judged_elsewhere} == {
        f"Line{it.removeprefix('Local').removesuffix('(event.replica)')}" if it.startswith("Local") else it
        for it in missing
    }


def test_what_is_not_asked_is_a_clause_of_what_is() -> None:
    for name, holder in _ELSEWHERE.items():
        assert _clauses("Properties", f"Local{holder}(r)")[0] == f"Local{name}(r)"
