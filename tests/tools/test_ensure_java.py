import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "ensure_java.sh"


@dataclass(frozen=True, slots=True)
class Machine:
    """A PATH of our own making, so that neither this machine's Java nor its package manager is seen."""

    folder: Path

    @property
    def commands(self) -> Path:
        return self.folder / "bin"

    def add_command(self, name: str, script: str) -> None:
        command = self.commands / name
        command.write_text(f"#!/bin/sh\n{script}\n")
        command.chmod(0o755)

    def add_java(self, version: str) -> Path:
        home = self.folder / f"jdk-{version}"
        (home / "lib" / "server").mkdir(parents=True)
        (home / "lib" / "server" / "libjvm.so").touch()
        self.add_command("java", self.java_script(version, home))
        return home

    @staticmethod
    def java_script(version: str, home: Path) -> str:
        return f"echo '    java.home = {home}'\necho '    java.specification.version = {version}' >&2"

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.commands), "KRAFT_SPEC_JAVA_SEARCH": "", **variables}
        return subprocess.run([SCRIPT], env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    bare = Machine(tmp_path)
    bare.commands.mkdir()
    for tool in ("sh", "sed", "cat", "chmod", "touch", "mkdir"):
        path = shutil.which(tool)
        assert path is not None
        os.symlink(path, bare.commands / tool)
    bare.add_command("id", "echo 1000")
    return bare


def test_prints_the_home_of_the_java_on_the_path(machine: Machine) -> None:
    home = machine.add_java("21")
    finished = machine.run()
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, f"{home}\n", "")


@pytest.mark.parametrize("version", ["1.8", "11", "16"])
def test_an_old_java_is_as_good_as_none(machine: Machine, version: str) -> None:
    machine.add_java(version)
    finished = machine.run()
    assert finished.returncode == 1
    assert finished.stdout == ""
    assert "Java 17 or newer is needed" in finished.stderr


def test_a_java_without_the_library_that_jpype_loads_is_refused(machine: Machine) -> None:
    home = machine.add_java("17")
    shutil.rmtree(home / "lib")
    assert machine.run().returncode == 1


def test_names_the_exact_command_when_it_may_not_install(machine: Machine) -> None:
    machine.add_command("apt-get", "echo must not be called >&2")
    finished = machine.run()
    assert finished.returncode == 1
    assert "apt-get install -y openjdk-17-jre-headless" in finished.stderr
    assert "must not be called" not in finished.stderr


def test_root_may_be_told_not_to_install(machine: Machine) -> None:
    machine.add_command("id", "echo 0")
    machine.add_command("apt-get", "echo must not be called >&2")
    finished = machine.run(KRAFT_SPEC_NO_INSTALL="1")
    assert finished.returncode == 1
    assert "must not be called" not in finished.stderr


@pytest.mark.parametrize("needs_sudo", [False, True])
def test_installs_where_that_takes_no_question(machine: Machine, needs_sudo: bool) -> None:
    if needs_sudo:
        machine.add_command("sudo", 'shift\ntest "$1" = true || exec "$@"')
    else:
        machine.add_command("id", "echo 0")
    home = machine.folder / "installed"
    java = machine.commands / "java"
    machine.add_command(
        "apt-get",
        f"test \"$1\" = install || exit 0\necho chatter\nmkdir -p '{home}/lib/server'\n"
        f"touch '{home}/lib/server/libjvm.so'\ncat >'{java}' <<'END'\n#!/bin/sh\n"
        f"{Machine.java_script('17', home)}\nEND\nchmod +x '{java}'",
    )
    finished = machine.run()
    assert (finished.returncode, finished.stdout) == (0, f"{home}\n"), finished.stderr


def test_a_failed_installation_ends_with_the_command(machine: Machine) -> None:
    machine.add_command("id", "echo 0")
    machine.add_command("apt-get", "echo no network >&2\nexit 100")
    finished = machine.run()
    assert finished.returncode == 1
    assert "no network" in finished.stderr
    assert "apt-get install -y openjdk-17-jre-headless" in finished.stderr
