"""Voters sets as users write them: `1,2,3`, `1-U1,2-U2`, or a file.

A voter is an id, or an id and a directory id: `1-U1` as in KIP-853 and in everything that kraft-spec prints, or `1@U1`.
`@voters.txt` is a file with a voter on each line; blank lines and what follows `#` are passed over.
`@voters.json` is a file with a JSON list, as `voters` in a trace: `{"id":1,"directory_id":"U1"}`, or `1`, or `"1-U1"`.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from kraft_conformance.directories.names import directory_id, replica_id
from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_traces.values import ReplicaId, TracedKey

_ENTRY = re.compile(r"(?P<id>[^-@]*)(?:[-@](?P<directory_id>.*))?", re.DOTALL)
_Place = str
"""Where an entry stands, as a message begins."""


def read_voters(text: str, option: str) -> VoterSet:
    """The voters set that an option names.

    Two replicas with one id are let through: it is for the protocol to forbid them.

    Raises:
        CommandError: a voter is malformed or there twice, or there is none; the message says where.
    """
    if text.startswith("@"):
        return _voters(_entries_of_file(Path(text[1:]), option), f"{option} {text}", ExitCode.BAD_INPUT)
    return _voters(_entries_of_list(text, option), option, ExitCode.USAGE)


def _voters(entries: Iterable[tuple[_Place, str | TracedKey]], source: str, wrong: ExitCode) -> VoterSet:
    places: dict[ReplicaKey, _Place] = {}
    for place, entry in entries:
        try:
            key = _voter(entry)
        except ValueError as error:
            raise CommandError(f"{place}: {error}", wrong) from error
        if key in places:
            raise CommandError(f"{place}: the voter {key} is there already: {places[key]}", wrong)
        places[key] = place
    if not places:
        raise CommandError(f"{source}: no voters, expected at least one: 1,2,3 or 1-U1,2-U2 or @FILE", wrong)
    return frozenset(places)


def _voter(entry: str | TracedKey) -> ReplicaKey:
    if isinstance(entry, TracedKey):
        return ReplicaKey(entry.id, None if entry.directory_id is None else directory_id(entry.directory_id))
    found = _ENTRY.fullmatch(entry)
    assert found is not None, "any text matches"
    try:
        directory = found["directory_id"]
        return ReplicaKey(replica_id(found["id"]), None if directory is None else directory_id(directory))
    except ValueError as error:
        raise ValueError(f"{entry!r}, expected an id or id-directory, as 1 or 1-U1: {error}") from error


def _entries_of_list(text: str, option: str) -> Iterator[tuple[_Place, str]]:
    if text.strip():
        for number, entry in enumerate(text.split(","), start=1):
            yield f"{option}: entry {number}", entry.strip()


def _entries_of_file(file: Path, option: str) -> Iterator[tuple[_Place, str | TracedKey]]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{option}: {file}: {error.strerror}", ExitCode.NO_INPUT) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{option}: {file}: byte {error.start} is no UTF-8", ExitCode.BAD_INPUT) from error
    return _entries_of_json(file, text) if text.lstrip().startswith("[") else _entries_of_lines(file, text)


def _entries_of_lines(file: Path, text: str) -> Iterator[tuple[_Place, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if entry := line.partition("#")[0].strip():
            yield f"{file}:{number}", entry


def _entries_of_json(file: Path, text: str) -> Iterator[tuple[_Place, str | TracedKey]]:
    try:
        entries = msgspec.json.decode(text, type=list[ReplicaId | str | TracedKey])
    except msgspec.DecodeError as error:
        raise CommandError(f"{file}: {error}", ExitCode.BAD_INPUT) from error
    for number, entry in enumerate(entries):
        yield f"{file}: $[{number}]", str(entry) if isinstance(entry, int) else entry
