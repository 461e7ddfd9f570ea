"""Large ids and epochs: software that compares boxed numbers by identity takes equal ones for different.

CPython has one object for each number up to 256, Java for each up to 127.
"""

from dataclasses import replace

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, observe, start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.target import Targets

TARGETS = Targets()

_A, _B, _C, _D = 1001, 1002, 1003, 1004
_EPOCH = 300


def _renamed(small: Configuration) -> Configuration:
    """Each id a thousand larger."""
    replicas = {
        n + 1000: replace(replica, key=ReplicaKey(n + 1000, replica.key.directory_id))
        for n, replica in small.replicas.items()
    }
    voters = frozenset(ReplicaKey(voter.id + 1000, voter.directory_id) for voter in small.voters)
    return replace(small, replicas=replicas, voters=voters)


@TARGETS.vector(
    "large.snapshot", _D, "fetch.snapshot.install", configuration=_renamed(cluster(4, (1, 2, 3))), level="effects"
)
def _loads(d: Director) -> None:
    """A replica loads a snapshot from a leader with a large id."""
    elect(d, _A, 1)
    d.append(_A, end_offset=6)
    observe(d, _A, _B, _C)
    d.take_snapshot(_A, 5)
    d.fetch(_D, _A, "FENCED_LEADER_EPOCH")
    d.step("N1004, empty, loads the snapshot of its leader")
    d.fetch(_D, _A)
    d.fetch_snapshot(_D, _A)
    d.fetch(_D, _A)


@TARGETS.vector(
    "large.joins-again", _C, "auto-join.remove-stale-self-first", configuration=_renamed(cluster(3, joining=(3,)))
)
def _joins_again(d: Director) -> None:
    """A voter with a large id and a new disk removes its old self first."""
    elect(d, _A, 1)
    d.append(_A, end_offset=4)
    observe(d, _A, _B, _C)
    d.crash(_C)
    d.replace_disk(_C, "U9")
    d.restart(_C)
    d.fetch(_C, _A, "FENCED_LEADER_EPOCH")
    d.step("N1003 has a new disk: the voter of its id goes before it is added")
    d.fetch(_C, _A)
    d.remove_old_self(_C, _A)


@TARGETS.vector("large.diverging", 1, "fetch.diverging.truncate", configuration=cluster(3, old=(2,)), level="effects")
def _diverges(d: Director) -> None:
    """A replica truncates its log within a large epoch.

    The epochs are those of N2 without Pre-Vote, which asks for votes in vain until then.
    """
    start(d, 2, _EPOCH - 1)
    d.fetch_timeout(3)
    elect(d, 1, _EPOCH)
    observe(d, 1, 2, 3)
    d.cut(1, 2, 3)
    d.append(1)
    d.append(1)
    d.fetch_timeout(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.heal(1, 2, 3)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    d.step("f(1>2): the logs part within epoch 300")
    d.replicate(1, 2)
    d.end_offsets(5, 5, 5)
