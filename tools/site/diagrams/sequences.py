"""Sequence diagrams: replicas as columns, time downwards, one row for each event of a recorded run."""

from itertools import pairwise
from math import atan2, degrees

from tools.site.diagrams.rows import Band, Landed, Run, Step
from tools.site.diagrams.svg import Picture, Point, towards, width_of
from tools.site.diagrams.words import role_words

from kraft_reference.roles import Role

_LEFT = 118.0
_MARGIN = 44.0
_LANE = 176.0
_RIGHT = 176.0
_HEAD = 62.0
_ROW = 28.0
_LINE = 17.0
"""Height of each note, and of each lost message."""
_BAND = 30.0
_DOT = 9.0
_SHRUNK = 0.9
"""Smallest scale of a diagram on a narrow screen."""
_STEEP = 35.0
"""Angle in degrees above which text along a line is hard to read."""
_MARKS = {"network": "band", "folded": "band folded", "violated": "band violated", "differs": "band differs"}


def sequence_diagram(run: Run) -> str:
    """Return the SVG element."""
    return _Drawing(run).drawn()


def height_of(row: Step | Band) -> float:
    """Return the height of a row."""
    if isinstance(row, Band):
        return _BAND
    return _ROW + _LINE * (len(row.lost) + bool(row.entered) + len(row.notes))


