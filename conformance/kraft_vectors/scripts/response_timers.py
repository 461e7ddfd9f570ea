"""Responses that start no timer: late ones, and those of an older epoch.

Any timer that one of them starts anew keeps a replica from what it is there for.
A follower whose leader has lost its disk gets answers for ever, and looks for votes only once its fetch timer fires.
"""

import re
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import NamedTuple

from kraft_reference.configuration import Configuration
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import (
    AddVoterRequest,
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    FetchRequest,
    FetchSnapshotRequest,
    RemoveVoterRequest,
    Request,
    UpdateVoterRequest,
)
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import observe, start
from kraft_simulation.scenarios.scenario import cluster
from kraft_vectors.openings import campaign, lead_unannounced, lead_with_snapshot, new_disk
from kraft_vectors.staging import RecordingDirector
from kraft_vectors.target import JOINING, OBSERVED, STATIC, THREE, Targets, with_replicas

TARGETS = Targets()
_WHY = "who leaves an epoch waits for no answer of it any more"


def _appends(d: Director) -> None:
    start(d, 1, 1)
    d.append(1)


def _has_a_snapshot(d: Director) -> None:
    lead_with_snapshot(d)
    d.fetch(4, 1)


def _works_on_a_removal(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.remove_voter(1, 3)


def _works_on_a_removal_of_another(d: Director) -> None:
    lead_unannounced(d, 1)
    d.begin_quorum_epoch(1, 2)
    observe(d, 1, 2, 3)
    d.remove_voter(1, 2)


def _hands_over(d: Director) -> None:
    lead_unannounced(d, 1)
    d.lose(1)
    d.shutdown(1)


class _Exchange(NamedTuple):
    """A request that `source` repeats, and the script that leads to it."""

    request: type[Request]
    source: int
    destination: int
    begins: Callable[[Director], None]
    configuration: Configuration
    rule: str
    verdict: str = "ok"


_ANOTHER_DISK = with_replicas(cluster(3, joining=(3,)), 3, key=ReplicaKey(3, "U3b"))
"""The set has an older disk of 3, which is to be removed."""

_EXCHANGES = (
    _Exchange(FetchRequest, 2, 1, _appends, THREE, "fetch.timer"),
    _Exchange(FetchSnapshotRequest, 4, 1, _has_a_snapshot, OBSERVED, "fetch.timer"),
    _Exchange(UpdateVoterRequest, 2, 1, partial(start, leader=1, epoch=1, end_offset=4), STATIC, "fetch.timer"),
    _Exchange(AddVoterRequest, 4, 1, _works_on_a_removal, JOINING, "fetch.timer", "REQUEST_TIMED_OUT"),
    _Exchange(
        RemoveVoterRequest, 3, 1, _works_on_a_removal_of_another, _ANOTHER_DISK, "fetch.timer", "REQUEST_TIMED_OUT"
    ),
    _Exchange(EndQuorumEpochRequest, 1, 2, _hands_over, THREE, "end-quorum.stale"),
)


def _responds_in_vain(d: RecordingDirector, exchange: _Exchange) -> None:
    exchange.begins(d)
    source, destination = exchange.source, exchange.destination
    late = d.handle(d.outstanding(source, destination, exchange.request), exchange.verdict, answer="held")
    d.request_timeout(source, destination)
    older = d.handle(d.outstanding(source, destination, exchange.request), exchange.verdict, answer="held")
    d.construct(source, _WHY, epoch=d.state(source).epoch + 1, voted_key=None)
    d.step("the answer to a request that was given up: it counts for nothing, and starts no timer")
    d.deliver(late)
    d.step("an answer of an older epoch to the request that waits: no timer starts either")
    d.deliver(older)


for _exchange in _EXCHANGES:
    _name = _exchange.request.__name__.removesuffix("Request")
    TARGETS.vector(
        "timer." + re.sub(r"(?<=[a-z])(?=[A-Z])", "-", _name).lower(),
        _exchange.source,
        _exchange.rule,
        configuration=_exchange.configuration,
        level="effects",
        title=f"Neither a late {_name} response nor one of an older epoch starts a timer",
    )(update_wrapper(partial(_responds_in_vain, exchange=_exchange), _responds_in_vain))


@TARGETS.vector("timer.wiped-leader", 2, "fetch.timer", level="effects")
def _wiped_leader(d: Director) -> None:
    """The response of a leader that lost its disk has an older epoch, and does not extend its followers' timers."""
    start(d, 1, 1)
    new_disk(d, 1, "U1b")
    d.step("2 asks 1, which knows no epoch any more: no timer starts")
    for _ in range(2):
        d.fetch(2, 1, "UNKNOWN_LEADER_EPOCH")
    d.step("the fetch timer of 2 fires, and it asks for Pre-Votes")
    d.fetch_timeout(2)
    d.poll(2)


@TARGETS.vector("timer.begin-quorum-epoch", 1, "begin-quorum.response", level="effects")
def _announced_in_vain(d: RecordingDirector) -> None:
    """A BeginQuorumEpoch response of an older epoch starts no timer at the leader."""
    lead_unannounced(d, 1)
    request = d.outstanding(1, 2, BeginQuorumEpochRequest)
    waiting = d.state(1).awaiting
    older = d.handle(request, "ok", answer="held")
    d.lose(1)
    d.shutdown(1)
    d.lose(1)
    d.election_timeout(1)
    d.election_timeout(1)
    campaign(d, 1, 3)
    d.roles("L(3)")
    d.construct(1, _WHY, awaiting={2: waiting[2]})
    d.step("2 answers the announcement of epoch 1, and 1 leads epoch 3")
    d.deliver(older)
