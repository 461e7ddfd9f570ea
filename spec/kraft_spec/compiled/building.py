"""A specification compiled into a jar: made once for the same model, TLC and compiler, then taken from a cache.

Rebuilding gives the same bytes.  A jar ends with the SHA-256 of its content, so that a damaged one is made again.
"""

import hashlib
import io
import logging
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import jpype

from kraft_spec.compiled.compiler import PACKAGE, Compiler
from kraft_spec.fingerprint import TRACE_MODULES
from kraft_spec.tlc import jvm
from kraft_spec.tlc.jar import find_jar
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

RELEASE = "17"
"""The bytecode is that of Java 17, the oldest that the package runs with."""

_LOG = logging.getLogger(__name__)

_SEAL_SIZE = hashlib.sha256().digest_size * 2
"""Characters of the comment at the end of a jar: a SHA-256 in hexadecimal."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every entry of the jar: the earliest that a zip file can say."""


class CompilationError(Exception):
    """javac refuses what the compiler has written, or there is no javac."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is compiled: all actions and invariants of a module with its configuration, and some operators.

    Attributes:
        module: Its name, also that of its configuration.
        sources: The modules that it consists of.
        operators: Names of operators without parameters.
    """

    module: str
    sources: tuple[str, ...]
    operators: tuple[str, ...]


TRACE = Target("Trace", TRACE_MODULES, ("Observation", "NetworkObservation", "LineInvariants", "LineSteps"))
"""What checking a trace asks of the model."""


def is_available() -> bool:
    """Is there a compiler of Java in this virtual machine?  A Java runtime alone has none."""
    jvm.start()
    return jpype.JClass("javax.tools.ToolProvider").getSystemJavaCompiler() is not None


def stamp(directory: Path, target: Target) -> str:
    """The `digest` of a target whose modules are in a folder."""
    names = [*(f"{name}.tla" for name in target.sources), f"{target.module}.cfg"]
    return digest([directory / name for name in names], repr(target))


def digest(sources: Iterable[Path], what: str) -> str:
    """SHA-256, in hexadecimal, over all that the bytecode depends on.

    That is the modules and the configuration, what of them is compiled, tla2tools.jar, the compiler and its runtime.
    """
    found = hashlib.sha256(what.encode())
    with as_file(files("kraft_spec.compiled")) as folder:
        compiler = sorted([*folder.glob("*.py"), *folder.glob("java/**/*.java")])
        for file in (*sources, *compiler):
            found.update(f"{file.name}\n".encode() + file.read_bytes())
    found.update(find_jar().path.read_bytes())
    return found.hexdigest()


def cache_folder() -> Path:
    """Where jars are kept."""
    return user_cache("compiled")


def user_cache(name: str) -> Path:
    """The folder `kraft-spec/NAME` in the user's cache folder, as an absolute path."""
    base = os.environ.get("XDG_CACHE_HOME")
    # Programs that are given a path in it, such as Maven, run in other folders.
    return (Path(base).absolute() if base else Path.home() / ".cache") / "kraft-spec" / name


def shipped_folder() -> Path:
    """Where the package carries its jar, if it was built with one."""
    return Path(str(files("kraft_spec.compiled"))) / "jars"


def found(stamp: str) -> Path | None:
    """The jar of that stamp, if the package carries it or it was made before, undamaged."""
    name = f"{stamp}.jar"
    return next((jar for folder in (shipped_folder(), cache_folder()) if is_usable(jar := folder / name)), None)


def was_made(stamp: str) -> bool:
    """True if the cache of the user has a jar of that stamp, damaged or not."""
    return (cache_folder() / f"{stamp}.jar").is_file()


def is_usable(jar: Path) -> bool:
    """True if the jar is there and undamaged; logs one line about a damaged one."""
    if jar.is_file() and not is_whole(jar):
        _LOG.warning("%s is damaged: the model is compiled again, or interpreted without a Java development kit", jar)
        return False
    return jar.is_file()


