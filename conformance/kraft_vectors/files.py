"""Files of vectors: JSON and transcript of each, and the manifest."""

from collections.abc import Iterable
from hashlib import sha256

from kraft_spec.rules import load_registry
from kraft_vectors.encoding import file_bytes
from kraft_vectors.format import Vector
from kraft_vectors.manifest import MANIFEST, SCHEMA, Manifest, ManifestEntry
from kraft_vectors.partitions.format import PartitionVector
from kraft_vectors.transcript import transcript


def files_of(vectors: Iterable[Vector | PartitionVector]) -> dict[str, bytes]:
    """Return the files of these vectors and their manifest, by name."""
    registry = load_registry()
    made: dict[str, bytes] = {}
    entries: list[ManifestEntry] = []
    for vector in vectors:
        name = file_name(vector.id)
        if name in made:
            raise ValueError(f"two vectors have the id {vector.id}")
        for rule in vector.rules:
            if not registry[rule].is_active:
                raise ValueError(f"{vector.id}: the rule {rule} is no longer active")
        raw = made[name] = file_bytes(vector)
        made[transcript_name(vector.id)] = transcript(vector).encode()
        digest, steps = sha256(raw).hexdigest(), len(vector.steps)
        history = None if vector.history is None else len(vector.history)
        profiles = vector.requires.profiles
        about = vector.level, vector.rules, steps, history, profiles, vector.subject
        entries.append(ManifestEntry(vector.id, name, digest, *about))
    made[MANIFEST] = file_bytes(Manifest(SCHEMA, tuple(sorted(entries, key=lambda entry: entry.id))))
    return made


def file_name(vector_id: str) -> str:
    """Return the file of a vector; the first part of its id is the folder."""
    folder, _, name = vector_id.partition(".")
    return f"{folder}/{name}.json"


def transcript_name(vector_id: str) -> str:
    """Return the name of a vector's transcript, which is beside its JSON."""
    return f"{file_name(vector_id).removesuffix('.json')}.txt"
