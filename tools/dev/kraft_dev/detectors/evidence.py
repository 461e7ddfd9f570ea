"""The recorded evidence: for each check of the simulator and of the trace checker a mutant and a run that it detects.

The models' evidence is in the catalogue of mutants and in the catalogue of model checks; it is not repeated here.
"""

from importlib.resources import files

import msgspec

from kraft_dev.detectors.attempt import Judge, Run, judged
from kraft_dev.detectors.checks import Layer
from kraft_spec.mutants import load_catalogue


class Detected(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that detects a mutant first."""

    layer: Layer
    check: str
    mutant: str
    run: Run
    """The run of the broken reference in which it does."""
    beside: tuple[str, ...] = ()
    """Stronger properties, which the same event violates: without them this check would be the one to see it."""


class Aside(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A check that is no promise of the protocol, and what shows that it can fail."""

    layer: Layer
    check: str
    reason: str


class Blind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A field of a trace of which not every lie is seen."""

    field: str
    """As `shown_field` gives it; `header: ` or `end: ` before it for those lines."""
    reason: str


class Evidence(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file."""

    detected: tuple[Detected, ...] = ()
    aside: tuple[Aside, ...] = ()
    blind: tuple[Blind, ...] = ()


def load_evidence() -> Evidence:
    """Read evidence.toml.

    Raises:
        msgspec.DecodeError: It is malformed.
    """
    return msgspec.toml.decode((files("kraft_dev.detectors") / "evidence.toml").read_bytes(), type=Evidence)


def problem_of(detected: Detected) -> str:
    """Run it again: why this is not what is recorded; empty if it is.

    Raises:
        MutantError: There is no such mutant.
        EditError: An edit does not fit any more.
        ChildError: The process failed.
    """
    judge: Judge = "simulator" if detected.layer == "simulator" else "line"
    (seen,) = judged(load_catalogue()[detected.mutant], judge, [detected.run])
    first = [name for name in seen.properties if name not in detected.beside][:1]
    if first == [detected.check] and set(detected.beside) <= set(seen.properties):
        return ""
    found = ", ".join(seen.properties) or "nothing"
    return f"{detected.run} of {detected.mutant} violates {found}, not {detected.check}{_beside(detected)}"


def _beside(detected: Detected) -> str:
    return f" beside {', '.join(detected.beside)}" if detected.beside else ""
