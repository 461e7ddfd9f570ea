"""`python -m kraft_dev mutants`: it passes if all mutants are detected, and fails otherwise."""

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
from kraft_dev.commands import mutants as command
from kraft_dev.edges import EdgeGraph, save_edges
from kraft_dev.mutants import listing, machine_made, measuring, tools
from kraft_dev.mutants.inside import run_tool
from kraft_dev.mutants.listing import entry_of, load_listed, record_listed
from kraft_dev.mutants.measuring import problems, runner
from kraft_dev.mutants.subjects import (
    Key,
    Subject,
    UndetectableError,
    foreign_subjects,
    load_undetectable,
    read_undetectable,
    seeded_subjects,
    subject_of,
)
from kraft_dev.mutants.tables import markdown, score
from kraft_dev.mutants.tool import Means, Tally, ToolError
from kraft_dev.mutants.tools import TOOLS, VECTORS, detections
from kraft_dev.results import SCHEMA, Cell, Measured, Result, Row, load_result
from kraft_mutants import Mutant, MutantError, load_catalogue
from kraft_reference.replica import __file__ as a_module
from kraft_spec.edits import Edit, edited_texts, package_folder
from kraft_spec.rules import load_registry
from kraft_vectors.catalogue import Catalogue as VectorCatalogue

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
    monkeypatch.setattr(
        command,
        "seeded_subjects",
        lambda names: [subject for subject in subjects if subject.name in names or not names],
    )


def result_of(*rows: Row, measured: Measured = Measured("abc", "0")) -> Result:  # noqa: B008 - it cannot change
    return Result(schema=SCHEMA, name="mutants", command="", measured=measured, rows=rows)


# -------------------------------------------------------------------------------------------------------------
# The catalogue.
# -------------------------------------------------------------------------------------------------------------


def test_no_edit_uses_a_name_that_its_module_does_not_have(tmp_path: Path) -> None:
    """The NameError would detect such a mutant, regardless of the tools."""
    for subject in (*seeded_subjects(), *foreign_subjects()):
        for path, text in edited_texts(subject.edits).items():
            (tmp_path / f"{subject.name}.{path.name}").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_no_edit_calls_what_its_module_does_not_have(tmp_path: Path) -> None:
    """The TypeError or AttributeError would detect such a mutant, regardless of the tools."""
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
            output = checked("check", *packages)
            assert not re.search(r"\[(attr-defined|call-arg|call-overload|name-defined)\]", output), (
                subject.name,
                output,
            )
            for path in edited:
                shutil.copy(path, tmp_path / path.parent.name / path.name)
    finally:
        checked("stop")


def test_undetectable_entries_name_existing_lines_and_mutants() -> None:
    paths = machine_made.protocol_modules()
    modules = {f"kraft_reference/{path.name}": path.read_text().splitlines() for path in paths}
    names = {subject.name for subject in seeded_subjects()}
    for key in load_undetectable(behind_adapter=True):
        if isinstance(key, Key):
            assert sum(line.strip() == key.before for line in modules[key.file]) > key.occurrence, key
        else:
            assert key in names, key


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[undetectable]]\nmutant = "a"', "undetectable.toml: Object missing required field `reason`"),
        ('[[undetectable]]\nmutant = "a"\nreason = "b"\n' * 2, "undetectable.toml: twice: a"),
    ],
)
def test_a_wrong_list_of_undetectable_mutants_is_rejected(text: str, message: str) -> None:
    with pytest.raises(UndetectableError, match=message):
        read_undetectable(text, behind_adapter=True)


def test_the_sample_of_machine_made_mutants_follows_from_the_seed() -> None:
    pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")
    first, population = machine_made.sample(8, 1)
    assert machine_made.sample(8, 1) == (first, population)
    assert {subject.key for subject in machine_made.sample(8, 2)[0]} != {subject.key for subject in first}
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
    assert [subject.key for subject in after] == [subject.key for subject in before]


# -------------------------------------------------------------------------------------------------------------
# The runner.
# -------------------------------------------------------------------------------------------------------------


def asked(subject: Subject, *names: str, edges: Path | None = None) -> Row:
    with runner(edges, lambda _: None, [TOOLS[name] for name in names]) as run:
        (row,) = run.rows([subject])
    return row


def test_a_mutant_that_hangs_is_detected_by_the_limit() -> None:
    (cell,) = SCENARIOS.cells(HANGS, Means(Path, seconds=3.0))
    assert cell.what == "hangs: no end after 3 s"


def test_a_mutant_that_cannot_be_imported_is_detected() -> None:
    (cell,) = SCENARIOS.cells(RAISES, Means(Path, seconds=60.0))
    assert (cell.what, cell.where) == ("raises ZeroDivisionError: integer division or modulo by zero", "import")


