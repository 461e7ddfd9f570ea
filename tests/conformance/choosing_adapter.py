"""Adapters for the tests: the reference that makes every choice that the rules leave open, or goes too far with one.

`python choosing_adapter.py LEVEL PROFILE MODE...`; LEVEL is what it shows: `injected` for the state with injection,
`state` without, or less; MODE is one of `RIGHT` and `WRONG`, or `all` for everything that is right.
"""

import sys
from collections.abc import Callable
from dataclasses import replace as replaced
from typing import cast

from kraft_conformance.adapters.reference import ReferenceAdapter, serve_with
from kraft_conformance.adapters.showing import at_level
from kraft_conformance.protocol.features import Level
from kraft_conformance.protocol.messages import Reply, Request, Reset
from kraft_reference.log import truncate
from kraft_reference.roles import Role
from kraft_reference.state import UNKNOWN_HIGH_WATERMARK, ReplicaState

RIGHT: dict[str, dict[str, str]] = {
    "high-watermark-unknown": {"leader_high_watermark": "unknown"},
    "goes-on-refusing": {"end_quorum_fetched_flag": "kept"},
    "restarts-unattached": {"own_vote_at_restart": "unattached"},
    "restarts-prospective": {"own_vote_at_restart": "prospective"},
    "remembers-directory-id": {"voted_directory_at_version_0": "remembered"},
    "announces-by-timer": {"announcement_again": "by-timer"},
    "cuts-at-the-smaller-offset": {"diverging_cut": "smaller-offset"},
    "votes-after-lost-file": {"vote_of_lost_file": "free"},
}
"""Answers to open decisions; `all` takes the last where two speak of one decision."""


def _high_watermark_falls(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A leader forgets its high watermark whenever it hears of somebody, and not only when it is elected."""
    leads = before.role is after.role is Role.LEADER and before.high_watermark > UNKNOWN_HIGH_WATERMARK
    return after._replace(high_watermark=UNKNOWN_HIGH_WATERMARK) if leads else after


def _refuses_for_ever(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A follower stays one when its fetch timer fires."""
    lost = before.role is Role.FOLLOWER and after.role is Role.PROSPECTIVE and before.fetched
    return before if lost else after


def _forgets_vote(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A restart with an own vote begins as Unattached without it."""
    started = before.role is Role.STOPPED is not after.role and after.role is Role.UNATTACHED
    return after._replace(voted_key=None) if started else after


def _follows_itself_on(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A new leader knows everything for committed."""
    elected = before.role is not Role.LEADER and after.role is Role.LEADER
    return after._replace(high_watermark=after.log.end_offset) if elected else after


def _never_announces_again(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A leader whose announcement is not answered in time gives up, also when its timer fires."""
    leads = before.role is after.role is Role.LEADER and before.epoch == after.epoch
    given_up = (before.acknowledged | before.awaiting.keys()) - after.awaiting.keys()
    return after._replace(acknowledged=after.acknowledged | given_up) if leads else after


def _cuts_everything(before: ReplicaState, after: ReplicaState) -> ReplicaState:
    """A follower that diverges begins anew."""
    is_cut = after.log.end_offset < before.log.end_offset
    return after._replace(log=truncate(after.log, after.log.start_offset)) if is_cut else after


WRONG: dict[str, Callable[[ReplicaState, ReplicaState], ReplicaState]] = {
    "high-watermark-falls": _high_watermark_falls,
    "refuses-for-ever": _refuses_for_ever,
    "restarts-without-vote": _forgets_vote,
    "never-announces-again": _never_announces_again,
    "cuts-everything": _cuts_everything,
    "commits-at-election": _follows_itself_on,
}
"""What becomes of a state in a step."""


class Choosing(ReferenceAdapter):
    """The reference with other answers, whatever the cluster's profile says."""

    def __init__(self, level: str, profile: str, modes: list[str]) -> None:
        super().__init__(profile)
        self._level = level
        right = [*RIGHT] if "all" in modes else [mode for mode in modes if mode in RIGHT]
        self._answers = {decision: answer for mode in right for decision, answer in RIGHT[mode].items()}
        self._wrong = [WRONG[mode] for mode in modes if mode in WRONG]

    def shown(self, request: Request) -> Reply:
        """The reply at the level that is shown."""
        before = None if self._replica is None else self._replica.state
        reply = self.answer(request)
        if isinstance(request, Reset):
            replica = self.replica()
            profile = replaced(replica.configuration.profile, **self._answers)  # type: ignore[arg-type]
            replica.configuration = replaced(replica.configuration, profile=profile)
        elif before is not None and self._replica is not None:
            for change in self._wrong:
                self._replica.state = change(before, self._replica.state)
        injects = self._level == "injected"
        return at_level(reply, "state" if injects else cast(Level, self._level), injects=injects)


def main() -> None:
    """Answer until standard input ends."""
    level, profile, *modes = sys.argv[1:]
    serve_with(Choosing(level, profile, modes).shown, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
