"""Files that `--input` selects."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kraft_pipeline.failures import InputError
from kraft_pipeline.inputs import input_files, list_inputs


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
        (["*"], ["[x]/e.ndjson", "a.jsonl.gz", "b.jsonl", "sub/c.parquet"]),
        (["**"], ["[x]/e.ndjson", "a.jsonl.gz", "b.jsonl", "sub/c.parquet"]),
        (["./*/"], ["[x]/e.ndjson", "sub/c.parquet"]),
        (["*.txt", "n?tes.txt"], ["notes.txt", "notes.txt"]),
        (["*.jsonl*"], ["a.jsonl.gz", "b.jsonl"]),
        (["n*"], "n*: no matching file ends with"),
        (["notes*"], "notes*: no matching file ends with"),
        (["*/c.parquet", "**/sub/*", "**/[.]/*"], "**/[.]/*: no such file or folder"),
        (["**/sub/*", "**/sub", "s*/**"], ["sub/c.parquet"] * 3),
        ([".*.jsonl", "*/.g*/*"], [".hidden.jsonl", "sub/.git/d.jsonl"]),
        (["none/*"], "none/*: no such file or folder"),
        (["b.jsonl/*"], "b.jsonl/*: no such file or folder"),
    ],
)
def test_files_folders_and_patterns(folder: Path, patterns: list[str], expected: list[str] | str) -> None:
    if isinstance(expected, str):
        with pytest.raises(InputError) as raised:
            list(input_files(patterns))
        assert str(raised.value).startswith(expected)
        return
    selected = list(input_files(patterns))
    assert [source for _, source in selected] == expected
    assert all(path.exists() for path, _ in selected)


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


def _listed(folder: Path, *patterns: str) -> list[tuple[str, str]]:
    """Return the files that are read: the target of each name, and the name."""
    rows, _ = list_inputs(patterns)
    return [(os.path.relpath(os.fsdecode(row["path"]), folder), row["source"]) for row in rows]


def test_a_file_is_known_again_behind_links(folder: Path) -> None:
    (folder / "runs/1").mkdir(parents=True)
    (folder / "runs/1/t.jsonl").touch()
    (folder / "runs/also.jsonl").symlink_to("1/t.jsonl")
    (folder / "runs/latest").symlink_to("1")
    (folder / "runs/up").symlink_to("..")
    # The folder is walked once; the link to the file is another name of it, and it has the first by alphabet.
    inside = [("runs/1/t.jsonl", "runs/1/t.jsonl")]
    outside = [("[x]/e.ndjson", "runs/up/[x]/e.ndjson"), ("a.jsonl.gz", "runs/up/a.jsonl.gz")]
    outside += [("b.jsonl", "runs/up/b.jsonl"), ("sub/c.parquet", "runs/up/sub/c.parquet")]
    assert _listed(folder, "runs") == inside + outside
    assert _listed(folder, "runs/latest", "runs/1") == inside
    # What a pattern asks for by name is found by that name, but not again and again behind a link that leads back.
    assert _listed(folder, "runs/**/latest/*.jsonl") == [("runs/1/t.jsonl", "runs/latest/t.jsonl")]


def test_no_two_names_give_the_same_text(folder: Path) -> None:
    names = {b"n/x\xff.jsonl", b"n/x\\xff.jsonl", b"n/x\\\\xff.jsonl", "n/\xe4.jsonl".encode()}
    (folder / "n").mkdir()
    for name in names:
        Path(os.fsdecode(name)).touch()
    assert sorted(source for _, source in _listed(folder, "n")) == [
        r"n/x\\\\xff.jsonl",
        r"n/x\\xff.jsonl",
        r"n/x\xff.jsonl",
        "n/\xe4.jsonl",
    ]


def test_what_is_no_regular_file_is_listed_in_a_folder_and_refused_by_name(folder: Path) -> None:
    (folder / "odd").mkdir()
    os.mkfifo(folder / "odd/pipe.jsonl")
    os.mkfifo(folder / "odd/pipe.log")
    (folder / "odd/loop").symlink_to("loop")
    (folder / "odd/gone.jsonl").symlink_to("nothing")
    (folder / "odd/ok.jsonl").touch()
    listed = ["odd/gone.jsonl", "odd/loop", "odd/ok.jsonl", "odd/pipe.jsonl"]
    for pattern in ("odd", "o*", "odd/*", "odd/**"):
        assert [source for _, source in input_files([pattern])] == listed
    refused = {
        "odd/pipe.jsonl": "a pipe, expected a file or a folder",
        "odd/loop": "Too many levels of symbolic links",
        "odd/gone.jsonl": "No such file or directory",
    }
    for name, problem in refused.items():
        with pytest.raises(InputError) as raised:
            list(input_files([name]))
        assert str(raised.value) == f"{name}: {problem}"


def test_a_folder_that_cannot_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuses(path: Any) -> Any:
        if Path(path).name == "sub":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuses)
    everything = ["[x]/e.ndjson", "a.jsonl.gz", "b.jsonl", "sub"]
    for pattern in (".", "*", "**"):
        assert [source for _, source in input_files([pattern])] == everything
    assert [source for _, source in input_files(["**/*.ndjson", "s?b/*.jsonl"])] == ["[x]/e.ndjson", "sub", "sub"]
    for name in ("sub", "sub/*.jsonl"):
        with pytest.raises(InputError) as raised:
            list(input_files([name]))
        assert str(raised.value) == "sub: Permission denied"


def test_the_order_of_the_file_system_does_not_matter(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "current").symlink_to("sub")
    patterns = [".", "**/*.parquet", "*"]
    before = list(input_files(patterns))
    scandir = os.scandir

    @contextmanager
    def backwards(path: Any) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(path) as entries:
            yield sorted(entries, key=lambda entry: entry.name, reverse=True)

    for changed in (backwards, scandir):
        monkeypatch.setattr(os, "scandir", changed)
        assert list(input_files(patterns)) == before
