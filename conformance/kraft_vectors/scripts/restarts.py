"""State on disk, and restarts."""

from dataclasses import replace

from kraft_reference.identity import ReplicaKey
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import nominate, start, take_over
from kraft_simulation.scenarios.scenario import cluster, without_list
from kraft_vectors.openings import new_disk
from kraft_vectors.target import STATIC, Targets

TARGETS = Targets()


@TARGETS.vector("restart.was-leader", 1, "durable.restart.was-leader", "durable.fields-v1", level="state")
def _was_leader(d: Director) -> None:
    """A restarted leader is Resigned."""
    start(d, 1, 1)
    d.step("1 crashes and restarts: Resigned, in the epoch that it led")
    d.crash(1)
    d.restart(1)
    d.roles("R(1)")


@TARGETS.vector("restart.known-leader", 2, "durable.restart.known-leader", "durable.fields-v1", level="state")
def _known_leader(d: Director) -> None:
    """A restart with a known leader begins as its Follower."""
    start(d, 1, 1)
    d.step("2 crashes and restarts: it follows the leader that its file names, and has not fetched")
    d.crash(2)
    d.restart(2)
    d.fetched(2, False)


@TARGETS.vector("restart.voted", 2, "vote.once-per-epoch", "durable.fields-v1", "vote.repeat-grant")
def _voted(d: Director) -> None:
    """A vote survives a crash."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted", answer="lost")
    d.step("2 crashes and restarts: its vote is spent")
    d.crash(2)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


@TARGETS.vector(
    "restart.voted-static",
    2,
    "durable.fields-v0",
    "durable.version-by-kraft",
    configuration=STATIC,
    level="state",
)
def _voted_static(d: Director) -> None:
    """At kraft.version 0 a vote survives a crash by its id."""
    nominate(d, 1, 1)
    d.vote(1, 2, "granted", answer="lost")
    d.step("2 crashes and restarts: at kraft.version 0 its file has the id that it voted for")
    d.crash(2)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


@TARGETS.vector("restart.unsynced", 2, "durable.flush-before-fetch")
def _unsynced(d: Director) -> None:
    """A replica fetches unsynced records again."""
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.step("2 crashes before it has synced what it fetched")
    d.crash(2)
    d.restart(2)
    d.fetch(2, 1)


@TARGETS.vector("restart.between-effects", 2, "vote.persist-before-reply", "durable.write-before-act")
def _between(d: Director) -> None:
    """A crash between the write and the response keeps the vote."""
    nominate(d, 1, 1)
    request = d.hold(1, 2)
    d.step("2 dies when epoch and vote are on disk and the answer is not sent")
    d.deliver_and_crash(request, 1, 0)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


@TARGETS.vector(
    "restart.other-disk",
    3,
    "identity.replica-key",
    "identity.directory-id-at-format",
    "identity.observer-definition",
    configuration=cluster(3),
)
def _other_disk(d: Director) -> None:
    """A replica with a replaced disk is another replica with the same id, outside of the voter set."""
    start(d, 1, 1)
    new_disk(d, 3, "U3b")
    d.check("the key of N3", d.state(3).key, ReplicaKey(3, "U3b"))
    d.step("3 comes back with an empty disk: it is somebody else, and observes")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)


@TARGETS.vector("restart.other-disk-led", 3, "state.learn-higher-epoch.leader", "identity.replica-key", level="state")
def _other_disk_led(d: Director) -> None:
    """A replica with a replaced disk that learns its own id as the leader follows nobody."""
    start(d, 1, 1)
    d.cut(1, 2, 3)
    take_over(d, 3, 2)
    d.begin_quorum_epoch(3, 2)
    new_disk(d, 3, "U3b")
    d.step("3 comes back with an empty disk and hears that 3 leads: not itself")
    d.fetch(3, 2, "FENCED_LEADER_EPOCH")


@TARGETS.vector(
    "restart.before-the-upgrade",
    4,
    "durable.flush-before-fetch",
    "kraft-version.upgrade-atomic-batch",
    configuration=replace(cluster(4, (1, 2, 3), formatted=without_list(4), static=True), bootstrap_servers=(1,)),
)
def _before_the_upgrade(d: Director) -> None:
    """A crash loses an unsynced upgrade as a whole, and the record before it stays."""
    start(d, 1, 1, end_offset=1)
    d.update_voter(2, 1, "ok")
    d.update_voter(3, 1, "ok")
    d.update_features(1, 1)
    d.fetch(4, 1)
    d.end_offsets(3, 1, 1, 3)
    d.step("4 crashes before it has synced the upgrade, which came in a batch of its own")
    d.crash(4)
    d.end_offsets(3, 1, 1, 1)
    d.restart(4)
    d.fetch(4, 1)


def _stops_after_the_removal(d: Director) -> None:
    """2 has the record that removes its leader 1, so its voter set has no endpoint of 1."""
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 1)
    d.replicate(2, 1)
    d.crash(2)


@TARGETS.vector("restart.leader-outside", 2, "discovery.endpoint-lookup", level="state")
def _leader_outside(d: Director) -> None:
    """After a restart, the endpoint of a leader outside the voter set is unknown."""
    _stops_after_the_removal(d)
    d.step("2 starts with a leader outside its set, of which it does not know where it listens")
    d.restart(2)


@TARGETS.vector(
    "restart.removed-leader",
    2,
    "state.unattached.leader",
    "discovery.leader-endpoint-known",
    "voters.fetch-from-leader-outside-set",
    configuration=replace(cluster(3), bootstrap_servers=(1,)),
)
def _removed_leader(d: Director) -> None:
    """A voter that restarts during its leader's removal finds the leader at a bootstrap server."""
    _stops_after_the_removal(d)
    d.restart(2)
    d.step("2 asks the bootstrap server, which is its leader, and fetches from it from then on")
    d.replicate(2, 1)


@TARGETS.vector(
    "restart.removed-leader-named",
    2,
    "state.unattached.leader",
    "discovery.leader-endpoint-known",
    configuration=replace(cluster(3), bootstrap_servers=(3,)),
)
def _removed_leader_named(d: Director) -> None:
    """A voter that restarts during its leader's removal learns the leader's endpoint from a bootstrap server."""
    _stops_after_the_removal(d)
    d.restart(2)
    d.step("2 asks a bootstrap server that is no leader, hears where its leader is, and fetches there")
    d.fetch(2, 3, "NOT_LEADER_OR_FOLLOWER")
    d.fetch(2, 1)
