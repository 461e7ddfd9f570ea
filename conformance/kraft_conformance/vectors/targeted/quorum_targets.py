"""The reassignment of the quorum (KIP-642)."""

from kraft_conformance.vectors.target import OBSERVED, Target
from kraft_reference.scenarios.director import Director
from kraft_reference.scenarios.opening import observe, start


def _asked_elsewhere(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("2 follows 1")
    d.answered(d.reassign(2, 1, 2, 4), "NOT_LEADER_OR_FOLLOWER")


def _asked(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.step("the target is written down, and takes effect at once")
    d.reassign(1, 1, 2, 4)
    d.records(1, 4, "VA")
    d.fetch(2, 1)
    d.fetch(2, 1)


def _read(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.step("a follower reads the target")
    d.fetch(2, 1)


def _adds(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.fetch(4, 1)
    d.fetch(4, 1)
    d.step("4 is new, 3 is to go: the leader adds 4 and tells it")
    d.advance(1, 4)
    d.poll(1)


def _reverted(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.cut(1, 2, 3, 4)
    request = d.reassign(1, 1, 2, 4)
    d.fetch_timeout(2)
    d.fetch_timeout(3)
    d.pre_vote(2, 3, "granted")
    d.lose(2)
    d.vote(2, 3, "granted")
    d.lose(2)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.heal(1, 2, 3, 4)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)
    d.answered(request, "NOT_LEADER_OR_FOLLOWER")
    d.step("f(1>2): with its record the target goes")
    d.fetch(1, 2)


def _other_target(d: Director) -> None:
    start(d, 1, 1, end_offset=4)
    d.reassign(1, 1, 2, 4)
    d.fetch(2, 1)
    d.fetch(2, 1)
    d.fetch(4, 1)
    d.fetch(4, 1)
    d.advance(1, 4)
    d.step("before 4 has told its versions the target names it no more: the addition ends")
    d.reassign(1, 1, 2, 3)


TARGETS = (
    Target(
        "reassign.not-the-leader",
        "Only the leader takes a target",
        ("reassign.request-leader-only",),
        2,
        _asked_elsewhere,
        OBSERVED,
    ),
    Target(
        "reassign.target",
        "A target is a record with the voters that there are and those that shall be",
        ("reassign.assignment-record", "reassign.effective-on-append"),
        1,
        _asked,
        OBSERVED,
        level="effects",
    ),
    Target(
        "reassign.target-read",
        "A follower takes over the target with the record",
        ("reassign.effective-on-append",),
        2,
        _read,
        OBSERVED,
        level="state",
    ),
    Target(
        "reassign.other-target",
        "A target that names a replica no more ends its addition",
        ("reassign.cancel-by-new-target",),
        1,
        _other_target,
        OBSERVED,
        level="state",
    ),
    Target(
        "reassign.target-reverted",
        "A target goes with the record that is truncated",
        ("reassign.truncation-reverts",),
        1,
        _reverted,
        OBSERVED,
        level="state",
    ),
    Target(
        "reassign.adds",
        "The leader adds a replica of the target that is no voter yet, and announces itself to it",
        ("reassign.three-sets", "reassign.begin-epoch-to-new-voter"),
        1,
        _adds,
        OBSERVED,
    ),
)
