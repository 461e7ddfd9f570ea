"""The tables of S20 to S24: the rows of a quorum reassignment, each asserted and committed by exactly its majority.

Before the table's first row our first leader has three records in its log and not two, LC@0, KV(1)@1 and V@2, so that
every offset and every high watermark is one larger than it stands there.
"""

from collections.abc import Iterable
from typing import NamedTuple

from kraft_reference.quorum_reassignment import reassignment_sets
from kraft_reference.roles import Role
from kraft_reference.state import is_majority, is_voter, other_voters
from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import announce, observe, start
from kraft_simulation.scenarios.scenario import voter_set

CLEAR = "clear"
"""The choice of a step that neither adds nor removes: the target is reached."""


class Row(NamedTuple):
    """Expected result of a step towards a target."""

    offset: int
    """Of its record."""
    sets: str
    """New and removing voters before it, as in `5,6 / 1,2,3`."""
    choice: str
    """`add 5`, `remove 3` or `clear`."""
    current: str
    """The voters after it, `1,2,4,5`."""
    majority: int
    """How many of them commit it."""


def ids(text: str) -> tuple[int, ...]:
    """The ids of `1,2,3`."""
    return tuple([int(word) for word in text.split(",") if word])


def opened(d: Director, *voters: int) -> None:
    """The rows before the request: 1 leads e1 and everybody has what it wrote."""
    d.step("the bootstrap")
    start(d, 1, 1)
    d.records(1, 0, "LC KV V")
    d.set_offset(1, 2)
    d.voters(1, voter_set(*voters))
    d.high_watermark(1, 3)


def asked(d: Director, leader: int, offset: int, current: str, target: str) -> int:
    """A client names a target, which its leader writes down beside the voters that there are; the client waits."""
    d.step(f"Alter({target or 'null'}): VA@{offset}")
    request = d.reassign(leader, *ids(target))
    d.assignment(leader, offset, voter_set(*ids(current)), frozenset(ids(target)) or None)
    d.next_steps(leader, "")
    d.unanswered(request)
    return request


def committed(d: Director, leader: int, offset: int, majority: int) -> None:
    """The record at this offset is committed by as many voters as the row says, and not by one less."""
    state = d.state(leader)
    size = len(state.voters)
    d.check(
        "the majority", (is_majority(majority, state.voters), is_majority(majority - 1, state.voters)), (True, False)
    )
    counted = 1 if is_voter(state) else 0
    for voter in _that_run(d, leader)[: majority - counted]:
        d.high_watermark(leader, min(offset, d.state(leader).high_watermark))
        observe(d, leader, voter)
    d.check(f"the high watermark after {majority} of {size}", d.state(leader).high_watermark, offset + 1)
    everybody = [id_ for id_ in d.ids() if id_ != leader and _is_linked(d, leader, id_)]
    observe(d, leader, *everybody)
    d.end_offsets(*[offset + 1 if id_ in (leader, *everybody) else d.state(id_).log.end_offset for id_ in d.ids()])


def _that_run(d: Director, leader: int) -> list[int]:
    return [voter.id for voter in other_voters(d.state(leader)) if _is_linked(d, leader, voter.id)]


def _is_linked(d: Director, leader: int, other: int) -> bool:
    return d.state(other).role is not Role.STOPPED and not {(leader, other), (other, leader)} & d.world.cuts


def taken(d: Director, leader: int, target: str, rows: Iterable[Row]) -> None:
    """The steps that the leader takes, one row after the other; none of them answers anybody."""
    answers = dict(d.answers)
    for row in rows:
        appended(d, leader, target, row)
        committed(d, leader, row.offset, row.majority)
        d.check("the answers", d.answers, answers)


def appended(d: Director, leader: int, target: str, row: Row) -> None:
    """The step of a row, as far as its record in the log of the leader."""
    d.step(f"@{row.offset}: {row.choice}")
    sets(d, leader, target, row.sets)
    choice, _, who = row.choice.partition(" ")
    d.advance(leader, int(who) if who else None)
    if choice == "add":
        d.learn_versions(leader, int(who))
        d.begin_quorum_epoch(leader, int(who))
    wanted = None if row.choice == CLEAR else frozenset(ids(target))
    d.assignment(leader, row.offset, voter_set(*ids(row.current)), wanted)
    d.next_steps(leader, "")


def sets(d: Director, leader: int, target: str, expected: str) -> None:
    """The new and the removing voters of a leader."""
    sets = reassignment_sets(d.state(leader).voters, frozenset(ids(target)))
    actual = " / ".join(",".join(str(replica_id) for replica_id in sorted(each)) for each in (sets.new, sets.removing))
    d.check("new / removing", actual, expected)


def handed_over(d: Director, leader: int, target: str, *preferred: int) -> None:
    """Only the leader is left to remove: no record, but EndQuorumEpoch to the others; it stays a voter."""
    d.step(f"{leader} is the last to remove: EndQuorumEpoch")
    end = d.state(leader).log.end_offset
    sets(d, leader, target, f" / {leader}")
    d.next_steps(leader, "-")
    d.advance(leader)
    d.check(f"log end offset of N{leader}", d.state(leader).log.end_offset, end)
    resigned = d.state(leader)
    d.check("role of the old leader", (resigned.role, is_voter(resigned)), (Role.RESIGNED, True))
    d.check("preferred candidates", tuple(candidate.id for candidate in resigned.preferred_candidates), preferred)
    for voter in preferred:
        d.end_quorum_epoch(leader, voter)


def elected(d: Director, leader: int, *electors: int, timeout: bool = True, waits: bool = True) -> None:
    """A voter whose time has come wins with the votes of these, and takes no step before its epoch is committed.

    Args:
        d: the scenario.
        leader: the voter, a Follower.
        electors: whose votes it gets, Pre-Votes first.
        timeout: whether its fetch timer has yet to fire.
        waits: whether the rule that makes it wait is in force.
    """
    d.step(f"{leader} wins with {', '.join(str(elector) for elector in electors)}")
    if timeout:
        d.fetch_timeout(leader)
    for voter in electors:
        d.pre_vote(leader, voter, "granted")
    for voter in electors:
        d.vote(leader, voter, "granted")
    d.lose(leader)
    d.check("role of the winner", d.state(leader).role, Role.LEADER)
    if waits:
        d.next_steps(leader, "")


def orphaned(d: Director, candidate: int, *others: int) -> None:
    """The fetch timers of the voters fire; of their Pre-Votes only those of `candidate` are not lost."""
    for voter in (candidate, *others):
        d.fetch_timeout(voter)
    for voter in others:
        d.lose(voter)


def led(d: Director, leader: int, offset: int, majority: int) -> None:
    """The new leader announces itself, and its LC is committed."""
    d.records(leader, offset, "LC")
    announce(d, leader)
    epoch = d.state(leader).epoch
    for other in d.ids():
        learnt, late = d.state(other).leader_id, d.state(other).epoch < epoch
        if d.state(other).role is not Role.FOLLOWER or not late or learnt is None or not _is_linked(d, leader, other):
            continue
        if _is_linked(d, other, learnt) and d.state(learnt).role is not Role.STOPPED:
            d.step(f"{other} asks {learnt}, which names {leader}")
            d.fetch(other, learnt, "FENCED_LEADER_EPOCH")
        else:
            d.step(f"{other} hears nothing of {learnt}, and asks the bootstrap server {leader}")
            d.fetch_timeout(other)
            d.fetch(other, leader, "FENCED_LEADER_EPOCH")
    committed(d, leader, offset, majority)
