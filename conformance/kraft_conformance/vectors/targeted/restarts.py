"""What is on disk, and where a restart begins."""

from kraft_conformance.vectors.target import Target
from kraft_reference.identity import ReplicaKey
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import nominate, start
from kraft_reference.scenarios.scenario import cluster


def _was_leader(d: Director) -> None:
    start(d, 1, 1)
    d.step("1 crashes and restarts: Resigned, in the epoch that it led")
    d.crash(1)
    d.restart(1)
    d.roles("R(1)")


def _known_leader(d: Director) -> None:
    start(d, 1, 1)
    d.step("2 crashes and restarts: it follows the leader that its file names, and has not fetched")
    d.crash(2)
    d.restart(2)
    d.fetched(2, False)


def _voted(d: Director) -> None:
    nominate(d, 1, 1)
    d.vote(1, 2, "granted", answer="lost")
    d.step("2 crashes and restarts: its vote is spent")
    d.crash(2)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


def _voted_static(d: Director) -> None:
    nominate(d, 1, 1)
    d.vote(1, 2, "granted", answer="lost")
    d.step("2 crashes and restarts: at kraft.version 0 its file has the id that it voted for")
    d.crash(2)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


def _unsynced(d: Director) -> None:
    start(d, 1, 1)
    d.append(1)
    d.fetch(2, 1)
    d.step("2 crashes before it has synced what it fetched")
    d.crash(2)
    d.restart(2)
    d.fetch(2, 1)


def _between(d: Director) -> None:
    nominate(d, 1, 1)
    asked = d.hold(1, 2)
    d.step("2 dies when epoch and vote are on disk and the answer is not sent")
    d.deliver_and_crash(asked, 1, 0)
    d.restart(2)
    d.request_timeout(1, 2)
    d.vote(1, 2, "granted")


def _other_disk(d: Director) -> None:
    start(d, 1, 1)
    d.crash(3)
    d.replace_disk(3, "U3b")
    d.restart(3)
    d.check("the key of N3", d.state(3).key, ReplicaKey(3, "U3b"))
    d.step("3 comes back with an empty disk: it is somebody else, and observes")
    d.fetch(3, 1, "FENCED_LEADER_EPOCH")
    d.fetch(3, 1)


def _other_disk_led(d: Director) -> None:
    start(d, 1, 1)
    d.cut(1, 2, 3)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(3, 2, "granted")
    d.lose(3)
    d.vote(3, 2, "granted")
    d.lose(3)
    d.begin_quorum_epoch(3, 2)
    d.crash(3)
    d.replace_disk(3, "U3b")
    d.restart(3)
    d.step("3 comes back with an empty disk and hears that 3 leads: not itself")
    d.fetch(3, 2, "FENCED_LEADER_EPOCH")


TARGETS = (
    Target(
        "restart.was-leader",
        "A restarted leader is Resigned",
        ("durable.restart.was-leader", "durable.fields-v1"),
        1,
        _was_leader,
        level="state",
    ),
    Target(
        "restart.known-leader",
        "A restart with a known leader begins as its Follower",
        ("durable.restart.known-leader", "durable.fields-v1"),
        2,
        _known_leader,
        level="state",
    ),
    Target(
        "restart.voted",
        "A vote outlives a crash",
        ("vote.once-per-epoch", "durable.fields-v1", "vote.repeat-grant"),
        2,
        _voted,
    ),
    Target(
        "restart.voted-static",
        "A vote outlives a crash at kraft.version 0 too, by its id",
        ("durable.fields-v0", "durable.version-by-kraft"),
        2,
        _voted_static,
        cluster(3, static=True),
        level="state",
    ),
    Target(
        "restart.unsynced",
        "What was not synced is fetched again",
        ("durable.flush-before-fetch",),
        2,
        _unsynced,
        level="effects",
    ),
    Target(
        "restart.between-effects",
        "A crash between the write and the answer leaves the vote",
        ("vote.persist-before-reply", "durable.write-before-act"),
        2,
        _between,
    ),
    Target(
        "restart.other-disk-led",
        "A replaced disk that hears its own id named as the leader follows nobody",
        ("state.learn-higher-epoch.leader", "identity.replica-key"),
        3,
        _other_disk_led,
        level="state",
    ),
    Target(
        "restart.other-disk",
        "A replaced disk makes another replica of the same id, which the set does not have",
        ("identity.replica-key", "identity.directory-id-at-format", "identity.observer-definition"),
        3,
        _other_disk,
        cluster(3),
    ),
)