class _Drawing:
    def __init__(self, run: Run) -> None:
        self._run = run
        self._lanes = {replica: _LEFT + _LANE * (place + 0.5) for place, replica in enumerate(run.replicas)}
        self._width = _LEFT + _LANE * len(run.replicas) + _RIGHT - _LANE / 2
        self._at: dict[int, float] = {}
        self._tops: list[float] = []
        top = _HEAD
        for row in run.rows:
            self._tops.append(top)
            self._at[row.at] = top + (_BAND if isinstance(row, Band) else _ROW) / 2
            top += height_of(row)
        self._height = top + 16

    def drawn(self) -> str:
        run = self._run
        left_out = f" {run.folded} events of replication are summarised in one line." if run.folded else ""
        name = "seq-" + run.name.replace("/", "-")
        steps = [row for row in run.rows if isinstance(row, Step)]
        entered = "; ".join(
            f"event {step.sequence}: {step.replica} is {step.entered}" for step in steps if step.entered
        )
        self._picture = Picture(
            name,
            f"Sequence diagram of {run.name}",
            f"{run.occurrences} events at {len(run.replicas)} replicas, downwards in time.{left_out} Roles: {entered}.",
        )
        for row, top in zip(run.rows, self._tops, strict=True):
            if isinstance(row, Band):
                self._band(row, top)
        for replica in run.replicas:
            self._lifeline(replica, [step for step in steps if step.replica == replica])
        for row, top in zip(run.rows, self._tops, strict=True):
            if isinstance(row, Band):
                self._picture.text(Point(_MARGIN + 8, top + 19), row.words, f"{_MARKS[row.kind]} words")
        for arrow in run.arrows:
            self._arrow(arrow)
        for step in steps:
            self._step(step)
        # Drawn over all lines, so that no line crosses a word.
        for arrow in run.arrows:
            self._arrow_words(arrow)
        return self._picture.finished(self._width, self._height, least_width=_SHRUNK * self._width)

    def _band(self, band: Band, top: float) -> None:
        corner = Point(_MARGIN, top + 3)
        self._picture.rectangle(corner, self._width - _MARGIN - 4, _BAND - 6, _MARKS[band.kind], round_by=4)

    def _lifeline(self, replica: int, steps: list[Step]) -> None:
        x, picture, before = self._lanes[replica], self._picture, self._run.before[replica]
        turns: list[tuple[float, Role]] = [(_HEAD - 8, before.role)]
        turns += [(self._at[step.at], step.role) for step in steps if step.entered]
        for (start, role), (end, _) in pairwise([*turns, (self._height, Role.STOPPED)]):
            css = {Role.LEADER: "life leads", Role.STOPPED: "life stopped"}.get(role, "life")
            picture.line(Point(x, start), Point(x, end), css)
        picture.text(Point(x, 18), f"replica {replica}", "strong", anchor="middle")
        self._pill(Point(x, _HEAD - 26), role_words(before))

    def _arrow(self, arrow: Landed) -> None:
        start, end = self._ends(arrow)
        self._picture.arrow(towards(start, end, _DOT), towards(end, start, _DOT), "message")

    def _ends(self, arrow: Landed) -> tuple[Point, Point]:
        return (
            Point(self._lanes[arrow.source], self._at[arrow.sent]),
            Point(self._lanes[arrow.destination], self._at[arrow.ended]),
        )

    def _arrow_words(self, arrow: Landed) -> None:
        start, end = self._ends(arrow)
        to_the_right = end.x > start.x
        along = (start, end) if to_the_right else (end, start)
        falls = degrees(atan2(along[1].y - along[0].y, along[1].x - along[0].x))
        steep = abs(falls) > _STEEP
        place = towards(end, start, 18)
        angle = 0.0 if steep else falls
        anchor = "end" if to_the_right else "start"
        self._picture.text(Point(place.x, place.y - 4), arrow.words, "small", anchor=anchor, turned=angle)

    def _step(self, step: Step) -> None:
        picture, place = self._picture, Point(self._lanes[step.replica], self._at[step.at])
        picture.text(Point(36, place.y + 4), str(step.sequence), "small faint", anchor="end")
        sides = {self._lanes[arrow.destination] > place.x for arrow in self._run.arrows if arrow.sent == step.at}
        for line, lost in enumerate(step.lost, start=1):
            rightwards = self._lanes.get(lost.destination, 0) > place.x
            # Beside the sender where no other message leaves; otherwise in the direction of the receiver.
            side = 1 if rightwards != (sides == {rightwards}) else -1
            end = Point(place.x + side * 26, place.y + line * _LINE)
            picture.line(towards(place, end, _DOT), end, "message" if lost.dropped else "message flying")
            label = f"{lost.words} → {lost.destination}{'' if lost.dropped else ' …'}"
            if lost.dropped:
                picture.cross(end, 4.5, "message")
            picture.text(Point(end.x + side * 8, end.y + 4), label, "small", anchor="start" if side > 0 else "end")
        picture.circle(place, _DOT, "event refused" if step.refusal else "event")
        picture.hint(f"event {step.sequence} at {step.time_ms} ms, replica {step.replica} {step.words}".rstrip())
        picture.text(Point(place.x, place.y + 4), str(step.replica), "dot", anchor="middle")
        if step.words:
            picture.text(Point(place.x + 16, place.y + 4), step.words, "small event-words")
        y = place.y + _LINE * len(step.lost)
        for line, note in enumerate([step.entered, *step.notes] if step.entered else step.notes, start=1):
            if step.entered and line == 1:
                self._pill(Point(place.x, y + _LINE * line + 2), note)
            else:
                self._note(Point(place.x, y + _LINE * line + 1), note)

    def _note(self, centre: Point, words: str) -> None:
        width = width_of(words)
        self._picture.rectangle(Point(centre.x - width / 2, centre.y - 7), width, 14, "plate")
        self._picture.text(Point(centre.x, centre.y + 4), words, "small", anchor="middle")

    def _pill(self, centre: Point, words: str) -> None:
        width = width_of(words) + 12
        corner = Point(centre.x - width / 2, centre.y - 8)
        self._picture.rectangle(corner, width, 16, "pill", round_by=8)
        self._picture.text(Point(centre.x, centre.y + 4), words, "small", anchor="middle")


def figure_of(run: Run) -> str:
    """Return the diagram; a tall one is collapsed."""
    drawing = sequence_diagram(run)
    step_count = sum(isinstance(row, Step) for row in run.rows)
    left_out = f", {run.folded} of replication summarised" if run.folded else ""
    opened = " open" if step_count <= OPEN_UP_TO else ""
    summary = f"Sequence diagram: {run.occurrences} events{left_out}"
    return f"<details{opened}><summary>{summary}</summary>\n{drawing}\n</details>"


OPEN_UP_TO = 40
"""Number of steps above which a diagram is collapsed."""
