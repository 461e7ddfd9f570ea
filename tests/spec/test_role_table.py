"""RoleTable.tla equals the module that kraft_spec.role_table generates from the reference's transition table."""

from kraft_spec.role_table import committed_module, role_table_module


def test_the_committed_module_is_the_generated_one() -> None:
    assert committed_module() == role_table_module()
