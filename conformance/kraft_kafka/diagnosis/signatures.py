"""Signatures of Kafka's bugs in controllers' files, and contradictions that no correct cluster leaves behind."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

from kraft_kafka.diagnosis.evidence import (
    Controller,
    Disk,
    Evidence,
    Fault,
    Place,
    Transition,
    Truncated,
    VotersRead,
)

UNREAD, OUTLIVED, OWN_VOTE = "unread-voters", "outlived-voters-record", "own-vote-before-known-leader"
"""Names of findings."""
NEW_DISK = (
    "Remove this controller (kafka-metadata-quorum remove-controller), format its disk with "
    "--no-initial-controllers, start it, and add it again.  A restart alone is no cure once it has taken a snapshot."
)
_COMPARE = "Stop voter changes.  Keep the disks and logs of all controllers before you restart one."
_DEATHS = {
    "below the current high watermark": ("", "two leaders have committed different records at the same offsets"),
    "inconsistent with current leader": (OWN_VOTE, "two controllers have led the same epoch"),
    "addAcknowledgementFrom": ("", "a voter has answered an announcement from before its removal; restart it"),
}
"""By words of an exception: the finding that it indicates, and its meaning."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A defect, with the lines that show it."""

    finding: str
    """A finding's name; empty for a contradiction that no finding explains."""
    controllers: tuple[str, ...]
    text: str
    places: tuple[Place, ...]
    advice: str


def diagnose(evidence: Evidence) -> tuple[Diagnosis, ...]:
    """Return all defects in the evidence."""
    diagnoses: list[Diagnosis] = []
    for controller in evidence.controllers:
        diagnoses += _find_unread_records(controller)
        diagnoses += _find_wrong_snapshots(controller)
        diagnoses += _check_votes_and_epochs(controller)
        diagnoses += _find_deaths(controller)
    diagnoses += _find_two_leaders(evidence)
    diagnoses += _compare_records(evidence)
    diagnoses += _compare_snapshots(evidence)
    return tuple(dict.fromkeys(diagnoses))


def _find_unread_records(controller: Controller) -> Iterator[Diagnosis]:
    """Report a newest voter set on disk that is not the last one the log says the controller read.

    A process killed right after it appended a record has not read it either.  So the log must show a truncation since
    the start of the process, unless rotation has removed that start.
    """
    read = [event for event in controller.events if isinstance(event, VotersRead)]
    starts = [
        place for place, event in enumerate(controller.events) if isinstance(event, Transition) and event.is_start
    ]
    since_start = controller.events[starts[-1] :] if starts else controller.events
    truncated = [event for event in since_start if isinstance(event, Truncated)]
    if starts and not truncated:
        return
    for disk in controller.disks:
        newest = disk.voters_before()
        if newest is None or not read or read[-1].offset >= newest[0] or read[-1].voters == newest[1]:
            continue
        yield Diagnosis(
            OUTLIVED if truncated and truncated[-1].is_full else UNREAD,
            (controller.name,),
            f"it has the voter set {_show(newest[1])} at offset {newest[0]} and goes by {_show(read[-1].voters)}",
            (*(event.place for event in truncated[-1:]), read[-1].place),
            NEW_DISK,
        )


def _find_wrong_snapshots(controller: Controller) -> Iterator[Diagnosis]:
    """Report a snapshot whose voter set differs from that of the log it was taken of."""
    for disk in controller.disks:
        for (end, epoch), voters in disk.snapshots.items():
            expected = disk.voters_before(end)
            if voters and expected is not None and expected[1] != voters:
                text = f"its snapshot {end}-{epoch} has the voters {_show(voters)}, its log {_show(expected[1])}"
                place = Place(disk.path, None, f"snapshot {end}-{epoch}")
                yield Diagnosis(UNREAD, (controller.name,), text, (place,), NEW_DISK)


