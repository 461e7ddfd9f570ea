"""`kraft-spec pipeline` at the command line: what it refuses, and how it says so, before Spark is even started."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.conformance.commands import Captured
from tests.traces.pipeline.corpus import good
from tests.traces.pipeline.shell import pipeline

from kraft_cli.cli import main
from kraft_conformance import console
from kraft_conformance.exit_codes import ExitCode

if find_spec("pyspark") is None:
    pytest.skip("the extra `pipeline` is not installed", allow_module_level=True)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.jsonl"
    path.write_bytes(good())
    return path


def _refused(capsys: Captured, *words: object) -> tuple[int, str]:
    code = main(["pipeline", *map(str, words)])
    displayed = capsys.readouterr()
    assert displayed.out == ""
    return code, " ".join(displayed.err.split())


def test_an_output_folder_that_is_not_empty(trace: Path, tmp_path: Path, capsys: Captured) -> None:
    code, text = _refused(capsys, "run", "--input", trace, "--output", tmp_path)
    assert (code, text) == (ExitCode.CANNOT_WRITE, f"{tmp_path} is not empty: name another folder")
    assert sorted(tmp_path.iterdir()) == [trace]


def test_an_output_folder_without_a_place_to_be(trace: Path, tmp_path: Path, capsys: Captured) -> None:
    code, text = _refused(capsys, "run", "--input", trace, "--output", tmp_path / "no" / "out")
    assert (code, text) == (ExitCode.CANNOT_WRITE, f"there is no folder {tmp_path / 'no'} to make out in")


def test_an_unfinished_run_that_nobody_takes_up(trace: Path, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "out.unfinished").mkdir()
    code, text = _refused(capsys, "run", "--input", trace, "--output", tmp_path / "out")
    assert code == ExitCode.CANNOT_WRITE
    assert text.startswith(f"{tmp_path / 'out.unfinished'} holds an unfinished run: take it up with --resume")


def test_a_folder_that_is_no_output_of_the_pipeline(tmp_path: Path, capsys: Captured) -> None:
    code, text = _refused(capsys, "sql", "SELECT 1", "--output", tmp_path)
    assert code == ExitCode.CANNOT_WRITE
    assert text == f"{tmp_path} is not an output folder of the pipeline: it has no pipeline.json"


def test_a_run_that_an_archive_cannot_name(trace: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ("run", "--input", trace, "--output", tmp_path / "to day", "--archive", tmp_path / "nights")
    code, text = _refused(capsys, *words)
    assert code == ExitCode.CANNOT_WRITE
    assert text.startswith("'to day' cannot name a run in an archive: expected letters, digits, ")
    assert sorted(tmp_path.iterdir()) == [trace]


def test_a_query_on_nothing(tmp_path: Path, capsys: Captured) -> None:
    code, text = _refused(capsys, "sql", "SELECT 1")
    assert (code, text) == (ExitCode.USAGE, "expected --output FOLDER or --archive FOLDER")
    code, text = _refused(capsys, "sql", "SELECT 1", "--archive", tmp_path)
    assert (code, "is not an archive: expected one that" in text) == (ExitCode.NO_INPUT, True)


def test_a_master_where_nobody_listens(trace: Path, tmp_path: Path, capsys: Captured) -> None:
    words = ("run", "--input", trace, "--output", tmp_path / "out", "--master", "spark://127.0.0.1:1")
    code, text = _refused(capsys, *words)
    assert code == ExitCode.UNAVAILABLE
    assert text.startswith("starting Spark ... no Spark master answers at spark://127.0.0.1:1: 127.0.0.1:1: ")
    assert sorted(tmp_path.iterdir()) == [trace]


def test_a_java_that_is_not_there(
    trace: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    code, text = _refused(capsys, "run", "--input", trace, "--output", tmp_path / "out")
    assert code == ExitCode.UNAVAILABLE
    assert text.startswith(f"starting Spark ... JAVA_HOME is {tmp_path}, which has no bin/java")


def test_a_library_of_the_extra_that_is_not_there(
    trace: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kraft_conformance.failure.find_spec", lambda name: None if name == "pyspark" else name)
    code, text = _refused(capsys, "run", "--input", trace, "--output", tmp_path / "out")
    expected = "the pipeline needs the package pyspark: pip install 'kraft-spec[pipeline]'"
    assert (code, text) == (ExitCode.UNAVAILABLE, expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sweep", "-w", "calmer"), "no workload 'calmer'; there are calm, "),
        (("sweep", "-p", "kafka-3"), "no profile 'kafka-3'; there are "),
        (("sweep", "--master", "local[0]"), "--master local[0]: expected local[*], local[N] or spark://HOST:PORT"),
        (("sweep", "--conf", "driver.memory=1g"), "--conf driver.memory=1g: expected a setting of Spark, "),
    ],
)
def test_wrong_words(words: tuple[str, ...], expected: str, tmp_path: Path, capsys: Captured) -> None:
    code, text = _refused(capsys, *words, "--output", tmp_path / "out")
    assert code == ExitCode.USAGE
    assert text.startswith(expected)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_run_from_the_shell(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_bytes(b"no trace\n")
    output = tmp_path / "out"
    run = pipeline("run", "-i", tmp_path / "*.jsonl", "-o", output, "--master", "local[1]", "--json")
    document = json.loads(run.stdout)
    assert run.returncode == ExitCode.BAD_INPUT
    assert document == json.loads((output / "report" / "report.json").read_bytes())
    assert (document["account"]["accepted"], document["account"]["traces_quarantined"]) == (1, 1)
    # Spark is silent: a line for each stage, more only for one that takes long.
    text = dict.fromkeys(line.partition(" ...")[0] for line in run.stderr.splitlines())
    assert list(text) == ["starting Spark", "ingest", "verdicts", "coverage", "report"]


def test_no_terminal_is_told_what_begins_at_once_and_how_far_it_is_now_and_then(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with console.stage_progress() as notice:
        notice("starting Spark", 0, 0)
        assert capsys.readouterr().err == "starting Spark ...\n"
        for done in range(3):
            notice("ingest", done, 9)
        assert capsys.readouterr().err == "ingest ... 0 of 9 tasks\n"
        assert console.LINE_SECONDS <= 5.0
        monkeypatch.setattr(console, "LINE_SECONDS", 0.0)
        notice("ingest", 3, 9)
        assert capsys.readouterr().err == "ingest ... 3 of 9 tasks\n"


def test_no_terminal_is_told_how_many_steps_are_done(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    with console.progress("mutants", 9) as advance:
        advance()
        assert capsys.readouterr().err == "mutants ...\n"
        monkeypatch.setattr(console, "STEPS_SECONDS", 0.0)
        advance(2, "another")
        assert capsys.readouterr().err == "mutants ... 3 of 9\n"


def test_no_terminal_is_told_what_is_found_where_nobody_knows_how_much_there_is(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "STEPS_SECONDS", 0.0)
    with console.progress("model check smoke") as advance:
        advance(0, "model check smoke: 120 states")
        assert capsys.readouterr().err == "model check smoke ...\nmodel check smoke: 120 states ...\n"
    with console.progress("checking long.jsonl") as advance:
        advance(1000)
        assert capsys.readouterr().err == "checking long.jsonl ...\nchecking long.jsonl ... 1000\n"
