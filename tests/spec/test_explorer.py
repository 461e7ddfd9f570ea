"""The explorer: TLC's numbers and counterexamples, and detection of its own faults."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kraft_dev.nightly.parts import NOT_COMPILED
from kraft_spec.compiled.building import cache_folder
from kraft_spec.compiled.checks import EXPLORED, compiled_check
from kraft_spec.compiled.estimating import estimated_states
from kraft_spec.compiled.exploring import Exploration, Unexplorable, explore
from kraft_spec.models import Way, checks_of, find_check, run_check, write_model
from kraft_spec.tlc.model_check import Checkpoints, ModelCheckError, ModelCheckOptions, check_model
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome

COUNTERS = """\
---- MODULE Counters ----
EXTENDS Naturals, Sequences, FiniteSets
CONSTANT Most
VARIABLES nodes, sent, turn
Ids == DOMAIN nodes
Init == nodes = [n \\in 1..3 |-> [count |-> 0, seen |-> {}, log |-> <<>>]] /\\ sent = {} /\\ turn \\in {1, 2}
Message(n) == [from |-> n, count |-> nodes[n].count]
SameAsTurn(n) == nodes[n].count = nodes[turn].count
Longest(n) == Len(nodes[n].log)
Ahead(n) == {q \\in Ids : Longest(q) > Longest(n) /\\ Cardinality(nodes[q].seen) >= 0}
Changed(n) == {q \\in n..3 : nodes'[q] # nodes[q] /\\ nodes'[q].count >= nodes[q].count /\\ Longest(q) <= Most}
Count(n) ==
  /\\ nodes[n].count < Most
  /\\ SameAsTurn(n)
  /\\ nodes' = [nodes EXCEPT ![n].count = @ + 1, ![n].log = Append(@, turn)]
  /\\ sent' = sent \\cup {Message(n)}
  /\\ turn' = IF Ahead(n) = {} THEN n ELSE CHOOSE q \\in Ahead(n) : TRUE
See(n, m) ==
  /\\ m.from # n /\\ m \\notin nodes[n].seen
  /\\ nodes' = [nodes EXCEPT ![n].seen = @ \\cup {m}]
  /\\ UNCHANGED <<sent, turn>>
Next == (\\E n \\in Ids : Count(n)) \\/ (\\E n \\in Ids : \\E m \\in sent : See(n, m))
Bounds == \\A n \\in Ids : Cardinality(nodes[n].seen) <= 2
View == <<[n \\in Ids |-> [nodes[n] EXCEPT !.log = Len(@)]], sent>>
Logged == \\A n \\in Ids : Len(nodes[n].log) = nodes[n].count /\\ n \\notin Ahead(n)
NeverMost == \\A n \\in Ids : nodes[n].count < Most
Grows == [][\\A n \\in Ids : Cardinality(Changed(n)) <= 1]_nodes
====
"""
"""Sequences of records, sets of records, CHOOSE among several, a VIEW, and a constraint."""

FORGETS_AN_ARGUMENT = """\
from kraft_spec.compiled import paths
paths._shortened = lambda path, prefix: [prefix]
"""
"""A fault of the memos: an argument that selects a part of a variable is not in the key if the whole variable is."""

FORGETS_A_PRIME = """\
from kraft_spec.compiled import reads
reads._later = lambda given, node: given
"""
"""A fault of the memos: what is read of the next state counts as read of the current one."""

HASHES_THE_LENGTH_ALONE = """\
from kraft_spec.compiled import building
written = building._javac
def javac(sources, target):
    text = {source.name: source for source in sources}["Sequence.java"].read_text()
    faulty = target.parent / "Sequence.java"
    faulty.write_text(text.replace("chained(0x4_0000_0000L + elements.length, elements)", "elements.length"))
    written([faulty if source.name == "Sequence.java" else source for source in sources], target)
