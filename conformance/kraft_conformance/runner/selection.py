"""Which vectors are run, and which are expected to fail."""

from collections.abc import Sequence
from pathlib import Path

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError, usage_error
from kraft_conformance.runner.outcome import ExpectedFailure
from kraft_vectors.catalogue import Catalogue
from kraft_vectors.manifest import ManifestEntry


def selected(catalogue: Catalogue, words: Sequence[str]) -> tuple[ManifestEntry, ...]:
    """The entries that each of the words fits: the id or that of a rule; for a word that is none, a part of them.

    Those made for a rule or two come before those of whole scenarios: what fails there first says more.

    Raises:
        CommandError: none does.
    """
    entries = catalogue.manifest.vectors
    whole = {name for entry in entries for name in (entry.id, *entry.rules)}
    matching = tuple([entry for entry in entries if all(_fits(entry, word, word in whole) for word in words)])
    if not matching:
        raise usage_error(f"no vector matches {' and '.join(words)}; kraft-spec conformance list shows all of them")
    return tuple(sorted(matching, key=lambda entry: entry.id.startswith("scenario.")))


def _fits(entry: ManifestEntry, word: str, is_whole: bool) -> bool:
    names = (entry.id, *entry.rules)
    return word in names if is_whole else any(word in name for name in names)


def read_expected_failures(path: Path | None, catalogue: Catalogue) -> dict[str, ExpectedFailure]:
    """The ids and reasons in a file: `id  # reason` on each line; empty lines and comments are passed over.

    Raises:
        CommandError: the file cannot be read, or names a vector that there is not, or one twice.
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