def test_a_tool_that_rejects_the_unmodified_reference_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "UNBROKEN", HALF)
    with pytest.raises(ToolError, match="scenarios rejects the unmodified reference"):
        asked(COMMENTED, "scenarios")


def test_a_process_that_imports_the_installed_reference_asks_nothing() -> None:
    with pytest.raises(RuntimeError, match=a_module.rpartition("/")[0]):
        run_tool("scenarios", Tally())


@pytest.mark.nightly
def test_a_mutant_meets_tools_up_to_the_first_that_detects_it() -> None:
    with runner(None, lambda _: None, (SCENARIOS, PARTITIONS)) as run:
        detected, left = run.rows([HALF, COMMENTED])
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
        assert not detections(asked(COMMENTED, "edges", edges=file))
    assert recorded == [file]


# -------------------------------------------------------------------------------------------------------------
# Lists and measurements.


def test_the_list_has_mutants_of_the_reference_in_the_order_of_the_catalogue() -> None:
    breaking = [subject.name for subject in seeded_subjects() if subject.edits]
    listed = load_listed()
    assert [*listed] == [name for name in breaking if name in listed]
    vectors = {entry.id for entry in VectorCatalogue().manifest.vectors}
    of_vectors = {where for of in listed.values() for detector, where in of.items() if detector in VECTORS.detectors}
    assert of_vectors <= vectors


@pytest.mark.nightly
def test_a_listed_mutant_meets_its_detectors_and_an_unlisted_one_the_whole_suite(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "SUITE", (PARTITIONS, SCENARIOS))
    with runner(None, lambda _: None) as run:
        run.listed = {HALF.name: {"scenarios": "somewhere"}, COMMENTED.name: {"partitions": "there"}}
        listed, wrong, free = run.rows([HALF, COMMENTED, replace(HALF, name="new")])
    assert [cell.detector for cell in listed.cells] == ["scenarios"]
    assert [cell.detector for cell in free.cells] == ["partitions", "scenarios"]
    problem = "only-a-comment: partitions: does not detect it, as detected_by.toml lists"
    assert [*problems([listed, wrong, free])] == [problem]


