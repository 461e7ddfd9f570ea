"""Voter set and kraft.version in force after loading a snapshot: its own, wherever the log had others.

The log that the snapshot replaces has records of its own below, at or beyond the end of the snapshot, and is shorter,
as long or longer.
"""

from collections.abc import Callable
from functools import partial, update_wrapper

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import start, take_over
from kraft_vectors.openings import start_reported
from kraft_vectors.target import STATIC, THREE, Targets

TARGETS = Targets()

_PLACES = (
    # Where the records are, their first offset, the end of their log, the end of the snapshot.
    ("below-shorter", 4, 6, 7),
    ("below-equal", 4, 6, 6),
    ("below-longer", 4, 7, 6),
    ("last-longer", 4, 6, 5),
    ("at", 5, 7, 5),
    ("beyond", 6, 8, 5),
)


def _own_set(d: Director, offset: int, log_end: int, snapshot_end: int) -> None:
    start(d, 1, 1, end_offset=4)
    d.cut(1, 2, 3)
    d.append(1, end_offset=offset)
    d.remove_voter(1, 3)
    d.set_offset(1, offset)
    _load(d, log_end, snapshot_end)


def _own_level(d: Director, offset: int, log_end: int, snapshot_end: int) -> None:
    start_reported(d)
    d.cut(1, 2, 3)
    d.append(1, end_offset=offset)
    d.update_features(1, 1)
    d.set_offset(1, offset + 1)
    _load(d, log_end, snapshot_end)


def _load(d: Director, log_end: int, snapshot_end: int) -> None:
    """2 and 3 continue without 1 and its records; then the recipients of 1's vote requests show its voter set."""
    d.append(1, end_offset=log_end)
    take_over(d, 2, 3)
    d.append(2, end_offset=snapshot_end)
    d.replicate(3, 2)
    d.take_snapshot(2, snapshot_end)
    d.heal(1, 2, 3)
    d.step(f"the log of 1 ends at {log_end}, and 1 loads the snapshot of 2, which ends at {snapshot_end}")
    d.begin_quorum_epoch(2, 1)
    d.fetch(1, 2)
    d.fetch_snapshot(1, 2)
    d.step("1 loses its leader and asks the voters of the snapshot, 2 and 3")
    d.fetch_timeout(1)
    d.poll(1)


def _placed(script: Callable[..., None], *place: int) -> Callable[..., None]:
    return update_wrapper(
        partial(script, **dict(zip(("offset", "log_end", "snapshot_end"), place, strict=True))), script
    )


for _where, *_place in _PLACES:
    for _script, _cluster, _what, _kind in (
        (_own_set, THREE, "set", "voter set"),
        (_own_level, STATIC, "level", "kraft.version"),
    ):
        TARGETS.vector(
            f"snapshot.own-{_what}-{_where}",
            1,
            "fetch.snapshot.install",
            "snapshot.load-resets-history",
            configuration=_cluster,
            title=f"A loaded snapshot leaves no {_kind} of the log that it replaces in force ({_where})",
        )(_placed(_script, *_place))
