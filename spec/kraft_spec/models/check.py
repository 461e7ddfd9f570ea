"""A model check, and its result."""

from dataclasses import dataclass, replace
from enum import StrEnum

from kraft_reference.profile import KIP
from kraft_spec.models.configuration import Configuration
from kraft_spec.tlc.model_check import Simulation
from kraft_spec.tlc.model_report import ModelCheckReport, Outcome


class Way(StrEnum):
    """Evaluator of the model in a check."""

    COMPILED = "compiled"
    """Compiled code, if the check is long and can be compiled; otherwise TLC."""
    INTERPRETED = "interpreted"
    """TLC's interpreter."""
    EXPLORED = "explored"
    """The explorer, on compiled code; TLC evaluates a sample of the states, and repeats a counterexample."""
    JUDGED = "judged"
    """The explorer; TLC evaluates every state, and a difference ends the check with an error."""
    BOTH = "both"
    """Both; a difference ends the check with an error."""


class UnknownCheck(ValueError):  # noqa: N818 - the name of the check is the error
    """No model check and no group has this name."""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """A check of the model.

    Attributes:
        name: Name on the command line.
        configuration: TLC configuration.
        groups: Groups that run it, from `GROUPS`.
        bounds: Explored part of the model.
        leaves_out: Unexplored part, with the reason or the check that explores it.
        violates: Property that must be violated; empty if all must hold.
        mutants: Mutants of its model, by name or by the rule that they omit: see `kraft_mutants`.
        fires: Actions of Next that must fire: in the counterexample if a property must be violated, otherwise anywhere
            within the bounds.
        coverage: TLC may count actions; only for small checks, because deeply nested operators make this very slow.
        simulation: Random behaviours instead of the whole state space.
        time_limit_seconds: Time after which the check stops, which is an expected outcome too.
        brief: The search takes seconds, so Java should start fast rather than run fast; implied by `violates`.
        profile: Name of the profile that sets the open decisions; see `under_profile`.
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
    """Return the same check under another profile; decisions that the check itself sets stay.

    Args:
        check: A check for which `takes_profile` is true.
        profile: Name of a profile of `kraft_reference.profile`.
    """
    return check if profile == check.profile else replace(check, name=f"{check.name}.{profile}", profile=profile)


def takes_profile(check: ModelCheck) -> bool:
    """Return True if a profile can set the check's decisions: it is not about partitions and sets none itself."""
    return "Profile" not in check.configuration.replaces and "Partition" not in check.configuration.module


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of a check, compared with the expected one.

    Attributes:
        check: The check.
        report: TLC's findings.
        never_fired: Actions that should have fired and did not, in alphabetical order.
        way: Evaluator of the model.
    """

    check: ModelCheck
    report: ModelCheckReport
    never_fired: tuple[str, ...]
    way: Way

    @property
    def as_expected(self) -> bool:
        """True if the outcome is the expected one and every expected action fired."""
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
        """True if the whole state space within the bounds was searched."""
        return self.report.outcome is Outcome.OK and self.check.simulation is None