def test_the_lowest_level_and_a_history_are_listed_or_the_cheapest_tool(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cells = (
        Cell("wire"),
        Cell("effects", True, where="a"),
        Cell("state", True, where="b"),
        Cell("history", True, where="c"),
    )
    assert entry_of(Row("x", cells=cells)) == {"effects": "a", "history": "c"}
    assert entry_of(Row("x", cells=(Cell("edges"), Cell("traces", True, where="t"), Cell("evidence", True)))) == {
        "traces": "t"
    }
    monkeypatch.setattr(listing, "FILE", tmp_path / "detected_by.toml")
    listing.FILE.write_text('votes-twice = { state = "v" }\n')
    record_listed([Row("vote-without-log-check", cells=cells), Row("votes-twice")])
    assert load_listed() == {"votes-twice": {"state": "v"}, "vote-without-log-check": {"effects": "a", "history": "c"}}
    listing.FILE.write_text('votes-twice = { tarot = "v" }\n')
    with pytest.raises(MutantError, match=r"detected_by\.toml: votes-twice: 'tarot' is not a detector of the suite"):
        load_listed()


def test_undetected_mutants_and_a_share_below_the_target_are_problems() -> None:
    caught = Row("a", ("r",), "b", (Cell("scenarios", True),))
    missed = Row("m", ("r",), "b", (Cell("scenarios"),))
    assert [*problems([caught, missed])] == ["nothing detects m: b; add a check for r"]
    excused = msgspec.structs.replace(missed, reason="nobody reads it")
    assert [*problems([caught, excused])] == []
    made = [msgspec.structs.replace(row, kind="machine") for row in (*[caught] * 9, missed, excused)]
    assert [*problems([caught, *made])] == ["90.0% of the machine-made mutants, less than 95%"]
    by_vectors = [Row("a", ("r",), "b", (Cell("wire", True),))]
    assert [*problems(by_vectors * 9 + [missed], [VECTORS])] == []
    assert [*problems(by_vectors * 8 + [missed], [VECTORS])] == ["vectors detect 8 of 9 seeded mutants, less than 90%"]


def test_a_rule_counts_as_named_where_a_failure_names_it() -> None:
    named = [(("a", "b"), ("a", "x")), (("a", "b"), ("b", "x", "a"))]
    assert score(named) == (1, 2, 2)


def test_the_page_has_every_mutant_and_reports_a_missing_result() -> None:
    catalogue, registry = load_catalogue(), load_registry()
    text = markdown(registry, None)
    assert all(f"| {mutant.name} | `{mutant.rules[0]}` |" in text for mutant in catalogue.mutants)
    assert "No result was recorded in this build: `python -m kraft_dev mutants" in text
    assert "**nothing**" not in text
    # TLC detects mutants that have evidence.
    name = next(mutant.name for mutant in catalogue.mutants if mutant.reference and mutant.evidence is None)
    text = markdown(registry, result_of(Row(name, cells=(Cell("wire"),))))
    assert "**nothing**" in text
    assert "**Older than the code:** measured at commit abc; " in text


def test_a_measurement_is_on_the_page() -> None:
    missed = Row("log.py:7 NumberReplacer", change="1 -> 2", cells=(Cell("scenarios"),), kind="machine")
    named = Row("bug", ("a",), cells=(Cell("named", True, names=("b", "a")),), kind="foreign")
    text = markdown(load_registry(), result_of(missed, named, measured=results.measured_now("mutants")))
    assert "| log.py:7 NumberReplacer | `1 -> 2` | undetected |" in text
    assert "| foreign | held out | 1 | 0 (0%) | 0 (0%) | 1 (100%) |" in text
    assert "Measured at commit " in text


# -------------------------------------------------------------------------------------------------------------
# The command.
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.nightly
def test_a_mutant_that_changes_nothing_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen(monkeypatch, COMMENTED, HALF)
    assert main(["mutants", *FAST]) == ExitCode.VIOLATION
    output = capsys.readouterr().out
    assert "nothing detects only-a-comment: a bug; add a check for vote.log-check" in output
    assert "2 mutants, 2 run by the suite, which detects 1" in output


@pytest.mark.slow
@pytest.mark.nightly
def test_a_result_is_recorded_with_its_commit_and_is_the_same_each_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rule = ("prevote.follower.rejects-after-fetch",)
    forgets = subject_of(
        Mutant("forgets", rule, "a follower grants Pre-Votes", extends=("follower-that-fetches-grants-pre-votes",))
    )
    chosen(monkeypatch, HALF, forgets)
    few = {"traces": TOOLS["traces"], "scenarios": SCENARIOS}
    for module in (command, measuring, tools):
        monkeypatch.setattr(module, "TOOLS", few)
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    monkeypatch.setattr(listing, "FILE", tmp_path / "detected_by.toml")
    listing.FILE.touch()
    assert main(["mutants", "--jobs", "2", "--record"]) == ExitCode.CONFORMANT
    recorded = load_result("mutants")
    assert recorded is not None
    half, forgets_row = recorded.rows
    assert [cell.detects for cell in half.cells] == [True]
    assert "prevote.follower.rejects-after-fetch" in forgets_row.cells[0].what
    (again,) = asked(HALF, "traces").cells
    assert msgspec.structs.replace(again, seconds=0) == msgspec.structs.replace(half.cells[0], seconds=0)
    assert results.result_bytes(recorded) == results.result_file("mutants").read_bytes()


def test_an_edit_that_does_not_fit_is_a_defect_that_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen(monkeypatch, MISFIT)
    # The tool has passed the unmodified reference: that is another test's matter.
    monkeypatch.setattr(measuring.Runner, "_baseline", lambda self, tool: 60.0)
    assert main(["mutants", *FAST]) == ExitCode.INTERNAL_ERROR
    assert "elections.py: 'no such text' stands there 0 times" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-mutant"], "no mutant 'no-such-mutant'"),
        (["--tool", "hammer"], "no tool 'hammer'; there are vectors"),
        (["--no-seeded"], "no mutants are selected"),
        (["--tool", "edges", "--record"], "--record needs all tools, or --tool evidence"),
        (["commit-of-an-older-epoch", "--tool", "random", "--profile", "kafka-4"], "needs --tool evidence"),
    ],
)
def test_wrong_usage_is_reported(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", *arguments]) == ExitCode.USAGE
    assert words in " ".join(capsys.readouterr().err.split())


def test_every_fourth_listed_mutant_and_all_others_are_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [*load_listed()][:6]
    subjects = [replace(HALF, name=name) for name in names]
    chosen(monkeypatch, *subjects[:3], HALF, *subjects[3:])
    assert main(["mutants", "--every", "4", "--list"]) == ExitCode.CONFORMANT
    output = capsys.readouterr().out
    assert [name for name in (*names, HALF.name) if f"{name}: " in output] == [names[0], names[4], HALF.name]


def test_the_list_names_mutants(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "vote.log-check", "--list"]) == ExitCode.CONFORMANT
    assert "vote-without-log-check: a vote is granted" in capsys.readouterr().out


def test_a_file_without_edges_is_no_file_to_keep_them_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    words = ["mutants", "vote-without-log-check", "--tool", "edges", "--edges", str(file)]
    assert main(words) == ExitCode.BAD_INPUT
    assert "notes.txt holds no edges" in capsys.readouterr().err
    assert file.read_text() == "mine"
