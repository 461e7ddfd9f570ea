"""The agent in a JVM that runs already: checks of the process, and a call of Java's Attach API."""

import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, UnavailableError, usage_error
from kraft_spec.tlc.jar import find_java

_FLAG = "or start it with the flag of `kraft-spec kafka agent`"
_ATTACHED_S = 60.0
"""Time limit of the Attach API, which waits 10 s for the JVM's answer."""
_PROC = Path("/proc")
_QUIT = 1 << (3 - 1)
"""SIGQUIT in a mask of signals."""
_NEEDED = "jdk.attach"
"""Module of the Attach API, which a JDK has."""
_FAILED, _ALREADY, _NOT_ATTACHED, _NOT_LOADED = 0, 10, 11, 12
"""Exit codes of kraft.agent.Attach; the first one also without a failure."""


def check_process(pid: int) -> None:
    """Check that a process is a JVM that this user may attach to.

    The Attach API sends SIGQUIT, which ends a process that does not catch it.  A system without /proc has only the
    checks of the Attach API.

    Raises:
        CommandError: it is not.
    """
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        raise usage_error(f"there is no process {pid}: `jps` lists the JVMs of this user") from None
    except PermissionError:
        raise _of_another_user(pid) from None
    if not _PROC.is_dir():
        return
    home = _PROC / str(pid)
    try:
        maps = (home / "maps").read_text(encoding="utf-8", errors="replace")
        status = (home / "status").read_text(encoding="utf-8", errors="replace")
        options = (home / "cmdline").read_bytes() + (home / "environ").read_bytes()
        is_in_this_container = (home / "ns" / "mnt").readlink() == (_PROC / "self" / "ns" / "mnt").readlink()
    except PermissionError:
        raise _of_another_user(pid) from None
    except OSError:
        raise usage_error(f"there is no process {pid} any more") from None
    if "/libjvm.so" not in maps:
        raise usage_error(f"process {pid} is no JVM: `jps` lists those of this user")
    if not is_in_this_container:
        raise UnavailableError(f"process {pid} runs in another container: run the command there, {_FLAG}")
    if b"-XX:+DisableAttachMechanism" in options:
        raise UnavailableError(f"process {pid} has -XX:+DisableAttachMechanism: start it without, {_FLAG}")
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status, re.MULTILINE)
    if caught is None or not int(caught[1], 16) & _QUIT:
        detail = "it is still starting, or has the option -Xrs"
        raise UnavailableError(f"process {pid} does not catch SIGQUIT, which the Attach API sends: {detail}; {_FLAG}")


def attach(pid: int, jar: Path, folder: Path, rotate: str | None) -> str:
    """Load the agent into a JVM that `check_process` accepts, and return its status.

    Args:
        pid: id of the process.
        jar: the agent's jar.
        folder: absolute path of the folder for the agent's files.
        rotate: size from which on another file begins, such as 256m.

    Raises:
        CommandError: the JVM does not run Kafka, cannot be attached to, or has the agent; nothing has changed.
        JavaMissing: there is no Java.
    """
    argument = str(folder) if rotate is None else f"{folder},rotate={rotate}"
    java = find_java().executable
    command = [str(java), "--add-modules", _NEEDED, "-Xshare:auto", "-XX:TieredStopAtLevel=1", "-cp", str(jar)]
    command += ["kraft.agent.Attach", str(pid), str(jar), argument]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_ATTACHED_S, check=False)
    except subprocess.TimeoutExpired:
        raise UnavailableError(f"process {pid}: no answer in {_ATTACHED_S:.0f} s; attach again, {_FLAG}") from None
    line = (done.stdout.strip().splitlines() or [""])[-1]
    if done.returncode != 0 or not line.startswith("writes to "):
        raise _refusal(pid, done.returncode, line, done.stderr + done.stdout, java)
    return line


def _refusal(pid: int, code: int, line: str, output: str, java: Path) -> CommandError:
    """Return the error for an answer of kraft.agent.Attach."""
    if f"Module {_NEEDED} not found" in output:
        return UnavailableError(f"{java} has no module {_NEEDED}: install a JDK, 17 or newer, or name one in JAVA_HOME")
    if code == _ALREADY:
        return UnavailableError(f"process {pid} has the agent already, which {line}; nothing was changed")
    if code == _FAILED and line.startswith("disabled: cannot write"):
        return CommandError(f"process {pid}: the agent is {line}", ExitCode.CANNOT_WRITE)
    if code == _FAILED and line:
        return UnavailableError(f"process {pid}: the agent is {line}")
    if code == _NOT_ATTACHED:
        hint = "expected a JVM without -XX:+DisableAttachMechanism"
        return UnavailableError(f"process {pid} cannot be attached to: {line}; {hint}, {_FLAG}")
    if code == _NOT_LOADED:
        hint = "its user must be able to read the jar, and -XX:+EnableDynamicAgentLoading must not be off"
        return UnavailableError(f"process {pid} does not load the agent: {line}; {hint}")
    return UnavailableError(f"process {pid}: {java} does not attach: {' '.join(output.split())[:400]}")


def _of_another_user(pid: int) -> CommandError:
    owner = ""
    with suppress(OSError, KeyError, ImportError):
        from pwd import getpwuid

        owner = f", {getpwuid((_PROC / str(pid)).stat().st_uid).pw_name}"
    return UnavailableError(f"process {pid} is of another user{owner}: run the command as that user")
