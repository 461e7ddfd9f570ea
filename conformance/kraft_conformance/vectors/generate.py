"""Make the vectors of the package anew: `python -m kraft_conformance.vectors.generate [--check]`.

Each is accepted by the model before it is written, under each profile that it names.
The same sources give the same bytes; `--check` writes nothing and says what differs.
"""

import sys
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path

from kraft_conformance.vectors.encoding import manifest_bytes, vector_bytes
from kraft_conformance.vectors.format import Vector
from kraft_conformance.vectors.manifest import MANIFEST, SCHEMA, Manifest, ManifestEntry, vector_folder
from kraft_conformance.vectors.partitions.format import PartitionVector
from kraft_conformance.vectors.partitions.making import partition_vectors
from kraft_conformance.vectors.staging import Accepts, accepted_by_model
from kraft_conformance.vectors.targeting import targeted_vectors
from kraft_conformance.vectors.worked_scenarios import scenario_vectors
from kraft_spec.rules import load_registry


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


def files_of(vectors: Iterable[Vector | PartitionVector]) -> dict[str, bytes]:
    """The files of these vectors and their manifest, by name."""
    registry = load_registry()
    made: dict[str, bytes] = {}
    entries: list[ManifestEntry] = []
    for vector in vectors:
        name = file_name(vector.id)
        if name in made:
            raise ValueError(f"two vectors have the id {vector.id}")
        for rule in vector.rules:
            if not registry[rule].is_active:
                raise ValueError(f"{vector.id}: the rule {rule} does not hold any more")
        raw = made[name] = vector_bytes(vector)
        digest, steps = sha256(raw).hexdigest(), len(vector.steps)
        history = None if vector.history is None else len(vector.history)
        profiles = vector.requires.profiles
        about = vector.level, vector.rules, steps, history, profiles, vector.subject
        entries.append(ManifestEntry(vector.id, name, digest, *about))
    made[MANIFEST] = manifest_bytes(Manifest(SCHEMA, tuple(sorted(entries, key=lambda entry: entry.id))))
    return made


def file_name(vector_id: str) -> str:
    """Where a vector stands: a folder for the first part of its id."""
    folder, _, rest = vector_id.partition(".")
    return f"{folder}/{rest}.json"


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
