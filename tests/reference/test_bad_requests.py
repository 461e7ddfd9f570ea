"""Bad input: every request about voters with every wrong field, in every state of a replica.

The error is worked out here from the order of checks in the rules, over a plain list of records, and not asked of the
code: the first check that fails names it.
Whatever fails, nothing changes, and exactly one answer goes to whoever asked.
Rules: add-voter.check-order, remove-voter.check-order, update-voter.check-order, kraft-version.no-downgrade.
"""

from collections import Counter
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from tests.reference.bad_requests import (
    EPOCH,
    SITUATIONS,
    Request,
    Situation,
    add_voters,
    remove_voters,
    update_features,
    update_voters,
)
from tests.reference.builders import (
    DRAW,
    where,
)
from tests.reference.wire import reply

from kraft_reference.configuration import Configuration
from kraft_reference.durability import effects_of
from kraft_reference.effects import Answer, Send
from kraft_reference.events import AddVoter, Event, Receive, RemoveVoter, UpdateFeatures
from kraft_reference.identity import ReplicaKey
from kraft_reference.messages import (
    AddVoterRequest,
    AddVoterResponse,
    Error,
    Message,
    RemoveVoterRequest,
    RemoveVoterResponse,
    Reply,
    UpdateVoterRequest,
    UpdateVoterResponse,
)
from kraft_reference.outcome import Outcome, Refusal
from kraft_reference.replica import handle
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState

# ---------------------------------------------------------------------------------------------------------
# The order of the checks.
# ---------------------------------------------------------------------------------------------------------


def _first(*checks: tuple[bool, Error]) -> Error:
    """The error of the first check that fails."""
    return next((error for fails, error in checks if fails), Error.NONE)


def _is_nameless(voter: ReplicaKey) -> bool:
    return voter.id < 0 or voter.directory_id in (None, "")


def expected_error(situation: Situation, request: Request) -> Error:
    """What the rules say, in their order."""
    foreign = getattr(request, "cluster_id", None) not in (None, "kraft-spec")
    not_leader = (situation.role is not Role.LEADER, Error.NOT_LEADER_OR_FOLLOWER)
    busy = (situation.pending != "no change", Error.REQUEST_TIMED_OUT)
    epoch_open = (not situation.epoch_is_committed, Error.REQUEST_TIMED_OUT)
    set_open = (not situation.set_is_committed, Error.REQUEST_TIMED_OUT)
    level_0 = (situation.finalized_level < 1, Error.UNSUPPORTED_VERSION)
    before = (foreign, Error.INCONSISTENT_CLUSTER_ID)
    match request:
        case AddVoter() | AddVoterRequest():
            malformed = (_is_nameless(request.voter) or not request.endpoint, Error.INVALID_REQUEST)
            known = (request.voter.id in [voter.id for voter in situation.voters], Error.DUPLICATE_VOTER)
            return _first(before, not_leader, malformed, busy, epoch_open, level_0, set_open, known)
        case RemoveVoter() | RemoveVoterRequest():
            malformed = (_is_nameless(request.voter), Error.INVALID_REQUEST)
            missing = (request.voter not in situation.voters, Error.VOTER_NOT_FOUND)
            return _first(before, not_leader, malformed, busy, epoch_open, level_0, set_open, missing)
        case UpdateVoterRequest():
            lowest, highest = request.min_version, request.max_version
            shapeless = _is_nameless(request.voter) or not request.endpoint or lowest < 0 or lowest > highest
            unsupported = not lowest <= situation.finalized_level <= highest
            entries = [voter for voter in situation.voters if voter.id == request.voter.id]
            matching = [voter for voter in entries if voter.directory_id in (None, request.voter.directory_id)]
            return _first(
                before,
                (request.epoch < EPOCH, Error.FENCED_LEADER_EPOCH),
                (request.epoch > EPOCH, Error.UNKNOWN_LEADER_EPOCH),
                not_leader,
                (shapeless, Error.INVALID_REQUEST),
                busy,
                epoch_open,
                set_open,
                (unsupported, Error.INVALID_REQUEST),
                (not matching, Error.VOTER_NOT_FOUND),
            )
        case UpdateFeatures():
            if _first(not_leader, busy, epoch_open, set_open) is not Error.NONE:
                return _first(not_leader, busy, epoch_open, set_open)
            if request.kraft_version == situation.newest_level:
                return Error.NONE
            upwards = (situation.newest_level, request.kraft_version) == (0, 1)
            brokers = request.brokers_min <= request.kraft_version <= request.brokers_max
            possible = upwards and brokers and situation.reported
            return Error.NONE if possible else Error.INVALID_UPDATE_VERSION


