"""Builds of the adapter templates; tests without their toolchain are skipped.

`python -m tests.conformance.adapter_builds` names missing toolchains on standard error, in capitals.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from tests.conformance.commands import ROOT

from kraft_cli.commands.conformance_template import Language, copy_template
from kraft_kafka.jars import KafkaUnavailableError, fetched
from kraft_kafka.own_tests.libraries import jars_of_tests
from kraft_kafka.releases import json_jars, releases

BUILDS = ROOT / "build" / "adapters" / os.environ.get("PYTEST_XDIST_WORKER", "")
"""Parallel tests build in different folders."""
KAFKAS_TESTS = jars_of_tests()["4.3.1"][0]
"""Kafka's own tests of its raft layer, with the mocks that they use; not every release has this jar."""
_LEAST_JAVA = 17
_LEAST_GO = 22
"""Of Go 1.x; `go.mod` of the template."""
_LEAST_RUST = 71
"""Of Rust 1.x; `rust-version` of the template."""


def linked_checkout(folder: Path) -> None:
    """Link the jars of 4.3.1 and of its tests to where a checkout of Kafka has them.

    Raises:
        KafkaUnavailableError: they are not in the cache and cannot be fetched.
    """
    for jar in (*releases()["4.3.1"].jars, *jars_of_tests()["4.3.1"]):
        libs = folder / jar.artifact.removeprefix("kafka-") / "build" / "libs"
        libs.mkdir(parents=True, exist_ok=True)
        (libs / jar.file_name).symlink_to(fetched([jar])[0])


class ToolchainMissing(Exception):  # noqa: N818 - a reason to skip
    """A toolchain is missing; the message is in capitals, so that the skip is noticed."""

    def __init__(self, language: Language, wanted: str) -> None:
        super().__init__(f"SKIPPED: {wanted}: THE {language.upper()} TEMPLATE IS NEITHER BUILT NOR RUN")


@contextmanager
def skipped_if_missing() -> Iterator[None]:
    """Skip the test where a toolchain is missing, or where Kafka is neither in the cache nor can be fetched."""
    try:
        yield
    except ToolchainMissing as missing:
        pytest.skip(str(missing))
    except KafkaUnavailableError as error:
        if shutil.which("mvn") is None or "cannot fetch" in str(error):
            pytest.skip(f"SKIPPED: {error}: KAFKA IS NOT RUN")
        raise


def toolchain(language: Language) -> Path:
    """The folder of its compiler.

    Raises:
        ToolchainMissing: there is none, or one that is too old.
    """
    if language is Language.RUST:
        cargo = shutil.which("cargo")
        if cargo is None or (_version(cargo, "--version", r"cargo 1\.(\d+)") or 0) < _LEAST_RUST:
            raise ToolchainMissing(language, f"NO CARGO 1.{_LEAST_RUST} OR NEWER ON PATH")
        return Path(cargo).parent
    if language is Language.GO:
        go = shutil.which("go")
        if go is None or (_version(go, "version", r"go1\.(\d+)") or 0) < _LEAST_GO:
            raise ToolchainMissing(language, f"NO GO 1.{_LEAST_GO} OR NEWER ON PATH")
        return Path(go).parent
    home = os.environ.get("JAVA_HOME")
    path = os.pathsep.join([f"{home}/bin", os.environ["PATH"]] if home else [os.environ["PATH"]])
    javac = shutil.which("javac", path=path)
    if javac is None or (_version(javac, "-version", r"javac (\d+)") or 0) < _LEAST_JAVA:
        raise ToolchainMissing(language, f"NO JAVAC OF A JDK {_LEAST_JAVA} OR NEWER IN JAVA_HOME OR ON PATH")
    return Path(javac).resolve().parent


def _version(program: str, option: str, pattern: str) -> int | None:
    """None for a program that cannot say: a stand-in for one that is not installed."""
    printed = subprocess.run([program, option], capture_output=True, text=True, check=False)
    results = re.search(pattern, printed.stdout + printed.stderr)
    return None if results is None else int(results[1])


@cache
def built(language: Language) -> str:
    """Copy a template as a user does, build it below build/adapters, every warning an error; its command line.

    Raises:
        ToolchainMissing: there is nothing to build it with.
        subprocess.CalledProcessError: it cannot be built; what the compiler says is on standard error.
    """
    tools = toolchain(language)
    folder = BUILDS / language
    if folder.exists():
        shutil.rmtree(folder)
    copy_template(language, folder)
    if language is Language.JAVA:
        sources = sorted(map(str, folder.rglob("*.java")))
        # Gson's classes name annotations that are in none of its jars.
        strictly = ("--release", "17", "-Xlint:all,-classfile", "-Werror")
        _run([str(tools / "javac"), *strictly, "-cp", str(gson()), "-d", f"{folder}/build", *sources])
        return shlex.join([str(tools / "java"), "-cp", f"{folder}/build{os.pathsep}{gson()}", "Main"])
    if language is Language.GO:
        _run([str(tools / "go"), "vet", "-C", str(folder), "."])
        _run([str(tools / "go"), "build", "-C", str(folder), "-o", "kraft-adapter"])
        return shlex.quote(str(folder / "kraft-adapter"))
    # Beside the copy, so that the next build does not begin from nothing.
    cargo(folder, "build")
    return shlex.quote(str(BUILDS / "rust-target" / "debug" / "kraft-adapter"))


def gson() -> Path:
    """The jar that the template in Java needs.

    Raises:
        ToolchainMissing: it is not in the cache and cannot be fetched.
    """
    try:
        return fetched(json_jars())[0]
    except KafkaUnavailableError as error:
        raise ToolchainMissing(Language.JAVA, "NO GSON IN THE CACHE, AND IT CANNOT BE FETCHED") from error


def cargo(folder: Path, *words: str) -> None:
    """Run cargo on the copy of the template, every warning an error; its crates are fetched first.

    Raises:
        ToolchainMissing: they are not there and cannot be fetched.
        subprocess.CalledProcessError: it fails.
    """
    variables = {"CARGO_TARGET_DIR": str(BUILDS / "rust-target"), "RUSTFLAGS": "-D warnings"}
    offline = () if words[0] == "fmt" else ("--offline", "--locked", "--quiet")
    program = str(toolchain(Language.RUST) / "cargo")
    manifest = ("--manifest-path", str(folder / "Cargo.toml"))
    if subprocess.run([program, "fetch", *manifest, "--locked", "--quiet"], check=False).returncode:
        raise ToolchainMissing(Language.RUST, "NO SERDE IN THE CACHE OF CARGO, AND IT CANNOT BE FETCHED")
    _run([program, words[0], *manifest, *offline, *words[1:]], os.environ | variables)


def _run(words: Iterable[str], variables: dict[str, str] | None = None) -> None:
    subprocess.run(list(words), check=True, env=variables)


def main() -> None:
    """Print the missing toolchains."""
    for language in Language:
        try:
            toolchain(language)
        except ToolchainMissing as missing:
            print(missing, file=sys.stderr)


if __name__ == "__main__":
    main()
