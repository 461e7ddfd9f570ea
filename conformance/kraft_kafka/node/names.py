"""Formats of values in properties and options: endpoints, ids, directory ids, voter lists."""

import base64
import re
import secrets
from dataclasses import dataclass

_ENDPOINT = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")
_NAME = re.compile(r"[A-Za-z0-9_-]+'*")
_ENTRY_OF_KIP = re.compile(r"(?P<id>[0-9]+)(?:-(?P<directory_id>[^@]*))?@(?P<endpoint>.+)")
_ENTRY_OF_KAFKA = re.compile(r"(?P<id>[0-9]+)@(?P<endpoint>.+:[0-9]+):(?P<directory_id>[^:]*)")
_STATIC_ENTRY = re.compile(r"(?P<id>[0-9]+)@(?P<endpoint>.+)")

ID_MAX = 2**31 - 1
ZERO_DIRECTORY_ID = "A" * 22
"""The all-zero UUID as Kafka writes it: an unknown directory id."""


class MalformedNameError(ValueError):
    """A malformed value; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class ListedVoter:
    """An entry of a voter list."""

    id: int
    endpoint: str
    directory_id: str | None = None
    """None in a static list."""


def endpoint(text: str) -> str:
    """Check an endpoint `host:port`.

    Raises:
        MalformedNameError: the text is malformed.
    """
    match = _ENDPOINT.fullmatch(text)
    if match is None or not 0 < int(match["port"]) < 65536:
        raise MalformedNameError(f"{text!r}, expected host:port with a port from 1 to 65535")
    return text


def replica_id(text: str) -> int:
    """Parse a replica id.

    Raises:
        MalformedNameError: the text is no number in range.
    """
    if not text.isascii() or not text.isdigit() or int(text) > ID_MAX:
        raise MalformedNameError(f"{text!r}, expected a number from 0 to {ID_MAX}")
    return int(text)


def directory_id(text: str) -> str:
    """Check a directory id: a UUID in Kafka's base64 form, or any name of letters, digits, `-`, `_` and primes.

    Raises:
        MalformedNameError: the text is malformed, or is the all-zero UUID.
    """
    if text == ZERO_DIRECTORY_ID:
        raise MalformedNameError(f"{text!r} is the UUID that stands for no directory id")
    if not _NAME.fullmatch(text) or len(text) > 64:
        raise MalformedNameError(f"{text!r}, expected a directory id: letters, digits, - and _, at most 64")
    return text


def initial_controllers(text: str) -> tuple[ListedVoter, ...]:
    """Parse a list of voters with directory ids: `id-uuid@host:port` (KIP-853) or `id@host:port:uuid` (Apache Kafka).

    Raises:
        MalformedNameError: an entry is malformed, has no directory id, or repeats an id, an endpoint or a directory id.

    Rule: bootstrap.multi-voter.
    """
    return _sort_unique([_parse_initial_controller(entry.strip()) for entry in text.split(",")])


def static_voters(text: str) -> tuple[ListedVoter, ...]:
    """Parse the value of controller.quorum.voters: `id@host:port` entries.

    Raises:
        MalformedNameError: an entry is malformed, or repeats an id or an endpoint.

    Rule: bootstrap.static-quorum.
    """
    return _sort_unique([_parse_static_voter(entry.strip()) for entry in text.split(",")])


def _parse_static_voter(entry: str) -> ListedVoter:
    match = _STATIC_ENTRY.fullmatch(entry)
    if match is None:
        raise MalformedNameError(f"entry {entry!r}, expected id@host:port")
    return ListedVoter(replica_id(match["id"]), endpoint(match["endpoint"]))


def _parse_initial_controller(entry: str) -> ListedVoter:
    match = _ENTRY_OF_KAFKA.fullmatch(entry) or _ENTRY_OF_KIP.fullmatch(entry)
    if match is None:
        raise MalformedNameError(f"entry {entry!r}, expected id-uuid@host:port or id@host:port:uuid")
    if match["directory_id"] is None:
        raise MalformedNameError(
            f"entry {entry!r} has no directory id, expected {match['id']}-UUID@{match['endpoint']}: "
            "without one any disk of that id would count as this voter (bootstrap.multi-voter)"
        )
    return ListedVoter(replica_id(match["id"]), endpoint(match["endpoint"]), directory_id(match["directory_id"]))


def _sort_unique(voters: list[ListedVoter]) -> tuple[ListedVoter, ...]:
    """Sort the voters by id; ids, endpoints and directory ids must be unique."""
    for field, label in (("id", "node id"), ("endpoint", "endpoint"), ("directory_id", "directory id")):
        values = set()
        for voter in voters:
            value = getattr(voter, field)
            if value is not None and value in values:
                raise MalformedNameError(f"the {label} {value} is in the list twice")
            values.add(value)
    return tuple(sorted(voters, key=lambda voter: voter.id))


def random_directory_id() -> str:
    """Return a random UUID in Kafka's base64 form; like Kafka's it does not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-") and text != ZERO_DIRECTORY_ID:
            return text
