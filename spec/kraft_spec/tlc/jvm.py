"""The one Java virtual machine of this process, and what TLC prints in it.

TLC prints to standard output, unpacks its standard modules into `java.io.tmpdir`, and keeps the names of a
specification in static fields. So each process has one virtual machine with a temporary folder of its own, one
specification with any edited copies of it that declare the same names, and streams that are taken over before TLC sees
them.
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
"""A Java object seen through JPype, which has no types to offer."""

COMPILED_OPTIONS = ("-XX:FreqInlineSize=60", "-XX:InlineSmallCode=500", "-XX:MaxInlineLevel=5")
"""What suits a compiled model: many small methods that call each other.

With Java's own limits its second compiler puts so much of each into the others that it is at work for ten times as
long, and the code is no faster for it.
"""

JVM_OPTIONS = (
    # TLC recurses over expressions. This is the stack of threads that Java starts; Python's main thread keeps the
    # system's (8 MB holds some 2,000 calls of a RECURSIVE operator), other Python threads threading.stack_size().
    "-Xss16m",
    # One thread of work and few live objects: the collector with the least overhead and no threads.
    "-XX:+UseSerialGC",
    # Signals stay Python's: without this SIGTERM interrupts the JVM in the middle of a call and takes Python down.
    "-Xrs",
    # No file of performance counters in the system's temporary folder.
    "-XX:-UsePerfData",
    *COMPILED_OPTIONS,
)
"""Options of the virtual machine, besides its temporary folder."""

BRIEF_OPTIONS = ("-XX:TieredStopAtLevel=1",)
"""And those of a process that is over within seconds: the second compiler would cost more than its code saves."""


class JvmError(TlcBridgeError):
    """The virtual machine of this process cannot be used."""


class _Machine:
    """State of the virtual machine: there is one per process, as Java allows no second."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.process_id: int | None = None
        self.jar: ToolsJar | None = None
        self.temporary: Path | None = None
        self.specification: str | None = None
        self.names: frozenset[str] | None = None
        self.discarded: JavaObject = None


_machine = _Machine()


def start(*, brief: bool = False) -> ToolsJar:
    """Start the virtual machine unless it runs already, and return the jar it has loaded.

    What Python has in memory by then, its cyclic collector no longer looks at (`gc.freeze`).

    Args:
        brief: This process is expected to be over within seconds; without effect on a machine that runs already.

    Raises:
        JarMissing, JarMismatch, JavaMissing: What it needs is not there.
        JvmError: It was started by other code, or in the process that this one was forked from.
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
                classpath=[str(jar.path)],
                # Ctrl-C stays Python's KeyboardInterrupt.
                interrupt=False,
            )
        except (OSError, RuntimeError) as cause:
            remove_temporary_folder()
            raise JvmError(f"the Java virtual machine of {java.home} does not start: {cause}") from cause
        _machine.process_id = os.getpid()
        _machine.jar = jar
        _take_streams_over()
        # Whenever Java collects its garbage, JPype has Python collect all of its own: with thousands of objects that
        # are there for good, a fourth of the time in which traces are checked.
        gc.freeze()
        return jar


def _library(java_home: Path) -> Path | None:
    """Find libjvm of an installation, so that the Java checked is the Java used."""
    for name in ("libjvm.so", "libjvm.dylib"):
        candidate = java_home / "lib" / "server" / name
        if candidate.is_file():
            return candidate
    return None


def _take_streams_over() -> None:
    """Send what Java code prints nowhere; `captured_output` gives it a place for a while."""
    print_stream = jpype.JClass("java.io.PrintStream")
    _machine.discarded = print_stream(jpype.JClass("java.io.OutputStream").nullOutputStream())
    _set_streams(_machine.discarded)


def _set_streams(stream: JavaObject) -> None:
    """Point the streams of Java and the ones that TLC copied from them at `stream`."""
    system = jpype.JClass("java.lang.System")
    system.setOut(stream)
    system.setErr(stream)
    tool_io = jpype.JClass("util.ToolIO")
    tool_io.out = stream
    tool_io.err = stream


class CapturedOutput:
    """What Java code printed while `captured_output` was in force."""

    def __init__(self, buffer: JavaObject) -> None:
        self._buffer = buffer

    def text(self) -> str:
        """Return what was printed so far."""
        return str(self._buffer.toString("UTF-8"))


@contextmanager
def captured_output() -> Iterator[CapturedOutput]:
    """Keep what TLC prints inside the block, for a message or for the output of a model's Print."""
    buffer = jpype.JClass("java.io.ByteArrayOutputStream")()
    stream = jpype.JClass("java.io.PrintStream")(buffer, True, "UTF-8")
    _set_streams(stream)
    try:
        yield CapturedOutput(buffer)
    finally:
        stream.flush()
        _set_streams(_machine.discarded)


def claim_for(specification: str) -> None:
    """Note which specification this process has loaded; another one would share static fields with it.

    Args:
        specification: Its name. An edited copy has the same one.

    Raises:
        JvmError: Another one has been loaded before, even if its loading failed half-way.
    """
    with _machine.lock:
        if _machine.specification not in (None, specification):
            raise JvmError(
                f"this process has already loaded {_machine.specification}; TLC keeps static state, so "
                f"{specification} needs a process of its own"
            )
        _machine.specification = specification


def declare(names: frozenset[str]) -> None:
    """Note what the specification of this process declares.

    TLC numbers the names of variables and operators once for all specifications, so that one copy with a name of its
    own would take another's place for it.

    Raises:
        JvmError: A copy that was loaded before declares other names.
    """
    with _machine.lock:
        known = names if _machine.names is None else _machine.names
        _machine.names = known
        if names != known:
            other = ", ".join(sorted(names ^ known)[:3])
            raise JvmError(f"an edited {_machine.specification} declares other names than the one before: {other}")


@contextmanager
def temporary_folder() -> Iterator[None]:
    """A folder that TLC unpacks its standard modules into; it is needed only while parsing."""
    if _machine.temporary is not None:
        _machine.temporary.mkdir(exist_ok=True)
    try:
        yield
    finally:
        remove_temporary_folder()


def remove_temporary_folder() -> None:
    """Remove what TLC has unpacked, if it is there."""
    if _machine.temporary is not None:
        shutil.rmtree(_machine.temporary, ignore_errors=True)
