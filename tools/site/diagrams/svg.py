"""Builder of SVG pictures: elements with classes, coloured by the style sheet of the site."""

from math import atan2, cos, hypot, pi, sin
from typing import NamedTuple
from xml.etree import ElementTree as ET

CHARACTER_WIDTH = 6.6
"""Approximate width of a character of a label in pixels; no font is available to measure."""

_HEAD_LENGTH = 8.0
_HEAD_HALF_ANGLE = pi / 8


class Point(NamedTuple):
    """A point in a picture, in pixels; y grows downwards."""

    x: float
    y: float


def width_of(text: str) -> float:
    """Return the approximate width of a label."""
    return len(text) * CHARACTER_WIDTH


def number(value: float) -> str:
    """Return a coordinate with at most one decimal: `12`, `12.5`."""
    text = f"{value:.1f}"
    return text.removesuffix(".0").replace("-0", "0") if text in ("-0.0", "0.0") else text.removesuffix(".0")


class Picture:
    """Builder of one SVG element; deterministic."""

    def __init__(self, name: str, title: str, description: str) -> None:
        """Begin a picture.

        Args:
            name: unique on its page; letters, digits and hyphens.
            title: Name for screen readers.
            description: Description in words.
        """
        self._root = ET.Element("svg", {"class": "drawn", "role": "img", "aria-labelledby": f"{name}-t {name}-d"})
        for tag, identifier, text in (("title", "t", title), ("desc", "d", description)):
            ET.SubElement(self._root, tag, {"id": f"{name}-{identifier}"}).text = text

    def rectangle(self, corner: Point, width: float, height: float, css: str, *, round_by: float = 0) -> None:
        """Add a rectangle by its left upper corner."""
        rounded = {"rx": number(round_by)} if round_by else {}
        self._add("rect", css, x=corner.x, y=corner.y, width=width, height=height, **rounded)

    def circle(self, centre: Point, radius: float, css: str) -> None:
        """Add a circle."""
        self._add("circle", css, cx=centre.x, cy=centre.y, r=radius)

    def line(self, start: Point, end: Point, css: str) -> None:
        """Add a straight line."""
        self._add("line", css, x1=start.x, y1=start.y, x2=end.x, y2=end.y)

    def path(self, steps: str, css: str) -> None:
        """Add a path in SVG's own notation."""
        self._add("path", css, d=steps)

    def curve(self, start: Point, bend: Point, end: Point, css: str) -> None:
        """Add a curve with one control point, and an arrow's head at its end."""
        parts = (number(part) for point in (start, bend, end) for part in point)
        self.path("M{} {} Q{} {} {} {}".format(*parts), css)
        self.head(bend, end, css)

    def arrow(self, start: Point, end: Point, css: str) -> None:
        """Add a straight line with an arrow's head at its end."""
        self.line(start, end, css)
        self.head(start, end, css)

    def head(self, coming_from: Point, tip: Point, css: str) -> None:
        """Add the head of an arrow."""
        direction = atan2(tip.y - coming_from.y, tip.x - coming_from.x)
        corners = [tip]
        for side in (-1, 1):
            turned = direction + pi + side * _HEAD_HALF_ANGLE
            corners.append(Point(tip.x + _HEAD_LENGTH * cos(turned), tip.y + _HEAD_LENGTH * sin(turned)))
        points = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        self._add("polygon", f"{css} head", points=points)

    def cross(self, centre: Point, half: float, css: str) -> None:
        """Add two crossing strokes through a point."""
        for side in (-1, 1):
            self.line(
                Point(centre.x - half, centre.y - side * half), Point(centre.x + half, centre.y + side * half), css
            )

    def text(self, place: Point, text: str, css: str = "", *, anchor: str = "start", turned: float = 0) -> None:
        """Add a label.

        Args:
            place: Start, middle or end of its baseline, according to `anchor`.
            text: Text of the label.
            css: Further classes.
            anchor: `start`, `middle` or `end`.
            turned: Degrees, clockwise around its place.
        """
        element = self._add("text", f"label {css}".strip(), x=place.x, y=place.y)
        if anchor != "start":
            element.set("text-anchor", anchor)
        if turned:
            element.set("transform", f"rotate({' '.join(map(number, (turned, *place)))})")
        element.text = text

    def hint(self, text: str) -> None:
        """Add a tooltip to the element that was added last."""
        ET.SubElement(self._root[-1], "title").text = text

    def finished(self, width: float, height: float, *, least_width: float = 0) -> str:
        """Return the element as text without empty lines.

        Args:
            width: Width in pixels.
            height: Height in pixels.
            least_width: Smallest displayed width at which the text is legible.
        """
        if least_width:
            self._root.set("style", f"min-width: {number(least_width)}px")
        self._root.set("viewBox", f"0 0 {number(width)} {number(height)}")
        self._root.set("width", number(width))
        self._root.set("height", number(height))
        ET.indent(self._root, "")
        return ET.tostring(self._root, encoding="unicode")

    def _add(self, tag: str, css: str, /, **attributes: float | str) -> ET.Element:
        texts = {name: number(value) if isinstance(value, int | float) else value for name, value in attributes.items()}
        return ET.SubElement(self._root, tag, {"class": css, **texts})


def towards(start: Point, end: Point, distance: float) -> Point:
    """Return the point at this distance from the start, in the direction of the end."""
    length = hypot(end.x - start.x, end.y - start.y) or 1.0
    return Point(start.x + (end.x - start.x) * distance / length, start.y + (end.y - start.y) * distance / length)
