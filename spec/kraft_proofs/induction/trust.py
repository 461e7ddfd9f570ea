"""What the machine proves of the inductive proof, and what a human must review: data, printed by the command."""

from importlib.resources import files

import msgspec


class Checked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a machine checks each time."""

    what: str
    how: str


class Reviewed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that a human must read and agree with, or know.

    Attributes:
        name: Permanent.
        what: What it is.
        where: What to read.
        evidence: What was executed about it; empty if nothing can be.
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
