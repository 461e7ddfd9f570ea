"""Cases: stimuli for a running implementation, and the behaviour that the rules require.

How to write a case
-------------------
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
  title.  `setup=` is a `Setup` (timeouts, voters).  Cases with the same setup share a process, unless `is_fresh=True`
  requires an empty disk.
- A case begins with a state of `live.states`, which begins a new epoch, `x.epoch`.  In the default setup `CALM` no
  timer fires; messages lead to the state, which is fast and reliable.  With `QUICK` timers fire within seconds; a case
  must not judge anything there that a busy machine may delay.
- It judges with `same`, `must` and `seen`, each with the rules that a failure breaks (default: those of the case).
- Bench and states raise `Inconclusive` if a state is not reached, and `Unobserved` for what cannot be observed.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from kraft_kafka.live.bench import Bench, Setup
from kraft_kafka.live.wire_log import Event

Run = Callable[[Bench], Awaitable[None]]


class Failed(Exception):  # noqa: N818 - carried to the runner
    """The implementation broke a rule."""

    def __init__(self, what: str, expected: str, actual: str, rules: tuple[str, ...]) -> None:
        super().__init__(f"{what}: expected {expected}, actual {actual}")
        self.what, self.expected, self.actual, self.rules = what, expected, actual, rules


@dataclass(frozen=True, slots=True)
class Case:
    """A case, and the rules that it judges."""

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

    def register(run: Run) -> Run:
        title = (run.__doc__ or "").strip().split("\n", 1)[0]
        assert id_ not in CASES, f"two cases {id_}"
        CASES[id_] = Case(id_, title, rules, run, setup or Setup(), is_fresh)
        return run

    return register


def same(actual: Any, expected: Any, what: str, *rules: str) -> None:
    """Judge that two values are equal.

    Raises:
        Failed: they differ.
    """
    if actual != expected:
        raise Failed(what, str(expected), str(actual), rules)


def must(holds: object, what: str, actual: object, *rules: str) -> None:
    """Judge that a condition holds; `what` is the expectation, `actual` the observation.

    Raises:
        Failed: it does not hold.
    """
    if not holds:
        raise Failed("behaviour", what, str(actual), rules)


def seen(event: Event | None, what: str, *rules: str) -> Event:
    """Judge that an event came, and return it.

    Raises:
        Failed: it did not come within a time that is long for any implementation.
    """
    if event is None:
        raise Failed("behaviour", what, "nothing of the kind came", rules)
    return event


def up_to_date(epoch: int) -> tuple[int, int]:
    """Return last epoch and end offset of a log that a candidate of `epoch` may have and that no log exceeds."""
    return epoch - 1, 1_000_000
