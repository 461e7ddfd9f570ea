"""Mutants for the tools: those of the catalogue, machine-made ones, and bugs of other Raft implementations."""

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
"""Name for the mutants whose evidence is checked on every push."""

_PARTITION_FILES = "kraft_partitions/"


class Key(NamedTuple):
    """Identity of a machine-made mutant, stable under other changes in its file.

    Attributes:
        file: Path with its package.
        operator: Name of the operator in Cosmic Ray, without its provider.
        before: The first changed line of the source, without indentation.
        after: That line in the mutant.
        occurrence: Number of earlier lines in the file with the same text.
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
        edits: Edits of the reference; none for the unmodified one and for mutants of the model alone.
        breaks: Broken rules, the main one first.
        change: Description of the fault, or the line before and after.
        part: Vectors that apply: those of a quorum replica, or of partition controllers.
        kind: Origin of the mutant.
        key: Key of a machine-made mutant.
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


UNBROKEN = Subject("the unmodified reference")


def subject_of(mutant: Mutant) -> Subject:
    """Return the subject of a catalogue mutant."""
    edits = reference_edits(mutant)
    in_partitions = bool(edits) and all(edit.file.startswith(_PARTITION_FILES) for edit in edits)
    part: features.Subject = "partitions" if in_partitions else "replica"
    return Subject(mutant.name, edits, mutant.rules, mutant.bug, part, mutant=mutant)


def seeded_subjects(names: Sequence[str] = ()) -> tuple[Subject, ...]:
    """Return mutants in the catalogue's order.

    Args:
        names: Names of mutants, ids of their main rules, or `sample`; all mutants if empty.

    Raises:
        MutantError: nothing has one of the names, or the catalogue is wrong.
    """
    catalogue = load_catalogue()
    chosen: set[str] = set()
    for name in names:
        about = [
            mutant.name for mutant in catalogue.mutants if mutant.rules[0] == name or (mutant.sample and name == SAMPLE)
        ]
        chosen.update(about or [catalogue[name].name])
    return tuple(subject_of(mutant) for mutant in catalogue.mutants if not names or mutant.name in chosen)


class _Foreign(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    rules: tuple[str, ...]
    bug: str
    source: str
    edit: tuple[ReferenceEdit, ...]


class _ForeignFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    bug: tuple[_Foreign, ...]


def foreign_subjects() -> tuple[Subject, ...]:
    """Read the bugs of other Raft implementations.

    Raises:
        msgspec.DecodeError: the file is malformed.
    """
    bugs = msgspec.toml.decode((files(__package__) / "foreign.toml").read_bytes(), type=_ForeignFile).bug
    return tuple(
        Subject(bug.name, tuple([edit.as_edit() for edit in bug.edit]), bug.rules, bug.bug, kind="foreign")
        for bug in bugs
    )


def mutants_of_same_text(subject: Subject) -> frozenset[str]:
    """Return the catalogue mutants that change the same text as this one, itself included."""
    edited = {(edit.file, edit.old) for edit in subject.edits}
    texts_of = {
        mutant.name: {(edit.file, edit.old) for edit in reference_edits(mutant)} for mutant in load_catalogue().mutants
    }
    return frozenset(name for name, texts in texts_of.items() if name == subject.name or edited & texts)


class UndetectableError(ValueError):
    """The file of undetectable mutants is wrong."""


class _Undetectable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `undetectable.toml`."""

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
        """Name of a seeded mutant, or key of a machine-made one."""
        return self.mutant or Key(self.file, self.operator, self.before, self.after, self.occurrence)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    undetectable: tuple[_Undetectable, ...] = ()


@cache
def load_undetectable(*, behind_adapter: bool) -> Mapping[str | Key, str]:
    """Return the reasons why mutants are undetectable, by name or key.

    Args:
        behind_adapter: True to include those that only vectors and random runs cannot detect.

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
    """Return why nothing can detect this mutant; empty if no reason is listed."""
    return load_undetectable(behind_adapter=behind_adapter).get(subject.key or subject.name, "")
