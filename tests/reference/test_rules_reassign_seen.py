"""reassign.describe-quorum and reassign.votes-from-non-voters: how a reassignment looks to others."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    DRAW,
    ELECTION,
    SIX,
    adding,
    becomes,
    candidate,
    cluster,
    endpoint,
    follower,
    in_every_role,
    key,
    keys,
    leader,
    log_of,
    prospective,
    reassigning,
    receive,
    resigned,
    role_name,
    states,
    unattached,
)
from tests.reference.checked_step import check_step
from tests.reference.reassigning import FETCHED, STEP
from tests.reference.wire import fetch, pre_vote, pre_vote_reply, vote, vote_reply

from kraft_reference.changes import ChangePhase
from kraft_reference.describe import FetchTime, QuorumDescription, ReplicaProgress, describe_quorum
from kraft_reference.events import Receive
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome
from kraft_reference.profile import KIP
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

CAMPAIGNS = replace(SIX, profile=replace(KIP, name="kip-642-votes", vote_of_non_voter="refuse-and-campaign"))
"""Voters answer somebody outside their set as KIP-642 has it."""

# ---------------------------------------------------------------------------------------------------------
# DescribeQuorum.
# ---------------------------------------------------------------------------------------------------------


@states("reassign.describe-quorum", "reassign.progress-only-during")
def test_the_target_is_described_beside_voters_and_observers() -> None:
    state = reassigning(1, 2, 4, fetch_offsets={key(2): 1, key(4): 2, key(5): 0, key(3): 2})
    times = {key(4): FetchTime(90, 80, 2), key(5): FetchTime(95, -1, 2)}
    fourth = ReplicaProgress(key(4), 2, 0, 90, 80)
    fifth = ReplicaProgress(key(5), 0, 2, 95, -1)
    assert describe_quorum(state, SIX, times, 100) == QuorumDescription(
        error=Error.NONE,
        leader_id=1,
        leader_endpoint=endpoint(1),
        leader_epoch=4,
        high_watermark=2,
        voters=(ReplicaProgress(key(1), 2, 0, 100, 100), ReplicaProgress(key(2), 1, 1, -1, -1), fourth),
        observers=(ReplicaProgress(key(3), 2, 0, -1, -1), fifth),
        nodes=((1, endpoint(1)), (2, endpoint(2)), (4, endpoint(4))),
        target=(fourth, fifth, ReplicaProgress(ReplicaKey(6), -1, -1, -1, -1)),
    )


@states("reassign.describe-quorum")
def test_a_target_is_none_when_there_is_none() -> None:
    assert describe_quorum(reassigning(1, 2, 3, target=None), SIX, {}, 0).target is None
    leading = describe_quorum(reassigning(1, 2, 3, target=(1,)), SIX, {}, 7).target
    assert leading == (ReplicaProgress(key(1), 2, 0, 7, 7),)


@states("reassign.describe-quorum")
def test_of_several_disks_the_voter_is_shown_and_else_the_one_furthest_on() -> None:
    disks = {key(5): 1, key(5, "U5'"): 2, key(2, "U2'"): 2, key(2): 1}
    described = describe_quorum(reassigning(1, 2, 3, target=(2, 5), fetch_offsets=disks), SIX, {}, 0)
    assert described.target is not None
    assert [one.key for one in described.target] == [key(2), key(5, "U5'")]


@states("reassign.describe-quorum")
def test_a_step_shows_as_an_uncommitted_voter() -> None:
    waiting = reassigning(1, 2, 3, fetch_offsets=FETCHED, pending_change=adding(ChangePhase.CATCH_UP, offset=2, **STEP))
    added = receive(waiting, fetch(4, 1, 4, 2, 4), SIX).state
    described = describe_quorum(added, SIX, {}, 0)
    assert (described.uncommitted_added, [voter.key.id for voter in described.voters]) == (key(4), [1, 2, 3, 4])


@states("reassign.describe-quorum")
@pytest.mark.parametrize("state", [s for s in in_every_role(4) if s.role is not Role.LEADER], ids=role_name)
def test_nobody_but_the_leader_describes_a_target(state: ReplicaState) -> None:
    described = describe_quorum(state._replace(log=reassigning(1, 2, 3).log), SIX, {}, 0)
    assert (described.error, described.target) == (Error.NOT_LEADER_OR_FOLLOWER, None)


# ---------------------------------------------------------------------------------------------------------
# Votes of nodes that disagree about who votes.
# ---------------------------------------------------------------------------------------------------------

AHEAD = (3, 9)
"""The last epoch and end offset of whoever asks: no log of these tests is longer."""


@states("reassign.votes-from-non-voters")
def test_the_log_alone_decides_and_membership_does_not() -> None:
    state = unattached(3)
    granted = receive(state, vote(4, 1, 3, (2, 9)), SIX)
    assert granted.state == state._replace(voted_key=key(4))
    assert granted.sends == (vote_reply(1, 4, 3, True),)


@states("reassign.votes-from-non-voters")
@pytest.mark.parametrize(
    "state",
    [unattached(4), unattached(3), follower(3, 2), prospective(3, leader=2), candidate(3)],
    ids=lambda state: f"{state.role}-{state.epoch}",
)
def test_by_kip_642_a_voter_refuses_a_stranger_and_campaigns(state: ReplicaState) -> None:
    done = receive(state, vote(4, 1, 4, AHEAD), CAMPAIGNS)
    rival = becomes(state, Role.PROSPECTIVE, 4, granted=frozenset({1}))
    assert done == Outcome(rival, (vote_reply(1, 4, 4, False),), (ELECTION,))


@states("reassign.votes-from-non-voters")
@pytest.mark.parametrize("state", [leader(3), resigned(3)], ids=role_name)
def test_a_leader_that_a_stranger_deposes_waits_for_its_timer(state: ReplicaState) -> None:
    done = receive(state, vote(4, 1, 4, AHEAD), CAMPAIGNS)
    assert (done.state.role, done.state.epoch, done.state.voted_key) == (Role.UNATTACHED, 4, None)
    assert done.sends[0] == vote_reply(1, 4, 4, False)


@states("reassign.votes-from-non-voters")
def test_a_campaign_that_is_under_way_goes_on() -> None:
    state = prospective(4, granted=frozenset({1, 2}))
    assert receive(state, vote(4, 1, 4, AHEAD), CAMPAIGNS) == Outcome(state, (vote_reply(1, 4, 4, False),))


@states("reassign.votes-from-non-voters")
def test_a_vote_that_is_not_free_is_answered_as_ever() -> None:
    spent = unattached(4, voted=key(2))
    known = unattached(4, leader=2)
    for state in (spent, known, follower(4, 2), candidate(4), leader(4), resigned(4)):
        assert receive(state, vote(4, 1, 4, AHEAD), CAMPAIGNS) == receive(state, vote(4, 1, 4, AHEAD), SIX)
        assert receive(state, vote(4, 1, 4, AHEAD), CAMPAIGNS).state == state
    # It may have been given to the stranger, when that was a voter.
    given = unattached(4, voted=key(4))
    assert receive(given, vote(4, 1, 4, AHEAD), CAMPAIGNS).sends == (vote_reply(1, 4, 4, True),)


@states("reassign.votes-from-non-voters")
def test_voters_of_the_own_set_pre_votes_and_observers_are_not_concerned() -> None:
    state = unattached(4)
    for asked in (vote(2, 1, 4, AHEAD), pre_vote(4, 1, 4, AHEAD)):
        assert receive(state, asked, CAMPAIGNS) == receive(state, asked, SIX)
    assert receive(state, pre_vote(4, 1, 4, AHEAD), CAMPAIGNS).sends == (pre_vote_reply(1, 4, 4, True),)
    observer = unattached(4, 5)
    assert receive(observer, vote(4, 5, 4, AHEAD), CAMPAIGNS).sends == (vote_reply(5, 4, 4, True),)
    # Another disk of a voter is a stranger.
    other = vote(2, 1, 4, AHEAD, replica_key=key(2, "U2'"))
    assert receive(state, other, CAMPAIGNS).state.role is Role.PROSPECTIVE


@states("reassign.votes-from-non-voters")
@pytest.mark.parametrize("alone", [True, False], ids=["sole-voter", "without-pre-vote"])
def test_what_the_refusal_says_is_on_disk(alone: bool) -> None:
    """A rival that need not ask for Pre-Votes is in the next epoch when it answers."""
    configuration = cluster(1, 3) if alone else cluster(3, 3, {1: "unsupported"})
    campaigns = replace(configuration, profile=CAMPAIGNS.profile)
    state = unattached(4, log=log_of(voters=keys(1)) if alone else log_of())
    asked = vote(4, 1, 4, AHEAD)
    after = check_step(state, campaigns, Receive(asked), DRAW)
    assert (after.role, after.epoch) == (Role.LEADER if alone else Role.CANDIDATE, 5)
    answer = vote_reply(1, 4, 5, False, leader=1 if alone else None)
    assert receive(state, asked, campaigns).sends[0] == answer