building._javac = javac
"""
"""A fault of hashing: sequences of one length have one hash."""

BUILD = """
import sys
from pathlib import Path
from kraft_spec.compiled import building
from kraft_spec.tlc.specification import Specification
folder, jar = map(Path, sys.argv[1:])
building.write_explorer_jar(Specification(folder, "Counters", "Counters"), jar)
"""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide a cache of compiled models for these tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def counters(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Provide a folder with the specification, and the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    folder = tmp_path / "counters"
    folder.mkdir()
    (folder / "Counters.tla").write_text(COUNTERS, encoding="utf-8")
    _configure(folder)
    return folder


def _configure(folder: Path, invariant: str = "Logged", view: str = "VIEW View", more: str = "", most: int = 3) -> None:
    lines = ("INIT Init", "NEXT Next", f"CONSTANT Most = {most}", "CONSTRAINT Bounds", view, "PROPERTY Grows", more)
    (folder / "Counters.cfg").write_text("\n".join((*lines, f"INVARIANT {invariant}\n")), encoding="utf-8")


BRIEFLY = ModelCheckOptions(check_deadlock=False, brief=True)


def _explored(folder: Path, options: ModelCheckOptions = BRIEFLY) -> Exploration:
    return explore(folder, "Counters", "Counters", options)


def _numbers(report: ModelCheckReport) -> tuple[object, ...]:
    reached = report.progress
    return report.outcome, reached.states_generated, reached.states_distinct, reached.depth


@pytest.mark.parametrize("view", ["VIEW View", ""], ids=["view", "no-view"])
def test_the_numbers_are_those_of_tlc(counters: Path, view: str) -> None:
    _configure(counters, view=view)
    judged = check_model(counters, "Counters", options=BRIEFLY)
    exploration = _explored(counters)
    assert _numbers(exploration.report) == _numbers(judged)
    assert judged.progress.states_distinct > 200
    assert sum(exploration.widths) == judged.progress.states_distinct
    assert exploration.sampled > 0


def test_two_workers_reach_the_same_states(counters: Path) -> None:
    _configure(counters, view="")
    alone, together = (_explored(counters, replace(BRIEFLY, workers=workers)) for workers in (1, 2))
    assert _numbers(together.report) == _numbers(alone.report)
    assert together.widths == alone.widths


def test_tlc_judges_every_state_on_request(counters: Path) -> None:
    exploration = _explored(counters, replace(BRIEFLY, both=True))
    assert exploration.sampled == exploration.report.progress.states_distinct


def test_a_counterexample_is_that_of_tlc(counters: Path) -> None:
    _configure(counters, "NeverMost")
    judged, explored = check_model(counters, "Counters", options=BRIEFLY), _explored(counters).report
    assert (explored.outcome, explored.violated) == (Outcome.VIOLATION, "NeverMost")
    assert (explored.violated, explored.message) == (judged.violated, judged.message)
    assert explored.trace == judged.trace
    assert len(explored.trace) == 4


@pytest.mark.nightly
def test_a_violated_step_is_that_of_tlc(counters: Path) -> None:
    text = COUNTERS.replace("Cardinality(Changed(n)) <= 1", "nodes'[n].count < Most")
    (counters / "Counters.tla").write_text(text, encoding="utf-8")
    judged, explored = check_model(counters, "Counters", options=BRIEFLY), _explored(counters).report
    assert (explored.outcome, explored.violated) == (Outcome.VIOLATION, "Grows")
    assert explored.trace == judged.trace


@pytest.mark.nightly
def test_a_deadlock_is_that_of_tlc(counters: Path) -> None:
    _configure(counters, most=1)
    deadlocks = replace(BRIEFLY, check_deadlock=True)
    judged = check_model(counters, "Counters", options=deadlocks)
    explored = _explored(counters, deadlocks).report
    assert explored.outcome is judged.outcome is Outcome.DEADLOCK
    assert len(explored.trace) == len(judged.trace)


@pytest.mark.nightly
def test_an_expression_without_a_value_has_the_message_of_tlc(counters: Path) -> None:
    text = COUNTERS.replace("Logged == ", "Logged == nodes[1].count < 2 \\/ nodes[4].count = 0\nUnused == ")
    (counters / "Counters.tla").write_text(text, encoding="utf-8")
    judged, explored = check_model(counters, "Counters", options=BRIEFLY), _explored(counters).report
    assert explored.outcome is judged.outcome is Outcome.ERROR
    assert explored.message == judged.message
    assert explored.trace == judged.trace


def test_a_search_resumes_from_its_checkpoint(counters: Path, tmp_path: Path) -> None:
    whole = _explored(counters).report
    checkpoints = Checkpoints(tmp_path / "checkpoints", interval_seconds=3600)
    checkpoints.directory.mkdir()
    # A limit that is over before the first state: the search ends at its first look at the clock.
    stopped = _explored(counters, replace(BRIEFLY, checkpoints=checkpoints, time_limit_seconds=0.000001)).report
    assert stopped.outcome is Outcome.TIME_LIMIT
    assert stopped.checkpoint == checkpoints.directory
    assert stopped.progress.queue_left > 0
    again = replace(checkpoints, recover=checkpoints.directory)
    assert _numbers(_explored(counters, replace(BRIEFLY, checkpoints=again)).report) == _numbers(whole)
    assert not list(checkpoints.directory.iterdir())


@pytest.mark.nightly
def test_a_checkpoint_of_another_model_is_refused(counters: Path, tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path / "checkpoints", interval_seconds=3600)
    checkpoints.directory.mkdir()
    _explored(counters, replace(BRIEFLY, checkpoints=checkpoints, time_limit_seconds=0.000001))
    _configure(counters, most=2)
    again = replace(checkpoints, recover=checkpoints.directory)
    with pytest.raises(ModelCheckError, match="is of another model: start again without --resume"):
        _explored(counters, replace(BRIEFLY, checkpoints=again))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(FORGETS_AN_ARGUMENT, id="argument"),
        pytest.param(FORGETS_A_PRIME, id="prime", marks=pytest.mark.nightly),
        pytest.param(HASHES_THE_LENGTH_ALONE, id="hash", marks=pytest.mark.nightly),
    ],
)
def test_a_fault_of_the_explorer_is_detected(
    counters: Path, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants change what a memo's key consists of, or the hash of a sequence."""
    _configure(counters, view="")
    name = compiled_check(counters, "Counters", "Counters", EXPLORED).name
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    jar = cache_folder() / name
    subprocess.run([sys.executable, "-c", fault + BUILD, str(counters), str(jar)], check=True)
    with pytest.raises(ModelCheckError, match=r"^a defect of the explorer: "):
        _explored(counters, replace(BRIEFLY, both=True))


