"""The configuration of a node: the properties of Kafka that a quorum of controllers depends on."""

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
"""Fields of `Timeouts`, with its defaults, by property."""

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
"""Properties that are read; the others of a Kafka configuration have no effect here."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """The properties of a node."""

    id: int
    is_controller: bool
    """False for a broker, which follows the quorum but never joins it."""
    endpoint: str
    """A controller's default controller listener, a broker's first listener."""
    bootstrap_servers: tuple[str, ...]
    static_voters: tuple[ListedVoter, ...]
    """Empty without controller.quorum.voters."""
    auto_join: bool
    bind: tuple[str, int]
    """Listening address, which may differ from the advertised one; the loopback interface if it has no host."""
    metadata_directory: Path
    timeouts: Timeouts
    snapshot_bytes: int
    """Bytes of records between snapshots."""
    properties: Properties

    @property
    def source(self) -> Path:
        return self.properties.source

    def likely_typos(self) -> list[str]:
        """Return warnings about unread properties with a name close to a read one."""
        warnings = []
        for name, line in self.properties.lines.items():
            near = [] if name in READ else get_close_matches(name, READ, 1, 0.92)
            if near and near[0] not in self.properties.values:
                warnings.append(f"{self.source}:{line}: {name}: is not read; did you mean {near[0]}?")
        return warnings


def read_node(source: Path) -> NodeProperties:
    """Read a node's properties.

    Raises:
        CommandError: a value is missing or malformed; the message names file, line and property.
    """
    properties = read_properties(source)
    properties.required(NODE_ID, "the number of the node")
    node_id = _parse(properties, NODE_ID, names.replica_id)
    assert node_id is not None, "a required property"
    is_controller = _is_controller(properties)
    static = _parse(properties, STATIC_VOTERS, names.static_voters) or ()
    _check_static(properties, node_id, is_controller, static)
    auto_join = _parse(properties, AUTO_JOIN, _parse_boolean) or False
    if auto_join and not is_controller:
        raise properties.wrong(AUTO_JOIN, "only a controller can join the quorum (auto-join.enabled-by-config)")
    return NodeProperties(
        id=node_id,
        is_controller=is_controller,
        endpoint=_parse_endpoint(properties, is_controller),
        bind=_parse_bind_address(properties, is_controller),
        timeouts=_parse_timeouts(properties),
        snapshot_bytes=_parse(properties, SNAPSHOT_BYTES, names.replica_id) or _SNAPSHOT_BYTES,
        bootstrap_servers=_parse(
            properties, BOOTSTRAP, lambda text: tuple([names.endpoint(server.strip()) for server in text.split(",")])
        )
        or (),
        static_voters=static,
        auto_join=auto_join,
        metadata_directory=_find_metadata_directory(properties),
        properties=properties,
    )


def _parse(properties: Properties, name: str, parse: Callable[[str], _Value]) -> _Value | None:
    value = properties.get(name)
    if value is None:
        return None
    try:
        return parse(value)
    except MalformedNameError as error:
        raise properties.wrong(name, str(error)) from error


def _is_controller(properties: Properties) -> bool:
    roles = {role.strip() for role in (properties.get(ROLES) or "controller").split(",")}
    unknown = roles - {"broker", "controller"}
    if unknown:
        raise properties.wrong(ROLES, f"{sorted(unknown)[0]!r}, expected broker, controller or both")
    return "controller" in roles


def _check_static(file: Properties, node_id: int, is_controller: bool, static: tuple[ListedVoter, ...]) -> None:
    listed = any(voter.id == node_id for voter in static)
    if static and is_controller and not listed:
        raise file.wrong(STATIC_VOTERS, f"lists no node {node_id}, expected the controller itself among its voters")
    if static and not is_controller and listed:
        raise file.wrong(STATIC_VOTERS, f"lists node {node_id}, which is a broker and cannot vote")


def _choose_listener(properties: Properties, listeners: Mapping[str, str], is_controller: bool) -> str:
    """Return the name of the quorum's listener."""
    if not is_controller:
        return next(iter(listeners))
    wanted = [listener.strip() for listener in (properties.get(LISTENER_NAMES) or "CONTROLLER").split(",")]
    name = next((listener for listener in wanted if listener in listeners), "")
    if not name:
        raise properties.wrong(LISTENERS, f"has no listener {wanted[0]}, which {LISTENER_NAMES} names")
    return name


def _parse_endpoint(properties: Properties, is_controller: bool) -> str:
    properties.required(LISTENERS, "NAME://host:port")
    listeners = _parse(properties, LISTENERS, _parse_listeners) or {}
    advertised = _parse(properties, ADVERTISED, _parse_listeners) or {}
    name = _choose_listener(properties, listeners, is_controller)
    source, address = (ADVERTISED, advertised[name]) if name in advertised else (LISTENERS, listeners[name])
    address = f"{LOOPBACK}{address}" if address.startswith(":") else address
    try:
        return names.endpoint(address)
    except MalformedNameError as error:
        raise properties.wrong(source, f"listener {name}: {error}") from error


def _parse_bind_address(properties: Properties, is_controller: bool) -> tuple[str, int]:
    listeners = _parse(properties, LISTENERS, _parse_listeners) or {}
    host, _, port = listeners[_choose_listener(properties, listeners, is_controller)].rpartition(":")
    return host.strip("[]") or LOOPBACK, int(port)


def _parse_milliseconds(text: str) -> int:
    number = names.replica_id(text)
    if number == 0:
        raise MalformedNameError("0, expected a number of milliseconds from 1 on")
    return number


def _parse_timeouts(properties: Properties) -> Timeouts:
    values = {field: _parse(properties, name, _parse_milliseconds) for name, field in _TIMEOUTS.items()}
    return replace(Timeouts(), **{field: value for field, value in values.items() if value is not None})


def _parse_listeners(text: str) -> dict[str, str]:
    """Return addresses by listener name; as in Kafka, other listeners may omit the host."""
    listeners: dict[str, str] = {}
    for entry in text.split(","):
        name, separator, address = entry.strip().partition("://")
        if not separator or not name:
            raise MalformedNameError(f"{entry.strip()!r}, expected NAME://host:port")
        listeners[name] = address
    return listeners


def _parse_boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise MalformedNameError(f"{text!r}, expected true or false")
    return text.lower() == "true"


def _find_metadata_directory(properties: Properties) -> Path:
    name = METADATA_DIRECTORY if properties.get(METADATA_DIRECTORY) else DIRECTORIES
    first = properties.required(name, "a folder").split(",")[0].strip()
    # As in Kafka, a relative path is below the working directory.
    return Path(first)
