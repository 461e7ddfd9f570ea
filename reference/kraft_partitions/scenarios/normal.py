"""S25.  Normal reassignment, TR = [4,3,2]."""

from kraft_partitions.decisions import KAFKA_4
from kraft_partitions.scenarios.scenario import PartitionScenario, PartitionVariants, cluster
from kraft_partitions.scenarios.stage import A0, PartitionStage

VARIANTS = PartitionVariants()

MOVING = "[1,4,3,2]"


def _begin(s: PartitionStage) -> None:
    """Steps 0 and 1."""
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.leads(1, 0)
    s.step("1. Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")
    s.notifies([1, 4, 3, 2])
    s.waits()


def _caught_up(s: PartitionStage) -> None:
    """Step 2."""
    s.step("2. leader 1 extends the ISR by 4")
    s.in_sync(1, 2, 3, 4)
    s.row(MOVING, "[1,2,3,4]", "[4]", "[1]")


def _done(s: PartitionStage) -> None:
    """Step 3."""
    s.step("3. one step")
    s.complete()
    s.row("[4,3,2]", "[2,3,4]", "[]", "[]")
    s.leads(4, 1)
    s.notifies([4, 3, 2], stopped=[1])


def _listed(s: PartitionStage) -> None:
    s.listed(expected={A0: f"{MOVING} | [4] | [1]"})


@VARIANTS.variant("right", cluster(4))
def right(s: PartitionStage) -> None:
    """4 joins, 1 goes, 4 leads."""
    # As in the table; step 2 and step 3 are two, because I and R are stored by different hands.
    _begin(s)
    _listed(s)
    _caught_up(s)
    _listed(s)
    _done(s)
    s.listed(expected={})


