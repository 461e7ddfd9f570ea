"""The small texts of properties and options: endpoints, ids, directory ids, lists of voters."""

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
"""The all-zero UUID as Kafka writes it: it stands for a directory id that is not known."""


class MalformedNameError(ValueError):
    """A text that is not what it should be; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class ListedVoter:
    """One entry of a list of voters."""

    id: int
    endpoint: str
    directory_id: str | None = None
    """None in a static list."""


def endpoint(text: str) -> str:
    """`host:port`, checked.

    Raises:
        MalformedNameError: it is something else.
    """
    found = _ENDPOINT.fullmatch(text)
    if found is None or not 0 < int(found["port"]) < 65536:
        raise MalformedNameError(f"{text!r}, expected host:port with a port from 1 to 65535")
    return text


def replica_id(text: str) -> int:
    """A replica id, checked.

    Raises:
        MalformedNameError: it is no number that fits.
    """
    if not text.isascii() or not text.isdigit() or int(text) > ID_MAX:
        raise MalformedNameError(f"{text!r}, expected a number from 0 to {ID_MAX}")
    return int(text)


def directory_id(text: str) -> str:
    """A directory id: a UUID in Kafka's base64 form, or any name of letters, digits, `-`, `_` and primes.

    Raises:
        MalformedNameError: it is something else, or the UUID that stands for no directory id.
    """
    if text == ZERO_DIRECTORY_ID:
        raise MalformedNameError(f"{text!r} is the UUID that stands for no directory id")
    if not _NAME.fullmatch(text) or len(text) > 64:
        raise MalformedNameError(f"{text!r}, expected a directory id: letters, digits, - and _, at most 64")
    return text


def initial_controllers(text: str) -> tuple[ListedVoter, ...]:
    """A list of voters with directory ids: `id-uuid@host:port` (KIP-853) or `id@host:port:uuid` (Apache Kafka).

    Raises:
        MalformedNameError: an entry is malformed, has no directory id, or repeats an id, an endpoint or a directory id.

    Rule: bootstrap.multi-voter.
    """
    return _by_id([_initial_controller(entry.strip()) for entry in text.split(",")])


def static_voters(text: str) -> tuple[ListedVoter, ...]:
    """The value of controller.quorum.voters: `id@host:port` entries.

    Raises:
        MalformedNameError: an entry is malformed, or repeats an id or an endpoint.

    Rule: bootstrap.static-quorum.
    """
    return _by_id([_static_voter(entry.strip()) for entry in text.split(",")])


def _static_voter(entry: str) -> ListedVoter:
    found = _STATIC_ENTRY.fullmatch(entry)
    if found is None:
        raise MalformedNameError(f"entry {entry!r}, expected id@host:port")
    return ListedVoter(replica_id(found["id"]), endpoint(found["endpoint"]))


def _initial_controller(entry: str) -> ListedVoter:
    found = _ENTRY_OF_KAFKA.fullmatch(entry) or _ENTRY_OF_KIP.fullmatch(entry)
    if found is None:
        raise MalformedNameError(f"entry {entry!r}, expected id-uuid@host:port or id@host:port:uuid")
    if found["directory_id"] is None:
        raise MalformedNameError(
            f"entry {entry!r} has no directory id, expected {found['id']}-UUID@{found['endpoint']}: "
            "without one any disk of that id would count as this voter (bootstrap.multi-voter)"
        )
    return ListedVoter(replica_id(found["id"]), endpoint(found["endpoint"]), directory_id(found["directory_id"]))


def _by_id(voters: list[ListedVoter]) -> tuple[ListedVoter, ...]:
    """The voters in order; nothing that names one of them is there twice."""
    for field, what in (("id", "node id"), ("endpoint", "endpoint"), ("directory_id", "directory id")):
        seen = set()
        for voter in voters:
            value = getattr(voter, field)
            if value is not None and value in seen:
                raise MalformedNameError(f"the {what} {value} is in the list twice")
            seen.add(value)
    return tuple(sorted(voters, key=lambda voter: voter.id))


def random_directory_id() -> str:
    """A random UUID in Kafka's base64 form; like Kafka's it does not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        if not text.startswith("-") and text != ZERO_DIRECTORY_ID:
            return text
