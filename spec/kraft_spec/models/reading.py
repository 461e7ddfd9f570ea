"""Read the model checks: each is one configuration of TLC, whose head says what kind of check it is.

The head is a comment that holds TOML:

    \\* name = "election"
    \\* module = "MCElection"
    \\* groups = ["ci"]
    \\* bounds = "3 voters from the first start, epochs 1 and 2, all time out"
    \\* leaves_out = "Fetch (replication, stability), hand-over (handover), faults (network, crash)"

A configuration without a head belongs to no check (Trace.cfg).
"""

from dataclasses import fields
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import msgspec

from kraft_spec.experiments import ExperimentError, model_edits_without
from kraft_spec.models.check import ModelCheck

COMMENT = "\\*"


class CheckFileError(ValueError):
    """The head of a configuration is wrong; the message names the file and the field."""


_FIELDS = {field.name for field in fields(ModelCheck)} - {"configuration"}
"""What a head may say: all of a check but the name of its file."""


def read_check(configuration: str, text: str) -> ModelCheck | None:
    """The check that a configuration is; None if it has no head.

    Raises:
        CheckFileError: The head is malformed, a field is missing or unknown.
    """
    head: list[str] = []
    for line in text.splitlines():
        if not line.startswith(COMMENT):
            break
        head.append(line.removeprefix(COMMENT).removeprefix(" "))
    if not head:
        return None
    try:
        said = msgspec.toml.decode("\n".join(head), type=dict[str, Any])
        if unknown := sorted(set(said) - _FIELDS):
            raise CheckFileError(
                f"{configuration}.cfg: unknown field {unknown[0]}, expected {', '.join(sorted(_FIELDS))}"
            )
        check = msgspec.convert({**said, "configuration": configuration}, ModelCheck)
    except msgspec.DecodeError as error:
        raise CheckFileError(f"{configuration}.cfg: {error}") from error
    try:
        model_edits_without(check.without)
    except ExperimentError as error:
        raise CheckFileError(f"{configuration}.cfg: without: {error}") from error
    if check.fires and not (check.coverage or check.violates):
        raise CheckFileError(
            f"{configuration}.cfg: fires is only looked at with coverage = true, or where violates names a property"
        )
    return check


def read_checks(folder: Path | Traversable, groups: tuple[str, ...]) -> tuple[ModelCheck, ...]:
    """The checks of all configurations in a folder: those of the earlier groups first, then by name.

    Raises:
        CheckFileError: A head is malformed, a group does not exist, or two checks share a name.
    """
    found: dict[str, ModelCheck] = {}
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".cfg"):
            continue
        check = read_check(file.name.removesuffix(".cfg"), file.read_text(encoding="utf-8"))
        if check is None:
            continue
        unknown = set(check.groups) - set(groups)
        if unknown or not check.groups:
            named = ", ".join(sorted(unknown)) or "no group"
            raise CheckFileError(f"{file.name}: groups names {named}, expected some of {', '.join(groups)}")
        if check.name in found:
            raise CheckFileError(f"{file.name}: name {check.name!r} is that of {found[check.name].configuration}.cfg")
        found[check.name] = check
    return tuple(sorted(found.values(), key=lambda check: (min(map(groups.index, check.groups)), check.name)))
