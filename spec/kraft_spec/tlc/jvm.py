"""The Java virtual machine of this process, and its output.

TLC prints to standard output, unpacks its standard modules into `java.io.tmpdir`, and keeps the names of a
specification in static fields. So each process has one virtual machine with its own temporary folder and redirected
streams, and one specification with edited copies that declare the same names.
"""

import atexit
import gc
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import jpype

from kraft_spec.tlc.jar import TlcBridgeError, ToolsJar, find_jar, find_java

JavaObject: TypeAlias = Any
"""A Java object through JPype, which provides no types."""

COMPILED_OPTIONS = ("-XX:FreqInlineSize=60", "-XX:InlineSmallCode=500", "-XX:MaxInlineLevel=5")
"""Options that suit a compiled model: many small methods that call each other.

With Java's default limits its second compiler inlines so much that it works ten times as long, for code that is no
faster.
"""

JVM_OPTIONS = (
    # TLC recurses over expressions. This stack size is for threads that Java starts; Python's main thread keeps the
    # system's (8 MB holds some 2,000 calls of a RECURSIVE operator), other Python threads threading.stack_size().
    "-Xss16m",
    # There is one busy thread and few live objects: use the collector with the least overhead.
    "-XX:+UseSerialGC",
    # Python handles signals: otherwise SIGTERM interrupts the JVM in the middle of a call and kills the process.
    "-Xrs",
    # Write no performance counters into the system's temporary folder.
    "-XX:-UsePerfData",
    *COMPILED_OPTIONS,
)
"""Options of the virtual machine, besides its temporary folder."""

BRIEF_OPTIONS = ("-XX:TieredStopAtLevel=1",)
"""Additional options for a process of a few seconds: the second compiler would cost more than it saves."""


class JvmError(TlcBridgeError):
    """The virtual machine of this process cannot be used."""


class _Machine:
    """State of the virtual machine; Java allows only one per process."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process_id: int | None = None
        self.jar: ToolsJar | None = None
        self.temporary: Path | None = None
        self.specification: str | None = None
        self.names: frozenset[str] | None = None
        self.discarded: JavaObject = None


_machine = _Machine()


def start(*, brief: bool = False, compiled: Path | None = None) -> ToolsJar:
    """Start the virtual machine unless it runs already, and return its jar.

    Exclude the current Python objects from later garbage collections (`gc.freeze`).

    Args:
        brief: The process is expected to take seconds; ignored if the machine already runs.
        compiled: Jar of a compiled specification, which precedes TLC's; ignored likewise.

    Raises:
        JarMissing, JarMismatch, JavaMissing: A prerequisite is missing.
        JvmError: Other code, or the parent of this forked process, started it.
    """
    with _machine.lock:
        if _machine.jar is not None:
            if _machine.process_id != os.getpid():
                raise JvmError(
                    "the Java virtual machine was started before this process was forked, and does not work "
                    "in it: start it in the child only, or use the `spawn` start method"
                )
            return _machine.jar
        if jpype.isJVMStarted():
            raise JvmError(
                "other code has started a Java virtual machine in this process, without tla2tools.jar: "
                "check specifications in a process of their own"
            )
        jar = find_jar()
        java = find_java()
        temporary = Path(tempfile.mkdtemp(prefix="kraft-spec-tlc-"))
        _machine.temporary = temporary
        atexit.register(remove_temporary_folder)
        library = jpype.getDefaultJVMPath() if not _library(java.home) else str(_library(java.home))
        try:
            jpype.startJVM(
                *JVM_OPTIONS,
                *(BRIEF_OPTIONS if brief else ()),
                f"-Djava.io.tmpdir={temporary}",
                jvmpath=library,
                classpath=[str(path) for path in (compiled, jar.path) if path is not None],
                # Ctrl-C raises Python's KeyboardInterrupt.
                interrupt=False,
            )
        except (OSError, RuntimeError) as cause:
            remove_temporary_folder()
            raise JvmError(f"the Java virtual machine of {java.home} does not start: {cause}") from cause
        _machine.process_id = os.getpid()
        _machine.jar = jar
        _take_streams_over()
        # JPype runs Python's garbage collector whenever Java's runs. With thousands of permanent objects this took a
        # fourth of the time of trace checking.
        gc.freeze()
        return jar


def _library(java_home: Path) -> Path | None:
    """Return libjvm of an installation, so that the checked Java is also the one used."""
    for name in ("libjvm.so", "libjvm.dylib"):
        candidate = java_home / "lib" / "server" / name
        if candidate.is_file():
            return candidate
    return None


def _take_streams_over() -> None:
    """Discard Java's output; `captured_output` redirects it temporarily."""
    print_stream = jpype.JClass("java.io.PrintStream")
    _machine.discarded = print_stream(jpype.JClass("java.io.OutputStream").nullOutputStream())
    _set_streams(_machine.discarded)


def _set_streams(stream: JavaObject) -> None:
    """Set the streams of Java, and TLC's copies of them, to `stream`."""
    system = jpype.JClass("java.lang.System")
    system.setOut(stream)
    system.setErr(stream)
    tool_io = jpype.JClass("util.ToolIO")
    tool_io.out = stream
    tool_io.err = stream


class CapturedOutput:
    """Java's output within `captured_output`."""

    def __init__(self, buffer: JavaObject) -> None:
        self._buffer = buffer

    def text(self) -> str:
        """Return the output so far."""
        return str(self._buffer.toString("UTF-8"))


@contextmanager
def captured_output() -> Iterator[CapturedOutput]:
    """Capture TLC's output inside the block, for a message or for the output of a model's Print."""
    buffer = jpype.JClass("java.io.ByteArrayOutputStream")()
    stream = jpype.JClass("java.io.PrintStream")(buffer, True, "UTF-8")
    _set_streams(stream)
    try:
        yield CapturedOutput(buffer)
    finally:
        stream.flush()
        _set_streams(_machine.discarded)


def claim_for(specification: str) -> None:
    """Record the specification of this process; another one would share static fields with it.

    Args:
        specification: Its name; edited copies have the same one.

    Raises:
        JvmError: Another one was loaded before, even if its loading failed half-way.
    """
    with _machine.lock:
        if _machine.specification not in (None, specification):
            raise JvmError(
                f"this process has already loaded {_machine.specification}; TLC keeps static state, so "
                f"{specification} needs a process of its own"
            )
        _machine.specification = specification


def declare(names: frozenset[str]) -> None:
    """Record the names that the specification of this process declares.

    TLC numbers the names of variables and operators once for all specifications, so a copy with an additional name
    would reuse the number of another one.

    Raises:
        JvmError: An earlier copy declares other names.
    """
    with _machine.lock:
        declared = names if _machine.names is None else _machine.names
        _machine.names = declared
        if names != declared:
            other = ", ".join(sorted(names ^ declared)[:3])
            raise JvmError(f"an edited {_machine.specification} declares other names than the one before: {other}")


@contextmanager
def temporary_folder() -> Iterator[None]:
    """Provide the folder into which TLC unpacks its standard modules; needed only while parsing."""
    if _machine.temporary is not None:
        _machine.temporary.mkdir(exist_ok=True)
    try:
        yield
    finally:
        remove_temporary_folder()


def remove_temporary_folder() -> None:
    """Remove TLC's unpacked modules, if they exist."""
    if _machine.temporary is not None:
        shutil.rmtree(_machine.temporary, ignore_errors=True)
