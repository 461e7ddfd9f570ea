"""`python -m kraft_dev matrix`: broken references are detected, and one that is not makes the command fail."""

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev import results
from kraft_dev.cli import main
from kraft_dev.commands import matrix as command
from kraft_dev.edges import EdgeGraph, save_edges
from kraft_dev.matrix import machine_made, measuring
from kraft_dev.matrix.inside import look
from kraft_dev.matrix.measuring import problems, runner
from kraft_dev.matrix.naming import score
from kraft_dev.matrix.page import markdown
from kraft_dev.matrix.subjects import (
    Key,
    Subject,
    UndetectableError,
    load_undetectable,
    read_undetectable,
    seeded_subjects,
    subject_of,
)
from kraft_dev.matrix.tool import Means, Tally, ToolError
from kraft_dev.matrix.tools import KINDS, TOOLS, tool_of
from kraft_dev.results import SCHEMA, Cell, Matrix, Measured, Row, load_result
from kraft_mutants import Mutant, load_catalogue
from kraft_reference.replica import __file__ as a_module
from kraft_spec.edits import Edit, edited_texts, package_folder

_MAJORITY = "    return 2 * number > len(voters)"


def broken(name: str, new: str) -> Subject:
    return Subject(name, (Edit("kraft_reference/state.py", _MAJORITY, new),), ("vote.log-check",), "a bug")


COMMENTED = broken("only-a-comment", f"    # Nothing.\n{_MAJORITY}")
HALF = broken("half-is-a-majority", "    return 2 * number >= len(voters)")
HANGS = broken("hangs", f"    while voters:\n        pass\n{_MAJORITY}")
MISFIT = Subject("misfit", (Edit("kraft_reference/elections.py", "no such text", "other"),))
_WATERMARK = "UNKNOWN_HIGH_WATERMARK = "
RAISES = Subject("raises", (Edit("kraft_reference/state.py", f"{_WATERMARK}-1", f"{_WATERMARK}1 // 0"),))
SCENARIOS, PARTITIONS = TOOLS["scenarios"], TOOLS["partitions"]
FAST = ["--tool", "scenarios", "--jobs", "1"]


def chosen(monkeypatch: pytest.MonkeyPatch, *subjects: Subject) -> None:
    monkeypatch.setattr(command, "seeded_subjects", lambda _: subjects)


def matrix_of(*rows: Row, drawn: tuple[Row, ...] = (), name: str = "mutants") -> Matrix:
    return Matrix(schema=SCHEMA, name=name, command="", measured=None, rows=rows, drawn=drawn)


# -------------------------------------------------------------------------------------------------------------
# The catalogue.
# -------------------------------------------------------------------------------------------------------------


def test_no_edit_uses_a_name_that_its_module_does_not_have(tmp_path: Path) -> None:
    """Such a mutant would be detected by its NameError, whatever the tools can see."""
    for subject in seeded_subjects():
        for path, text in edited_texts(subject.edits).items():
            (tmp_path / f"{subject.name}.{path.name}").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_no_edit_calls_what_its_module_does_not_have(tmp_path: Path) -> None:
    """Such a mutant would be detected by its TypeError or AttributeError, whatever the tools can see."""
    packages = ("kraft_reference", "kraft_partitions")
    for package in packages:
        shutil.copytree(package_folder(package), tmp_path / package)
    daemon = [sys.executable, "-m", "mypy.dmypy", "--status-file", str(tmp_path / "status")]

    def checked(*words: str) -> str:
        return subprocess.run([*daemon, *words], cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    try:
        checked("start", "--", "--strict")
        assert "Success" in checked("check", *packages)
        for subject in seeded_subjects():
            edited = edited_texts(subject.edits)
            for path, text in edited.items():
                (tmp_path / path.parent.name / path.name).write_text(text, encoding="utf-8")
            said = checked("check", *packages)
            assert not re.search(r"\[(attr-defined|call-arg|call-overload|name-defined)\]", said), (subject.name, said)
            for path in edited:
                shutil.copy(path, tmp_path / path.parent.name / path.name)
    finally:
        checked("stop")


def test_what_nothing_can_detect_names_lines_and_mutants_that_are_there() -> None:
    paths = machine_made.protocol_modules()
    modules = {f"kraft_reference/{path.name}": path.read_text().splitlines() for path in paths}
    names = {subject.name for subject in seeded_subjects()}
    for key in load_undetectable(behind_adapter=True):
        if isinstance(key, Key):
            assert sum(line.strip() == key.before for line in modules[key.file]) > key.occurrence, key
        else:
            assert key in names, key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[[undetectable]]\nmutant = "a"', "undetectable.toml: Object missing required field `reason`"),
        ('[[undetectable]]\nmutant = "a"\nreason = "b"\n' * 2, "undetectable.toml: twice: a"),
    ],
)
def test_a_wrong_list_of_what_nothing_can_detect_is_refused(text: str, said: str) -> None:
    with pytest.raises(UndetectableError, match=said):
        read_undetectable(text, behind_adapter=True)


