"""How the open points of KIP-455 are decided, as `kraft_reference.profile` does for elections."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReassignmentProfile:
    """A set of answers to the open points of KIP-455."""

    name: str

    completes_with: Literal["adding", "target", "target-if-fewer"] = "adding"
    """Which replicas have to be in sync before RR goes.

    `adding` is the least that is allowed: all of AR, and some replica of TR.
    `target` is all of TR, so that as many replicas are in sync afterwards as were asked for.
    `target-if-fewer` is `target` where AR is smaller than RR, so that replicas become fewer, and `adding` otherwise.
    Rules: partition-reassign.complete-in-one-step, partition-reassign.isr-never-empty."""

    completes: Literal["in-its-own-step", "with-the-change"] = "in-its-own-step"
    """When a reassignment that may complete does so: later, on the controller's own account, or in the step that
    makes it possible, which may be the very request.  Rule: partition-reassign.complete-in-one-step."""

    override_base: Literal["original", "replicas"] = "original"
    """What a second reassignment starts from: R minus AR, or the widened R.

    From the widened R, AR or RR stays as it is where the new one would be empty.
    Rule: partition-reassign.override."""

    replicas_order: Literal["removing-first", "target-first"] = "removing-first"
    """The order of the widened R: RR as it stood and then TR, or TR and then RR ascending.

    Rule: partition-reassign.start."""

    leader_epoch: Literal["of-leaders", "of-removals-too"] = "of-leaders"
    """When the leader epoch rises: with each new leader, or also where the leader stays and a replica leaves R.

    The second fences a removed replica that goes on fetching, and acknowledging, in the old epoch (KAFKA-12803).
    Rule: partition-reassign.leader-in-removing."""

    idle_when_named: Literal["listed", "left-out"] = "listed"
    """Is a partition that no reassignment moves listed, with empty lists, when it is asked for by name?

    Rule: partition-reassign.list."""


KIP = ReassignmentProfile("kip")
"""KIP-455 as written, gaps closed as the rule catalogue says."""

KAFKA_4 = ReassignmentProfile(
    "kafka-4",
    completes_with="target-if-fewer",
    completes="with-the-change",
    override_base="replicas",
    replicas_order="target-first",
    leader_epoch="of-removals-too",
    idle_when_named="left-out",
)
"""The ReplicationControlManager of Apache Kafka 4.3; until 4.2 it completes with `target`."""

PROFILES: dict[str, ReassignmentProfile] = {profile.name: profile for profile in (KIP, KAFKA_4)}
