"""Stage of a scenario of partitions: verbs for the events, rows for their expected results.

After every event a `row` (or `rows`) has R, I, AR and RR; an event without a row fails the scenario.
"""

from collections.abc import Iterable

from kraft_partitions.configuration import PartitionConfiguration
from kraft_partitions.controller import REFERENCE, Controllers
from kraft_partitions.effects import (
    AlterPartitionAnswer,
    AlterReassignmentsAnswer,
    Effect,
    LeaderAndIsr,
    ListReassignmentsAnswer,
    StopReplica,
)
from kraft_partitions.events import (
    AlterPartition,
    AlterPartitionReassignments,
    BrokerFails,
    BrokerStarts,
    CompleteReassignment,
    ControllerFailover,
    Event,
    ListPartitionReassignments,
    WriteReassignPartitions,
)
from kraft_partitions.occurrence import PartitionOccurrence, happen
from kraft_partitions.partition import Assignment, Partition, TopicPartition
from kraft_partitions.properties import PartitionWatch
from kraft_partitions.state import initial_state
from kraft_simulation.scenarios.schedule import Expectations

A0 = TopicPartition("A", 0)
B0 = TopicPartition("B", 0)

EVENTUALLY_COMPLETES = "EventuallyCompletes"


class PartitionStage(Expectations):
    """Cluster in a scenario."""

    def __init__(
        self, scenario: str, configuration: PartitionConfiguration, controllers: Controllers = REFERENCE
    ) -> None:
        super().__init__(scenario)
        self.configuration = configuration
        self.controllers = controllers
        self.state = initial_state(configuration)
        self.occurrences: list[PartitionOccurrence] = []
        self.watch = PartitionWatch(configuration)
        self._unchecked = False
        self._known: dict[tuple[int, TopicPartition], Assignment] = {
            (broker, name): partition.replicas
            for name, partition in self.state.partitions.items()
            for broker in partition.replicas
        }

    # -----------------------------------------------------------------------------------------------------
    # Verbs.
    # -----------------------------------------------------------------------------------------------------

    @property
    def sequence(self) -> int:
        """That of the last occurrence."""
        return len(self.occurrences)

    def alter(self, *target: int, name: TopicPartition = A0, answer: str = "NONE", node: int | None = None) -> None:
        """`Alter([4,3,2])` of one partition, and the error that answers it."""
        self.alter_all({name: target}, {name: answer}, node=node)

    def cancel(self, name: TopicPartition = A0, answer: str = "NONE") -> None:
        """`Alter(null)`."""
        self.alter_all({name: None}, {name: answer})

    def alter_all(
        self,
        targets: dict[TopicPartition, Assignment | None],
        answers: dict[TopicPartition, str],
        *,
        node: int | None = None,
        error: str = "NONE",
        may_alter: bool = True,
    ) -> None:
        """Send a request about several partitions."""
        to = self.state.controller if node is None else node
        effects = self.happen(AlterPartitionReassignments(to, tuple(targets.items()), may_alter))
        (answer,) = [effect for effect in effects if isinstance(effect, AlterReassignmentsAnswer)]
        self.check("top-level error", str(answer.error), error)
        self.check("errors", {name: str(each) for name, each in answer.results}, answers)

    def listed(self, *names: TopicPartition, expected: dict[TopicPartition, str]) -> None:
        """`List`, of some partitions or of all, and `R | AR | RR` of each that it shows."""
        effects = self.happen(ListPartitionReassignments(self.state.controller, names or None))
        (answer,) = [effect for effect in effects if isinstance(effect, ListReassignmentsAnswer)]
        rows = {moved.partition: _row(moved.replicas, moved.adding, moved.removing) for moved in answer.reassignments}
        self.check("list", rows, expected)
        self._unchecked = False

    def in_sync(self, *in_sync: int, name: TopicPartition = A0, answer: str = "NONE") -> None:
        """The leader changes the in-sync replicas to these; it adds only replicas that it was told of."""
        partition = self.state.partitions[name]
        if partition.leader is None:
            self.fail("leader", "one that is alive", None)
        known = self._known[partition.leader, name]
        self.check("replicas that the leader was told of", [replica for replica in in_sync if replica not in known], [])
        epochs = (partition.leader_epoch, partition.partition_epoch)
        request = AlterPartition(self.state.controller, partition.leader, name, *epochs, frozenset(in_sync))
        effects = self.happen(request)
        (answered,) = [effect for effect in effects if isinstance(effect, AlterPartitionAnswer)]
        self.check("answer to the leader", str(answered.error), answer)

    def complete(self, name: TopicPartition = A0) -> None:
        """The controller completes the reassignment."""
        self.happen(CompleteReassignment(name))

    def fail_broker(self, broker: int) -> None:
        """A broker fails."""
        self.happen(BrokerFails(broker))

    def start_broker(self, broker: int) -> None:
        """It is back."""
        self.happen(BrokerStarts(broker))

    def fail_over(self, node: int) -> None:
        """Another controller takes over."""
        self.happen(ControllerFailover(node))

    def write_znode(self, targets: dict[TopicPartition, Assignment], *, ignored: bool = False) -> None:
        """An old tool writes /admin/reassign_partitions."""
        self.happen(WriteReassignPartitions(tuple(targets.items())), refused=ignored)

    def happen(self, event: Event, *, refused: bool | None = None) -> tuple[Effect, ...]:
        """An event; `refused` says whether it must be, None that its answer does."""
        if self._unchecked:
            self.fail("the row after an event", "R, I, AR and RR", "none")
        occurrence = happen(len(self.occurrences) + 1, self.state, event, self.configuration, self.controllers)
        self.occurrences.append(occurrence)
        self.state = occurrence.state
        self.watch.observe(occurrence)
        self._unchecked = True
        for effect in occurrence.effects:
            if isinstance(effect, LeaderAndIsr):
                self._known[effect.broker, effect.partition] = effect.replicas
            elif isinstance(effect, StopReplica):
                self._known.pop((effect.broker, effect.partition), None)
        if refused is not None or not any(_is_answer(effect) for effect in occurrence.effects):
            self.check("refused", occurrence.refusal is not None, bool(refused))
        return occurrence.effects

    # -----------------------------------------------------------------------------------------------------
    # Expectations.
    # -----------------------------------------------------------------------------------------------------

    def row(self, replicas: str, in_sync: str, adding: str, removing: str, *, name: TopicPartition = A0) -> None:
        """A row of a table: R, I, AR and RR of a partition."""
        partition = self.state.partitions[name]
        actual = _row(partition.replicas, sorted(partition.in_sync), partition.adding, partition.removing)
        self.check(f"R | I | AR | RR of {name}", actual, f"{replicas} | {in_sync} | {adding} | {removing}")
        self._unchecked = False

    def leads(self, leader: int | None, epoch: int) -> None:
        """Check the leader of A-0 and its leader epoch."""
        partition = self.partition()
        self.check(f"leader of {A0}", (partition.leader, partition.leader_epoch), (leader, epoch))

    def notifies(self, notified: Iterable[int], stopped: Iterable[int] = (), name: TopicPartition = A0) -> None:
        """The brokers that the last event sent LeaderAndIsr to, then those that it sent StopReplica to, in order.

        Each LeaderAndIsr carries the lists as they are now, and all of R.
        """
        effects = self.occurrences[-1].effects
        partition = self.state.partitions[name]
        sent = [effect for effect in effects if isinstance(effect, LeaderAndIsr) and effect.partition == name]
        self.check("LeaderAndIsr to", [effect.broker for effect in sent], list(notified))
        fields = {_row(effect.replicas, effect.adding, effect.removing, effect.version) for effect in sent}
        self.check(
            "fields", fields, {_row(partition.replicas, partition.adding, partition.removing, 3)} if sent else set()
        )
        order = [effect.broker for effect in effects if isinstance(effect, StopReplica) and effect.partition == name]
        self.check("StopReplica to", order, list(stopped))

    def waits(self, name: TopicPartition = A0) -> None:
        """The reassignment may not complete yet."""
        self.check(f"{name} may complete", name in self.controllers.due(self.state, self.configuration), False)

    def stuck(self) -> None:
        """Nothing is left for A-0 that could happen: all whom the leader knows of and who are alive are in sync."""
        self.waits(A0)
        partition = self.partition()
        self.check(f"{A0} is reassigned", partition.is_reassigned, True)
        known = () if partition.leader is None else self._known[partition.leader, A0]
        behind = [replica for replica in known if replica in self.state.alive and replica not in partition.in_sync]
        self.check("replicas that could still catch up", behind, [])
        self.shown.add(EVENTUALLY_COMPLETES)

    def partition(self, name: TopicPartition = A0) -> Partition:
        """A partition as the controller has it."""
        return self.state.partitions[name]


def _is_answer(effect: Effect) -> bool:
    return isinstance(effect, AlterReassignmentsAnswer | ListReassignmentsAnswer | AlterPartitionAnswer)


def _row(*fields: Iterable[int] | int) -> str:
    """Lists as the texts write them."""
    columns = [str(field) if isinstance(field, int) else "[" + ",".join(map(str, field)) + "]" for field in fields]
    return " | ".join(columns)
