"""`python -m kraft_dev mutants`: broken references are found out, and one that is not makes the command fail."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev import results
from kraft_dev.cli import main
from kraft_dev.commands import mutants as command
from kraft_dev.edges import Edge, EdgeGraph, save_edges
from kraft_dev.mutation import campaign, machine_made
from kraft_dev.mutation.attack import attack
from kraft_dev.mutation.campaign import AttackError, Campaign, Subject, prepared, subject_of
from kraft_dev.mutation.killers import KillersError, load_killers, read_killers
from kraft_dev.mutation.machine_made import Key, MachineMade
from kraft_dev.mutation.record import Recorded, markdown, recorded_result
from kraft_dev.mutation.results import MachineMadeOutcomes, Results
from kraft_dev.mutation.sighting import Attack, Outcome, Target
from kraft_dev.mutation.suite import SuitePlan, try_all
from kraft_dev.mutation.survivors import Survivor, kill_rate, load_survivors
from kraft_dev.mutation.tools import ALL_TOOLS, TOOLS
from kraft_dev.results import Measured, load_result
from kraft_reference.replica import __file__ as a_module
from kraft_spec.edits import Edit, ReferenceEdit, edited_texts, package_folder
from kraft_spec.mutants import Catalogue, Mutant, load_catalogue, seeded

_MAJORITY = "    return 2 * number > len(voters)"

COMMENTED = Mutant(
    "only-a-comment",
    ("vote.log-check",),
    "nothing at all",
    reference=(ReferenceEdit("state.py", _MAJORITY, f"    # Nothing.\n{_MAJORITY}"),),
)
HALF = Mutant(
    "half-is-a-majority",
    ("state.candidate.to-leader",),
    "half of the voters elect",
    reference=(ReferenceEdit("state.py", _MAJORITY, "    return 2 * number >= len(voters)"),),
)
FORGETS = Mutant(
    "switch-only",
    ("prevote.follower.rejects-after-fetch",),
    "a follower grants Pre-Votes although its leader lives",
    switched_off=("prevote.follower.rejects-after-fetch",),
)
MISFIT = Mutant(
    "misfit", ("vote.log-check",), "none", reference=(ReferenceEdit("elections.py", "no such text", "other"),)
)
HANGS = Subject("hangs", (Edit("state.py", _MAJORITY, f"    while voters:\n        pass\n{_MAJORITY}"),))
FAST = ["--tool", "scenarios", "--jobs", "1"]


def catalogue_of(monkeypatch: pytest.MonkeyPatch, *entries: Mutant) -> None:
    monkeypatch.setattr(command, "load_catalogue", lambda: Catalogue(entries, ()))


def test_a_mutant_that_changes_nothing_survives_and_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue_of(monkeypatch, COMMENTED, FORGETS)
    assert main(["mutants", *FAST]) == ExitCode.VIOLATION
    shown = capsys.readouterr().out
    assert "only-a-comment survives every tool: nothing at all" in shown
    assert "a check is missing for vote.log-check" in shown
    assert "1 of 2 seeded mutants killed" in shown


@pytest.mark.slow
def test_every_tool_says_how_far_it_came_and_what_it_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    catalogue_of(monkeypatch, HALF, FORGETS)
    monkeypatch.setattr(command, "TOOLS", (ALL_TOOLS["scenarios"], ALL_TOOLS["traces"]))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    assert main(["mutants", "--jobs", "2", "--json", "--record"]) == ExitCode.CONFORMANT
    document = json.loads(capsys.readouterr().out)
    assert document["unkilled"] == []
    half, forgets = document["seeded"]
    assert [one["killed"] for one in half["attacks"]] == [True, True]
    assert half["attacks"][0]["amount"] > 0
    (traces,) = [one for one in forgets["attacks"] if one["tool"] == "traces"]
    assert "prevote.follower.rejects-after-fetch" in traces["what"]
    recorded = load_result("mutants", Recorded)
    assert recorded is not None
    assert recorded.measured is not None
    text = markdown(recorded)
    assert "## Seeded mutants: 2 of 2 killed" in text
    assert "| half-is-a-majority | `state.candidate.to-leader` |" in text
    assert f"Measured at commit {recorded.measured.commit}; " in text
    older = msgspec.structs.replace(recorded, measured=Measured(recorded.measured.commit, "0"))
    assert f"**Older than the code:** measured at commit {recorded.measured.commit}; " in markdown(older)


def page(found: Results) -> str:
    return markdown(msgspec.json.decode(recorded_result(found), type=Recorded))


@pytest.mark.slow
def test_the_same_mutants_are_killed_in_the_same_way_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    some = [mutant.name for mutant in seeded(load_catalogue())][:5]
    documents = []
    for jobs in ("1", "2"):
        main(["mutants", *some, "--tool", "scenarios", "--jobs", jobs, "--json"])
        documents.append(json.loads(capsys.readouterr().out))
    for document in documents:
        for outcome in (document["baseline"], *document["seeded"]):
            for one in outcome["attacks"]:
                assert one.pop("seconds") > 0
    assert documents[0] == documents[1]
    assert any(one["killed"] for one in documents[0]["seeded"])


def test_an_edit_that_does_not_fit_is_a_defect_that_names_the_file(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue_of(monkeypatch, MISFIT)
    assert main(["mutants", *FAST]) == ExitCode.INTERNAL_ERROR
    assert "elections.py: 'no such text' stands there 0 times" in " ".join(capsys.readouterr().err.split())


def test_every_edit_of_the_catalogue_fits() -> None:
    for mutant in seeded(load_catalogue()):
        edited = edited_texts(package_folder("kraft_reference"), subject_of(mutant).edits)
        assert {path.name for path in edited} == {Path(edit.file).name for edit in subject_of(mutant).edits}, (
            mutant.name
        )


def test_no_edit_uses_a_name_that_its_module_does_not_have(tmp_path: Path) -> None:
    """Such a mutant would be killed by its NameError, whatever the tools can see."""
    for mutant in seeded(load_catalogue()):
        for path, text in edited_texts(package_folder("kraft_reference"), subject_of(mutant).edits).items():
            (tmp_path / f"{mutant.name}.{path.name}").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.nightly
def test_no_edit_calls_what_its_module_does_not_have(tmp_path: Path) -> None:
    """Such a mutant would be killed by its TypeError or AttributeError, whatever the tools can see."""
    source, copy = package_folder("kraft_reference"), tmp_path / "kraft_reference"
    shutil.copytree(source, copy)
    daemon = [sys.executable, "-m", "mypy.dmypy", "--status-file", str(tmp_path / "status")]

    def checked(*command: str) -> str:
        return subprocess.run([*daemon, *command], cwd=tmp_path, capture_output=True, text=True, check=False).stdout

    try:
        checked("start", "--", "--strict")
        assert "Success" in checked("check", "kraft_reference")
        for mutant in seeded(load_catalogue()):
            edited = edited_texts(source, subject_of(mutant).edits)
            for path, text in edited.items():
                (copy / path.relative_to(source)).write_text(text, encoding="utf-8")
            said = checked("check", "kraft_reference")
            assert not re.search(r"\[(attr-defined|call-arg|call-overload|name-defined)\]", said), (mutant.name, said)
            for path in edited:
                shutil.copy(path, copy / path.relative_to(source))
    finally:
        checked("stop")


def test_a_mutant_that_hangs_is_killed_by_the_limit() -> None:
    (outcome,) = Campaign((ALL_TOOLS["scenarios"],), None, True, {"scenarios": 3.0}).run([HANGS], 1)
    assert outcome.first is not None
    assert outcome.first.what == "hangs: no end after 3 s"


def test_a_mutant_that_cannot_be_imported_is_killed() -> None:
    broken = Subject("raises", (Edit("state.py", "UNKNOWN_HIGH_WATERMARK = -1", "UNKNOWN_HIGH_WATERMARK = 1 // 0"),))
    (outcome,) = Campaign((ALL_TOOLS["scenarios"],), None, True, {}).run([broken], 1)
    assert outcome.first is not None
    assert outcome.first.what.startswith("raises ZeroDivisionError")
    assert outcome.first.where == "import"


def test_nothing_is_said_when_the_unbroken_reference_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(campaign, "UNBROKEN", subject_of(HALF))
    with (
        pytest.raises(AttackError, match="scenarios finds fault with the unbroken reference"),
        prepared([ALL_TOOLS["scenarios"]]),
    ):
        pass


def test_a_process_that_imports_the_installed_reference_attacks_nothing() -> None:
    with pytest.raises(RuntimeError, match=a_module.rpartition("/")[0]):
        attack("scenarios", Target())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-such-mutant"], "no mutant 'no-such-mutant'"),
        (["--tool", "hammer"], "no tool 'hammer'; there are scenarios"),
        (["--no-seeded"], "nothing to try"),
        (["--tool", "tests"], "for machine-made mutants"),
    ],
)
def test_wrong_use_is_said(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", *arguments]) == ExitCode.USAGE
    assert words in " ".join(capsys.readouterr().err.split())


def test_the_list_names_mutants_and_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mutants", "--list", "--json"]) == ExitCode.CONFORMANT
    document = json.loads(capsys.readouterr().out)
    assert {tool["name"] for tool in document["tools"]} == set(ALL_TOOLS)
    assert [one["name"] for one in document["mutants"]] == [one.name for one in seeded(load_catalogue())]
    levels = {one["name"]: one["shown_at"] for one in document["mutants"]}
    assert levels["pre-vote-casts-the-vote"] == "effects"
    assert set(levels.values()) == {"wire", "effects", "state", None}


def test_the_record_lists_what_only_unit_tests_see() -> None:
    pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")
    (first, second), population = machine_made.sample(2, 1)
    seen = [Outcome(first.subject.name, (Attack("tests", True, "test_log.py::test_cut"),))]
    seen.append(Outcome(second.subject.name, (Attack("edges", True, "differs"),)))
    sampled = MachineMadeOutcomes(1, population, (first, second), tuple(seen), {})
    text = page(Results("python -m kraft_dev mutants", Outcome("unbroken", ()), (), (), sampled))
    only = text.partition("What only the unit tests see")[2]
    assert f"| {first.key.file}:{first.line} |" in only
    assert "| test_log.py::test_cut |" in only
    assert f"| {second.key.file}:{second.line} |" not in only or first.line == second.line


def test_the_sample_of_machine_made_mutants_follows_from_the_seed() -> None:
    pytest.importorskip("cosmic_ray", reason="the extra `mutation` is not installed")
    first, population = machine_made.sample(8, 1)
    assert machine_made.sample(8, 1) == (first, population)
    assert {one.key for one in machine_made.sample(8, 2)[0]} != {one.key for one in first}
    assert population > 1000
    for made in first:
        (edit,) = made.subject.edits
        assert edit.old.splitlines()[made.line - 1].strip() == made.key.before
        assert edit.old != edit.new


def test_every_entry_about_a_survivor_names_a_line_that_is_there() -> None:
    modules = {path.name: path.read_text().splitlines() for path in machine_made.protocol_modules()}
    for key in load_survivors():
        same = [line for line in modules[key.file] if line.strip() == key.before]
        assert len(same) > key.occurrence, key.describe()


def test_the_kill_rate_leaves_out_what_is_equivalent() -> None:
    keys = [Key("state.py", "NumberReplacer", "x = 1", "x = 2", number) for number in range(5)]
    made = [MachineMade(key, 1, Subject(str(key.occurrence))) for key in keys]
    attacks: list[tuple[Attack, ...]] = [
        (Attack("scenarios", True, "raises TypeError: no"),),
        (Attack("scenarios"), Attack("tests", True, "test_x")),
        (Attack("scenarios"), Attack("tests")),
        (Attack("scenarios"), Attack("tests")),
        (Attack("scenarios"), Attack("invariants", True, "ElectionSafety")),
    ]
    known = {keys[2]: Survivor("state.py", "NumberReplacer", "x = 1", "x = 2", 2, equivalent="nobody reads x")}
    rate = kill_rate(made, [Outcome(str(n), each) for n, each in enumerate(attacks)], known)
    assert (rate.by_tools, rate.raised, rate.by_tests, rate.equivalent, rate.missing) == (2, 1, 1, 1, 1)
    assert rate.of_all == 0.75
    assert rate.of_tools == 0.5
    assert not rate.reaches_target


@pytest.mark.parametrize("content", [b"", b"kraft-spec-edges-3 another-key digest\n"])
def test_edges_that_are_torn_or_of_another_model_are_enumerated_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    file = tmp_path / "edges"
    file.write_bytes(content)
    recorded: list[Path] = []

    def record(path: Path) -> None:
        recorded.append(path)
        save_edges(path, EdgeGraph(()))

    monkeypatch.setattr(campaign, "record_edges", record)
    for _ in range(2):
        with prepared([ALL_TOOLS["edges"]], edges=file) as (_, baseline):
            assert baseline.first is None
    assert recorded == [file]


def test_a_changed_edge_that_was_stored_is_seen_on_the_unbroken_reference(tmp_path: Path) -> None:
    file = tmp_path / "edges"
    save_edges(file, EdgeGraph((Edge({}, {"name": "Poll", "replica": 1}, {}, {}, "", ()),)))
    with (
        pytest.raises(AttackError, match="edges finds fault with the unbroken reference"),
        prepared([ALL_TOOLS["edges"]], edges=file),
    ):
        pass


def test_a_file_without_edges_is_no_file_to_keep_them_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    assert main(["mutants", "--tool", "edges", "--edges", str(file)]) == ExitCode.BAD_INPUT
    assert "notes.txt holds no edges" in capsys.readouterr().err
    assert file.read_text() == "mine"


PLAYED = (ALL_TOOLS["scenarios"], ALL_TOOLS["partitions"])


@pytest.mark.parametrize(
    ("first", "asked"),
    [
        ({}, [("scenarios", True)]),
        ({HALF.name: "scenarios"}, [("scenarios", True)]),
        ({HALF.name: "partitions"}, [("partitions", False), ("scenarios", True)]),
        ({"another": "partitions"}, [("scenarios", True)]),
    ],
)
def test_the_usual_killer_is_asked_first_and_the_others_if_it_does_not_kill(
    first: dict[str, str], asked: list[tuple[str, bool]]
) -> None:
    (outcome,) = Campaign(PLAYED, None, True, {}, first).run([subject_of(HALF)], 1)
    assert [(attack.tool, attack.killed) for attack in outcome.attacks] == asked


@pytest.mark.parametrize(
    ("chosen", "tried", "said"),
    [
        ((HALF,), {HALF.name: ["scenarios"]}, [(HALF.name, True)]),
        (
            (HALF, COMMENTED),
            {HALF.name: ["scenarios"], COMMENTED.name: ["scenarios", "partitions"]},
            [(HALF.name, True), (COMMENTED.name, False)],
        ),
    ],
)
def test_a_tool_that_no_mutant_needs_is_not_tried_up_to_the_first_kill(
    chosen: tuple[Mutant, ...], tried: dict[str, list[str]], said: list[tuple[str, bool]]
) -> None:
    told: list[Outcome] = []
    results = try_all(SuitePlan("", PLAYED, chosen, first=True), lambda _: None, told.append)
    assert {one.name: [attack.tool for attack in one.attacks] for one in results.outcomes} == tried
    assert [attack.tool for attack in results.baseline.attacks] == max(tried.values(), key=len)
    assert [(one.name, one.first is not None) for one in told] == said


def test_whoever_wants_every_tool_has_them_in_their_order() -> None:
    (outcome,) = Campaign(PLAYED, None, False, {}, {HALF.name: "partitions"}).run([subject_of(HALF)], 1)
    assert [attack.tool for attack in outcome.attacks] == ["scenarios", "partitions"]


def test_the_usual_killers_are_of_seeded_mutants_and_tools() -> None:
    killers = load_killers()
    assert set(killers) <= {mutant.name for mutant in seeded(load_catalogue())}
    assert set(killers.values()) <= {tool.name for tool in TOOLS[1:]}


@pytest.mark.parametrize(
    ("text", "said"),
    [("edges = 7", "killers.toml: "), ('edges = ["a"]\ntraces = ["a"]', "a stands under edges and under traces")],
)
def test_a_wrong_file_of_killers_is_refused(text: str, said: str) -> None:
    with pytest.raises(KillersError, match=said):
        read_killers(text)


def test_the_command_begins_with_the_usual_killer_unless_it_records(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    catalogue_of(monkeypatch, HALF)
    monkeypatch.setattr(command, "load_killers", lambda: {HALF.name: "partitions"})
    monkeypatch.setattr(command, "TOOLS", (ALL_TOOLS["scenarios"], ALL_TOOLS["partitions"]))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    asked = []
    for more in ([], ["--record"]):
        assert main(["mutants", "--first", "--jobs", "1", "--json", *more]) == ExitCode.CONFORMANT
        (outcome,) = json.loads(capsys.readouterr().out)["seeded"]
        asked.append([attack["tool"] for attack in outcome["attacks"]])
    assert asked == [["partitions", "scenarios"], ["scenarios"]]
