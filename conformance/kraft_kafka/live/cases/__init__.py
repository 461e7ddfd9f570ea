"""The cases: what is done to a running implementation, and what the rules say that it then does.

How a case is written
---------------------
A module of this folder has the cases of one topic; `TOPICS` in `catalogue` lists it.  A case is a coroutine on a bench:

    @case("vote/once-per-epoch", "vote.once-per-epoch", "vote.request.higher-epoch")
    async def one_vote(x: Bench) -> None:
        '''Its vote of an epoch goes to one candidate.'''
        epoch = await unattached(x)
        first = await x.vote(2, epoch, False, up_to_date(epoch))
        same(first.part["voteGranted"], True, "the vote for replica 2")
        second = await x.vote(3, epoch, False, up_to_date(epoch))
        same(second.part["voteGranted"], False, "the vote for replica 3", "vote.once-per-epoch")

- The first argument is the id of the case, the others are the rules that it judges; the docstring's first line is its
  title.  `setup=` is a `Setup`: its timeouts, its voters; cases with one setup share a process, unless `is_fresh=True`
  asks for an empty disk.
- It begins with a state of `live.states`.  Each makes a new epoch, `x.epoch`: all epochs of a case count from there.
  The default setup is `CALM`, in which no timer fires; states are reached by messages, which is fast and sure.  With
  `QUICK` timers fire within seconds; nothing is judged there that a busy machine may delay.
- It judges by `same`, `must` and `seen`, each with the rules that are broken if it does not hold; without rules those
  of the case are named.
- What the state could not be reached from is `Inconclusive`, what cannot be seen is `Unobserved`: bench and states
  raise these.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kraft_kafka.live.bench import Bench, Setup
from kraft_kafka.live.wire_log import Event

Run = Callable[[Bench], Awaitable[None]]


class Failed(Exception):  # noqa: N818 - carried to the runner
    """The implementation did something else than the rules say."""

    def __init__(self, what: str, expected: str, actual: str, rules: tuple[str, ...]) -> None:
        super().__init__(f"{what}: expected {expected}, actual {actual}")
        self.what, self.expected, self.actual, self.rules = what, expected, actual, rules


@dataclass(frozen=True, slots=True)
class Case:
    """A case, and what it judges."""

    id: str
    title: str
    rules: tuple[str, ...]
    run: Run
    setup: Setup
    is_fresh: bool


CASES: dict[str, Case] = {}
"""All cases by id, in the order of their topics; filled by the import of `catalogue`."""


def case(id_: str, *rules: str, setup: Setup | None = None, is_fresh: bool = False) -> Callable[[Run], Run]:
    """Make a coroutine the case `id_`, which judges `rules`."""

    def listed(run: Run) -> Run:
        title = (run.__doc__ or "").strip().split("\n", 1)[0]
        assert id_ not in CASES, f"two cases {id_}"
        CASES[id_] = Case(id_, title, rules, run, setup or Setup(), is_fresh)
        return run

    return listed


def same(actual: Any, expected: Any, what: str, *rules: str) -> None:
    """Judge that two values are equal.

    Raises:
        Failed: they are not.
    """
    if actual != expected:
        raise Failed(what, str(expected), str(actual), rules)


def must(holds: object, what: str, actual: object, *rules: str) -> None:
    """Judge that something holds; `what` says what is expected, `actual` what was seen.

    Raises:
        Failed: it does not.
    """
    if not holds:
        raise Failed("behaviour", what, str(actual), rules)


def seen(event: Event | None, what: str, *rules: str) -> Event:
    """Judge that something came, and give it.

    Raises:
        Failed: it did not come in a time that is long for any implementation.
    """
    if event is None:
        raise Failed("behaviour", what, "nothing of the kind came", rules)
    return event


def up_to_date(epoch: int) -> tuple[int, int]:
    """Last epoch and end offset of a log that a candidate of `epoch` may have, and nobody's is newer."""
    return epoch - 1, 1_000_000