def _check_votes_and_epochs(controller: Controller) -> Iterator[Diagnosis]:
    """Report two votes in one epoch, two leaders of one epoch in one log, or a falling epoch."""
    votes: dict[int, tuple[int, Place]] = {}
    leaders: dict[int, tuple[int, Place]] = {}
    reported: set[tuple[str, int]] = set()
    last: Transition | None = None
    for event in controller.events:
        if not isinstance(event, Transition):
            continue
        if last is not None and event.epoch < last.epoch:
            text = f"its epoch falls from {last.epoch} to {event.epoch}: its quorum-state was lost or replaced"
            yield Diagnosis("", (controller.name,), text, (last.place, event.place), NEW_DISK)
        for first_seen, id_, what, finding in (
            (votes, event.voted, "voted for", ""),
            (leaders, event.leader, "had as leader", OWN_VOTE),
        ):
            if id_ is None:
                continue
            before, place = first_seen.setdefault(event.epoch, (id_, event.place))
            if before != id_ and (what, event.epoch) not in reported:
                reported.add((what, event.epoch))
                text = f"it has {what} both {before} and {id_} in epoch {event.epoch}"
                yield Diagnosis(finding, (controller.name,), text, (place, event.place), _COMPARE)
        last = event


def _find_deaths(controller: Controller) -> Iterator[Diagnosis]:
    for event in controller.events:
        if isinstance(event, Fault):
            for words, (finding, meaning) in _DEATHS.items():
                if words in event.exception:
                    yield Diagnosis(finding, (controller.name,), meaning, (event.place,), _COMPARE)


def _find_two_leaders(evidence: Evidence) -> Iterator[Diagnosis]:
    """Report two controllers that led one epoch, according to their logs or quorum-states."""
    led: dict[int, dict[int, Place]] = defaultdict(dict)
    for controller in evidence.controllers:
        for event in controller.events:
            if isinstance(event, Transition) and event.leader is not None:
                led[event.epoch].setdefault(event.leader, event.place)
        for disk in controller.disks:
            if disk.epoch is not None and disk.leader is not None:
                place = Place(disk.path / "quorum-state", None, f"leader {disk.leader} of epoch {disk.epoch}")
                led[disk.epoch].setdefault(disk.leader, place)
    for view in evidence.described:
        led[view.epoch].setdefault(view.leader, view.place)
    for epoch, places in led.items():
        if len(places) > 1:
            ids = tuple(sorted(map(str, places)))
            text = f"epoch {epoch} has {len(places)} leaders: {', '.join(ids)}"
            yield Diagnosis(OWN_VOTE, ids, text, tuple(places.values()), _COMPARE)


def _list_disks(evidence: Evidence) -> Iterator[tuple[str, Disk]]:
    return ((controller.name, disk) for controller in evidence.controllers for disk in controller.disks)


def _compare_records(evidence: Evidence) -> Iterator[Diagnosis]:
    """Report different records of two logs at one offset and epoch, which breaks Raft's log matching."""
    for (name, first), (other_name, second) in combinations(_list_disks(evidence), 2):
        both = first.records.keys() & second.records.keys()
        differ = [
            offset
            for offset in sorted(both)
            if first.records[offset].epoch == second.records[offset].epoch
            and first.records[offset].text != second.records[offset].text
        ]
        if differ:
            offset = differ[0]
            places = tuple(Place(disk.path, None, disk.records[offset].text) for disk in (first, second))
            text = f"different records of the same epoch at {len(differ)} offsets, from {offset} on"
            yield Diagnosis(OWN_VOTE, (name, other_name), text, places, _COMPARE)


def _compare_snapshots(evidence: Evidence) -> Iterator[Diagnosis]:
    """Report a snapshot whose voter set differs from another controller's log, or snapshot of the same name."""
    for (name, first), (other_name, second) in permutations(_list_disks(evidence), 2):
        for (end, epoch), voters in first.snapshots.items():
            expected = second.snapshots.get((end, epoch)) if name < other_name else None
            last = second.records.get(end - 1)
            if last is not None and last.epoch == epoch:
                before = second.voters_before(end)
                expected = before[1] if before else None
            if voters and expected and expected != voters:
                text = (
                    f"the snapshot {end}-{epoch} of {name} has the voters {_show(voters)}, "
                    f"{other_name} has {_show(expected)}"
                )
                place = Place(first.path, None, f"snapshot {end}-{epoch}")
                yield Diagnosis(UNREAD, (name, other_name), text, (place,), f"Find the one that is wrong.  {NEW_DISK}")


def _show(voters: frozenset[int]) -> str:
    return f"{{{', '.join(map(str, sorted(voters)))}}}"
