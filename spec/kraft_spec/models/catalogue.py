"""Table of the model checks, read from `checks/*.toml`.

Most checks must hold; the others check a mutant, whose named property must be violated. checks/closed.toml documents
the fields of an entry.
"""

from difflib import get_close_matches
from importlib.resources import files

from kraft_spec.models.check import ModelCheck, UnknownCheck
from kraft_spec.models.reading import read_checks

GROUPS = ("smoke", "ci", "long", "nightly")
"""smoke: seconds; ci: exhaustive, on every push; long: exhaustive, at night; nightly: larger, with checkpoints."""

CHECKS: tuple[ModelCheck, ...] = read_checks(files("kraft_spec.models") / "checks", GROUPS)


def find_check(name: str) -> ModelCheck:
    """Return the check of that name.

    Raises:
        UnknownCheck: There is none.
    """
    for check in CHECKS:
        if check.name == name:
            return check
    near = get_close_matches(name, dict.fromkeys((*GROUPS, *(check.name for check in CHECKS))))
    hint = f"did you mean {' or '.join(near)}?" if near else "kraft-spec model lists them, and --help the groups"
    raise UnknownCheck(f"no model check {name!r}; {hint}")


def checks_of(group: str) -> tuple[ModelCheck, ...]:
    """Return the checks of a group, in their order.

    Raises:
        UnknownCheck: There is no such group.
    """
    if group not in GROUPS:
        raise UnknownCheck(f"no group {group!r} of model checks; there are {', '.join(GROUPS)}")
    return tuple(check for check in CHECKS if group in check.groups)
