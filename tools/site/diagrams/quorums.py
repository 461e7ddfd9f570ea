"""Quorum pictures: two voter sets and, if they exist, disjoint majorities of both.

Z3 decides whether they exist whenever the site is built.
"""

from collections.abc import Collection, Iterator, Sequence
from math import cos, pi, sin
from typing import Any, NamedTuple

from tools.site.diagrams.svg import Picture, Point

from kraft_proofs.changes import in_order, listed
from kraft_proofs.protocol import judge
from kraft_proofs.theorems import theorem
from kraft_proofs.theorems.checking import check
from kraft_proofs.transitions import Counterexample, Proof, prove_transition, smallest_majority
from kraft_reference.identity import ReplicaKey

_LEFT = 150.0
_STEP = 74.0
_ROWS = (64.0, 168.0)
_RADIUS = 20.0
_FRAME = 29.0
"""Half the width of the frame around a voter of a quorum."""
_TICK = 24.0
"""Radius at which the ticks of a round frame begin."""
_HEIGHT = 250.0
_SETS = ("old", "new")


class Case(NamedTuple):
    """A transition on the page."""

    heading: str
    old: tuple[int, ...]
    new: tuple[int, ...]
    safe: bool
    """Expected answer of Z3; the build of the site fails on another one."""
    remark: str
    """Markdown."""


CASES = (
    Case(
        "One voter added", (1, 2, 3), (1, 2, 3, 4), True,
        "Any two majorities share a replica, so the second learns each decision of the first.",
    ),
    Case("One voter removed", (1, 2, 3, 4), (1, 2, 3), True, "The reverse of the previous change."),
    Case(
        "One voter swapped for another", (1, 2, 3), (1, 2, 4), False,
        "Replacing one voter changes two entries: each half could elect its own leader.",
    ),
    Case(
        "Two voters added at once", (1, 2, 3), (1, 2, 3, 4, 5), False,
        "A majority of the new set needs only one old voter.",
    ),
    Case(
        "Two voters removed at once", (1, 2, 3, 4, 5), (1, 2, 3), False,
        "A majority of the old set needs only one of the remaining voters.",
    ),
    Case(
        "One voter swapped in a set of even size", (1, 2, 3, 4), (1, 2, 3, 5), True,
        "A majority of four has three voters, so any two majorities share one here; "
        "KIP-853 still forbids the step, because a VotersRecord changes one voter at any size.",
    ),
    Case(
        "Two voters added to a set of even size", (1, 2), (1, 2, 3, 4), True,
        "The majorities intersect for the same reason.",
    ),
    Case("Everything at once", (1, 2, 3), (4, 5, 6), False, "Two disjoint clusters."),
)  # fmt: skip
"""Transitions on the page, in their order."""


class QuorumError(Exception):
    """The result of a proof contradicts the page."""


def quorum_picture(name: str, result: Proof | Counterexample, called: tuple[str, str] = _SETS) -> str:
    """Return the SVG element of one transition.

    Args:
        name: Unique on its page; letters, digits and hyphens.
        result: The solver's result.
        called: Names of the two sets.
    """
    change = result.change
    voters = in_order(change.old | change.new)
    quorums: tuple[Collection[ReplicaKey], Collection[ReplicaKey]] = ((), ())
    if isinstance(result, Counterexample):
        quorums = (result.old_quorum, result.new_quorum)
        caption = f"the majorities {listed(quorums[0])} and {listed(quorums[1])} have no replica in common"
    else:
        caption = f"{result.summary}, whichever they are"
    title = f"From voters {listed(change.old)} to {listed(change.new)}"
    picture = Picture(name, title, f"Two rows of voters, the {called[0]} set above the {called[1]} one; {caption}.")
    rows = zip(_SETS, called, (change.old, change.new), quorums, _ROWS, strict=True)
    for css_name, set_name, members, quorum, y in rows:
        needed = f"{smallest_majority(members)} of {len(members)}"
        picture.text(Point(12, y - 2), f"{set_name} voters", "strong")
        picture.text(Point(12, y + 15), f"a majority is {needed}", "small")
        for place, voter in enumerate(voters):
            _voter(picture, Point(_LEFT + _STEP * (place + 0.5), y), voter, members, quorum, (css_name, set_name))
    width = _LEFT + _STEP * len(voters) + 12
    mark, css = ("✗", "verdict unsafe") if isinstance(result, Counterexample) else ("✓", "verdict")
    picture.text(Point(12, _HEIGHT - 12), f"{mark} {caption}", css)
    return picture.finished(max(width, 620), _HEIGHT)


