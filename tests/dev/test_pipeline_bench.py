"""`python -m kraft_dev pipeline-bench`, with corpora so small that its figures say nothing."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.pipeline.corpora import Sizes, write_corpus, write_skewed
from kraft_dev.benchmark.pipeline.figures import PipelineSpeed
from kraft_dev.benchmark.pipeline.running import BareMeasured, Measured, run_bare
from kraft_dev.cli import main
from kraft_traces.reader import open_trace

if find_spec("pyspark") is None:
    pytest.skip("the extra `pipeline` is not installed", allow_module_level=True)


def _measured(events: int, seconds: float, validate: float, java: int) -> Measured:
    stages = {"ingest": 1.0, "validate": validate, "coverage": 1.0}
    cpu = {"java": 0.5 * seconds, "worker": 1.4 * seconds}
    return Measured(events, seconds, stages, cpu, {"java": java, "worker": 0}, {"java": 1, "worker": 2})


def test_the_figures_are_the_ratios_that_they_are_called() -> None:
    cold, small, large = _measured(100, 50, 20, 90), _measured(100, 10, 5, 100), _measured(1000, 100, 50, 110)
    one = _measured(1000, 190, 80, 100)
    bare = BareMeasured(2, 1000, 40, 80)
    measured = PipelineSpeed(
        two=(cold, small, large),
        one=(cold, one),
        processor=(cold, one),
        bare=bare,
        skewed=(cold, large),
        long=(one, large),
    )
    assert measured.figures() == [
        Figure("local[2] against local[1], whole run", 1.9, 1.8),
        Figure("local[2] against local[1], validate", 1.6, 1.8),
        Figure("two processors against one, whole run", 1.9, 1.8),
        Figure("two processors against one, validate", 1.6, 1.8),
        Figure("against two bare checkers, validate", 0.8, 0.75),
        Figure("against two bare checkers, whole run", 0.4, None),
        Figure("a tenfold corpus, time of the whole run", 10.0, 11.0, at_most=True),
        Figure("a tenfold corpus, peak memory of the java", 1.1, 1.15, at_most=True),
        Figure("skew, share of two cores' time that is used", 0.95, 0.9),
        Figure("checkpointed trace, two cores against one, whole run", 1.9, 1.7),
        Figure("checkpointed trace, two cores against one, validate", 1.6, 1.7),
    ]
    missed = [figure.name for figure in measured.figures() if not figure.is_reached]
    assert missed == [
        "local[2] against local[1], validate",
        "two processors against one, validate",
        "checkpointed trace, two cores against one, validate",
    ]


def test_corpora_have_the_traces_that_were_asked_for(tmp_path: Path) -> None:
    steps: list[None] = []
    write_corpus(tmp_path / "corpus", 3, 20, 2, lambda: steps.append(None))
    write_skewed(tmp_path / "skewed", Sizes(giant_events=50, tiny_traces=2, tiny_events=10), 2, lambda: None)
    assert len(steps) == 3
    counted = {}
    for file in sorted(tmp_path.rglob("*.jsonl")):
        with open_trace(file) as reader:
            counted[f"{file.parent.name}/{file.stem}"] = sum(1 for _ in reader)
    names = {"corpus/000000": 20, "corpus/000001": 20, "corpus/000002": 20}
    assert counted == names | {"skewed/000000": 10, "skewed/000001": 10, "skewed/giant": 50}


def test_bare_checkers_share_the_traces_and_one_that_is_not_accepted_is_an_error(tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", 3, 20, 2, lambda: None)
    files = sorted((tmp_path / "corpus").iterdir())
    measured = run_bare(files[:1], files, 2)
    assert (measured.checkers, measured.events) == (2, 60)
    files[1].write_bytes(b"".join(files[1].read_bytes().splitlines(keepends=True)[:-1]))
    with pytest.raises(BenchmarkError, match="is inconclusive"):
        run_bare(files[:1], files, 2)


@pytest.mark.slow
def test_a_measurement_from_the_shell(tmp_path: Path) -> None:
    output = tmp_path / "figures.json"
    words = ("--only", "skew", "--only", "long", "--small", "-o", output, "--json")
    command = [sys.executable, "-m", "kraft_dev", "pipeline-bench", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == ExitCode.CONFORMANT, run.stderr
    document = json.loads(run.stdout)
    assert document == json.loads(output.read_bytes())
    assert [figure["name"] for figure in document["figures"]] == [
        "skew, share of two cores' time that is used",
        "checkpointed trace, two cores against one, whole run",
        "checkpointed trace, two cores against one, validate",
    ]
    assert [one["events"] for one in document["skewed"]] == [20, 100]
    assert document["skewed"][-1]["peak_bytes"]["worker"] > 0
    assert [one["events"] for one in document["long"]] == [60, 60]
    assert not list(tmp_path.glob("kraft-spec-bench-*"))


def test_what_cannot_be_measured_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline-bench", "--only", "speed"]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith(
        "--only speed: expected one of cores, processor, bare, growth, skew, long"
    )
