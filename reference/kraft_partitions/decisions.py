"""Decisions at the open points of KIP-455, as `kraft_reference.profile` has them for elections."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class ReassignmentProfile:
    """Decisions at the open points of KIP-455."""

    name: str

    completes_with: Literal["adding", "target", "target-if-fewer"] = "adding"
    """Replicas that must be in sync before RR is removed.

    `adding` is the least that is allowed: all of AR, and some replica of TR.
    `target` is all of TR, so that as many replicas are in sync afterwards as the target has.
    `target-if-fewer` is `target` where AR is smaller than RR, so that replicas become fewer, and `adding` otherwise.
    Rules: partition-reassign.complete-in-one-step, partition-reassign.isr-never-empty."""

    completes: Literal["in-its-own-step", "with-the-change"] = "in-its-own-step"
    """Time of the completion: a later step of the controller, or the step that makes it possible, even the request
    itself.  Rule: partition-reassign.complete-in-one-step."""

    override_base: Literal["original", "replicas"] = "original"
    """Replicas that a second reassignment starts from: R minus AR, or the widened R.

    From the widened R, an AR or RR that would become empty stays as it is.
    Rule: partition-reassign.override."""

    replicas_order: Literal["removing-first", "target-first"] = "removing-first"
    """Order of the widened R: RR in its order and then TR, or TR and then RR ascending.

    Rule: partition-reassign.start."""

    leader_epoch: Literal["of-leaders", "of-removals-too"] = "of-leaders"
    """Changes that raise the leader epoch: a new leader, or also a replica that leaves R.

    The second fences a removed replica that still fetches, and acknowledges, in the old epoch (KAFKA-12803).
    Rule: partition-reassign.leader-in-removing."""

    idle_when_named: Literal["listed", "left-out"] = "listed"
    """Listing of a partition without a reassignment, with empty lists, if the request names it.

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