def test_the_sample_of_machine_made_mutants_follows_from_the_seed() -> None:
    pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")
    first, population = machine_made.sample(8, 1)
    assert machine_made.sample(8, 1) == (first, population)
    assert {one.key for one in machine_made.sample(8, 2)[0]} != {one.key for one in first}
    assert population > 1000
    for made in first:
        (edit,) = made.edits
        assert made.key is not None
        line = int(made.name.partition(":")[2].partition(" ")[0])
        assert edit.old.splitlines()[line - 1].strip() == made.key.before
        assert edit.old != edit.new


def test_a_line_more_leaves_the_sample_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")
    before, _ = machine_made.sample(8, 1)
    text = machine_made._text
    monkeypatch.setattr(machine_made, "_text", lambda path: f"# A line more.\n{text(path)}")
    machine_made._candidates.cache_clear()
    after, _ = machine_made.sample(8, 1)
    machine_made._candidates.cache_clear()
    assert [one.key for one in after] == [one.key for one in before]


# -------------------------------------------------------------------------------------------------------------
# The runner.
# -------------------------------------------------------------------------------------------------------------


def asked(subject: Subject, *tools: str, edges: Path | None = None) -> Row:
    with runner(edges, lambda _: None) as run:
        (row,) = run.rows([subject], [TOOLS[name] for name in tools])
    return row


def test_a_mutant_that_hangs_is_detected_by_the_limit() -> None:
    (cell,) = SCENARIOS.cells(HANGS, Means(Path, seconds=3.0))
    assert cell.what == "hangs: no end after 3 s"


def test_a_mutant_that_cannot_be_imported_is_detected() -> None:
    first = asked(RAISES, "scenarios").first
    assert first is not None
    assert (first.what, first.where) == ("raises ZeroDivisionError: integer division or modulo by zero", "import")


def test_nothing_is_said_when_the_unbroken_reference_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "UNBROKEN", HALF)
    with pytest.raises(ToolError, match="scenarios finds fault with the unbroken reference"):
        asked(COMMENTED, "scenarios")


def test_a_process_that_imports_the_installed_reference_asks_nothing() -> None:
    with pytest.raises(RuntimeError, match=a_module.rpartition("/")[0]):
        look("scenarios", Tally())


def test_a_mutant_meets_tools_up_to_the_first_that_detects_it() -> None:
    with runner(None, lambda _: None) as run:
        detected, left = run.rows([HALF, COMMENTED], (SCENARIOS, PARTITIONS))
    assert [cell.detector for cell in detected.cells] == ["scenarios"]
    assert [cell.detector for cell in left.cells] == ["scenarios", "partitions"]


def test_edges_of_another_model_are_enumerated_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "edges"
    file.write_bytes(b"kraft-spec-edges-5 another-key\n")
    recorded: list[Path] = []

    def record(path: Path) -> None:
        recorded.append(path)
        save_edges(path, EdgeGraph(()))

    monkeypatch.setattr(measuring, "record_edges", record)
    for _ in range(2):
        assert not asked(COMMENTED, "edges", edges=file).is_detected
    assert recorded == [file]


# -------------------------------------------------------------------------------------------------------------
# What was measured.
# -------------------------------------------------------------------------------------------------------------


def test_the_recorded_matrices_have_no_problems() -> None:
    assert [problems(found) for name in KINDS if (found := load_result(name)) is not None] == [(), (), ()]


def test_what_nothing_detects_and_a_share_below_the_target_are_problems() -> None:
    caught = Row("a", ("r",), "b", (Cell("scenarios", True),))
    missed = Row("m", ("r",), "b", (Cell("scenarios"),))
    assert problems(matrix_of(caught, missed)) == ("nothing detects m: b; a check is missing for r",)
    excused = msgspec.structs.replace(missed, reason="nobody reads it")
    assert problems(matrix_of(caught, excused)) == ()
    drawn = matrix_of(caught, drawn=(*[caught] * 9, missed, excused))
    assert problems(drawn) == ("90.0% of the machine-made mutants, less than 95%",)


def test_a_rule_counts_as_named_where_a_failure_names_it() -> None:
    rows = [
        Row("first", ("a", "b"), cells=(Cell("named", True, names=("a", "x")),)),
        Row("among", ("a", "b"), cells=(Cell("named", True, names=("b", "x", "a")),)),
        Row("passes", ("a",), cells=(Cell("named"),)),
    ]
    assert score(rows, "named") == (2, 1, 2, 2)


def test_the_page_has_every_mutant_and_says_what_is_older_than_the_code() -> None:
    catalogue = load_catalogue()
    measured = [found for name in KINDS if (found := load_result(name)) is not None]
    text = markdown(catalogue, measured)
    assert all(f"| {mutant.name} | `{mutant.rules[0]}` |" in text for mutant in catalogue.mutants)
    assert "**nothing**" not in text, "what nothing detects is a missing check"
    # TLC detects those that have evidence.
    row = next(one for one in measured[1].rows if catalogue[one.name].evidence is None)
    unseen = msgspec.structs.replace(row, cells=(), reason="")
    assert "**nothing**" in markdown(catalogue, [matrix_of(unseen)])


