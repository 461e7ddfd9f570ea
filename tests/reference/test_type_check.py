"""Fields that only one role has."""

from typing import Any

import pytest
from tests.reference.builders import key

from kraft_reference.log import Snapshot, log_from
from kraft_reference.roles import Role
from kraft_reference.state import ReplicaState
from kraft_simulation.type_check import check_type
from kraft_simulation.violation import BrokenProperty

KEYS = frozenset(map(key, (1, 2, 3)))
ROLES: dict[Role, dict[str, Any]] = {
    Role.UNATTACHED: {},
    Role.FOLLOWER: {"leader_id": 2, "leader_endpoint": "replica-2:9093"},
    Role.PROSPECTIVE: {"granted": frozenset({1})},
    Role.CANDIDATE: {"granted": frozenset({1}), "voted_key": key(1)},
    Role.RESIGNED: {"leader_id": 1},
    Role.STOPPED: {},
}
OF_FOLLOWER = ({"fetched": True}, {"searching": True}, {"has_updated_leader": True})
OF_RESIGNED = ({"acknowledging_voters": frozenset({2})},)


def state(role: Role, **fields: Any) -> ReplicaState:
    log = log_from(Snapshot(0, 0, 0, KEYS))
    base = ReplicaState(
        key(1), role, 1, leader_id=None, leader_endpoint=None, voted_key=None, log=log, high_watermark=-1
    )
    return base._replace(**ROLES[role], **fields)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(
    ("owner", "fields"),
    [*((Role.FOLLOWER, fields) for fields in OF_FOLLOWER), *((Role.RESIGNED, fields) for fields in OF_RESIGNED)],
)
def test_a_field_is_of_one_role(role: Role, owner: Role, fields: dict[str, Any]) -> None:
    check_type(state(role))
    if role is owner:
        check_type(state(role, **fields))
    else:
        with pytest.raises(BrokenProperty, match=f"only a .*: {role} in epoch 1"):
            check_type(state(role, **fields))
