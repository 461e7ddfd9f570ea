"""A simulated quorum on a cluster directory: its nodes run, stop and start, in virtual time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kraft_conformance.directories.cluster_directory import ClusterDirectory
from kraft_conformance.directories.errors import refused
from kraft_conformance.directories.history import History, read_history, write_history
from kraft_conformance.directories.membership import extended, first_configuration
from kraft_conformance.directories.metadata_directory import MetadataDirectory
from kraft_reference.cluster.agenda import Chance
from kraft_reference.cluster.driver import Driver
from kraft_reference.cluster.occurrence import Occurrence
from kraft_reference.cluster.workload import Faults
from kraft_reference.cluster.world import World
from kraft_reference.configuration import Configuration
from kraft_reference.events import ClientAppend, Crash, Event, ReplaceDisk, Restart, Shutdown, TakeSnapshot
from kraft_reference.profile import PROFILES
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_traces.encode import event_line
from kraft_traces.lines import EventLine

SHUTDOWN_WAIT_MS = 500
"""How long a leader that stops goes on at most, to hand over."""


class Quorum:
    """The nodes of one cluster directory, where its history has left them."""

    def __init__(self, configuration: Configuration, seed: int, lines: list[EventLine], world: World) -> None:
        self.configuration = configuration
        self.seed = seed
        self.lines = lines
        self.world = world
        # A prime, so that the commands of one history and histories of other seeds draw from different sequences.
        chance = Chance(seed * 1_000_003 + world.sequence)
        self._driver = Driver(world, chance, Faults(), keeps_schedule=False)
        self._driver.agenda.now_ms = world.time_ms
        self._driver.start()
        self.watchers: list[Callable[[], None]] = []
        """Called after everything that happens."""
        self._appended = sum(line.event == "ClientAppend" for line in lines)

    @property
    def now_ms(self) -> int:
        """The virtual time."""
        return self.world.time_ms

    def state(self, node_id: int) -> ReplicaState:
        """The state of a node now."""
        return self.world.state(node_id)

    def is_running(self, node_id: int) -> bool:
        """Does the process of this node run?"""
        return self.state(node_id).role is not Role.STOPPED

    @property
    def running(self) -> list[int]:
        """The ids of the running nodes."""
        return [node_id for node_id in self.world.replicas if self.is_running(node_id)]

    def leader(self) -> int | None:
        """The leader of the highest epoch, None if nobody leads."""
        leading = [state for state in map(self.state, self.running) if state.role is Role.LEADER]
        return max(leading, key=lambda state: state.epoch).key.id if leading else None

    # -----------------------------------------------------------------------------------------------------
    # What happens.
    # -----------------------------------------------------------------------------------------------------

    def happen(self, node_id: int, event: Event) -> Occurrence:
        """Let an event happen at a node."""
        occurrence = self._driver.happen(node_id, event)
        self._raise_defect()
        assert occurrence is not None, "without a defect something happened"
        self._note(occurrence)
        return occurrence

    def advance(self, for_ms: int) -> Iterator[Occurrence]:
        """What happens by itself in the next `for_ms` of virtual time."""
        over = [False]

        def end() -> None:
            over[0] = True

        self._driver.agenda.after(for_ms, end)
        while not over[0]:
            occurrence = self._driver.advance()
            self._raise_defect()
            if occurrence is not None:
                self._note(occurrence)
                yield occurrence

    def run(self, for_ms: int, appends: int = 0, until: Callable[[], bool] = lambda: False) -> None:
        """Let time pass, up to `for_ms` or until something holds; clients append records on the way.

        The records come at equal distances, each at the leader of that moment; without one it is not appended.
        """
        for append in range(appends):
            self._driver.agenda.after(for_ms * (append + 1) // (appends + 1), self._append)
        for _ in self.advance(for_ms):
            if until():
                return

    def start(self, node: MetadataDirectory) -> None:
        """Start the process of a node from its metadata directory.

        Raises:
            CommandError: it runs already, or is formatted in a way that a node with a past cannot be.
        """
        node_id = node.key.id
        if self.is_running(node_id):
            raise refused(f"node {node_id} is running already")
        configured = self.configuration.replicas[node_id]
        if self.state(node_id).key != node.key:
            self._check_new_disk(node)
            self.happen(node_id, ReplaceDisk(str(node.key.directory_id)))
        if configured.auto_join != node.node.auto_join:
            raise refused(
                f"{node.node.source}: node {node_id} ran with controller.quorum.auto.join.enable="
                f"{str(configured.auto_join).lower()}, and a history cannot change that"
            )
        moved = node.node.endpoint != configured.endpoint
        self.happen(node_id, Restart(node.node.endpoint if moved else None))

    def stop(self, node_id: int, *, kill: bool) -> None:
        """End the process of a node: killed, it loses what it has not synced; else a leader hands over first.

        Raises:
            CommandError: it does not run.

        Rule: end-quorum.send.
        """
        if not self.is_running(node_id):
            raise refused(f"node {node_id} is not running")
        if not kill and self.state(node_id).role is Role.LEADER:
            self.happen(node_id, Shutdown())
            self.run(SHUTDOWN_WAIT_MS, until=lambda: self.state(node_id).role is not Role.RESIGNED)
        log = self.state(node_id).log
        self.happen(node_id, Crash(log.flushed if kill else log.end_offset))

    def take_snapshot(self, node_id: int) -> int:
        """Let a node replace everything committed by a snapshot; where it ends.

        Raises:
            CommandError: the node does not run, or nothing was committed since its newest snapshot.
        """
        end = self.state(node_id).high_watermark
        if self.happen(node_id, TakeSnapshot(end)).refusal is not None:
            raise refused(f"node {node_id} has committed nothing since its newest snapshot, or does not run")
        return end

    # -----------------------------------------------------------------------------------------------------
    # Inside.
    # -----------------------------------------------------------------------------------------------------

    def _append(self) -> Occurrence | None:
        leader = self.leader()
        if leader is None:
            return None
        self._appended += 1
        return self._driver.happen(leader, ClientAppend(self._appended))

    def _check_new_disk(self, node: MetadataDirectory) -> None:
        static = self.configuration.kraft_version == 0
        if static and not node.is_static:
            raise refused(f"{node.path}: the disk of a quorum with static voters, expected controller.quorum.voters")
        if node.voters is not None:
            raise refused(
                f"{node.path}: node {node.key.id} has run before, as {self.state(node.key.id).key}; "
                "a new disk that brings voters of its own could bring back an old set. "
                "Format it with --no-initial-controllers"
            )

    def _note(self, occurrence: Occurrence) -> None:
        self.lines.append(event_line(occurrence))
        for look in self.watchers:
            look()

    def _raise_defect(self) -> None:
        defect = self._driver.moves.defect
        if defect is not None:
            raise AssertionError(str(defect))


@contextmanager
def open_quorum(
    cluster: ClusterDirectory, *, changes: bool = True
) -> Iterator[tuple[Quorum, dict[int, MetadataDirectory]]]:
    """The quorum of a directory and its formatted nodes; what happens in the block is written when it ends.

    After an error, and without `changes`, nothing is written, so that the directory is as before.

    Raises:
        CommandError: there is no quorum yet, or a file is malformed.
        TraceError: the history is no trace.
    """
    with cluster.existing().locked():
        quorum, nodes = read_quorum(cluster)
        yield quorum, nodes
        if changes:
            write_quorum(cluster, quorum)


def read_quorum(cluster: ClusterDirectory) -> tuple[Quorum, dict[int, MetadataDirectory]]:
    """The quorum of a directory whose lock is held, and its formatted nodes.

    Raises:
        CommandError, TraceError: as `open_quorum`.
    """
    nodes = cluster.nodes()
    if not cluster.history.exists():
        raise refused(f"{cluster.path}: nothing has run here yet; begin with `kraft-spec admin quorum start`")
    return _reopened(cluster, nodes), nodes


def write_quorum(cluster: ClusterDirectory, quorum: Quorum) -> None:
    """Write what has happened, into a directory whose lock is held.

    Raises:
        OSError: the operating system refuses.
    """
    write_history(cluster.history, History(quorum.configuration, quorum.seed, tuple(quorum.lines)))


@contextmanager
def open_or_begin(
    cluster: ClusterDirectory, seed: int | None, profile: str | None
) -> Iterator[tuple[Quorum, dict[int, MetadataDirectory]]]:
    """As `open_quorum`, but a quorum that never ran begins here, all its nodes stopped."""
    with cluster.existing().locked():
        nodes = cluster.nodes()
        if cluster.history.exists():
            for option, value in (("--seed", seed), ("--profile", profile)):
                if value is not None:
                    raise refused(f"{option} is for the first start; the history of this quorum has its own")
            quorum = _reopened(cluster, nodes)
        else:
            quorum = _begun(nodes, seed or 0, profile or "kip")
        yield quorum, nodes
        write_quorum(cluster, quorum)


def _begun(nodes: dict[int, MetadataDirectory], seed: int, profile: str) -> Quorum:
    if profile not in PROFILES:
        raise refused(f"no profile {profile!r}; there are {', '.join(PROFILES)}")
    configuration = first_configuration(nodes, PROFILES[profile])
    world = World(configuration)
    # The reference begins with every node started on an empty disk; here they wait for their operators.
    lines = [event_line(world.crash(node_id)) for node_id in world.replicas]
    return Quorum(configuration, seed, lines, world)


def _reopened(cluster: ClusterDirectory, nodes: dict[int, MetadataDirectory]) -> Quorum:
    history, world = read_history(cluster.history)
    fresh = frozenset(world.replicas) - history.with_a_past
    configuration = extended(history.configuration, nodes, fresh)
    lines = list(history.lines)
    if configuration != history.configuration:
        known = set(world.replicas)
        lines, world = _replayed(history, configuration)
        lines += [event_line(world.crash(node_id)) for node_id in world.replicas if node_id not in known]
    lines += [event_line(world.crash(node_id)) for node_id in _without_disk(world, nodes)]
    return Quorum(configuration, history.seed, lines, world)


def _without_disk(world: World, nodes: dict[int, MetadataDirectory]) -> list[int]:
    """The running nodes whose metadata directory is gone, or is another one: their processes die."""
    running = {
        node_id: replica.state for node_id, replica in world.replicas.items() if replica.state.role is not Role.STOPPED
    }
    return [node_id for node_id, state in running.items() if node_id not in nodes or nodes[node_id].key != state.key]


def _replayed(history: History, configuration: Configuration) -> tuple[list[EventLine], World]:
    lines: list[EventLine] = []
    world = history.replayed(configuration, lambda occurrence: lines.append(event_line(occurrence)))
    return lines, world