@VARIANTS.variant("right-fail-over", cluster(4))
def fails_over(s: PartitionStage) -> None:
    """Two new controllers read the lists and wait."""
    # A new controller at 1, and another one at 2.
    _begin(s)
    s.step("the controller fails at 1")
    s.fail_over(2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")
    s.notifies([1, 4, 3, 2])
    s.waits()
    _listed(s)
    _caught_up(s)
    s.step("the controller fails at 2")
    s.fail_over(1)
    s.row(MOVING, "[1,2,3,4]", "[4]", "[1]")
    _listed(s)
    _done(s)


@VARIANTS.variant("right-kafka", cluster(4, profile=KAFKA_4))
def kafka(s: PartitionStage) -> None:
    """The request that makes 4 in sync completes it."""
    # R is TR and then RR; the leader's own request completes the reassignment and tells it that it leads no more.
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.step("1. Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[4,3,2,1]", "[1,2,3]", "[4]", "[1]")
    s.step("2 and 3. leader 1 extends the ISR by 4")
    s.in_sync(1, 2, 3, 4, answer="NEW_LEADER_ELECTED")
    s.row("[4,3,2]", "[2,3,4]", "[]", "[]")
    s.leads(4, 1)
    s.notifies([4, 3, 2], stopped=[1])


@VARIANTS.variant("right-other-node", cluster(4))
def not_the_controller(s: PartitionStage) -> None:
    """NOT_CONTROLLER from who was it."""
    # The same with the rule: the request is refused as a whole.
    _begin(s)
    s.step("node 2 takes over and cancels")
    s.fail_over(2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")
    s.cancel()
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.step("Alter([2,3,4]) to node 1")
    s.alter_all({A0: (2, 3, 4)}, {}, node=1, error="NOT_CONTROLLER")
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.check("what node 1 holds", 1 in s.state.memory, False)


@VARIANTS.variant("right-invalid", cluster(4))
def invalid(s: PartitionStage) -> None:
    """No list that is no assignment is accepted."""
    # Each kind of list that no partition can have.
    for target in ((), (1, -2), (1, 99), (1, 1)):
        s.step(f"Alter({list(target)})")
        s.alter(*target, answer="INVALID_REPLICA_ASSIGNMENT")
        s.row("[1,2,3]", "[1,2,3]", "[]", "[]")


def _begin_without_waiting(s: PartitionStage) -> None:
    s.step("1. Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")


@VARIANTS.without("start", "ReplicasGrowBeforeTheyShrink")
def at_once(s: PartitionStage) -> None:
    """Two replicas are in sync instead of three."""
    # Without the start: R is TR from the first moment, and one copy fewer is in sync until 4 has caught up.
    s.row("[1,2,3]", "[1,2,3]", "[]", "[]")
    s.step("1. Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row("[4,3,2]", "[2,3]", "[]", "[]")


@VARIANTS.without("add-before-remove", "ReplicasGrowBeforeTheyShrink")
def impatient(s: PartitionStage) -> None:
    """Two replicas are in sync instead of three."""
    # Without the waiting: RR goes while 4 is behind.
    _begin_without_waiting(s)
    s.step("RR is acted on at step 1")
    s.complete()
    s.row("[4,3,2]", "[2,3]", "[]", "[]")


@VARIANTS.without("complete-in-one-step", "ListsAreConsistent")
def in_two_steps(s: PartitionStage) -> None:
    """The new controller finds 1 in RR and not in R."""
    # RR is gone from R and I, and the controller dies before it empties the lists.
    _begin(s)
    _caught_up(s)
    s.step("3. the first half")
    s.complete()
    s.row("[4,3,2]", "[2,3,4]", "[4]", "[1]")
    s.step("the controller fails")
    s.fail_over(2)
    s.row("[4,3,2]", "[2,3,4]", "[4]", "[1]")


@VARIANTS.without("leader-in-removing", "LeaderIsReplica")
def leader_stays(s: PartitionStage) -> None:
    """1 is stopped and leads on."""
    # 1 goes on leading a partition of which it has no replica.
    _begin(s)
    _caught_up(s)
    s.step("3. one step")
    s.complete()
    s.row("[4,3,2]", "[2,3,4]", "[]", "[]")
    s.leads(1, 0)
    s.notifies([4, 3, 2], stopped=[1])


@VARIANTS.without("persisted", "CompletesAsAsked", "StoredIsWhole")
def lists_are_lost(s: PartitionStage) -> None:
    """R stays as wide as it is, and there is nothing to cancel."""
    # Only R is stored: after a failover nobody knows which of the four replicas should go.
    _begin(s)
    s.step("the controller fails at 1")
    s.fail_over(2)
    s.row(MOVING, "[1,2,3]", "[]", "[]")
    s.listed(expected={})
    s.step("nothing to cancel")
    s.cancel(answer="NO_REASSIGNMENT_IN_PROGRESS")
    s.row(MOVING, "[1,2,3]", "[]", "[]")


@VARIANTS.without("mixed-versions", "EventuallyCompletes")
def leader_is_not_told(s: PartitionStage) -> None:
    """4 never catches up."""
    # The leader gets the replicas from before, and never replicates to 4.
    s.step("1. Alter([4,3,2])")
    s.alter(4, 3, 2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")
    s.stuck()


@VARIANTS.without("controller-only", "CompletesAsAsked", "ListsAreConsistent", "StoredIsWhole")
def two_writers(s: PartitionStage) -> None:
    """A write of node 1 undoes the cancellation that node 2 has accepted."""
    # Node 1 does not know that it has been replaced, completes nothing, and writes what it remembers.
    _begin(s)
    s.step("node 2 takes over and cancels")
    s.fail_over(2)
    s.row(MOVING, "[1,2,3]", "[4]", "[1]")
    s.cancel()
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.step("Alter([2,3,4]) to node 1")
    s.alter(2, 3, 4, node=1)
    s.row("[1,3,2]", "[1,2,3]", "[]", "[]")
    s.check("R as stored", s.state.stored[A0].replicas, (1, 2, 3, 4))
    s.step("node 1 takes over again")
    s.fail_over(1)
    s.row("[1,2,3,4]", "[1,2,3]", "[4]", "[1]")


@VARIANTS.without("invalid-assignment", "EventuallyCompletes", "ReplicasAreBrokers")
def never_in_sync(s: PartitionStage) -> None:
    """A replica without a broker is waited for in vain."""
    # 99 is no broker, so that AR is never in sync.
    s.step("Alter([1,99])")
    s.alter(1, 99)
    s.row("[2,3,1,99]", "[1,2,3]", "[99]", "[2,3]")
    s.stuck()


SCENARIOS = (
    PartitionScenario(
        "S25",
        "s25-normal",
        "Normal reassignment",
        "KIP-455",
        (
            "partition-reassign.start",
            "partition-reassign.add-before-remove",
            "partition-reassign.complete-in-one-step",
            "partition-reassign.leader-in-removing",
            "partition-reassign.persisted",
            "partition-reassign.mixed-versions",
            "partition-reassign.controller-only",
            "partition-reassign.invalid-assignment",
        ),
        tuple(VARIANTS),
    ),
)
