"""The steps of the quorum's reassignment, as its leaders take them while virtual time passes."""

from typing import NamedTuple

from kraft_conformance.directories.quorum import Quorum
from kraft_conformance.directories.quorum_reassignment import newest_state, quorum_now, step_in_words
from kraft_reference.identity import Target, VoterSet
from kraft_reference.log import VotersEntry

STEP_WAIT_MS = 60_000
"""How much virtual time passes without a step before a command waits no longer."""


class QuorumStep(NamedTuple):
    """A voters set, a target or a leader that is another than before."""

    round: int
    """How many changes of the voters there were since, the end of the reassignment included; from 0."""
    what: str
    time_ms: int
    leader: int | None
    voters: VoterSet
    """Committed."""
    target: Target


class Watch:
    """Notes each step of a quorum from now on, when it is committed."""

    def __init__(self, quorum: Quorum) -> None:
        self._quorum = quorum
        state = newest_state(quorum)
        committed = [entry for entry in state.log.voters if entry.offset < state.high_watermark]
        # Nobody who has just started knows what is committed: then it is the newest set that counts.
        self._newest = committed[-1] if committed else state.log.voters[-1]
        self.changes = 0
        """Of the voters or the target."""
        self.steps: list[QuorumStep] = []
        self._note(0, "before", self._newest)
        quorum.watchers.append(self._look)

    @property
    def round(self) -> int:
        """The round that the quorum is in."""
        return self.steps[-1].round

    @property
    def target(self) -> Target:
        """The newest target that is committed."""
        return self._newest.target

    def _look(self) -> None:
        leader = self._quorum.leader()
        if leader is None:
            return
        if leader != self.steps[-1].leader:
            self._note(self.round, f"{leader} leads", self._newest)
        state = self._quorum.state(leader)
        for entry in state.log.voters:
            if self._newest.offset < entry.offset < state.high_watermark:
                self._see(entry)

    def _see(self, entry: VotersEntry) -> None:
        before, self._newest = self._newest, entry
        moved = entry.voters != before.voters
        # A snapshot repeats what came before it.
        if not moved and entry.target == before.target:
            return
        self.changes += 1
        what = [step_in_words(before.voters, entry.voters)] if moved else []
        if entry.target != before.target:
            what.append(_target_in_words(before, entry))
        is_over = before.target is not None and entry.target is None
        self._note(self.round + (moved or is_over), "; ".join(what), entry)

    def _note(self, number: int, what: str, entry: VotersEntry) -> None:
        quorum = self._quorum
        self.steps.append(QuorumStep(number, what, quorum.now_ms, quorum.leader(), entry.voters, entry.target))


def work(quorum: Quorum, watch: Watch, rounds: int | None) -> None:
    """Let time pass for so many changes of the voters, or until the target is reached and cleared.

    It ends too when nothing has changed for `STEP_WAIT_MS`.
    """
    end = None if rounds is None else watch.round + rounds
    while _is_open(quorum, watch) and (end is None or watch.round < end):
        if not _changes(quorum, watch):
            return


def _is_open(quorum: Quorum, watch: Watch) -> bool:
    """Is there a target, be it that it is in a log only, where the next leader may take it on or lose it?

    Rule: reassign.new-leader-resumes.
    """
    return watch.target is not None or quorum_now(quorum).target is not None


def _changes(quorum: Quorum, watch: Watch) -> bool:
    """Let time pass until something changes; does it?"""
    seen = watch.changes
    quorum.run(STEP_WAIT_MS, until=lambda: watch.changes > seen or not _is_open(quorum, watch))
    return watch.changes > seen


def _target_in_words(before: VotersEntry, after: VotersEntry) -> str:
    """Rules: reassign.request-new-target, reassign.completion, reassign.cancel-null."""
    if after.target is not None:
        return "asked" if before.target is None else "asked anew"
    return "complete" if before.target == frozenset([voter.id for voter in after.voters]) else "cancelled"
