"""How the scripts of vectors get to where their steps begin, beside the openings of scenarios."""

from kraft_simulation.scenarios.director import Director
from kraft_simulation.scenarios.opening import elect, nominate, observe, start, take_over, win


def lead_unannounced(d: Director, leader: int) -> None:
    """It leads epoch 1, and has told nobody."""
    nominate(d, leader, 1)
    win(d, leader)


def rivals(d: Director) -> None:
    """1 and 3 are Candidates of epoch 1, 2 has voted for nobody."""
    for candidate in (1, 3):
        d.election_timeout(candidate)
    for candidate in (1, 3):
        d.pre_vote(candidate, 2, "granted")
    d.lose(1)
    d.lose(3)
    d.roles("C(1)", "U(0)", "C(1)")


def campaign(d: Director, prospective: int, *voters: int) -> None:
    """These grant it Pre-Votes and then votes, so that it leads; what else it sends meanwhile is lost."""
    for ask in (d.pre_vote, d.vote):
        for voter in voters:
            ask(prospective, voter, "granted")
        d.lose(prospective)


def fetch_in_turn(d: Director, leader: int, *followers: int) -> None:
    """Each fetches and then each once more: the first brings records, the second says that they are synced."""
    for _ in range(2):
        for follower in followers:
            d.fetch(follower, leader)


def overtake(d: Director, *others: int) -> None:
    """1 leads and is cut off from the others: 2 leads with the vote of 3, and when the links are back 1 hears of it."""
    take_over(d, 2, 3)
    d.begin_quorum_epoch(2, 3)
    observe(d, 2, 3)
    d.heal(1, *others)
    d.request_timeout(2, 1)
    d.begin_quorum_epoch(2, 1)


def lead_with_snapshot(d: Director) -> None:
    """1 leads, its snapshot in the place of the first five records; 4, which has none, learns the epoch."""
    elect(d, 1, 1)
    d.append(1, end_offset=6)
    observe(d, 1, 2, 3)
    d.take_snapshot(1, 5)
    d.fetch(4, 1, "FENCED_LEADER_EPOCH")


def start_reported(d: Director) -> None:
    """1 leads at kraft.version 0, and the other two have told it which levels they support."""
    start(d, 1, 1, end_offset=4)
    d.update_voter(2, 1, "ok")
    d.update_voter(3, 1, "ok")


def move_voter(d: Director) -> None:
    """1 leads, and 2 listens somewhere else since its restart."""
    start(d, 1, 1, end_offset=4)
    d.crash(2)
    d.restart(2, "elsewhere:9093")
    d.fetch(2, 1)


def new_disk(d: Director, replica_id: int, directory_id: str) -> None:
    """A replica comes back with an empty disk."""
    d.crash(replica_id)
    d.replace_disk(replica_id, directory_id)
    d.restart(replica_id)
