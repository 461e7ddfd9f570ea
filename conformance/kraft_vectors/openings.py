"""First parts of vector scripts, in addition to the openings of scenarios."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, nominate, observe, start, take_over, win


def lead_unannounced(d: Director, leader: int) -> None:
    """Make a replica the leader of epoch 1, without BeginQuorumEpoch."""
    nominate(d, leader, 1)
    win(d, leader)


def rivals(d: Director) -> None:
    """Make 1 and 3 Candidates of epoch 1; 2 has not voted."""
    for candidate in (1, 3):
        d.election_timeout(candidate)
    for candidate in (1, 3):
        d.pre_vote(candidate, 2, "granted")
    d.lose(1)
    d.lose(3)
    d.roles("C(1)", "U(0)", "C(1)")


def campaign(d: Director, prospective: int, *voters: int) -> None:
    """Make a Prospective the leader by grants of these voters; its other messages are lost."""
    for ask in (d.pre_vote, d.vote):
        for voter in voters:
            ask(prospective, voter, "granted")
        d.lose(prospective)


def fetch_in_turn(d: Director, leader: int, *followers: int) -> None:
    """Let each follower fetch twice: the first Fetch brings records, the second acknowledges them."""
    for _ in range(2):
        for follower in followers:
            d.fetch(follower, leader)


def overtake(d: Director, *others: int) -> None:
    """Partition the leader 1, elect 2 with the vote of 3, then heal the links and let 2 announce itself to 1."""
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.heal(1, *others)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)


def lead_with_snapshot(d: Director) -> None:
    """Make 1 the leader with a snapshot of the first five records; 4, without records, learns the epoch."""
    elect(d, 1, 1)
    d.append(1, end_offset=6)
    observe(d, 1, 2, 3)
    d.take_snapshot(1, 5)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")


def start_reported(d: Director) -> None:
    """Make 1 the leader at kraft.version 0; both others have sent their ranges with UpdateVoter."""
    start(d, 1, 1, end_offset=4)
    d.update_voter(2, 1, "ok")
    d.update_voter(3, 1, "ok")


def move_voter(d: Director) -> None:
    """Make 1 the leader; 2 has another endpoint since its restart."""
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)


def new_disk(d: Director, replica_id: int, directory_id: str) -> None:
    """Restart a replica with an empty disk."""
    d.crash(replica_id)
    d.replace_disk(replica_id, directory_id)
    d.restart(replica_id)
