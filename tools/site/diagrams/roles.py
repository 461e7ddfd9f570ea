"""Role diagram, drawn from the transition table that drives the reference."""

from collections.abc import Mapping, Sequence
from math import hypot
from typing import NamedTuple

from tools.site.diagrams.svg import Picture, Point, towards

from kraft_reference.roles import TRANSITIONS, Role, Transition

_WIDTH, _HEIGHT = 900.0, 580.0
_HALF = Point(58.0, 24.0)
"""Half the width and height of a role's box."""
_FRAME = (Point(20.0, 20.0), 860.0, 424.0)
"""Frame around the roles of a running replica: left upper corner, width, height."""
_PLACES: Mapping[Role, Point] = {
    Role.UNATTACHED: Point(150, 150),
    Role.PROSPECTIVE: Point(470, 150),
    Role.CANDIDATE: Point(780, 150),
    Role.FOLLOWER: Point(340, 272),
    Role.RESIGNED: Point(130, 376),
    Role.LEADER: Point(780, 376),
    Role.STOPPED: Point(470, 540),
}
_BEND = 34.0
"""Distance of a curve from the straight line, so that the curves of both directions are visible."""
_BENDS: Mapping[tuple[Role, Role], float] = {
    (Role.CANDIDATE, Role.UNATTACHED): 170.0,
    (Role.CANDIDATE, Role.FOLLOWER): -50.0,
    (Role.LEADER, Role.RESIGNED): -60.0,
    (Role.STOPPED, Role.FOLLOWER): -14.0,
    (Role.CANDIDATE, Role.LEADER): 0.0,
    (Role.STOPPED, Role.UNATTACHED): -10.0,
    (Role.STOPPED, Role.CANDIDATE): 30.0,
    (Role.RESIGNED, Role.UNATTACHED): 0.0,
}
"""Bends of curves that would cross a box or can be straight; positive bends to the right of the curve's direction."""
_NUMBER_RADIUS = 10.5


class Edge(NamedTuple):
    """An arrow of the diagram, from one role or from any running role to another."""

    number: int
    source: Role | None
    """Source role; None for any role of a running replica."""
    target: Role
    rows: tuple[Transition, ...]


def edges() -> tuple[Edge, ...]:
    """Return the arrows in the order of the table; a transition shared by every running role is one arrow."""
    running = [role for role in Role if role is not Role.STOPPED]
    alike: dict[tuple[object, ...], list[Transition]] = {}
    for row in TRANSITIONS:
        alike.setdefault((row.cause, row.target, row.epoch, row.leader, row.vote, row.rule), []).append(row)
    by_arrow: dict[tuple[Role | None, Role], list[Transition]] = {}
    for same in alike.values():
        if {row.source for row in same} >= set(running):
            by_arrow.setdefault((None, same[0].target), []).append(same[0])
            same = [row for row in same if row.source not in running]
        for row in same:
            by_arrow.setdefault((row.source, row.target), []).append(row)
    return tuple(
        Edge(number, source, target, tuple(those))
        for number, ((source, target), those) in enumerate(by_arrow.items(), start=1)
    )


def role_diagram(drawn: Sequence[Edge]) -> str:
    """Return the SVG element."""
    words = [f"{edge.number}: {_name(edge.source)} to {edge.target}" for edge in drawn]
    picture = Picture(
        "roles",
        "Roles of a replica and their transitions",
        f"Seven boxes and {len(drawn)} numbered arrows; the table below explains each. {'; '.join(words)}.",
    )
    corner, width, height = _FRAME
    picture.rectangle(corner, width, height, "frame", round_by=14)
    picture.text(Point(corner.x + 14, corner.y + height - 14), "any running role", "strong")
    labels = [(_draw(picture, edge), edge) for edge in drawn]
    for role, place in _PLACES.items():
        css = "box stopped" if role is Role.STOPPED else "box leader" if role is Role.LEADER else "box"
        picture.rectangle(Point(place.x - _HALF.x, place.y - _HALF.y), 2 * _HALF.x, 2 * _HALF.y, css, round_by=10)
        picture.text(Point(place.x, place.y + 5), role, "role", anchor="middle")
    for place, edge in labels:
        picture.circle(place, _NUMBER_RADIUS, "number")
        picture.hint(
            f"{_name(edge.source)} to {edge.target}: {', '.join(dict.fromkeys(row.cause for row in edge.rows))}"
        )
        picture.text(Point(place.x, place.y + 4), str(edge.number), "small", anchor="middle")
    return picture.finished(_WIDTH, _HEIGHT)


def _draw(picture: Picture, edge: Edge) -> Point:
    """Draw an arrow, and return the place of its number."""
    target = _PLACES[edge.target]
    if edge.source is None:
        return _from_frame(picture, edge.target)
    source = _PLACES[edge.source]
    if edge.source is edge.target:
        top = Point(source.x, source.y - _HALF.y)
        left, right, over = top.x - 24, top.x + 24, top.y - 46
        picture.path(f"M{left} {top.y} C{left - 16} {over} {right + 16} {over} {right} {top.y}", "edge")
        picture.head(Point(top.x + 32, top.y - 24), Point(top.x + 24, top.y), "edge")
        return Point(top.x, top.y - 34)
    length = hypot(target.x - source.x, target.y - source.y)
    far = _BENDS.get((edge.source, edge.target), _BEND) / length
    bend = Point(
        (source.x + target.x) / 2 + (source.y - target.y) * far,
        (source.y + target.y) / 2 + (target.x - source.x) * far,
    )
    start, end = _rim(source, bend), _rim(target, bend)
    picture.curve(start, bend, end, "edge")
    return Point(*(0.25 * a + 0.5 * b + 0.25 * c for a, b, c in zip(start, bend, end, strict=True)))


def _from_frame(picture: Picture, target: Role) -> Point:
    """Draw an arrow from the frame around the running roles."""
    corner, _, height = _FRAME
    place = _PLACES[target]
    if target is Role.STOPPED:
        start, end = Point(place.x, corner.y + height), Point(place.x, place.y - _HALF.y)
    elif target is Role.FOLLOWER:
        start, end = Point(place.x, corner.y + height), Point(place.x, place.y + _HALF.y)
    else:
        start, end = Point(corner.x, place.y), Point(place.x - _HALF.x, place.y)
    picture.arrow(start, end, "edge common")
    return Point((start.x + end.x) / 2, (start.y + end.y) / 2)


def _rim(centre: Point, outside: Point) -> Point:
    """Return the point where the line from a box to a point leaves the box."""
    across, down = abs(outside.x - centre.x) or 1e-9, abs(outside.y - centre.y) or 1e-9
    share = min((_HALF.x + 2) / across, (_HALF.y + 2) / down)
    return towards(centre, outside, share * hypot(across, down))


def _name(role: Role | None) -> str:
    return "any running role" if role is None else str(role)
