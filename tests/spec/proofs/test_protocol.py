"""KIP-853's verdict on a change, regardless of majorities."""

import pytest
from tests.spec.proofs.voters import voters

from kraft_proofs.changes import change
from kraft_proofs.protocol import judge
from kraft_spec.rules import load_registry

ONE_AT_A_TIME = "voters.at-most-one-difference"


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("1 2 3", "1 2 3", "changes no voter"),
        ("1 2 3", "1 2 3 4", "adds 4"),
        ("1 2", "1", "removes 2"),
        ("1-A 2-B", "1-A 2-B 3-C", "adds 3-C"),
        ("1 2-B", "1-A 2-B", "fills in the directory id 1-A"),
        ("1 2", "1-A 2-B", "fills in the directory ids 1-A, 2-B"),
        ("1 2-B", "1-A 2-B 3-C", "adds 3-C, fills in the directory id 1-A"),
    ],
)
def test_allowed_changes_of_a_record(old: str, new: str, kind: str) -> None:
    verdict = judge(change(voters(old), voters(new)))
    assert (verdict.kind, verdict.refusals, verdict.allowed) == (kind, (), True)


@pytest.mark.parametrize(
    ("old", "new", "rules"),
    [
        ("1 2 3", "1 2 4", [ONE_AT_A_TIME]),
        ("1 2 3 4", "1 2 3 5", [ONE_AT_A_TIME]),
        ("1 2 3", "1 2 3 4 5", [ONE_AT_A_TIME]),
        ("1 2 3", "1", [ONE_AT_A_TIME]),
        (
            "1-A 2-B 3-C",
            "1-A 2-B 3-D",
            ["identity.directory-id-never-silently-replaced", "add-voter.duplicate-id", ONE_AT_A_TIME],
        ),
        ("1-A 2-B", "1-A 2-B 2-C", ["add-voter.duplicate-id"]),
        ("1-A 1-B 2", "1-A 2", ["add-voter.duplicate-id"]),
        ("1", "", ["voters.never-empty"]),
        ("", "1", ["voters.never-empty"]),
        ("1-A 2-B", "1 2-B", ["identity.directory-id-never-silently-replaced"]),
        ("1 2 3-C", "1-A 2-B 3-C", [ONE_AT_A_TIME, "update-voter.not-a-membership-change"]),
        ("1-A 2-B", "1-A 2-B 3", ["add-voter.well-formed"]),
    ],
)
def test_forbidden_changes_of_a_record(old: str, new: str, rules: list[str]) -> None:
    verdict = judge(change(voters(old), voters(new)))
    assert [rule for reason in verdict.refusals for rule in reason.rules] == rules
    assert verdict.conditions == ()
    assert [load_registry()[rule].id for rule in rules] == rules


def test_an_allowed_change_names_its_conditions() -> None:
    verdict = judge(change(voters("1 2 3"), voters("1 2 3 4")))
    assert [str(condition) for condition in verdict.conditions] == [
        "kraft.version is 1 (voters.static-set-at-version-0)",
        "the old set is committed, no other change is pending (voters.one-change-at-a-time)",
        "the leader has committed a record of its own epoch (voters.epoch-committed-before-change)",
        "4 has caught up (add-voter.catch-up-first)",
    ]
    assert judge(change(voters("1"), voters("1"))).conditions == ()


UPGRADED = [
    "each voter has said that it supports kraft.version 1 (kraft-version.upgrade-needs-all-voters)",
    "the leader has committed a record of its own epoch: KIP-853 does not say so, and the rule recommends it "
    "(kraft-version.upgrade-atomic-batch)",
]


def test_the_upgrade_of_a_static_set_has_conditions_of_its_own() -> None:
    upgrade = judge(change(voters("1 2"), voters("1-A 2-B")))
    assert [str(condition) for condition in upgrade.conditions] == [
        "it is part of the upgrade to kraft.version 1 (kraft-version.upgrade-atomic-batch)",
        *UPGRADED,
    ]


def test_a_sole_voter_that_gets_its_directory_id_is_read_both_ways() -> None:
    both = judge(change(voters("1"), voters("1-A")))
    assert (both.kind, both.refusals) == ("fills in the directory id 1-A", ())
    assert [str(condition) for condition in both.conditions] == [
        "it is part of the upgrade to kraft.version 1 (kraft-version.upgrade-atomic-batch)",
        *UPGRADED,
        "or it answers UpdateVoter: kraft.version is 1, the old set is committed, no other change is pending, and the "
        "leader has committed a record of its own epoch (update-voter.not-a-membership-change, "
        "voters.one-change-at-a-time, voters.epoch-committed-before-change)",
    ]


def test_two_that_are_added_without_directory_ids_are_two() -> None:
    verdict = judge(change(voters("1-A"), voters("1-A 2 3")))
    assert verdict.refusals[-1].text == "2, 3 are added without a directory id: INVALID_REQUEST"
