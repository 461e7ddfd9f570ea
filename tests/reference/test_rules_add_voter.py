"""add-voter.*: which request is accepted, and what the new voter supports."""

from dataclasses import replace

import pytest
from tests.reference.builders import (
    CHANGE,
    FIVE,
    OBSERVED,
    adding,
    cluster,
    committing,
    details,
    endpoint,
    established,
    in_every_role,
    key,
    leader,
    log_of,
    messages,
    receive,
    refused,
    role_name,
    states,
    step,
    unattached,
    version_record,
    voters_record,
)
from tests.reference.wire import (
    add_voter,
    add_voter_reply,
    api_versions,
    api_versions_reply,
    asked,
    fetch,
    reply,
)

from kraft_reference.changes import ChangeKind, ChangePhase
from kraft_reference.events import (
    AddVoter,
    Poll,
)
from kraft_reference.identity import ReplicaKey, VoterDetails
from kraft_reference.log import append, flush
from kraft_reference.messages import Error
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

ADD_FOUR = AddVoter(9, key(4), endpoint(4))
QUIET = frozenset({2, 3})
"""Voters that have answered the announcement, so that the leader owes them nothing."""


def caught_up_and_added() -> ReplicaState:
    """L(4) of {1,2,3} with Voters{1,2,3,4} at offset 1, asked for by a client; 4 has fetched up to there."""
    state = established(4, pending_change=adding(ChangePhase.CATCH_UP), acknowledged=QUIET)
    return receive(state, fetch(4, 1, 4, 1, 4), OBSERVED).state


@states("add-voter.leader-only")
@pytest.mark.parametrize("state", [s for s in in_every_role(4) if s.role is not Role.LEADER], ids=role_name)
def test_only_the_leader_adds(state: ReplicaState) -> None:
    error = Error.NOT_LEADER_OR_FOLLOWER
    assert step(state, ADD_FOUR, OBSERVED) == Outcome(
        state, (reply(9, 4, state.leader_id, error),), (), Refusal.NOT_LEADER
    )
    answer = add_voter_reply(1, 4, 4, state.leader_id, error)
    assert receive(state, add_voter(4, 1), OBSERVED) == Outcome(state, (answer,), (), Refusal.NOT_LEADER)


@states("add-voter.check-order")
def test_the_tests_come_in_their_order() -> None:
    # Everything is wrong with the request and the leader; each line puts the first wrong thing right.
    static = cluster(3, observers=1, kraft_version=0)
    base = log_of(voters=static.voters)
    wrong = AddVoter(9, ReplicaKey(2), None, cluster_id="X")
    raised = flush(append(base, [version_record(4), voters_record(4, 1, 2, 3)]))
    leading = leader(4, log=raised, pending_change=adding(ChangePhase.CATCH_UP))
    stages: list[tuple[ReplicaState, AddVoter, Error, Refusal]] = []

    def stage(state: ReplicaState, event: AddVoter, error: Error, refusal: Refusal = Refusal.REQUEST_REFUSED) -> None:
        stages.append((state, event, error, refusal))

    stage(unattached(4, log=raised), wrong, Error.INCONSISTENT_CLUSTER_ID, Refusal.FOREIGN_CLUSTER)
    home = replace(wrong, cluster_id=static.cluster_id)
    stage(unattached(4, log=raised), home, Error.NOT_LEADER_OR_FOLLOWER, Refusal.NOT_LEADER)
    stage(leading, home, Error.INVALID_REQUEST, Refusal.MALFORMED_REQUEST)
    whole = replace(home, voter=key(2), endpoint=endpoint(2))
    stage(leading, whole, Error.REQUEST_TIMED_OUT)
    idle = leading._replace(pending_change=None)
    stage(idle, whole, Error.REQUEST_TIMED_OUT)
    # The epoch is committed, and with it the level; then the level without the set; then both.
    behind = established(4, log=base, high_watermark=1)
    pending = behind._replace(log=flush(append(behind.log, [version_record(4), voters_record(4, 1, 2, 3)])))
    stage(pending, whole, Error.UNSUPPORTED_VERSION)
    stage(pending._replace(high_watermark=2), whole, Error.REQUEST_TIMED_OUT)
    stage(pending._replace(high_watermark=3), whole, Error.DUPLICATE_VOTER)
    for state, event, error, refusal in stages:
        answer = reply(9, 4, state.leader_id, error)
        assert step(state, event, static) == Outcome(state, (answer,), (), refusal)
    accepted = step(pending._replace(high_watermark=3), replace(whole, voter=key(4)), static)
    assert (accepted.refusal, accepted.sends) == (None, ())


@states("add-voter.well-formed")
@pytest.mark.parametrize(
    ("voter", "listens"),
    [
        (ReplicaKey(4), endpoint(4)),
        (ReplicaKey(4, ""), endpoint(4)),
        (key(-1), endpoint(4)),
        (key(4), None),
        (key(4), ""),
    ],
)
def test_a_malformed_request_is_refused(voter: ReplicaKey, listens: str | None) -> None:
    state = established(4)
    answer = reply(9, 4, 1, Error.INVALID_REQUEST)
    assert step(state, AddVoter(9, voter, listens), OBSERVED) == Outcome(
        state, (answer,), (), Refusal.MALFORMED_REQUEST
    )