def is_whole(jar: Path) -> bool:
    """True if the jar is there and has the bytes that were written."""
    content = jar.read_bytes() if jar.is_file() else b""
    return content[-_SEAL_SIZE:] == _seal(content[:-_SEAL_SIZE])


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def compiled(specification: Specification, target: Target, stamp: str, folder: Path | None = None) -> Path:
    """The jar of a specification, made now unless it is there; `folder` is by default the cache of the user.

    Raises:
        UnsupportedError: The specification uses what is not compiled.
        CompilationError: javac is missing, or refuses.
        OSError: The folder cannot be written.
    """
    jar = (folder or cache_folder()) / f"{stamp}.jar"
    if not is_whole(jar):
        write_jar(specification, target, jar)
    return jar


def write_jar(specification: Specification, target: Target, jar: Path) -> None:
    """Compile a specification for the checking of traces, and write its jar, whole or not at all.

    Raises:
        As `compiled`.
    """
    compiler = Compiler(specification)
    model = compiler.java("Model", sorted(specification.actions), specification.invariants, target.operators)
    _write(jar, {"Model.java": model, "State.java": compiler.state_java()}, (f"{PACKAGE}/*.java",))


def write_check_jar(specification: Specification, jar: Path) -> None:
    """Compile a specification for a model check, and write a jar that stands before TLC's, whole or not at all.

    Raises:
        As `compiled`.
    """
    compiler = Compiler(specification)
    sources = {"Model.java": compiler.checked_java(), "State.java": compiler.state_java()}
    _write(jar, sources, (f"{PACKAGE}/Values.java", "tlc2/tool/impl/FastTool.java"))


def _write(jar: Path, sources: Mapping[str, str], runtime: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="kraft-spec-compiled-") as temporary:
        folder = Path(temporary)
        for name, text in sources.items():
            (folder / name).write_text(text, encoding="utf-8")
        with as_file(files("kraft_spec.compiled") / "java") as written:
            classes = folder / "classes"
            beside = [file for pattern in runtime for file in sorted(written.glob(pattern))]
            _javac([*sorted(folder.glob("*.java")), *beside], classes)
        jar.parent.mkdir(parents=True, exist_ok=True)
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in sorted(classes.rglob("*.class")):
                entry = zipfile.ZipInfo(one.relative_to(classes).as_posix(), _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, one.read_bytes())
            archive.comment = bytes(_SEAL_SIZE)
        sealed = content.getvalue()[:-_SEAL_SIZE]
        with tempfile.NamedTemporaryFile(dir=jar.parent, delete=False) as file:
            try:
                file.write(sealed + _seal(sealed))
                file.flush()
                Path(file.name).chmod(0o644)
                Path(file.name).replace(jar)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise


def ship() -> Path:
    """Compile the model of traces into the package's own folder, in place of what is there.

    Raises:
        As `compiled`.
    """
    directory = Path(str(files("kraft_spec"))) / "tla"
    name = stamp(directory, TRACE)
    jar = compiled(Specification(directory, TRACE.module), TRACE, name, shipped_folder())
    for other in shipped_folder().glob("*.jar"):
        if other != jar:
            other.unlink()
    return jar


def _javac(sources: Sequence[Path], target: Path) -> None:
    compiler = jpype.JClass("javax.tools.ToolProvider").getSystemJavaCompiler()
    if compiler is None:
        raise CompilationError("there is no compiler of Java: a Java development kit has one, a runtime has not")
    said = jpype.JClass("java.io.ByteArrayOutputStream")()
    options = ["-nowarn", "-g:none", "--release", RELEASE, "-cp", str(find_jar().path), "-d", str(target)]
    if compiler.run(None, said, said, *options, *(str(source) for source in sources)) != 0:
        raise CompilationError(f"javac refuses the compiled model:\n{str(said.toString('UTF-8'))[:2000]}")


def load(jar: Path, class_name: str) -> JavaObject:
    """A class of a jar, loaded apart from that of any other jar: edited copies of a model stand side by side."""
    url = jpype.JClass("java.io.File")(str(jar)).toURI().toURL()
    loader = jpype.JClass("java.net.URLClassLoader")([url])
    return jpype.JClass(f"{PACKAGE}.{class_name}", loader=loader)
