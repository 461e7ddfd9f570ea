"""Model checks on the compiled model: TLC's numbers and counterexamples, and detection of compiler faults."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraft_dev.nightly.parts import NOT_COMPILED
from kraft_spec.compiled.building import CompilationError
from kraft_spec.compiled.checks import compiled_check
from kraft_spec.models import CheckReport, Way, find_check, run_check
from kraft_spec.tlc.model_check import ModelCheckError, ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome

WIDE = """\
---- MODULE Wide ----
EXTENDS Naturals
CONSTANT Most
VARIABLES pair, left
Init == pair = [low |-> 0, high |-> 0] /\\ left = {1, 2}
Spread(to) == pair.low = 0 /\\ pair' = [pair EXCEPT !.low = to] /\\ UNCHANGED left
Raise == pair.low > 0 /\\ pair.high = 0 /\\ pair' = [pair EXCEPT !.high = pair.low] /\\ left' = left \\ {1}
Next == (\\E to \\in 1..(Most - pair.low) : Spread(to)) \\/ Raise
Bounds == pair.high < Most
View == <<pair, left>>
Halves == pair.high \\in {0, pair.low}
NeverTheLast == pair.high < Most
Falls == [][pair'.low >= pair.low /\\ left' \\subseteq left]_<<pair, left>>
====
"""
"""More states in TLC's queue than fit in memory, so that it reads them back from the disk."""

FAULTY = """\
import sys
from pathlib import Path
from kraft_spec.compiled import building, expressions
from kraft_spec.tlc.specification import Specification
kind, _ = expressions._BUILT_IN["\\\\"]
expressions._BUILT_IN["\\\\"] = kind, lambda x, given, scope, node: x.term(given[0], scope).as_value()
folder, jar = map(Path, sys.argv[1:])
building.write_check_jar(Specification(folder, "Wide", "Wide"), jar)
"""


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder with the specification, and an empty cache of compiled models."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "wide"
    folder.mkdir()
    (folder / "Wide.tla").write_text(WIDE, encoding="utf-8")
    _configure(folder, "Halves")
    return folder


def _configure(folder: Path, invariant: str) -> None:
    lines = ("INIT Init", "NEXT Next", "CONSTANT Most = 9000", "CONSTRAINT Bounds", "VIEW View", "PROPERTY Falls")
    (folder / "Wide.cfg").write_text("\n".join((*lines, f"INVARIANT {invariant}\n")), encoding="utf-8")


def _checked(folder: Path, jar: Path | None, *, both: bool = False) -> ModelCheckReport:
    return check_model(folder, "Wide", options=ModelCheckOptions(check_deadlock=False, compiled=jar, both=both))


def _numbers(report: ModelCheckReport) -> tuple[object, ...]:
    reached = report.progress
    return report.outcome, reached.states_generated, reached.states_distinct, reached.depth


@pytest.mark.nightly
def test_the_numbers_are_those_of_tlc_and_no_step_differs(wide: Path) -> None:
    jar = compiled_check(wide, "Wide", "Wide")
    expected = (Outcome.OK, 18_001, 18_000, 3)
    assert _numbers(_checked(wide, None)) == _numbers(_checked(wide, jar)) == expected
    assert _numbers(_checked(wide, jar, both=True)) == expected


@pytest.mark.nightly
def test_a_counterexample_is_the_same(wide: Path) -> None:
    _configure(wide, "NeverTheLast")
    interpreted, compiled = (_checked(wide, jar) for jar in (None, compiled_check(wide, "Wide", "Wide")))
    assert (compiled.outcome, compiled.violated) == (Outcome.VIOLATION, "NeverTheLast")
    assert compiled.trace == interpreted.trace
    assert len(compiled.trace) == 3


def test_a_fault_of_the_compiler_is_detected(wide: Path, tmp_path: Path) -> None:
    """The mutant of the compiler makes a difference of sets remove nothing."""
    jar = tmp_path / "faulty.jar"
    subprocess.run([sys.executable, "-c", FAULTY, str(wide), str(jar)], check=True)
    report = _checked(wide, jar, both=True)
    assert report.outcome is Outcome.ERROR
    assert "The compiled model and TLC disagree on line 7" in report.message
    assert "of module Wide, a defect of the compiler." in report.message


@pytest.mark.nightly
def test_the_models_own_steps_and_properties_agree() -> None:
    """The nightly checks of a week compare both on all other model checks."""
    report = run_check(find_check("smoke"), way=Way.BOTH)
    assert (report.report.outcome, report.way) == (Outcome.OK, Way.BOTH), report.report.message
    assert report.report.progress.states_distinct > 1000


@pytest.mark.parametrize(
    ("name", "what"),
    [
        item if place < 2 else pytest.param(*item, marks=pytest.mark.nightly)
        for place, item in enumerate(NOT_COMPILED.items())
    ],
)
def test_the_reason_for_not_compiling_is_reported(name: str, what: str) -> None:
    with pytest.raises(ModelCheckError, match=f"^{name} is not compiled: .*{what} is not compiled"):
        run_check(find_check(name), way=Way.BOTH)


def _outcome(way: Way) -> CheckReport:
    return run_check(find_check("changes"), way=way, time_limit_seconds=1)


@pytest.mark.nightly
def test_uncompiled_checks_are_interpreted_unless_both_are_required(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert _outcome(Way.COMPILED).way is Way.INTERPRETED
    with pytest.raises(ModelCheckError, match=r"changes is not compiled: .*Not a directory"):
        _outcome(Way.BOTH)


def test_a_recursive_operator_is_named(wide: Path) -> None:
    text = WIDE.replace("View ==", "RECURSIVE Down(_)\nDown(n) == IF n = 0 THEN 0 ELSE Down(n - 1)\nView ==")
    (wide / "Wide.tla").write_text(text.replace("Halves == ", "Halves == Down(3) = 0 /\\ "), encoding="utf-8")
    with pytest.raises(CompilationError, match=r"^Wide\.tla:11:1: the recursive operator Down is not compiled$"):
        compiled_check(wide, "Wide", "Wide")
