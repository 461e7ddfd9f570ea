"""Cached jars of compiled specifications, keyed by model, TLC and compiler.

Builds are reproducible.  A jar ends with the SHA-256 of its content; a damaged jar is rebuilt.
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
from kraft_spec.compiled.memoised import PACKAGE as EXPLORER
from kraft_spec.compiled.memoised import MemoisingCompiler
from kraft_spec.fingerprint import TRACE_MODULES
from kraft_spec.tlc import jvm
from kraft_spec.tlc.jar import find_jar
from kraft_spec.tlc.jvm import JavaObject
from kraft_spec.tlc.specification import Specification

RELEASE = "17"
"""Bytecode version: Java 17, the oldest supported runtime."""

_LOG = logging.getLogger(__name__)

_SEAL_SIZE = hashlib.sha256().digest_size * 2
"""Length of the comment at the end of a jar: a SHA-256 in hexadecimal."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Timestamp of every entry of the jar: the earliest that the zip format allows."""


class CompilationError(Exception):
    """javac is missing or rejects the generated code."""


@dataclass(frozen=True, slots=True)
class Target:
    """Selection to compile: all actions and invariants of a module with its configuration, and some operators.

    Attributes:
        module: Name of the module and of its configuration.
        sources: Modules that it consists of.
        operators: Names of operators without parameters.
    """

    module: str
    sources: tuple[str, ...]
    operators: tuple[str, ...]


TRACE = Target(
    "Trace",
    TRACE_MODULES,
    (
        *("Observation", "NetworkObservation"),
        *("LineInvariants", "LineSteps", "PartLineInvariants", "PartLineSteps"),
    ),
)
"""Operators that trace checking needs."""


def is_available() -> bool:
    """Return True if this virtual machine has a Java compiler; a Java runtime alone has none."""
    jvm.start()
    return jpype.JClass("javax.tools.ToolProvider").getSystemJavaCompiler() is not None


def stamp(directory: Path, target: Target) -> str:
    """Return the `digest` of a target whose modules are in a folder."""
    names = [*(f"{name}.tla" for name in target.sources), f"{target.module}.cfg"]
    return digest([directory / name for name in names], repr(target))


def digest(sources: Iterable[Path], what: str) -> str:
    """Return the SHA-256, in hexadecimal, of everything that the bytecode depends on.

    Inputs: the modules, the configuration, the selection (`what`), tla2tools.jar, the compiler and its runtime.
    """
    sha256 = hashlib.sha256(what.encode())
    with as_file(files("kraft_spec.compiled")) as folder:
        compiler = sorted([*folder.glob("*.py"), *folder.glob("java/**/*.java")])
        for file in (*sources, *compiler):
            sha256.update(f"{file.name}\n".encode() + file.read_bytes())
    sha256.update(find_jar().path.read_bytes())
    return sha256.hexdigest()


def cache_folder() -> Path:
    """Return the folder of cached jars."""
    return user_cache("compiled")


def user_cache(name: str) -> Path:
    """Return the absolute path of the folder `kraft-spec/NAME` in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    # Absolute, because programs that receive the path, such as Maven, run in other folders.
    return (Path(base).absolute() if base else Path.home() / ".cache") / "kraft-spec" / name


def shipped_folder() -> Path:
    """Return the folder of the jar in the package, which exists if it was built with one."""
    return Path(str(files("kraft_spec.compiled"))) / "jars"


def found(stamp: str) -> Path | None:
    """Return the undamaged jar of a stamp, from the package or the cache; None if there is none."""
    name = f"{stamp}.jar"
    return next((jar for folder in (shipped_folder(), cache_folder()) if is_usable(jar := folder / name)), None)


def was_made(stamp: str) -> bool:
    """Return True if the user's cache has a jar of that stamp, damaged or not."""
    return (cache_folder() / f"{stamp}.jar").is_file()


def is_usable(jar: Path) -> bool:
    """Return True if the jar exists undamaged; log a line about a damaged one."""
    if jar.is_file() and not is_whole(jar):
        _LOG.warning("%s is damaged: the model is compiled again, or interpreted without a Java development kit", jar)
        return False
    return jar.is_file()


def is_whole(jar: Path) -> bool:
    """Return True if the jar exists with the bytes that were written."""
    content = jar.read_bytes() if jar.is_file() else b""
    return content[-_SEAL_SIZE:] == _seal(content[:-_SEAL_SIZE])


def _seal(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def compiled(specification: Specification, target: Target, stamp: str, folder: Path | None = None) -> Path:
    """Return the jar of a specification, built if needed; `folder` is by default the user's cache.

    Raises:
        UnsupportedError: The specification uses a construct that the compiler does not support.
        CompilationError: javac is missing, or rejects the code.
        OSError: The folder cannot be written.
    """
    jar = (folder or cache_folder()) / f"{stamp}.jar"
    if not is_whole(jar):
        write_jar(specification, target, jar)
    return jar


def write_jar(specification: Specification, target: Target, jar: Path) -> None:
    """Compile a specification for trace checking, and write its jar atomically.

    Raises:
        As `compiled`.
    """
    compiler = Compiler(specification)
    model = compiler.java("Model", sorted(specification.actions), specification.invariants, target.operators)
    _write(jar, {"Model.java": model, "State.java": compiler.state_java()}, (f"{PACKAGE}/*.java",))


def write_check_jar(specification: Specification, jar: Path) -> None:
    """Compile a specification for a model check, and write atomically a jar that precedes TLC's on the class path.

    Raises:
        As `compiled`.
    """
    compiler = Compiler(specification)
    sources = {"Model.java": compiler.checked_java(), "State.java": compiler.state_java()}
    _write(jar, sources, (f"{PACKAGE}/Values.java", "tlc2/tool/impl/FastTool.java"))


def write_explorer_jar(specification: Specification, jar: Path) -> None:
    """Compile a specification for the explorer, and write its jar, which precedes TLC's on the class path.

    Raises:
        As `compiled`.
    """
    compiler = MemoisingCompiler(specification)
    sources = {"Model.java": compiler.checked_java(), "State.java": compiler.state_java()}
    _write(jar, sources, (f"{EXPLORER}/*.java", "guided/FastTool.java"))


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
            for class_file in sorted(classes.rglob("*.class")):
                entry = zipfile.ZipInfo(class_file.relative_to(classes).as_posix(), _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, class_file.read_bytes())
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
    """Compile the model of traces into the package's own folder, replacing earlier jars.

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
    output = jpype.JClass("java.io.ByteArrayOutputStream")()
    options = ["-nowarn", "-g:none", "--release", RELEASE, "-cp", str(find_jar().path), "-d", str(target)]
    if compiler.run(None, output, output, *options, *(str(source) for source in sources)) != 0:
        raise CompilationError(f"javac refuses the compiled model:\n{str(output.toString('UTF-8'))[:2000]}")


def load(jar: Path, class_name: str) -> JavaObject:
    """Load a class of a jar in its own class loader, so that edited copies of a model can coexist."""
    url = jpype.JClass("java.io.File")(str(jar)).toURI().toURL()
    loader = jpype.JClass("java.net.URLClassLoader")([url])
    return jpype.JClass(f"{PACKAGE}.{class_name}", loader=loader)