def expected_answer(situation: Situation, request: Request, error: Error) -> Message | Reply:
    """To whom the error goes, and with which leader."""
    leader_id = situation.leader_id
    if isinstance(request, AddVoter | RemoveVoter | UpdateFeatures):
        return reply(5, EPOCH, leader_id, error)
    told = (1, 5, 8, error, EPOCH, leader_id, where(leader_id))
    match request:
        case AddVoterRequest():
            return AddVoterResponse(*told)
        case RemoveVoterRequest():
            return RemoveVoterResponse(*told)
        case UpdateVoterRequest():
            return UpdateVoterResponse(*told)


def check(situation: Situation, request: Request, state: ReplicaState, configuration: Configuration) -> Error | None:
    """One request in one state; the error that it was answered with, None for a replica that does not run."""
    event: Event = request if isinstance(request, AddVoter | RemoveVoter | UpdateFeatures) else Receive(request)
    done = handle(state, configuration, event, DRAW)
    if situation.role is Role.STOPPED:
        assert done == Outcome(state, refusal=Refusal.NOT_RUNNING)
        return None
    error = expected_error(situation, request)
    if error is Error.NONE:
        # Accepted: an answer, if there is one yet, is no error; what follows the rules of each request say.
        assert done.refusal is None
        assert {getattr(sent, "error", Error.NONE) for sent in done.sends} <= {Error.NONE}
        return error
    answer = expected_answer(situation, request, error)
    assert done._replace(refusal=None) == Outcome(state, (answer,)), (situation, request)
    assert done.refusal is not None
    assert effects_of(state, done) == ((Answer(answer),) if isinstance(answer, Reply) else (Send(answer),))
    return error


# ---------------------------------------------------------------------------------------------------------
# The tests.
# ---------------------------------------------------------------------------------------------------------

REQUESTS = {
    "AddVoter": add_voters,
    "RemoveVoter": remove_voters,
    "UpdateVoter": update_voters,
    "UpdateFeatures": update_features,
}


@pytest.mark.parametrize("kind", list(REQUESTS))
@given(SITUATIONS)
def test_every_wrong_field_in_any_state(kind: str, situation: Situation) -> None:
    state, configuration = situation.state, situation.configuration
    for request in REQUESTS[kind]():
        check(situation, request, state, configuration)


COMMON = {
    Error.NONE,
    Error.NOT_LEADER_OR_FOLLOWER,
    Error.REQUEST_TIMED_OUT,
}
CODES = {
    "AddVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.INVALID_REQUEST,
        Error.UNSUPPORTED_VERSION,
        Error.DUPLICATE_VOTER,
    },
    "RemoveVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.INVALID_REQUEST,
        Error.UNSUPPORTED_VERSION,
        Error.VOTER_NOT_FOUND,
    },
    "UpdateVoter": COMMON
    | {
        Error.INCONSISTENT_CLUSTER_ID,
        Error.FENCED_LEADER_EPOCH,
        Error.UNKNOWN_LEADER_EPOCH,
        Error.INVALID_REQUEST,
        Error.VOTER_NOT_FOUND,
    },
    "UpdateFeatures": COMMON | {Error.INVALID_UPDATE_VERSION},
}


@pytest.mark.parametrize("kind", list(REQUESTS))
def test_every_error_is_reached(kind: str) -> None:
    """A fixed set of states, so that no check above is an empty one."""
    reached: Counter[Error | None] = Counter()
    plain = [
        Situation(role, level, "data", "no change", 1, True, False)
        for role, level in product((Role.LEADER, Role.FOLLOWER), (0, 1))
    ]
    for situation in (
        *plain,
        replace(plain[1], high_watermark=0),
        replace(plain[1], log="a set", high_watermark=1),
        replace(plain[1], pending="a removal"),
        replace(plain[0], log="an upgrade", high_watermark=2),
    ):
        state, configuration = situation.state, situation.configuration
        reached.update(check(situation, request, state, configuration) for request in REQUESTS[kind]())
    assert set(reached) == CODES[kind]