def test_temporal_properties_are_left_to_tlc(counters: Path) -> None:
    _configure(counters, more="PROPERTY Ends")
    (counters / "Counters.tla").write_text(
        COUNTERS.replace("View ==", "Ends == <>(sent # {})\nView =="),
        encoding="utf-8",
    )
    with pytest.raises(Unexplorable, match=r"^a temporal property$"):
        _explored(counters)


@pytest.mark.nightly
@pytest.mark.parametrize("way", [Way.EXPLORED, Way.JUDGED])
def test_the_models_own_states_are_those_of_tlc(way: Way) -> None:
    """The nightly checks do the same on all other slices."""
    report = run_check(find_check("combined-small"), way=way)
    assert (report.report.outcome, report.way) == (Outcome.OK, way), report.report.message
    reached = report.report.progress
    assert (reached.states_generated, reached.states_distinct, reached.depth) == (1903, 1008, 39)


def _command(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-m", "kraft_cli.cli", *words], capture_output=True, text=True, check=False)


def test_the_command_explores_and_prints_the_counterexample_of_tlc() -> None:
    done = _command("model", "combined-small-log-check", "--explore")
    assert done.returncode == 0, done.stderr
    assert "ok   combined-small-log-check: violates LeaderCompleteness after 13 states, as it must" in done.stdout
    assert "the model   compiled, searched by the explorer" in done.stdout
    assert "13. HandleVoteResponse (replica 2, VoteResponse from 1): Candidate -> Leader" in done.stdout


def test_the_command_refuses_to_explore_and_to_interpret() -> None:
    done = _command("model", "combined-small", "--explore", "--interpreted")
    assert done.returncode == 64
    assert "--interpreted and --explore exclude each other" in done.stderr


SLICES = [
    check.name
    for check in checks_of("ci")
    if not (check.violates or check.mutants or check.configuration.specification or check.name in NOT_COMPILED)
]


@pytest.mark.nightly
@pytest.mark.parametrize("name", SLICES)
def test_the_numbers_of_every_slice_are_those_of_tlc(name: str, tmp_path: Path) -> None:
    check = find_check(name)
    module, model = check.configuration.module, write_model(check, tmp_path / "model")
    options = replace(BRIEFLY, compiled=compiled_check(model, module, name))
    judged, explored = check_model(model, module, name, options), explore(model, module, name, BRIEFLY).report
    assert _numbers(explored) == _numbers(judged)


def test_the_estimate_is_that_of_a_complete_search() -> None:
    """The widths are those of combined-three, whose search has 128,610 states; half of the levels are known."""
    assert 60_000 < estimated_states(COMBINED_THREE) < 250_000
    assert estimated_states(COMBINED_THREE[:5]) == 0
    assert estimated_states([2**level for level in range(20)]) == 0


COMBINED_THREE = [
    *(1, 3, 4, 10, 18, 41, 73, 119, 184, 253, 324, 395, 468, 561, 723, 979, 1343, 1935, 2662, 3547, 4524, 5408, 6034),
    *(6498, 6778, 6615, 6379, 5942, 5513, 5079),
]
