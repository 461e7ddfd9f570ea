"""The broken references that the tools are asked about: the seeded mutants, and samples of machine-made ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from kraft_mutants import Mutant, load_catalogue, reference_edits, seeded
from kraft_spec.edits import Edit
from kraft_vectors import features

_PARTITION_FILES = "kraft_partitions/"


class Key(NamedTuple):
    """What names a machine-made mutant, whatever else changes in its file.

    Attributes:
        file: Path with its package.
        operator: Name of the operator in Cosmic Ray, without its provider.
        before: The first changed line of the source, without indentation.
        after: That line in the mutant.
        occurrence: How many lines above it in the file have the same text.
    """

    file: str
    operator: str
    before: str
    after: str
    occurrence: int = 0


@dataclass(frozen=True, slots=True)
class Subject:
    """A broken reference.

    Attributes:
        name: Of the mutant.
        edits: Of the reference; none of the unbroken one.
        breaks: Rules, the one that it is about first.
        change: What it does wrong, or the line before and after.
        part: Whose vectors it meets: those of a replica of the quorum, or of controllers of partitions.
        key: Of a machine-made one.
    """

    name: str
    edits: tuple[Edit, ...] = ()
    breaks: tuple[str, ...] = ()
    change: str = ""
    part: features.Subject = "replica"
    key: Key | None = None


UNBROKEN = Subject("the unbroken reference")


def subject_of(mutant: Mutant) -> Subject:
    """The broken reference of a mutant."""
    edits = reference_edits(mutant)
    part: features.Subject = "partitions" if all(one.file.startswith(_PARTITION_FILES) for one in edits) else "replica"
    return Subject(mutant.name, edits, mutant.rules, mutant.bug, part)


def seeded_subjects(names: Sequence[str] = ()) -> tuple[Subject, ...]:
    """The seeded mutants of these names, or all, in the catalogue's order.

    Raises:
        MutantError: There is no mutant of a name, or the catalogue is wrong.
    """
    return tuple(subject_of(mutant) for mutant in seeded(load_catalogue(), names))


def alike(subject: Subject) -> frozenset[str]:
    """The seeded mutants that change a text which this one changes, itself among them."""
    edited = {(edit.file, edit.old) for edit in subject.edits}
    others = {one.name: {(edit.file, edit.old) for edit in reference_edits(one)} for one in load_catalogue().mutants}
    return frozenset(name for name, texts in others.items() if name == subject.name or edited & texts)


class UndetectableError(ValueError):
    """The file of what nothing can detect is wrong."""


class _Undetectable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One entry of `undetectable.toml`."""

    reason: str
    mutant: str = ""
    file: str = ""
    operator: str = ""
    before: str = ""
    after: str = ""
    occurrence: int = 0
    adapter_only: bool = False

    @property
    def name(self) -> str | Key:
        """A seeded mutant, or a machine-made one."""
        return self.mutant or Key(self.file, self.operator, self.before, self.after, self.occurrence)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    undetectable: tuple[_Undetectable, ...] = ()


@cache
def load_undetectable(*, behind_adapter: bool) -> Mapping[str | Key, str]:
    """Why nothing can detect a mutant: by its name or key.

    Args:
        behind_adapter: With those that vectors and random runs alone cannot detect.

    Raises:
        UndetectableError: The file is malformed, or names a mutant twice.
    """
    return read_undetectable((files(__package__) / "undetectable.toml").read_text("utf-8"), behind_adapter)


def read_undetectable(text: str, behind_adapter: bool) -> Mapping[str | Key, str]:
    """As `load_undetectable`, from a text."""
    try:
        entries = msgspec.toml.decode(text, type=_File).undetectable
    except msgspec.DecodeError as error:
        raise UndetectableError(f"undetectable.toml: {error}") from error
    names = [entry.name for entry in entries]
    if twice := [name for name in names if names.count(name) > 1]:
        raise UndetectableError(f"undetectable.toml: twice: {twice[0]}")
    return {entry.name: entry.reason for entry in entries if behind_adapter or not entry.adapter_only}


def reason_of(subject: Subject, *, behind_adapter: bool) -> str:
    """Why nothing can detect this mutant; empty if nobody has said so."""
    return load_undetectable(behind_adapter=behind_adapter).get(subject.key or subject.name, "")
