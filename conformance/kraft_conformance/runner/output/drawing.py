"""Sequence diagram as SVG; the page that contains it has the style."""

from collections.abc import Iterator
from html import escape

from kraft_conformance.runner.output.sequence import Mark, Row, Sequence
from kraft_conformance.runner.output.wording import clip, visible

_FIRST_LANE_PX = 110
_LANE_PX = 270
_CLOSE_LANE_PX = 190
_FAR_LANES_MAX = 2
"""With more peers than this, the lanes are closer."""
_HEAD_PX = 46
_LINE_PX = 17
_ROW_PX = 10
"""Space between two rows."""
_LETTER_PX = 7.2
"""Approximate width of a letter, for the width of the drawing."""
_TEXT_MAX = 140
_EARLIER_TEXT_MAX = 90
"""Maximum length of an earlier row's text; the tooltip has all of it."""

_GLYPHS = {Mark.FAILING: "✗ ", Mark.DIFFERENT: "≠ ", Mark.WRONG_STATE: "≠ ", Mark.UNSEEN: "○ "}
"""Marks before comments, for readers who do not see the colours."""

_OWN_COMMENTS = {
    Mark.MISSING: "✗ missing: expected, but not shown",
    Mark.UNEXPECTED: "✗ not expected",
}


def drawing(sequence: Sequence, number: int, title: str) -> str:
    """Return the `svg` element; `number` is unique on its page."""
    lanes = {sequence.replica: _FIRST_LANE_PX}
    apart = _LANE_PX if len(sequence.peers) <= _FAR_LANES_MAX else _CLOSE_LANE_PX
    lanes |= {peer: _FIRST_LANE_PX + apart * place for place, peer in enumerate(sequence.peers, 1)}
    body: list[str] = []
    top = _HEAD_PX
    for row in sequence.rows:
        body.extend(_row(row, top, lanes, lanes[sequence.replica]))
        top += _height(row)
    height = top + _ROW_PX
    width = max(max(lanes.values()) + 80, max((_width(row) for row in sequence.rows), default=0))
    head = [
        f'<svg class="sequence" role="img" aria-labelledby="s{number}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">',
        f'<title id="s{number}">{escape(title)}</title>',
    ]
    return "\n".join([*head, *_bands(sequence, width), *_lanes(lanes, height), *body, "</svg>"])


def _cut(text: str, most: int) -> str:
    text_shown = visible(text)
    return text_shown if len(text_shown) <= most else f"{text_shown[: most - 1]}…"


def _text(row: Row) -> str:
    return _cut(row.text, _EARLIER_TEXT_MAX if row.mark is Mark.EARLIER else _TEXT_MAX)


def _comments(row: Row) -> tuple[str, ...]:
    own = _OWN_COMMENTS.get(row.mark)
    glyph = _GLYPHS.get(row.mark, "")
    return (*([own] if own else []), *(f"{glyph}{_cut(comment, _TEXT_MAX)}" for comment in row.comments))


def _height(row: Row) -> int:
    arrow = 8 if row.source else 0
    return _LINE_PX * (1 + len(_comments(row))) + arrow + _ROW_PX


def _width(row: Row) -> int:
    longest = max(len(text) for text in (_text(row), *_comments(row)))
    return _FIRST_LANE_PX + 24 + round(longest * _LETTER_PX)


def _bands(sequence: Sequence, width: int) -> Iterator[str]:
    """Yield the bands behind failing rows."""
    top = _HEAD_PX
    for row in sequence.rows:
        height = _height(row)
        if row.mark not in (Mark.PLAIN, Mark.EARLIER):
            yield f'<rect class="band {row.mark.value}" x="0" y="{top - 4}" width="{width}" height="{height - 2}"/>'
        top += height


def _lanes(lanes: dict[str, int], height: int) -> Iterator[str]:
    for place, (name, x) in enumerate(lanes.items()):
        kind = "lane tested" if place == 0 else "lane"
        label = escape(_cut(name, 16))
        yield f'<line class="{kind}" x1="{x}" y1="30" x2="{x}" y2="{height - 4}"/>'
        yield f'<rect class="{kind}" x="{x - 58}" y="6" width="116" height="25" rx="4"/>'
        yield f'<text class="name" x="{x}" y="23">{label}</text>'


def _row(row: Row, top: int, lanes: dict[str, int], own: int) -> Iterator[str]:
    kind = row.mark.value
    base = top + 12
    yield f'<g class="row {kind}">'
    if row.margin:
        glyph = "✗ " if row.mark is Mark.FAILING else ""
        yield f'<text class="margin" x="8" y="{base}">{glyph}{escape(row.margin)}</text>'
    whole, displayed = clip(row.text), _text(row)
    longer = f"<title>{escape(whole)}</title>" if whole != displayed else ""
    yield f'<text x="{own + 14}" y="{base}">{longer}{escape(displayed)}</text>'
    below = base
    if row.source is not None and row.destination is not None:
        below += 10
        yield from _arrow(lanes[row.source], lanes[row.destination], below, row.mark)
        below -= 2
    elif row.is_gap:
        yield f'<rect class="gap" x="{own - 4}" y="{base - 9}" width="8" height="11"/>'
    else:
        yield f'<rect class="here" x="{own - 5}" y="{base - 9}" width="10" height="10"/>'
    for place, comment in enumerate(_comments(row), 1):
        yield f'<text class="comment" x="{own + 14}" y="{below + place * _LINE_PX}">{escape(comment)}</text>'
    yield "</g>"


def _arrow(start: int, end: int, y: int, mark: Mark) -> Iterator[str]:
    step = 1 if end > start else -1
    if start == end:
        # A message to the sender itself: no vector has one, but an adapter may send it.
        yield f'<path class="arrow" d="M{start} {y - 6}h26v6h-20"/>'
        end, step = start + 4, -1
    else:
        yield f'<line class="arrow" x1="{start}" y1="{y}" x2="{end - 8 * step}" y2="{y}"/>'
    yield f'<polygon class="tip" points="{end},{y} {end - 9 * step},{y - 4.5} {end - 9 * step},{y + 4.5}"/>'
    if mark is Mark.MISSING:
        middle = (start + end) // 2
        yield f'<path class="cross" d="M{middle - 5} {y - 5}l10 10m0 -10l-10 10"/>'
