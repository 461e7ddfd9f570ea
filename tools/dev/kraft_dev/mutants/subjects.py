"""The mutants that tools are asked about: those of the catalogue, machine-made ones, and bugs of other Rafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import msgspec

from kraft_dev.results import Kind
from kraft_mutants import Mutant, load_catalogue, reference_edits
from kraft_spec.edits import Edit, ReferenceEdit
from kraft_vectors import features

SAMPLE = "sample"
"""Names the mutants whose evidence every push checks."""

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
    """A mutant.

    Attributes:
        name: Its name.
        edits: Of the reference; none of the unbroken one, and of a mutant of the model alone.
        breaks: Rules, the one that it is about first.
        change: What it does wrong, or the line before and after.
        part: Whose vectors it meets: those of a replica of the quorum, or of controllers of partitions.
        kind: Where it comes from.
        key: Of a machine-made one.
        mutant: Its entry in the catalogue.
    """

    name: str
    edits: tuple[Edit, ...] = ()
    breaks: tuple[str, ...] = ()
    change: str = ""
    part: features.Subject = "replica"
    kind: Kind = "seeded"
    key: Key | None = None
    mutant: Mutant | None = None


UNBROKEN = Subject("the unbroken reference")


def subject_of(mutant: Mutant) -> Subject:
    """The subject that a mutant of the catalogue is."""
    edits = reference_edits(mutant)
    in_partitions = bool(edits) and all(one.file.startswith(_PARTITION_FILES) for one in edits)
    part: features.Subject = "partitions" if in_partitions else "replica"
    return Subject(mutant.name, edits, mutant.rules, mutant.bug, part, mutant=mutant)


def seeded_subjects(names: Sequence[str] = ()) -> tuple[Subject, ...]:
    """Return mutants in the catalogue's order.

    Args:
        names: of mutants, ids of the rules that mutants are about first, or `sample`; all mutants if empty.

    Raises:
        MutantError: nothing has one of the names, or the catalogue is wrong.
    """
    catalogue = load_catalogue()
    chosen: set[str] = set()
    for name in names:
        about = [one.name for one in catalogue.mutants if one.rules[0] == name or (one.sample and name == SAMPLE)]
        chosen.update(about or [catalogue[name].name])
    return tuple(subject_of(one) for one in catalogue.mutants if not names or one.name in chosen)


class _Foreign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    rules: tuple[str, ...]
    bug: str
    source: str
    edit: tuple[ReferenceEdit, ...]


class _ForeignFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bug: tuple[_Foreign, ...]


def foreign_subjects() -> tuple[Subject, ...]:
    """Read the bugs that other implementations of Raft had.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    bugs = msgspec.toml.decode((files(__package__) / "foreign.toml").read_bytes(), type=_ForeignFile).bug
    return tuple(
        Subject(one.name, tuple([edit.as_edit() for edit in one.edit]), one.rules, one.bug, kind="foreign")
        for one in bugs
    )


def alike(subject: Subject) -> frozenset[str]:
    """The mutants of the catalogue that change a text which this one changes, itself among them."""
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
