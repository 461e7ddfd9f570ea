"""Quorum pictures: two voters sets, and where there are such a majority of each that share no replica.

Whether there are is asked of Z3 whenever the site is built.
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
"""Where the ticks of a round frame begin."""
_HEIGHT = 250.0
_SETS = ("old", "new")


class Case(NamedTuple):
    """A transition that the page shows."""

    heading: str
    old: tuple[int, ...]
    new: tuple[int, ...]
    safe: bool
    """What Z3 has to find, or the site is not built."""
    remark: str
    """Markdown."""


CASES = (
    Case(
        "One voter added", (1, 2, 3), (1, 2, 3, 4), True,
        "Any two majorities have a replica in common, so that whatever one decided the other one knows.",
    ),
    Case("One voter removed", (1, 2, 3, 4), (1, 2, 3), True, "The same the other way round."),
    Case(
        "One voter swapped for another", (1, 2, 3), (1, 2, 4), False,
        "Only one voter is replaced, and yet this changes two: each half could elect a leader of its own.",
    ),
    Case(
        "Two voters added at once", (1, 2, 3), (1, 2, 3, 4, 5), False,
        "A majority of the new set needs one old voter only.",
    ),
    Case(
        "Two voters removed at once", (1, 2, 3, 4, 5), (1, 2, 3), False,
        "A majority of the old set needs one only of the voters that stay.",
    ),
    Case(
        "One voter swapped in a set of even size", (1, 2, 3, 4), (1, 2, 3, 5), True,
        "A majority of four is three, one more than half, which leaves no room for two; "
        "KIP-853 forbids the step all the same, since a VotersRecord changes one voter whatever the size.",
    ),
    Case("Two voters added to a set of even size", (1, 2), (1, 2, 3, 4), True, "The same for two that are added."),
    Case("Everything at once", (1, 2, 3), (4, 5, 6), False, "Two clusters, one after the other, and nothing between."),
)  # fmt: skip
"""The transitions of the page, in their order."""


class QuorumError(Exception):
    """A proof came out otherwise than the page says."""


def quorum_picture(name: str, found: Proof | Counterexample, called: tuple[str, str] = _SETS) -> str:
    """The SVG element of one transition.

    Args:
        name: unique on its page; letters, digits and hyphens.
        found: what the solver came to.
        called: what the two sets are called.
    """
    change = found.change
    voters = in_order(change.old | change.new)
    quorums: tuple[Collection[ReplicaKey], Collection[ReplicaKey]] = ((), ())
    if isinstance(found, Counterexample):
        quorums = (found.old_quorum, found.new_quorum)
        said = f"the majorities {listed(quorums[0])} and {listed(quorums[1])} have no replica in common"
    else:
        said = f"{found.summary}, whichever they are"
    title = f"From voters {listed(change.old)} to {listed(change.new)}"
    picture = Picture(name, title, f"Two rows of voters, the {called[0]} set above the {called[1]} one; {said}.")
    rows = zip(_SETS, called, (change.old, change.new), quorums, _ROWS, strict=True)
    for css_name, set_name, members, quorum, y in rows:
        needed = f"{smallest_majority(members)} of {len(members)}"
        picture.text(Point(12, y - 2), f"{set_name} voters", "strong")
        picture.text(Point(12, y + 15), f"a majority is {needed}", "small")
        for place, voter in enumerate(voters):
            _voter(picture, Point(_LEFT + _STEP * (place + 0.5), y), voter, members, quorum, (css_name, set_name))
    width = _LEFT + _STEP * len(voters) + 12
    mark, css = ("✗", "verdict unsafe") if isinstance(found, Counterexample) else ("✓", "verdict")
    picture.text(Point(12, _HEIGHT - 12), f"{mark} {said}", css)
    return picture.finished(max(width, 620), _HEIGHT)


def _voter(
    picture: Picture,
    centre: Point,
    voter: ReplicaKey,
    members: Collection[ReplicaKey],
    quorum: Collection[ReplicaKey],
    names: tuple[str, str],
) -> None:
    """A voter of one set: in a square or round frame if it is of the quorum, an empty place if it is no member."""
    of, said = names
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
        picture.text(Point(centre.x, centre.y + half + 14), f"{said} quorum", f"small {of}", anchor="middle")
    picture.circle(centre, _RADIUS, "voter chosen" if voter in quorum else "voter")
    picture.text(Point(centre.x, centre.y + 5), str(voter), "role", anchor="middle")


def _hatched_corners() -> list[tuple[Point, Point]]:
    """Strokes across two corners of a square frame, from its middle."""
    cuts = [side * (_FRAME + inner) for side in (-1, 1) for inner in (6, 13, 20)]
    return [(Point(cut - f, f), Point(f, cut - f)) for cut in cuts for f in ((_FRAME if cut > 0 else -_FRAME),)]


def _ticks() -> list[tuple[Point, Point]]:
    """Strokes inwards from a round frame, from its middle."""
    ways = [Point(cos(turn * pi / 8), sin(turn * pi / 8)) for turn in range(16)]
    return [(Point(way.x * _TICK, way.y * _TICK), Point(way.x * _FRAME, way.y * _FRAME)) for way in ways]


def quorum_cases(cases: Sequence[Case] = CASES) -> Iterator[dict[str, Any]]:
    """Yield what the page shows of each transition.

    Raises:
        QuorumError: Z3 finds a transition safe that the page calls unsafe, or the other way round; or its answer does
            not pass the check without a solver.
    """
    for number, case in enumerate(cases, start=1):
        found = prove_transition(*([ReplicaKey(one) for one in ids] for ids in (case.old, case.new)))
        if isinstance(found, Proof) is not case.safe or not found.recheck():
            raise QuorumError(f"{case.heading}: {case.old} to {case.new}: not what the page says: {found}")
        picture = quorum_picture(f"quorum-{number}", found)
        yield {**case._asdict(), "refusals": judge(found.change).refusals, "picture": picture}


def competing_changes() -> dict[str, Any]:
    """Two leaders that change the same set: the theorem, and its smallest counterexamples.

    Raises:
        QuorumError: the theorem does not hold, or a counterexample is none.
    """
    checked = check(theorem("competing-changes"))
    if checked.problems:
        raise QuorumError("; ".join(checked.problems))
    cases = []
    for weakening in checked.weakenings:
        assert weakening.counterexample is not None, "a checked weakening without a problem has one"
        sets = weakening.counterexample.sets
        first, second = ([ReplicaKey(one) for one in sets[name]] for name in ("First", "Second"))
        found = prove_transition(first, second)
        if isinstance(found, Proof):
            raise QuorumError(f"{weakening.name}: majorities of {first} and {second} intersect")
        picture = quorum_picture(f"competing-{weakening.name}", found, ("first", "second"))
        cases.append({"name": weakening.name, "base": sets["Base"], "picture": picture})
    return {"statement": checked.theorem.statement, "cases": cases}
