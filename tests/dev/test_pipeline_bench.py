"""`python -m kraft_dev pipeline-bench`, with corpora so small that its figures say nothing."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kraft_conformance.exit_codes import ExitCode
from kraft_dev.benchmark.figure import BenchmarkError, Figure
from kraft_dev.benchmark.pipeline.corpora import write_corpus, write_tenfold
from kraft_dev.benchmark.pipeline.figures import PipelineSpeed
from kraft_dev.benchmark.pipeline.running import Measured, run_bare
from kraft_dev.cli import main
from kraft_traces.reader import open_trace

if find_spec("pyspark") is None:
    pytest.skip("the extra `pipeline` is not installed", allow_module_level=True)


def _measured(events: int, seconds: float, java: int) -> Measured:
    stages = {"ingest": seconds - 2, "validate": 1.0, "coverage": 1.0}
    cpu = {"java": 0.5 * seconds, "worker": 1.4 * seconds}
    return Measured(events, seconds, stages, cpu, {"java": java, "worker": 0}, {"java": 1, "worker": 2})


def test_the_figures_are_the_ratios_that_they_are_called() -> None:
    cold, usual, tenfold = _measured(100, 50, 90), _measured(1000, 100, 100), _measured(10_000, 400, 110)
    one = _measured(1000, 190, 100)
    measured = PipelineSpeed(two=(cold, usual, tenfold), one=(cold, one), long=(usual, one))
    assert measured.figures() == [
        Figure("two cores against one", 1.9, 1.8),
        Figure("10,000 events", 400, 360, "s", at_most=True),
        Figure("a tenfold corpus, peak memory of the java", 1.1, 1.15, at_most=True),
        Figure("checkpointed trace, two cores against one", 100 / 190, 1.7),
    ]
    missed = [figure.name for figure in measured.figures() if not figure.is_reached]
    assert missed == ["10,000 events", "checkpointed trace, two cores against one"]
    assert PipelineSpeed(two=(cold, usual)).figures() == []


def test_corpora_have_the_traces_that_were_asked_for(tmp_path: Path) -> None:
    steps: list[None] = []
    write_corpus(tmp_path / "corpus", 3, 20, 2, lambda: steps.append(None))
    write_tenfold(tmp_path / "corpus", tmp_path / "tenfold")
    assert len(steps) == 3
    for file in (tmp_path / "corpus").iterdir():
        with open_trace(file) as reader:
            assert sum(1 for _ in reader) == 20
    assert len(list((tmp_path / "tenfold").iterdir())) == 30


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
    words = ("--only", "tenfold", "--only", "long", "--small", "-o", output, "--json")
    command = [sys.executable, "-m", "kraft_dev", "pipeline-bench", *map(str, words)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == ExitCode.CONFORMANT, run.stderr
    document = json.loads(run.stdout)
    assert document == json.loads(output.read_bytes())
    names = [figure["name"] for figure in document["figures"]]
    assert (names[0], names[-1]) == ("2,000 events", "checkpointed trace, two cores against one")
    assert [one["events"] for one in document["two"]] == [20, 200, 2_000]
    assert document["two"][-1]["peak_bytes"]["worker"] > 0
    assert [one["events"] for one in document["long"]] == [60, 60]
    assert not list(tmp_path.glob("kraft-spec-bench-*"))


def test_what_cannot_be_measured_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pipeline-bench", "--only", "speed"]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("--only speed: expected one of cores, tenfold, long")
