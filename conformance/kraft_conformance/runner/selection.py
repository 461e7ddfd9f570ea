"""Selection of vectors, and the file of expected failures."""

from collections.abc import Sequence
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.features import KIPS
from kraft_vectors.manifest import ManifestEntry


def select_vectors(catalogue: Catalogue, words: Sequence[str]) -> tuple[ManifestEntry, ...]:
    """Return the entries that match all words: a vector id, a rule id, a KIP that it needs, or else a part of one.

    Vectors made for single rules come before those of scenarios, because their failures are more specific.

    Raises:
        CommandError: no entry matches.
    """
    entries = catalogue.manifest.vectors
    whole = {name for entry in entries for name in (entry.id, *entry.rules)}
    kips = [word for word in words if word in KIPS]
    others = [word for word in words if word not in kips]
    matching = tuple([entry for entry in entries if all(_fits(entry, word, word in whole) for word in others)])
    if kips:
        matching = tuple([entry for entry in matching if {*kips} <= {*catalogue.vector(entry.id).requires.kips}])
    if not matching:
        raise usage_error(f"no vector matches {' and '.join(words)}; kraft-spec conformance list shows all of them")
    return tuple(sorted(matching, key=lambda entry: entry.id.startswith("scenario.")))


def _fits(entry: ManifestEntry, word: str, is_whole: bool) -> bool:
    names = (entry.id, *entry.rules)
    return word in names if is_whole else any(word in name for name in names)


def read_expected_failures(path: Path | None, catalogue: Catalogue) -> dict[str, ExpectedFailure]:
    """Read a file of expected failures: `id  # reason` on each line; empty lines and comments are ignored.

    Raises:
        CommandError: the file cannot be read, or names an unknown vector, or a vector twice.
    """
    if path is None:
        return {}
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror}", ExitCode.NO_INPUT) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not UTF-8 ({error.reason})", ExitCode.BAD_INPUT) from error
    expected: dict[str, ExpectedFailure] = {}
    for number, line in enumerate(text.splitlines(), 1):
        vector_id, _, reason = (part.strip() for part in line.partition("#"))
        if not vector_id:
            continue
        if vector_id not in catalogue.entries:
            raise CommandError(f"{path}:{number}: no vector {vector_id!r}", ExitCode.BAD_INPUT)
        if vector_id in expected:
            raise CommandError(f"{path}:{number}: {vector_id} is listed twice", ExitCode.BAD_INPUT)
        expected[vector_id] = ExpectedFailure(reason or "listed as an expected failure")
    return expected