@states("add-voter.duplicate-id")
@pytest.mark.parametrize("directory_id", ["U3", "U3'"])
def test_an_id_of_the_set_is_refused(directory_id: str) -> None:
    state = established(4)
    answer = reply(9, 4, 1, Error.DUPLICATE_VOTER)
    event = AddVoter(9, key(3, directory_id), endpoint(3))
    assert step(state, event) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)


@states("add-voter.unsupported-version")
def test_level_0_is_refused_and_level_1_is_not() -> None:
    static = cluster(3, observers=1, kraft_version=0)
    state = established(4, log=log_of(voters=static.voters))
    answer = reply(9, 4, 1, Error.UNSUPPORTED_VERSION)
    assert step(state, ADD_FOUR, static) == Outcome(state, (answer,), (), Refusal.REQUEST_REFUSED)
    assert step(established(4), ADD_FOUR, OBSERVED).refusal is None


@states("add-voter.learn-versions")
def test_the_leader_asks_the_new_voter_what_it_supports() -> None:
    state = established(4, acknowledged=QUIET)
    accepted = step(state, ADD_FOUR, OBSERVED)
    learning = state._replace(pending_change=adding(ChangePhase.LEARN_VERSIONS))
    assert accepted == Outcome(learning, (), (CHANGE,))
    polled = step(learning, Poll(), OBSERVED)
    assert polled == Outcome(learning._replace(awaiting={4: 77}), (api_versions(1, 4, correlation_id=77),))
    assert step(polled.state, Poll(), OBSERVED) == refused(polled.state, Refusal.NOTHING_DUE)
    # Any running replica answers, whatever it is.
    told = receive(unattached(0, 4), messages(polled)[0], OBSERVED)
    assert told == Outcome(unattached(0, 4), (replace(api_versions_reply(4, 1), correlation_id=77),))
    learned = receive(polled.state, messages(told)[0], OBSERVED)
    assert learned == Outcome(learning._replace(pending_change=adding(ChangePhase.CATCH_UP)))
    # What it says stands in the record.
    newer = receive(learning._replace(awaiting=asked(4)), api_versions_reply(4, 1, (1, 3)), OBSERVED).state
    grown = receive(newer, fetch(4, 1, 4, 1, 4), OBSERVED).state
    assert grown.log.records[-1].details == (*details(1, 2, 3), VoterDetails(4, endpoint(4), 1, 3))


@states("add-voter.learn-versions")
def test_an_answer_of_somebody_else_or_too_late_is_ignored() -> None:
    learning = established(4, pending_change=adding(ChangePhase.LEARN_VERSIONS), awaiting=asked(3))
    other = receive(learning, api_versions_reply(3, 1), OBSERVED)
    assert other == refused(learning._replace(awaiting={}), Refusal.NO_CHANGE_WAITS)
    assert receive(learning, api_versions_reply(4, 1), OBSERVED) == refused(learning, Refusal.UNCORRELATED_RESPONSE)
    late = established(4, pending_change=adding(ChangePhase.CATCH_UP), awaiting=asked(4))
    assert receive(late, api_versions_reply(4, 1, (0, 0)), OBSERVED) == refused(
        late._replace(awaiting={}), Refusal.NO_CHANGE_WAITS
    )
    # A replica that nobody has set up cannot be asked; the request ends with its time.
    unknown = established(4, pending_change=adding(ChangePhase.LEARN_VERSIONS, 8), acknowledged=QUIET)
    assert step(unknown, Poll(), OBSERVED) == refused(unknown, Refusal.NOTHING_DUE)


@states("add-voter.version-must-be-supported")
@pytest.mark.parametrize("supported", [(0, 0), (2, 3)])
def test_a_voter_that_does_not_support_the_level_is_refused(supported: tuple[int, int]) -> None:
    learning = established(4, pending_change=adding(ChangePhase.LEARN_VERSIONS), awaiting=asked(4))
    done = receive(learning, api_versions_reply(4, 1, supported), OBSERVED)
    assert done == Outcome(established(4), (reply(9, 4, 1, Error.INVALID_REQUEST),))


@states("add-voter.check-order")
def test_a_refused_request_leaves_the_other_one_alone() -> None:
    state = caught_up_and_added()
    done = step(state, AddVoter(5, key(5), endpoint(5)), FIVE)
    assert done == Outcome(state, (reply(5, 4, 1, Error.REQUEST_TIMED_OUT),), (), Refusal.REQUEST_REFUSED)
    removing = established(4, pending_change=committing(ChangeKind.REMOVE, key(3), 0))
    assert step(removing, ADD_FOUR, OBSERVED).state == removing
