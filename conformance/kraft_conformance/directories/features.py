"""kraft.version as releases and operators name it."""

import re

from kraft_conformance.directories.metadata_directory import MetadataDirectory
from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.failure import usage_error

KRAFT_VERSION = "kraft.version"
_RELEASE = re.compile(r"(?P<major>[0-9]+)\.(?P<minor>[0-9]+)(\.[0-9]+)?(-IV[0-9]+)?")
_FIRST_RELEASE_WITH_1 = (3, 9)
_FIRST_KRAFT_RELEASE = (3, 0)


def kraft_version_of(release: str | None, features: list[str] | None, command: str) -> int | None:
    """The level that --release-version and --feature ask for; None if neither does.

    A release means metadata.version too, which is not simulated.

    Raises:
        CommandError: they are malformed, contradict each other, or name another feature.

    Rules: cli.features, kraft-version.upgrade-by-release.
    """
    levels = [_of_feature(feature, command) for feature in features or ()]
    if release is not None:
        levels.append(_of_release(release, command))
    if len(set(levels)) > 1:
        raise usage_error(f"{command}: asks for {KRAFT_VERSION} {' and '.join(map(str, levels))}, expected one level")
    return levels[0] if levels else None


def _of_feature(text: str, command: str) -> int:
    name, _, level = text.partition("=")
    if name != KRAFT_VERSION:
        raise usage_error(f"{command}: --feature {text}: only {KRAFT_VERSION} is simulated")
    if not level.isascii() or not level.isdigit() or int(level) > 32767:
        raise usage_error(f"{command}: --feature {text}: expected {KRAFT_VERSION}=0 or {KRAFT_VERSION}=1")
    return int(level)


def _of_release(text: str, command: str) -> int:
    found = _RELEASE.fullmatch(text)
    release = (0, 0) if found is None else (int(found["major"]), int(found["minor"]))
    if release < _FIRST_KRAFT_RELEASE:
        raise usage_error(f"{command}: --release-version {text}: expected one from 3.0 on, such as 4.1")
    return int(release >= _FIRST_RELEASE_WITH_1)


def supported(quorum: Quorum, nodes: dict[int, MetadataDirectory], brokers_only: bool = False) -> tuple[int, int]:
    """The levels that all formatted nodes support, lowest and highest; without a broker all brokers support 0 to 1.

    Rules: kraft-version.levels, kraft-version.upgrade-needs-all-observers.
    """
    replicas = quorum.configuration.replicas
    chosen = [replicas[node_id] for node_id, node in nodes.items() if not (brokers_only and node.node.is_controller)]
    low = max((replica.min_version for replica in chosen), default=0)
    return low, min((replica.max_version for replica in chosen), default=1)
