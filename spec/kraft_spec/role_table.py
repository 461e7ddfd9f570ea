"""Generated TLA+ module of the reference's role table, so that the model checks every step against it."""

from importlib.resources import files

from kraft_reference.roles import role_changes

MODULE = "RoleTable"


def role_table_module() -> str:
    """Return the text of RoleTable.tla, generated from the reference's transition table.  Rule: state.roles."""
    pairs = sorted((str(source), str(target)) for source, target in role_changes())
    body = ",\n".join(f'   <<"{source}", "{target}">>' for source, target in pairs)
    head = f"MODULE {MODULE}".center(28)
    return (
        f"{'-' * 28}{head}{'-' * 28}\n"
        "(***************************************************************************)\n"
        "(* Generated from kraft_reference.roles (kraft_spec.role_table): the role  *)\n"
        "(* of a replica before and after one step that changes it.                 *)\n"
        "(***************************************************************************)\n"
        f"RoleChanges == {{\n{body}}}\n"
        f"{'=' * 77}\n"
    )


def committed_module() -> str:
    """Return the text of the committed RoleTable.tla."""
    return (files("kraft_spec") / "tla" / f"{MODULE}.tla").read_text(encoding="utf-8")