def _voter(
    picture: Picture,
    centre: Point,
    voter: ReplicaKey,
    members: Collection[ReplicaKey],
    quorum: Collection[ReplicaKey],
    names: tuple[str, str],
) -> None:
    """Draw a voter of one set: in a square or round frame if it is in the quorum, empty if it is no member."""
    of, set_name = names
    if voter not in members:
        picture.circle(centre, _RADIUS, "absent")
        picture.text(Point(centre.x, centre.y + 4), "none", "small faint", anchor="middle")
        return
    if voter in quorum:
        half = _FRAME
        corner = Point(centre.x - half, centre.y - half)
        picture.rectangle(corner, 2 * half, 2 * half, f"quorum {of}", round_by=4 if of == "old" else half)
        for start, end in _hatched_corners() if of == "old" else _ticks():
            picture.line(
                Point(centre.x + start.x, centre.y + start.y), Point(centre.x + end.x, centre.y + end.y), f"hatch {of}"
            )
        picture.text(Point(centre.x, centre.y + half + 14), f"{set_name} quorum", f"small {of}", anchor="middle")
    picture.circle(centre, _RADIUS, "voter chosen" if voter in quorum else "voter")
    picture.text(Point(centre.x, centre.y + 5), str(voter), "role", anchor="middle")


def _hatched_corners() -> list[tuple[Point, Point]]:
    """Return strokes across two corners of a square frame, from its middle."""
    cuts = [side * (_FRAME + inner) for side in (-1, 1) for inner in (6, 13, 20)]
    return [(Point(cut - f, f), Point(f, cut - f)) for cut in cuts for f in ((_FRAME if cut > 0 else -_FRAME),)]


def _ticks() -> list[tuple[Point, Point]]:
    """Return strokes inwards from a round frame, from its middle."""
    ways = [Point(cos(turn * pi / 8), sin(turn * pi / 8)) for turn in range(16)]
    return [(Point(way.x * _TICK, way.y * _TICK), Point(way.x * _FRAME, way.y * _FRAME)) for way in ways]


def quorum_cases(cases: Sequence[Case] = CASES) -> Iterator[dict[str, Any]]:
    """Yield the facts of each transition for the page.

    Raises:
        QuorumError: Z3 and the page disagree on whether a transition is safe; or the answer does
            not pass the check without a solver.
    """
    for number, case in enumerate(cases, start=1):
        result = prove_transition(*([ReplicaKey(replica_id) for replica_id in ids] for ids in (case.old, case.new)))
        if isinstance(result, Proof) is not case.safe or not result.recheck():
            raise QuorumError(f"{case.heading}: {case.old} to {case.new}: not what the page says: {result}")
        picture = quorum_picture(f"quorum-{number}", result)
        yield {**case._asdict(), "refusals": judge(result.change).refusals, "picture": picture}


def competing_changes() -> dict[str, Any]:
    """Return the theorem about two leaders that change the same set, and its smallest counterexamples.

    Raises:
        QuorumError: The theorem does not hold, or a counterexample is not one.
    """
    checked = check(theorem("competing-changes"))
    if checked.problems:
        raise QuorumError("; ".join(checked.problems))
    cases = []
    for weakening in checked.weakenings:
        assert weakening.counterexample is not None, "a checked weakening without a problem has one"
        sets = weakening.counterexample.sets
        first, second = ([ReplicaKey(replica_id) for replica_id in sets[name]] for name in ("First", "Second"))
        result = prove_transition(first, second)
        if isinstance(result, Proof):
            raise QuorumError(f"{weakening.name}: majorities of {first} and {second} intersect")
        picture = quorum_picture(f"competing-{weakening.name}", result, ("first", "second"))
        cases.append({"name": weakening.name, "base": sets["Base"], "picture": picture})
    return {"statement": checked.theorem.statement, "cases": cases}
