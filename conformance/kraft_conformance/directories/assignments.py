"""The small texts of the options of topics: brokers, replicas, configs."""

import re

from kraft_conformance.directories.names import MalformedNameError, replica_id
from kraft_conformance.directories.partition_text import UNCLEAN
from kraft_conformance.directories.reassignment_json import QUORUM, TOPIC_PATTERN
from kraft_reference.partitions.partition import Assignment

BROKERS_MAX = 10_000


def topic_name(text: str) -> str:
    """A topic name, checked.

    Raises:
        MalformedNameError: it is something else.
    """
    if not re.search(TOPIC_PATTERN, text):
        raise MalformedNameError(f"{text!r}, expected letters, digits, '.', '_' and '-', at most 249")
    if text == QUORUM.topic:
        raise MalformedNameError(f"{text!r} is the log of the quorum, and no topic")
    return text


def brokers(text: str) -> frozenset[int]:
    """Broker ids: `1-6`, `1,2,5-8`.

    Raises:
        MalformedNameError: it is something else, or more brokers than a simulation should have.
    """
    found: set[int] = set()
    for entry in text.split(","):
        first, dash, last = entry.strip().partition("-")
        low = replica_id(first)
        high = replica_id(last) if dash else low
        if high < low:
            raise MalformedNameError(f"{entry.strip()!r}, expected the lower id first")
        if high - low >= BROKERS_MAX or len(found) > BROKERS_MAX:
            raise MalformedNameError(f"{entry.strip()!r}, expected at most {BROKERS_MAX} brokers")
        found.update(range(low, high + 1))
    return frozenset(found)


def replica_assignment(text: str) -> tuple[Assignment, ...]:
    """The replicas of each partition: `1:2:3,2:3:4`, as many for each.

    Raises:
        MalformedNameError: it is something else, or a partition names a broker twice.
    """
    partitions: list[Assignment] = []
    for number, entry in enumerate(text.split(",")):
        replicas = tuple(replica_id(one.strip()) for one in entry.split(":"))
        if len(set(replicas)) < len(replicas):
            raise MalformedNameError(f"partition {number}: {entry.strip()!r}, expected each broker once")
        if partitions and len(replicas) != len(partitions[0]):
            raise MalformedNameError(
                f"partition {number}: {len(replicas)} replicas, expected {len(partitions[0])} as in partition 0"
            )
        partitions.append(replicas)
    return tuple(partitions)


def is_unclean(configs: list[str] | None) -> bool:
    """Do the configs of a topic allow unclean election?

    Raises:
        MalformedNameError: they name another config, or another value than true and false.
    """
    unclean = False
    for config in configs or ():
        name, _, value = config.partition("=")
        if name.strip() != UNCLEAN:
            raise MalformedNameError(f"{config!r}: only {UNCLEAN} is simulated")
        if value.strip().lower() not in ("true", "false"):
            raise MalformedNameError(f"{config!r}, expected {UNCLEAN}=true or {UNCLEAN}=false")
        unclean = value.strip().lower() == "true"
    return unclean