def test_a_machine_made_mutant_that_nothing_detects_is_listed() -> None:
    missed = Row("log.py:7 NumberReplacer", change="1 -> 2", cells=(Cell("scenarios"),))
    text = markdown(load_catalogue(), [matrix_of(drawn=(missed,))])
    assert "| log.py:7 NumberReplacer | `1 -> 2` | a check is missing |" in text


def test_every_detector_has_a_tool_and_one_that_is_gone_has_none() -> None:
    assert tool_of("effects") is TOOLS["vectors"]
    assert tool_of("traces") is TOOLS["traces"]
    assert tool_of("tarot") is None


# -------------------------------------------------------------------------------------------------------------
# The command.
# -------------------------------------------------------------------------------------------------------------


def test_a_mutant_that_changes_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen(monkeypatch, COMMENTED, HALF)
    assert main(["matrix", "mutants", *FAST]) == ExitCode.VIOLATION
    shown = capsys.readouterr().out
    assert "nothing detects only-a-comment: a bug; a check is missing for vote.log-check" in shown
    assert "1 of 2 seeded mutants are detected" in shown


@pytest.mark.slow
@pytest.mark.nightly
def test_a_matrix_is_recorded_with_its_commit_and_is_the_same_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rule = ("prevote.follower.rejects-after-fetch",)
    forgets = subject_of(
        Mutant("forgets", rule, "a follower grants Pre-Votes", extends=("follower-that-fetches-grants-pre-votes",))
    )
    chosen(monkeypatch, HALF, forgets)
    kind = replace(KINDS["mutants"], tools=(TOOLS["traces"], SCENARIOS))
    monkeypatch.setitem(KINDS, "mutants", kind)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    assert main(["matrix", "mutants", "--jobs", "2", "--record"]) == ExitCode.CONFORMANT
    recorded = load_result("mutants")
    assert recorded is not None
    half, forgets_row = recorded.rows
    assert [cell.detects for cell in half.cells] == [True]
    assert "prevote.follower.rejects-after-fetch" in forgets_row.cells[0].what
    (again,) = asked(HALF, "traces").cells
    assert msgspec.structs.replace(again, seconds=0) == msgspec.structs.replace(half.cells[0], seconds=0)
    assert recorded.measured is not None
    text = markdown(load_catalogue(), [recorded])
    assert f"Measured at commit {recorded.measured.commit}; " in text
    older = msgspec.structs.replace(recorded, measured=Measured(recorded.measured.commit, "0"))
    assert f"**Older than the code:** measured at commit {recorded.measured.commit}; " in markdown(
        load_catalogue(), [older]
    )


def test_an_edit_that_does_not_fit_is_a_defect_that_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen(monkeypatch, MISFIT)
    assert main(["matrix", "mutants", *FAST]) == ExitCode.INTERNAL_ERROR
    assert "elections.py: 'no such text' stands there 0 times" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["horses"], "no matrix 'horses'; there are grading, mutants"),
        (["mutants", "no-such-mutant"], "no mutant 'no-such-mutant'"),
        (["mutants", "--tool", "hammer"], "no tool 'hammer'; there are vectors"),
        (["mutants", "--no-seeded"], "nothing to try"),
        (["grading", "vote-without-log-check", "--record"], "has all mutants and all tools"),
        (["checks", "--list"], "the matrix of checks has no mutants"),
        (["naming", "--again"], "--again is for grading and checks, not for naming"),
        (["grading", "--again", "--record"], "measured anew"),
    ],
)
def test_wrong_use_is_said(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", *arguments]) == ExitCode.USAGE
    assert words in " ".join(capsys.readouterr().err.split())


def test_of_recorded_mutants_each_fourth_is_asked_and_of_the_others_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = load_result("mutants")
    assert recorded is not None
    names = [row.name for row in recorded.rows[:6]]
    chosen(
        monkeypatch,
        *(replace(HALF, name=name) for name in names[:3]),
        HALF,
        *(replace(HALF, name=name) for name in names[3:]),
    )
    assert main(["matrix", "mutants", "--every", "4", "--list"]) == ExitCode.CONFORMANT
    shown = capsys.readouterr().out
    assert [name for name in (*names, HALF.name) if name in shown] == [names[0], names[4], HALF.name]


def test_the_list_names_mutants_and_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["matrix", "mutants", "vote-without-log-check", "--list"]) == ExitCode.CONFORMANT
    shown = capsys.readouterr().out
    assert all(name in shown for name in (*TOOLS, "vote-without-log-check", "wire"))


def test_a_file_without_edges_is_no_file_to_keep_them_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    words = ["matrix", "mutants", "vote-without-log-check", "--tool", "edges", "--edges", str(file)]
    assert main(words) == ExitCode.BAD_INPUT
    assert "notes.txt holds no edges" in capsys.readouterr().err
    assert file.read_text() == "mine"
