"""The processes of a run, as Linux tells of them: who started whom."""

from pathlib import Path

PROC = Path("/proc")
_PARENT = 1


def fields(process: int) -> list[str]:
    """The fields of a process after its name, which may hold anything; none if it is gone."""
    try:
        return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def parents() -> dict[int, int]:
    """The parent of every process; empty where the system does not tell."""
    found: dict[int, int] = {}
    for folder in PROC.iterdir() if PROC.is_dir() else ():
        if folder.name.isdecimal() and (known := fields(int(folder.name))):
            found[int(folder.name)] = int(known[_PARENT])
    return found


def below(root: int) -> list[int]:
    """All processes that `root` has started, directly or not."""
    known = parents()
    found = [root]
    for process in found:
        found.extend(child for child, parent in known.items() if parent == process)
    return found[1:]


def command(process: int) -> str:
    """The command line of a process; empty if it is gone."""
    try:
        return (PROC / str(process) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
