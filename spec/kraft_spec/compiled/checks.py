"""A model check on the compiled model: TLC keeps the search, and asks compiled code what it would interpret.

TLC's class for what a specification says has a namesake in the jar, which stands before it on the class path.
"""

import json
import subprocess
import sys
from pathlib import Path

from kraft_spec.compiled import building
from kraft_spec.compiled.building import CompilationError, cache_folder
from kraft_spec.compiled.terms import UnsupportedError


def compiled_check(folder: Path, module: str, configuration: str) -> Path | None:
    """The jar for `folder`/`module`.tla with `folder`/`configuration`.cfg: from the user's cache, or made now.

    None where it cannot be made: there is no compiler of Java, or the specification uses what is not compiled.
    """
    files = [*sorted(folder.glob("*.tla")), folder / f"{configuration}.cfg"]
    jar = cache_folder() / f"{building.digest(files, module)}.jar"
    if jar.is_file():
        return jar
    # A process of its own, because TLC keeps static state.
    command = [sys.executable, "-m", __name__, str(folder), module, configuration, str(jar)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return jar if done.returncode == 0 and json.loads(done.stdout)["made"] else None


def main(folder: str, module: str, configuration: str, jar: str) -> None:
    """Make the jar; says as JSON whether it is there, and if not, why."""
    # Late: only the process that compiles starts Java in itself.
    from kraft_spec.tlc import jvm
    from kraft_spec.tlc.specification import Specification

    jvm.start(brief=True)
    why = ""
    try:
        building.write_check_jar(Specification(Path(folder), module, configuration), Path(jar))
    except (UnsupportedError, CompilationError, OSError) as problem:
        why = str(problem)
    print(json.dumps({"made": not why, "why": why}))


if __name__ == "__main__":
    main(*sys.argv[1:])
