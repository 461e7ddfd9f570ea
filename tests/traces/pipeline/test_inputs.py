"""What `--input` stands for."""

from pathlib import Path

import pytest

from kraft_traces.pipeline.failures import InputError
from kraft_traces.pipeline.inputs import input_files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (
        "b.jsonl",
        "a.jsonl.gz",
        "notes.txt",
        ".hidden.jsonl",
        "sub/c.parquet",
        "sub/.git/d.jsonl",
        "[x]/e.ndjson",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (["."], ["[x]/e.ndjson", "a.jsonl.gz", "b.jsonl", "sub/c.parquet"]),
        (["b.jsonl", "notes.txt"], ["b.jsonl", "notes.txt"]),
        (["*.jsonl"], ["b.jsonl"]),
        (["**/*.parquet", "b.jsonl"], ["sub/c.parquet", "b.jsonl"]),
        (["./sub/../b.jsonl", "b.jsonl"], ["b.jsonl", "b.jsonl"]),
        (["[x]"], ["[x]/e.ndjson"]),
        (["[xs]ub"], ["sub/c.parquet"]),
    ],
)
def test_files_folders_and_patterns(folder: Path, patterns: list[str], expected: list[str]) -> None:
    found = list(input_files(patterns))
    assert [source for _, source in found] == expected
    assert all(path.exists() for path, _ in found)


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("none.jsonl", "none.jsonl: no such file or folder"), ("*.log", "*.log: no such file or folder")],
)
def test_what_stands_for_nothing_is_an_error(folder: Path, pattern: str, problem: str) -> None:
    with pytest.raises(InputError) as raised:
        list(input_files([pattern]))
    assert str(raised.value) == problem


def test_a_folder_without_traces_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file in this folder ends with"):
        list(input_files([str(tmp_path)]))
