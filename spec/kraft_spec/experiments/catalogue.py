"""The edits that leave a rule out: the TOML files beside this module, read and checked."""

from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

import msgspec

from kraft_spec.edits import Edit, ModelEdit, ReferenceEdit
from kraft_spec.rules import load_registry

_OF_PARTITIONS = "partition-reassign."


class ExperimentError(ValueError):
    """There is no experiment without these rules, or a file of them is wrong."""


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What leaves out a rule."""

    rules: tuple[str, ...]
    """The rule; of several, what leaving all of them out takes beside the edits of each."""
    model: tuple[ModelEdit, ...]
    reference: tuple[ReferenceEdit, ...]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    experiment: tuple[Experiment, ...]


@cache
def _experiments() -> tuple[Experiment, ...]:
    """All experiments, those of several rules last.

    Raises:
        ExperimentError: a file is malformed, or names what is no rule.
    """
    found: list[Experiment] = []
    for file in sorted(files(__package__).iterdir(), key=lambda one: one.name):
        if not file.name.endswith(".toml"):
            continue
        try:
            read = msgspec.toml.decode(file.read_bytes(), type=_File).experiment
        except msgspec.DecodeError as error:
            raise ExperimentError(f"{file.name}: {error}") from error
        for rule in [rule for one in read for rule in one.rules]:
            if rule not in load_registry():
                raise ExperimentError(f"{file.name}: rules names {rule!r}, which is no rule")
        found += read
    return tuple(sorted(found, key=lambda one: len(one.rules)))


@cache
def _all_switchable() -> tuple[str, ...]:
    return tuple(sorted(one.rules[0] for one in _experiments() if len(one.rules) == 1))


def switchable_rules() -> tuple[str, ...]:
    """The rules of the quorum that can be left out one at a time, in alphabetical order."""
    return tuple([rule for rule in _all_switchable() if not rule.startswith(_OF_PARTITIONS)])


def switchable_partition_rules() -> tuple[str, ...]:
    """The rules of reassignment that can be left out one at a time, in alphabetical order."""
    return tuple([rule for rule in _all_switchable() if rule.startswith(_OF_PARTITIONS)])


def _without(rules: Collection[str]) -> Iterator[Experiment]:
    known = _all_switchable()
    for rule in rules:
        if rule not in known:
            raise ExperimentError(f"{rule!r} is no rule that can be left out, expected one of {', '.join(known)}")
    yield from (one for one in _experiments() if set(rules).issuperset(one.rules))


def model_edits_without(rules: Collection[str]) -> tuple[Edit, ...]:
    """The edits of `kraft_spec` after which its model does without these rules, in their order.

    Raises:
        ExperimentError: a rule cannot be left out.
    """
    return tuple([edit.as_edit() for one in _without(rules) for edit in one.model])


def reference_edits_without(rules: Collection[str]) -> tuple[Edit, ...]:
    """The edits of `kraft_reference` after which it does without these rules, in their order.

    Raises:
        ExperimentError: a rule cannot be left out.
    """
    return tuple([edit.as_edit() for one in _without(rules) for edit in one.reference])
