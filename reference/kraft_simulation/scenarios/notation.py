"""Short notation of roles in scenarios: `F(4,1)`, `U(5,voted=2)`, `L(4)`, `stopped`."""

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
    """Return the role of a replica in the notation, which omits the leader for C, L and R."""
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
    """Return the actual role in the notation if it differs from the expected one.

    If `expected` has no leader, the replica must not know one; if it has no vote, the vote is not compared.

    Raises:
        ValueError: `expected` is not in the notation.
    """
    if expected != STOPPED and _FORM.fullmatch(expected) is None:
        raise ValueError(f"{expected!r} is not a role such as F(4,1) or U(5,voted=2)")
    actual = notation(state, with_vote="voted=" in expected)
    return None if actual == expected else actual
