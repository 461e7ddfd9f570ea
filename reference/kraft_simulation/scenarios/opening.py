"""Openings of scenarios: the starting situation, by real events from empty disks."""

from kraft_reference.roles import Role
from kraft_reference.state import other_voters, voter_entry
from kraft_simulation.scenarios.director import Director

_MOST_ROUNDS = 64


def start(director: Director, leader: int, epoch: int, end_offset: int | None = None) -> None:
    """Make `leader` L(epoch) and all others F(epoch,leader) with equal logs.

    With `end_offset` the log ends there, and all replicas know that all of it is committed.
    """
    elect(director, leader, epoch)
    followers = [replica_id for replica_id in director.ids() if replica_id != leader]
    if end_offset is not None:
        director.append(leader, end_offset)
    observe(director, leader, *followers)
    roles = [f"L({epoch})" if n == leader else f"F({epoch},{leader})" for n in director.ids()]
    director.roles(*roles)
    for replica_id in followers:
        director.fetched(replica_id, True)


def lead(director: Director, leader: int, epoch: int, end_offset: int, *followers: int) -> None:
    """Make `leader` L(epoch) with a log that ends at `end_offset`; only `followers` have it, and know its commit."""
    elect(director, leader, epoch)
    director.append(leader, end_offset)
    observe(director, leader, *followers)
    director.roles(*[f"L({epoch})" if n == leader else "" for n in director.ids()])
    director.high_watermark(leader, end_offset)


def observe(director: Director, leader: int, *followers: int) -> None:
    """Let replicas catch up with a leader; those that know none find it through a bootstrap server."""
    for follower in followers:
        if director.state(follower).role is Role.UNATTACHED:
            director.fetch(follower, leader, "FENCED_LEADER_EPOCH")
    catch_up(director, leader, *followers)


def elect(director: Director, leader: int, epoch: int) -> None:
    """Make `leader` Leader of exactly this epoch, and let it send BeginQuorumEpoch to the other voters."""
    nominate(director, leader, epoch)
    win(director, leader)
    announce(director, leader)


def nominate(director: Director, candidate: int, epoch: int) -> None:
    """Make `candidate` Candidate of exactly this epoch; its Vote requests of earlier epochs are lost."""
    for _ in range(4 * epoch + 4):
        state = director.state(candidate)
        match state.role:
            case Role.CANDIDATE if state.epoch == epoch:
                return
            case Role.UNATTACHED | Role.CANDIDATE:
                director.election_timeout(candidate)
            case Role.FOLLOWER:
                director.fetch_timeout(candidate)
            case Role.PROSPECTIVE:
                win_pre_vote(director, candidate)
    director.fail(f"N{candidate}", f"C({epoch})", director.state(candidate).epoch)


def win_pre_vote(director: Director, prospective: int) -> None:
    """Let the others grant Pre-Votes, by ascending id, up to a majority; the rest of the round is lost."""
    configuration = director.world.configuration
    for voter in _reachable(director, prospective):
        if configuration.replicas[voter].pre_vote != "unsupported":
            director.pre_vote(prospective, voter, "granted")
        if director.state(prospective).role is not Role.PROSPECTIVE:
            break
    director.lose(prospective)


def win(director: Director, candidate: int) -> None:
    """Let the others grant votes, by ascending id, up to a majority; the rest of the round is lost."""
    for voter in _reachable(director, candidate):
        director.vote(candidate, voter, "granted")
        if director.state(candidate).role is not Role.CANDIDATE:
            break
    director.lose(candidate)


def take_over(director: Director, successor: int, voter: int) -> None:
    """Make the successor Leader with the vote of the other, before it sends BeginQuorumEpoch."""
    stand(director, successor, voter)
    director.vote(successor, voter, "granted")
    director.lose(successor)


def stand(director: Director, candidate: int, voter: int) -> None:
    """Let the candidate lose its leader and become Candidate.

    If it has Pre-Vote, the voter also loses its leader, because a Follower refuses a Pre-Vote, and grants it.
    """
    if not director.has_pre_vote(candidate):
        director.fetch_timeout(candidate)
        return
    for replica_id in sorted((candidate, voter)):
        director.fetch_timeout(replica_id)
    director.pre_vote(candidate, voter, "granted")
    director.lose(candidate)


def announce(director: Director, leader: int) -> None:
    """Send BeginQuorumEpoch to every other running and reachable voter."""
    for voter in _reachable(director, leader):
        director.begin_quorum_epoch(leader, voter)


def _reachable(director: Director, source: int) -> list[int]:
    """Return the other voters of its set, by ascending id, that run and have both links to it."""
    ids = [voter.id for voter in other_voters(director.state(source))]
    cuts = director.world.cuts
    linked = [voter for voter in ids if not {(source, voter), (voter, source)} & cuts]
    return [voter for voter in linked if director.state(voter).role is not Role.STOPPED]


def catch_up(director: Director, leader: int, *followers: int) -> None:
    """Fetch until the followers have all records and the leader's high watermark, and the leader knows."""

    def is_done(follower: int) -> bool:
        state, leading = director.state(follower), director.state(leader)
        same = (state.log.end_offset, state.high_watermark) == (leading.log.end_offset, leading.high_watermark)
        acknowledged = leading.fetch_offsets.get(voter_entry(leading, state.key) or state.key, 0)
        return same and acknowledged == leading.log.end_offset

    for _ in range(_MOST_ROUNDS):
        late = [follower for follower in followers if not is_done(follower)]
        if not late:
            return
        for follower in late:
            if director.state(follower).wanted_snapshot is None:
                director.fetch(follower, leader)
            else:
                director.fetch_snapshot(follower, leader)
    director.fail("the followers", "caught up", "still behind")
