"""A badge: an SVG of its own, or the JSON from which shields.io draws one.

It counts passes of the vectors that there are for the profile, whether they were run or not: what was not seen, or not
asked, is no pass.
"""

import json
from typing import NamedTuple
from xml.sax.saxutils import escape

from kraft_conformance.runner.output.results import Results
from kraft_conformance.runner.output.rule_table import FAILED, PASSED
from kraft_conformance.runner.output.wording import said

LABEL = "KRaft conformance"

_COLOURS = {"red": "#b3402a", "yellow": "#8a6d00", "brightgreen": "#2f7d32"}
"""White text can be read on each of them."""


class Badge(NamedTuple):
    """What a badge says."""

    message: str
    colour: str
    """One of the names that shields.io knows."""


def badge_of(results: Results) -> Badge:
    """The badge of a run: failures first, if there are any; then passes, of how many, at which level."""
    catalogue = results.catalogue
    passes = len(results.of_status(*PASSED))
    profile = results.about.profile
    asked = sum(profile in catalogue.vector(name).requires.profiles for name in catalogue)
    failing = len(results.of_status(*FAILED))
    message = f"{passes} of {asked}, {results.about.observability}"
    if profile != "kip":
        message += f", {said(profile, 40)}"
    if failing:
        return Badge(f"{failing} failing, {message}", "red")
    return Badge(message, "brightgreen" if passes == asked else "yellow")


def endpoint_badge(results: Results) -> bytes:
    """The endpoint schema of shields.io."""
    message, colour = badge_of(results)
    document = {"schemaVersion": 1, "label": LABEL, "message": message, "color": colour}
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()


def svg_badge(results: Results) -> bytes:
    """A picture that needs nothing else."""
    message, colour = badge_of(results)
    left, right = _width(LABEL), _width(message)
    whole = f"{LABEL}: {message}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(whole, {chr(34): "&quot;"})}">\n'
        f"<title>{escape(whole)}</title>\n"
        f'<clipPath id="r"><rect width="{left + right}" height="20" rx="3"/></clipPath>\n'
        f'<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#444"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{_COLOURS[colour]}"/></g>\n'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">\n'
        f'<text x="{left / 2}" y="14" textLength="{left - 12}">{escape(LABEL)}</text>\n'
        f'<text x="{left + right / 2}" y="14" textLength="{right - 12}">{escape(message)}</text>\n'
        "</g>\n</svg>\n"
    ).encode()


_NARROW = frozenset("fijlt.,:;!'|()[] 1")


def _width(text: str) -> int:
    """About the width of a text of 11 px; `textLength` makes it so."""
    return 12 + round(sum(4.4 if letter in _NARROW else 7.0 for letter in text))
