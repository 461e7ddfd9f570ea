"""Edited copies of packages: they reuse compiled files, which never hide an edit."""

import compileall
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kraft_spec.edits import Edit, edited_packages


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = tmp_path / "edited_for_a_test"
    folder.mkdir()
    (folder / "__init__.py").write_text("from edited_for_a_test.other import OTHER\nVALUE = 1\n")
    (folder / "other.py").write_text("OTHER = 1\n")
    compileall.compile_dir(folder, quiet=2)
    (folder / "__pycache__" / f"other.{sys.implementation.cache_tag}.pyc.123456").write_text("being written")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_only_edited_files_are_compiled_again(package: str) -> None:
    with edited_packages([Edit(f"{package}/__init__.py", "VALUE = 1", "VALUE = 2")]) as environment:
        copy = Path(environment["PYTHONPATH"].split(os.pathsep)[0]) / package
        assert [path.name for path in (copy / "__pycache__").iterdir()] == [f"other.{sys.implementation.cache_tag}.pyc"]
        command = [sys.executable, "-c", f"import {package} as p; print(p.VALUE, p.OTHER)"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["2", "1"]


def test_an_edit_of_the_same_length_and_second_is_not_hidden(package: str) -> None:
    with edited_packages([Edit(f"{package}/other.py", "OTHER = 1", "OTHER = 3")]) as environment:
        copy = Path(environment["PYTHONPATH"].split(os.pathsep)[0]) / package
        source = Path(sys.path[0]) / package / "other.py"
        times = source.stat()
        os.utime(copy / "other.py", ns=(times.st_atime_ns, times.st_mtime_ns))
        command = [sys.executable, "-c", f"import {package} as p; print(p.VALUE, p.OTHER)"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "3"]
