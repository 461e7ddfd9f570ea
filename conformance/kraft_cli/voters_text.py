r"""Voter sets as users write them: `1,2,3`, `1-U1,2-U2`, or a file.

A voter is an id, or an id and a directory id: `1-U1` as in KIP-853 and in the output of kraft-spec, or `1@U1`.
An id may have leading zeros: `01` is the replica 1.
`@voters.txt` is a file with a voter on each line; blank lines, comments after `#` and a byte order mark are ignored.
Only \\n and \\r\\n end a line.
`@voters.json` is a file with a JSON list, as `voters` in a trace: `{"id":1,"directory_id":"U1"}`, or `1`, or `"1-U1"`.
"""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from kraft_conformance.exit_codes import ExitCode
from kraft_conformance.failure import CommandError
from kraft_kafka.node.names import directory_id, replica_id
from kraft_reference.identity import ReplicaKey, VoterSet
from kraft_traces.values import ReplicaId, TracedKey

_ENTRY = re.compile(r"(?P<id>[^-@]*)(?:[-@](?P<directory_id>.*))?", re.DOTALL)
_BEGIN_JSON = {"[": "a list", "{": "an object", '"': "a text"}
_LIST = 'expected a list, as [1, 2] or ["1-U1"]'
_Place = str
"""Place of an entry, with which a message begins."""


def read_voters(text: str, option: str) -> VoterSet:
    """Return the voter set of an option.

    Two replicas with the same id are accepted, because it is the protocol that forbids them.

    Raises:
        CommandError: a voter is malformed or repeated, or there is none; the message says where.
    """
    if text.startswith("@"):
        source = f"{option} {text}"
        return _parse_voters(_read_file(Path(text[1:]), source), source, ExitCode.BAD_INPUT)
    return _parse_voters(_split_list(text, option), option, ExitCode.USAGE)


def _parse_voters(entries: Iterable[tuple[_Place, str | TracedKey]], source: str, wrong: ExitCode) -> VoterSet:
    places: dict[ReplicaKey, _Place] = {}
    for place, entry in entries:
        try:
            key = _parse_voter(entry)
        except ValueError as error:
            raise CommandError(f"{place}: {error}", wrong) from error
        if key in places:
            raise CommandError(f"{place}: the voter {key} is there already: {places[key]}", wrong)
        places[key] = place
    if not places:
        raise CommandError(f"{source}: no voters, expected at least one: 1,2,3 or 1-U1,2-U2 or @FILE", wrong)
    return frozenset(places)


def _parse_voter(entry: str | TracedKey) -> ReplicaKey:
    if isinstance(entry, TracedKey):
        return ReplicaKey(entry.id, None if entry.directory_id is None else directory_id(entry.directory_id))
    match = _ENTRY.fullmatch(entry)
    assert match is not None, "any text matches"
    expected = f"{entry!r}, expected an id or id-directory, as 1 or 1-U1"
    directory = match["directory_id"]
    if not entry:
        raise ValueError(expected)
    if not match["id"]:
        raise ValueError(f"{expected}: there is no id")
    if directory == "":
        raise ValueError(f"{expected}: there is no directory id")
    try:
        return ReplicaKey(replica_id(match["id"]), None if directory is None else directory_id(directory))
    except ValueError as error:
        raise ValueError(f"{expected}: {error}") from error


def _split_list(text: str, option: str) -> Iterator[tuple[_Place, str]]:
    if text.strip():
        for number, entry in enumerate(text.split(","), start=1):
            yield f"{option}: entry {number}", entry.strip()


def _read_file(file: Path, source: str) -> Iterator[tuple[_Place, str | TracedKey]]:
    try:
        text = file.read_bytes().decode("utf-8").removeprefix("\ufeff")
    except OSError as error:
        raise CommandError(f"{source}: {error.strerror}", ExitCode.NO_INPUT) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{source}: byte {error.start} is no UTF-8", ExitCode.BAD_INPUT) from error
    return _decode_json(text, source) if text.lstrip()[:1] in _BEGIN_JSON else _split_lines(text, source)


def _split_lines(text: str, source: str) -> Iterator[tuple[_Place, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if entry := line.removesuffix("\r").partition("#")[0].strip(" \t"):
            yield f"{source}: line {number}", entry


def _decode_json(text: str, source: str) -> Iterator[tuple[_Place, str | TracedKey]]:
    try:
        entries = msgspec.json.decode(text, type=list[ReplicaId | str | TracedKey])
    except msgspec.DecodeError as error:
        raise CommandError(f"{source}: {_describe_error(text, error)}", ExitCode.BAD_INPUT) from error
    for number, entry in enumerate(entries):
        yield f"{source}: $[{number}]", str(entry) if isinstance(entry, int) else entry


def _describe_error(text: str, error: msgspec.DecodeError) -> str:
    """Return the place of a JSON error, which msgspec does not give, or the difference to a list of voters."""
    try:
        json.loads(text)
    except json.JSONDecodeError as json_error:
        return f"line {json_error.lineno}, column {json_error.colno}: {json_error.msg}"
    except (ValueError, RecursionError):
        return str(error)
    actual = _BEGIN_JSON[text.lstrip()[:1]]
    return str(error) if actual == "a list" else f"{_LIST}, found {actual}"
