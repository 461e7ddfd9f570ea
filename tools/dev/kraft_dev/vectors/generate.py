"""Make the vectors of the package anew: `python -m kraft_dev.vectors.generate [--check]`.

Each is accepted by the model before it is written, under each profile that it names.
The same sources give the same bytes; `--check` writes nothing and says what differs.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from kraft_conformance.vectors.acceptance import Accepts, accepted_by_model
from kraft_conformance.vectors.files import files_of
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.manifest import vector_folder
from kraft_dev.vectors.partitions.making import partition_vectors
from kraft_dev.vectors.target import source_of
from kraft_dev.vectors.targeted import TARGETS
from kraft_dev.vectors.twins import Recorded, with_twins
from kraft_dev.vectors.worked_scenarios import scenario_vectors


def generated(accepts: Accepts = accepted_by_model) -> dict[str, bytes]:
    """Every file of the folder of vectors, by its name.

    Args:
        accepts: who says under which profiles a run is right.

    Raises:
        NotAcceptedError: the model rejects a run.
        VectorProofError: a vector does not say what its run shows.
        ValueError: two vectors have one id, or a rule that a vector names does not hold.
    """
    return files_of((*scenario_vectors(accepts), *targeted_vectors(accepts), *partition_vectors()))


def targeted_vectors(accepts: Accepts) -> Iterator[Vector]:
    """The vectors of all scripts; a run that several of them are cut from is made once.

    Raises:
        NotAcceptedError: the model rejects a run.
        ValueError: nothing happens at the replica that a vector is about.
    """
    runs: dict[object, Recorded] = {}
    for subject, script, configuration in TARGETS:
        made_by = (script, id(configuration))
        if made_by not in runs:
            runs[made_by] = Recorded(source_of(script), configuration, script, accepts)
        vectors = tuple(with_twins(runs[made_by], subject))
        if not vectors:
            raise ValueError(f"{subject.id}: nothing happens at replica {subject.replica_id} after the first step")
        yield from vectors


def differing(made: Mapping[str, bytes], folder: Path) -> list[str]:
    """The names of the files that are missing, other ones, or too many in a folder."""
    there = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*.json")}
    wrong = {name for name, raw in made.items() if name not in there or there[name].read_bytes() != raw}
    return sorted(wrong | (there.keys() - made.keys()))


def write(made: Mapping[str, bytes], folder: Path) -> None:
    """Write the files; what else is there is removed."""
    for name in differing(made, folder) if folder.exists() else made:
        path = folder / name
        if name in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made[name])
        else:
            path.unlink()


def write_or_check(words: Iterable[str], made: Mapping[str, bytes], folder: Path, what: str) -> int:
    """Write the files, or with `--check` say which differ; the exit code is 1 if something does."""
    if "--check" not in words:
        folder.mkdir(parents=True, exist_ok=True)
        write(made, folder)
        print(f"{len(made) - 1} {what} in {folder}")
        return 0
    wrong = differing(made, folder)
    for name in wrong:
        print(f"{folder / name}: not what the generator makes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(write_or_check(sys.argv[1:], generated(), vector_folder(), "vectors"))
