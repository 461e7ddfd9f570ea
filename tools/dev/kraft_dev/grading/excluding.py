"""Mutants that nothing behind an adapter can notice, each with the argument: they do not count."""

from collections.abc import Mapping
from importlib.resources import files

import msgspec
from msgspec import Struct

from kraft_dev.mutation.machine_made import Key
from kraft_dev.mutation.survivors import load_survivors


class ExcludedError(ValueError):
    """The file of excluded mutants is wrong."""


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    reason: str
    mutant: str = ""
    file: str = ""
    operator: str = ""
    before: str = ""
    after: str = ""
    occurrence: int = 0

    @property
    def name(self) -> str | Key:
        if self.mutant or not self.operator:
            return self.mutant or self.file
        return Key(self.file, self.operator, self.before, self.after, self.occurrence)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    excluded: tuple[_Entry, ...] = ()


def load_excluded() -> Mapping[str | Key, str]:
    """The argument by mutant: by name of a seeded one, by key of a machine-made one, by file of a whole module.

    Raises:
        ExcludedError: `excluded.toml` is malformed, names a mutant twice, or one that `survivors.toml` has as well.
        SurvivorError: that file is wrong.
    """
    name = "excluded.toml"
    try:
        entries = msgspec.toml.decode((files(__package__) / name).read_bytes(), type=_File).excluded
    except msgspec.DecodeError as error:
        raise ExcludedError(f"{name}: {error}") from error
    reasons: dict[str | Key, str] = {
        key: survivor.equivalent for key, survivor in load_survivors().items() if survivor.equivalent
    }
    for entry in entries:
        if entry.name in reasons:
            raise ExcludedError(f"{name}: {entry.name} has an argument already")
        reasons[entry.name] = entry.reason
    return reasons
