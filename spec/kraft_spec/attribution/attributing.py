"""A wrong step against what the reference would do with one thing otherwise."""

from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from kraft_reference.configuration import Configuration
from kraft_reference.events import Draw, Event, Receive
from kraft_reference.replica import Step
from kraft_reference.state import ReplicaState
from kraft_spec.attribution.altered import alternatives
from kraft_spec.attribution.ranking import Asked, Clue, level_of, ranked
from kraft_spec.rules import Level


class Given(NamedTuple):
    """What a step was given."""

    state: ReplicaState
    """Before it."""
    configuration: Configuration
    event: Event
    draw: Draw
    crash: tuple[int, int] | None = None
    """If the replica died in it: after how many writes and sends, and how much of its log survived."""


class Attribution(NamedTuple):
    """The rules that a wrong step concerns."""

    rules: tuple[str, ...]
    """The likeliest first."""
    is_exact: bool
    """Whether the reference with one thing otherwise does just what was seen."""
    level: Level = "MUST"
    """What is not kept, as far as that is known: SHOULD or MAY where no MUST need be broken to do what was seen."""


Differing = Callable[[Step], Collection[object]]
"""What differs between a step of the reference and what was seen; empty if nothing does.

Two things that differ alike are equal, so that what is left of a difference can be told from another one.
"""


def attributed(given: Given, differing: Differing, stated: Sequence[str] = ()) -> Attribution:
    """The rules behind what differs in a step, the likeliest first.

    Exact explanations come before those of a part of what differs, rules named close to the place before others, and
    among them those that are stated of the vector or the event.

    Args:
        given: what the step was given.
        differing: compares a step of the reference with what was seen.
        stated: the rules to fall back on; all of them are in the result.
    """
    clues = tuple(_clues(given, differing))
    exact = tuple([one for one in clues if one.is_exact])
    message = given.event.message if isinstance(given.event, Receive) else None
    asked = Asked(str(given.state.role), getattr(message, "pre_vote", None))
    return Attribution(ranked(exact or clues, asked, stated), bool(exact), level_of(exact))


def _clues(given: Given, differing: Differing) -> list[Clue]:
    at_first = set(_safely(differing, _played(given)) or ())
    compared: dict[int, Collection[object] | None] = {}
    found: list[Clue] = []
    for one in tuple(alternatives(_play, given)):
        if id(one.result) not in compared:
            compared[id(one.result)] = _safely(differing, one.result)
        left = compared[id(one.result)]
        if left is not None and set(left) < at_first:
            found.append(Clue(one.where, not left))
    return found


def _safely(differing: Differing, step: Step) -> Collection[object] | None:
    """What differs; None for a step that no implementation can show, such as an answer to nobody."""
    try:
        return differing(step)
    except Exception:  # an altered reference may make anything
        return None


def _played(given: Given) -> Step:
    import kraft_reference.replica

    step: Step = _play(kraft_reference.replica, given)
    return step


def _play(replica: ModuleType, given: Any) -> Any:
    standing = replica.Replica(given.state, given.configuration)
    if given.crash is None:
        return standing.step(given.event, given.draw)
    return standing.crash_during(given.event, given.draw, *given.crash)
