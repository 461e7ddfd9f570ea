"""Estimate of the size of a state space, from the levels of a breadth-first search."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log

_LEVELS = 10
"""Newest levels that the estimate is from."""

_LEVELS_MAX = 10_000


def estimated_states(widths: Sequence[int]) -> int:
    """Return the estimated number of states, or 0 while the levels do not show an end.

    The logarithm of a level's width is close to a parabola in practice, so that the growth from one level to the next
    falls by the same factor each time. The estimate continues that line.

    Args:
        widths: Number of states at each distance from the initial ones, as far as it is known.
    """
    recent = [width for width in widths[-_LEVELS - 1 :] if width]
    growths = [log(after / before) for before, after in pairwise(recent)]
    if len(growths) < _LEVELS:
        return 0
    middle = (len(growths) - 1) / 2
    mean = sum(growths) / len(growths)
    slope = sum((place - middle) * growth for place, growth in enumerate(growths)) / sum(
        (place - middle) ** 2 for place in range(len(growths))
    )
    if slope >= 0:
        return 0
    total, width = float(sum(widths)), float(widths[-1])
    for place in range(len(growths), _LEVELS_MAX):
        width *= exp(mean + slope * (place - middle))
        if width < 1:
            break
        total += width
    return round(total)
