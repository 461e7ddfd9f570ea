"""What a model check is, and what it found."""

from dataclasses import dataclass, replace
from enum import StrEnum

from kraft_reference.profile import KIP
from kraft_spec.models.configuration import Configuration
from kraft_spec.tlc.model_check import Simulation
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome


class Way(StrEnum):
    """Who is asked about the model in a check."""

    COMPILED = "compiled"
    """Its compiled form, where the check is long and that can be made; else TLC."""
    INTERPRETED = "interpreted"
    """TLC, which interprets it."""
    BOTH = "both"
    """Both; where they disagree the check ends with an error."""


class UnknownCheck(ValueError):  # noqa: N818 - the name of the check is the error
    """No model check, and no group of them, has this name."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """One check of the model.

    Attributes:
        name: Name on the command line.
        configuration: What TLC is told.
        groups: The groups it belongs to, of `GROUPS`.
        bounds: What it explores.
        leaves_out: What it does not, and why or where that is.
        violates: Name of the property that must be found violated; empty if all must hold.
        mutants: Mutants of its model, by name or by the rule that they omit: see `kraft_mutants`.
        fires: Actions of Next that must fire: in the counterexample of a check that must be violated, else somewhere
            within the bounds.
        coverage: Actions may be counted, which is slower, and far slower where operators are nested deeply, so only in
            small checks.
        simulation: Random behaviours instead of the whole state space.
        time_limit_seconds: Stop after that long; to stop early is as good an outcome as an end.
        brief: The search is over within seconds, so Java is to start fast rather than to run fast; taken for granted of
            a check that must find a violation.
        profile: Name of the profile that decides what the check leaves open; see `under_profile`.
    """

    name: str
    configuration: Configuration
    groups: tuple[str, ...]
    bounds: str
    leaves_out: str
    violates: str = ""
    mutants: tuple[str, ...] = ()
    fires: frozenset[str] = frozenset()
    coverage: bool = False
    simulation: Simulation | None = None
    time_limit_seconds: float | None = None
    brief: bool = False
    profile: str = KIP.name


def under_profile(check: ModelCheck, profile: str) -> ModelCheck:
    """The same slice where another profile decides; the answers that the slice itself gives stay.

    Args:
        check: One that may be run under other profiles: see `takes_profile`.
        profile: Name of a profile of `kraft_reference.profile`.
    """
    return check if profile == check.profile else replace(check, name=f"{check.name}.{profile}", profile=profile)


def takes_profile(check: ModelCheck) -> bool:
    """Is what a profile decides open in the check?  Not where it is about partitions, or has answers of its own."""
    return "Decisions" not in check.configuration.replaces and "Partition" not in check.configuration.module


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found, against what was expected of it.

    Attributes:
        check: The check.
        report: TLC's findings.
        never_fired: Actions that should have fired and did not, in alphabetical order.
        way: Who was asked about the model.
    """

    check: ModelCheck
    report: ModelCheckReport
    never_fired: tuple[str, ...]
    way: Way

    @property
    def as_expected(self) -> bool:
        """Whether the outcome is the expected one and every expected action fired."""
        if self.never_fired:
            return False
        if self.check.violates:
            return self.report.outcome is Outcome.VIOLATION and self.report.violated == self.check.violates
        good = {Outcome.OK}
        if self.check.time_limit_seconds is not None:
            good.add(Outcome.TIME_LIMIT)
        return self.report.outcome in good

    @property
    def exhaustive(self) -> bool:
        """Whether the whole state space within the bounds was searched."""
        return self.report.outcome is Outcome.OK and self.check.simulation is None
