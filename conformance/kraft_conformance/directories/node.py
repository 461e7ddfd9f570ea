"""One node as its operator configures it: the properties of Kafka that a quorum of controllers depends on."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import TypeVar

from kraft_conformance.directories import names
from kraft_conformance.directories.names import ListedVoter, MalformedNameError
from kraft_conformance.directories.properties import Properties, read_properties
from kraft_conformance.failure import CommandError

NODE_ID = "node.id"
ROLES = "process.roles"
LISTENER = "controller.listener"
LISTENERS = "listeners"
ADVERTISED = "advertised.listeners"
LISTENER_NAMES = "controller.listener.names"
BOOTSTRAP = "controller.quorum.bootstrap.servers"
STATIC_VOTERS = "controller.quorum.voters"
AUTO_JOIN = "controller.quorum.auto.join.enable"
METADATA_DIRECTORY = "metadata.log.dir"
DIRECTORIES = "log.dirs"

READ = (
    NODE_ID,
    ROLES,
    LISTENER,
    LISTENERS,
    ADVERTISED,
    LISTENER_NAMES,
    BOOTSTRAP,
    STATIC_VOTERS,
    AUTO_JOIN,
    METADATA_DIRECTORY,
    DIRECTORIES,
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
    metadata_directory: str
    """Below the cluster directory."""
    properties: Properties

    @property
    def source(self) -> Path:
        """The file."""
        return self.properties.source

    def wrong_endpoint(self, detail: str) -> CommandError:
        """The error for the endpoint, at the property that gives it."""
        given = (name for name in (LISTENER, ADVERTISED, LISTENERS) if self.properties.get(name) is not None)
        return self.properties.wrong(next(given), detail)

    def wrong_directory(self, detail: str) -> CommandError:
        """The error for the metadata directory, at the property that gives it."""
        return self.properties.wrong(
            METADATA_DIRECTORY if self.properties.get(METADATA_DIRECTORY) else DIRECTORIES, detail
        )

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
        bootstrap_servers=_parsed(
            given, BOOTSTRAP, lambda text: tuple([names.endpoint(one.strip()) for one in text.split(",")])
        )
        or (),
        static_voters=static,
        auto_join=auto_join,
        metadata_directory=_metadata_directory(given, node_id),
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


def _endpoint(given: Properties, is_controller: bool) -> str:
    if is_controller and given.get(LISTENER) is not None:
        return _parsed(given, LISTENER, names.endpoint) or ""
    expected = "NAME://host:port" + (f", or {LISTENER}=host:port" if is_controller else "")
    given.required(LISTENERS, expected)
    listeners = _parsed(given, LISTENERS, _listeners) or {}
    advertised = _parsed(given, ADVERTISED, _listeners) or {}
    if not is_controller:
        name = next(iter(listeners))
    else:
        wanted = [one.strip() for one in (given.get(LISTENER_NAMES) or "CONTROLLER").split(",")]
        name = next((one for one in wanted if one in listeners), "")
        if not name:
            raise given.wrong(LISTENERS, f"has no listener {wanted[0]}, which {LISTENER_NAMES} names")
    source, address = (ADVERTISED, advertised[name]) if name in advertised else (LISTENERS, listeners[name])
    try:
        return names.endpoint(address)
    except MalformedNameError as error:
        raise given.wrong(source, f"listener {name}: {error}") from error


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


def _metadata_directory(given: Properties, node_id: int) -> str:
    name = METADATA_DIRECTORY if given.get(METADATA_DIRECTORY) else DIRECTORIES
    first = (given.get(name) or f"node-{node_id}").split(",")[0].strip()
    path = PurePosixPath(first)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise given.wrong(name, f"{first!r}, expected a folder below the cluster directory: disks are simulated there")
    return str(path)
