"""Jars of compiled model checks, for the search of TLC and for that of the explorer.

Each jar has a class with the name of TLC's own evaluator, and precedes TLC on the class path.
"""

import subprocess
import sys
from pathlib import Path

from kraft_spec.compiled import building
from kraft_spec.compiled.building import CompilationError, cache_folder
from kraft_spec.compiled.terms import UnsupportedError
from kraft_spec.tlc.jar import TlcBridgeError

_LAST_WORDS = 2000


CHECKED, EXPLORED = "checked", "explored"
"""Kinds of jars: for TLC's search, and for the explorer's."""


def compiled_check(folder: Path, module: str, configuration: str, kind: str = CHECKED) -> Path:
    """Return the jar for `folder`/`module`.tla with `folder`/`configuration`.cfg, from the user's cache or built now.

    Args:
        folder: Folder of the modules and the configuration.
        module: Name of the root module.
        configuration: Name of the configuration.
        kind: Kind of the jar, from those above.

    Raises:
        CompilationError: The Java compiler is missing, or the specification uses an unsupported construct.
    """
    files = [*sorted(folder.glob("*.tla")), folder / f"{configuration}.cfg"]
    jar = cache_folder() / f"{building.digest(files, f'{kind} {module}')}.jar"
    if building.is_usable(jar):
        return jar
    # In a subprocess, because TLC keeps static state.
    command = [sys.executable, "-m", __name__, str(folder), module, configuration, str(jar), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompilationError(done.stderr.strip()[-_LAST_WORDS:])
    return jar


def main(folder: str, module: str, configuration: str, jar: str, kind: str) -> None:
    """Build the jar, or exit with 1 and a one-line reason."""
    # Imported late: only this subprocess starts Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    try:
        jvm.start(brief=True)
        write = building.write_explorer_jar if kind == EXPLORED else building.write_check_jar
        write(Specification(Path(folder), module, configuration), Path(jar))
    except (UnsupportedError, CompilationError, TlcBridgeError, OSError) as problem:
        sys.exit(str(problem))


if __name__ == "__main__":
    main(*sys.argv[1:])
