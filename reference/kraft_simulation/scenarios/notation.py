"""The short notation of roles in the scenario texts: `F(4,1)`, `U(5,voted=2)`, `L(4)`, `stopped`."""

import re

from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

STOPPED = "stopped"

_LETTER = {
    Role.UNATTACHED: "U",
    Role.PROSPECTIVE: "P",
    Role.CANDIDATE: "C",
    Role.LEADER: "L",
    Role.RESIGNED: "R",
    Role.FOLLOWER: "F",
}
_NAMES_LEADER = "UPF"
_FORM = re.compile(r"([UPCLRF])\((\d+)(?:,(\d+))?(?:,voted=(\d+|none))?\)")


def notation(state: ReplicaState, with_vote: bool = True) -> str:
    """The role of a replica as the texts write it; the leader of C, L and R goes without saying."""
    if state.role is Role.STOPPED:
        return STOPPED
    letter = _LETTER[state.role]
    parts = [str(state.epoch)]
    if letter in _NAMES_LEADER and state.leader_id is not None:
        parts.append(str(state.leader_id))
    if with_vote:
        parts.append(f"voted={'none' if state.voted_key is None else state.voted_key.id}")
    return f"{letter}({','.join(parts)})"


def differs(expected: str, state: ReplicaState) -> str | None:
    """The actual role in the notation, if it is not the expected one.

    A leader that `expected` leaves out must not be known; a vote that it leaves out is not compared.

    Raises:
        ValueError: `expected` is not in the notation.
    """
    if expected != STOPPED and _FORM.fullmatch(expected) is None:
        raise ValueError(f"{expected!r} is not a role such as F(4,1) or U(5,voted=2)")
    actual = notation(state, with_vote="voted=" in expected)
    return None if actual == expected else actual
