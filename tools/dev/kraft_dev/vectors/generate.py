"""Make the vectors of the package anew: `python -m kraft_dev.vectors.generate [--check]`.

Each is accepted by the model before it is written, under each profile that it names.
The same sources give the same bytes; `--check` writes nothing and says what differs.
"""

import sys
from collections.abc import Mapping
from pathlib import Path

from kraft_conformance.vectors.acceptance import Accepts, accepted_by_model
from kraft_conformance.vectors.files import files_of
from kraft_conformance.vectors.manifest import vector_folder
from kraft_dev.vectors.partitions.making import partition_vectors
from kraft_dev.vectors.targeting import targeted_vectors
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


def main(words: list[str]) -> int:
    """Write or check; the exit code is 1 if something differs."""
    made, folder = generated(), vector_folder()
    if "--check" not in words:
        write(made, folder)
        print(f"{len(made) - 1} vectors in {folder}")
        return 0
    wrong = differing(made, folder)
    for name in wrong:
        print(f"{folder / name}: not what the generator makes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
