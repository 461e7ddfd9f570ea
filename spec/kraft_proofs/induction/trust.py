"""Data on what the machine proves of the inductive proof, and what a human must review; the command prints it."""

from importlib.resources import files

import msgspec


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part that a machine checks each time."""

    what: str
    how: str


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part that a human must review or know.

    Attributes:
        name: Permanent.
        what: Description.
        where: Text to read.
        evidence: Executed checks about it; empty if there can be none.
    """

    name: str
    what: str
    where: str
    evidence: str = ""


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checked: tuple[Checked, ...]
    reviewed: tuple[Reviewed, ...]


_FILE = msgspec.toml.decode((files("kraft_proofs.induction") / "trust.toml").read_bytes(), type=_File)

CHECKED, REVIEWED = _FILE.checked, _FILE.reviewed
