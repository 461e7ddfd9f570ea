"""RoleTable.tla is what kraft_spec.role_table generates from the reference's transition table."""

from kraft_reference.roles import role_changes
from kraft_spec.role_table import committed_module, role_table_module


def test_the_committed_module_is_the_generated_one() -> None:
    assert committed_module() == role_table_module()


def test_the_module_lists_every_change_of_role_once() -> None:
    lines = [line.strip(" ,}") for line in committed_module().splitlines() if line.startswith("   <<")]
    assert lines == [f'<<"{source}", "{target}">>' for source, target in sorted(role_changes())]
