"""One node as its operator configures it: the properties of Kafka that a quorum of controllers depends on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TypeVar

from kraft_kafka.node import names
from kraft_kafka.node.names import ListedVoter, MalformedNameError
from kraft_kafka.node.properties import Properties, read_properties
from kraft_reference.configuration import Timeouts

_SNAPSHOT_BYTES = 20 * 2**20
LOOPBACK = "127.0.0.1"
NODE_ID = "node.id"
ROLES = "process.roles"
LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
LISTENER_NAMES = "controller.listener.names"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
STATIC_VOTERS = "controller.quorum.voters"
AUTO_JOIN = "controller.quorum.auto.join.enable"
METADATA_DIRECTORY = "metadata.log.dir"
DIRECTORIES = "log.dirs"
_TIMEOUTS = {
    "controller.quorum.election.timeout.ms": "election_timeout_ms",
    "controller.quorum.election.backoff.max.ms": "election_backoff_max_ms",
    "controller.quorum.fetch.timeout.ms": "fetch_timeout_ms",
    "controller.quorum.request.timeout.ms": "request_timeout_ms",
}
"""Each by the field of `Timeouts`, whose defaults they have here."""

SNAPSHOT_BYTES = "metadata.log.max.record.bytes.between.snapshots"

READ = (
    NODE_ID,
    ROLES,
    LISTENERS,
    ADVERTISED,
    LISTENER_NAMES,
    BOOTSTRAP,
    STATIC_VOTERS,
    AUTO_JOIN,
    METADATA_DIRECTORY,
    DIRECTORIES,
    SNAPSHOT_BYTES,
    *_TIMEOUTS,
)
"""The properties that are read; the others of a Kafka configuration do not matter here."""

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """What the properties of one node say."""

    id: int
    is_controller: bool
    """Brokers follow the quorum too, but never join it."""
    endpoint: str
    """Of a controller its default controller listener, of a broker its first listener."""
    bootstrap_servers: tuple[str, ...]
    static_voters: tuple[ListedVoter, ...]
    """Empty without controller.quorum.voters."""
    auto_join: bool
    bind: tuple[str, int]
    """Where it listens, which may be another address than the one that it tells others; without a host the loopback."""
    metadata_directory: Path
    timeouts: Timeouts
    snapshot_bytes: int
    """So many bytes of records after a snapshot there is another."""
    properties: Properties

    @property
    def source(self) -> Path:
        """The file."""
        return self.properties.source

    def likely_typos(self) -> list[str]:
        """Warnings about properties that are not read but look like one that is."""
        warnings = []
        for name, line in self.properties.lines.items():
            near = [] if name in READ else get_close_matches(name, READ, 1, 0.92)
            if near and near[0] not in self.properties.values:
                warnings.append(f"{self.source}:{line}: {name}: is not read; did you mean {near[0]}?")
        return warnings


def read_node(source: Path) -> NodeProperties:
    """A node's properties.

    Raises:
        CommandError: a value is missing or malformed; the message names file, line and property.
    """
    given = read_properties(source)
    given.required(NODE_ID, "the number of the node")
    node_id = _parsed(given, NODE_ID, names.replica_id)
    assert node_id is not None, "a required property"
    is_controller = _is_controller(given)
    static = _parsed(given, STATIC_VOTERS, names.static_voters) or ()
    _check_static(given, node_id, is_controller, static)
    auto_join = _parsed(given, AUTO_JOIN, _true_or_false) or False
    if auto_join and not is_controller:
        raise given.wrong(AUTO_JOIN, "only a controller can join the quorum (auto-join.enabled-by-config)")
    return NodeProperties(
        id=node_id,
        is_controller=is_controller,
        endpoint=_endpoint(given, is_controller),
        bind=_bind(given, is_controller),
        timeouts=_timeouts(given),
        snapshot_bytes=_parsed(given, SNAPSHOT_BYTES, names.replica_id) or _SNAPSHOT_BYTES,
        bootstrap_servers=_parsed(
            given, BOOTSTRAP, lambda text: tuple([names.endpoint(one.strip()) for one in text.split(",")])
        )
        or (),
        static_voters=static,
        auto_join=auto_join,
        metadata_directory=_metadata_directory(given),
        properties=given,
    )


def _parsed(given: Properties, name: str, parse: Callable[[str], _Read]) -> _Read | None:
    value = given.get(name)
    if value is None:
        return None
    try:
        return parse(value)
    except MalformedNameError as error:
        raise given.wrong(name, str(error)) from error


def _is_controller(given: Properties) -> bool:
    roles = {role.strip() for role in (given.get(ROLES) or "controller").split(",")}
    unknown = roles - {"broker", "controller"}
    if unknown:
        raise given.wrong(ROLES, f"{sorted(unknown)[0]!r}, expected broker, controller or both")
    return "controller" in roles


def _check_static(given: Properties, node_id: int, is_controller: bool, static: tuple[ListedVoter, ...]) -> None:
    listed = any(voter.id == node_id for voter in static)
    if static and is_controller and not listed:
        raise given.wrong(STATIC_VOTERS, f"lists no node {node_id}, expected the controller itself among its voters")
    if static and not is_controller and listed:
        raise given.wrong(STATIC_VOTERS, f"lists node {node_id}, which is a broker and cannot vote")


def _name(given: Properties, listeners: Mapping[str, str], is_controller: bool) -> str:
    """The listener that the quorum uses."""
    if not is_controller:
        return next(iter(listeners))
    wanted = [one.strip() for one in (given.get(LISTENER_NAMES) or "CONTROLLER").split(",")]
    name = next((one for one in wanted if one in listeners), "")
    if not name:
        raise given.wrong(LISTENERS, f"has no listener {wanted[0]}, which {LISTENER_NAMES} names")
    return name


def _endpoint(given: Properties, is_controller: bool) -> str:
    given.required(LISTENERS, "NAME://host:port")
    listeners = _parsed(given, LISTENERS, _listeners) or {}
    advertised = _parsed(given, ADVERTISED, _listeners) or {}
    name = _name(given, listeners, is_controller)
    source, address = (ADVERTISED, advertised[name]) if name in advertised else (LISTENERS, listeners[name])
    address = f"{LOOPBACK}{address}" if address.startswith(":") else address
    try:
        return names.endpoint(address)
    except MalformedNameError as error:
        raise given.wrong(source, f"listener {name}: {error}") from error


def _bind(given: Properties, is_controller: bool) -> tuple[str, int]:
    listeners = _parsed(given, LISTENERS, _listeners) or {}
    host, _, port = listeners[_name(given, listeners, is_controller)].rpartition(":")
    return host.strip("[]") or LOOPBACK, int(port)


def _milliseconds(text: str) -> int:
    number = names.replica_id(text)
    if number == 0:
        raise MalformedNameError("0, expected a number of milliseconds from 1 on")
    return number


def _timeouts(given: Properties) -> Timeouts:
    found = {field: _parsed(given, name, _milliseconds) for name, field in _TIMEOUTS.items()}
    return replace(Timeouts(), **{field: value for field, value in found.items() if value is not None})


def _listeners(text: str) -> dict[str, str]:
    """Addresses by listener name; those of other listeners may leave out the host, as Kafka lets them."""
    listeners: dict[str, str] = {}
    for entry in text.split(","):
        name, separator, address = entry.strip().partition("://")
        if not separator or not name:
            raise MalformedNameError(f"{entry.strip()!r}, expected NAME://host:port")
        listeners[name] = address
    return listeners


def _true_or_false(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise MalformedNameError(f"{text!r}, expected true or false")
    return text.lower() == "true"


def _metadata_directory(given: Properties) -> Path:
    name = METADATA_DIRECTORY if given.get(METADATA_DIRECTORY) else DIRECTORIES
    first = given.required(name, "a folder").split(",")[0].strip()
    # As for Kafka, a relative one is below the folder in which the process runs.
    return Path(first)
