"""Findings, and the table of them."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from kraft_kafka.recorded import with_releases
from kraft_mutants import MutantError, load_catalogue
from kraft_reference.profile import DECISIONS
from kraft_simulation.scenarios import Scenario, Variant
from kraft_simulation.scenarios import scenario as find_scenario
from kraft_spec.models import UnknownCheck, find_check
from kraft_spec.rules import load_registry


class FindingError(ValueError):
    """The table of findings is wrong, or has no such finding."""


class Counterexample(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """TLC's counterexample: a violated model check, or the evidence of a mutant."""

    property: str
    """The property that TLC reports as violated."""
    check: str = ""
    mutant: str = ""


class Decision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The profile's decision on an open point (a field of `Profile`), and the decision that avoids the finding."""

    name: str
    answer: str
    safe: str


class Finding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A defect or hazard, with a schedule that shows it."""

    name: str
    title: str
    where: str
    """The text that has the defect."""
    rules: tuple[str, ...]
    """Rules of the catalogue that prevent it."""
    says: str
    """The statement of the text, or its omission."""
    shows: str
    """The consequence."""
    resolution: str
    """kraft-spec's behaviour instead."""
    schedule: str
    """A scenario's variant, "name/variant"."""
    violates: str
    """The property that the schedule violates; empty if it only costs time."""
    counterexample: Counterexample
    who: str
    """Affected users."""
    likelihood: str
    """Likelihood that they are affected."""
    workaround: str
    """Remedy for an operator, or for an implementer where no release is affected."""
    release: str
    """Affected releases, and the source: read, tried, or in the public tracker.

    `{shown}` in the table is replaced by the recorded releases that show it.
    """
    decision: Decision | None = None
    """The profile's decision that causes it, if any."""
    fix: str = ""
    """The patch in `kafka/patching/patches.toml` that fixes an affected Apache Kafka."""

    @property
    def is_for_kafka(self) -> bool:
        """True if the schedule needs no mutant, or if Kafka breaks the mutant's rule."""
        return bool(self.fix) or not self.variant()[1].mutants

    def variant(self) -> tuple[Scenario, Variant]:
        """Return the scenario and the variant of the schedule.

        Raises:
            KeyError: there is none.
        """
        scenario_name, _, variant_name = self.schedule.partition("/")
        scenario = find_scenario(scenario_name)
        return scenario, scenario.variant(variant_name)


class FindingFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table."""

    finding: tuple[Finding, ...]


def findings_folder() -> Path:
    """Return the folder with TLC's recorded counterexamples."""
    return Path(str(files("kraft_kafka.findings") / "recorded"))


@cache
def load_findings() -> tuple[Finding, ...]:
    """Load all findings, in the order of the table.

    Raises:
        FindingError: The table is malformed, or names a rule, a schedule, a check or a mutant that does not exist.
    """
    text = (files("kraft_kafka.findings") / "findings.toml").read_bytes()
    return read_findings(text)


def read_findings(text: bytes) -> tuple[Finding, ...]:
    """Parse the findings of a table.

    Raises:
        FindingError: As `load_findings`.
    """
    try:
        table = msgspec.toml.decode(text, type=FindingFile).finding
    except msgspec.DecodeError as error:
        raise FindingError(f"findings.toml: {error}") from error
    registry = load_registry()
    names = [finding.name for finding in table]
    for finding in table:
        if names.count(finding.name) > 1:
            raise FindingError(f"findings.toml: two findings are called {finding.name}")
        for rule in finding.rules:
            if rule not in registry:
                raise FindingError(f"finding {finding.name} names {rule!r}, which is no rule")
        try:
            _, variant = finding.variant()
            match finding.counterexample:
                case Counterexample(check=check, mutant="") if check:
                    find_check(check)
                case Counterexample(check="", mutant=mutant) if mutant:
                    load_catalogue()[mutant]
                case _:
                    raise FindingError(f"finding {finding.name}: counterexample: expected check or mutant")
        except (KeyError, UnknownCheck, MutantError) as error:
            raise FindingError(f"finding {finding.name}: {error.args[0]}") from error
        if finding.decision is not None:
            _check_decision(finding.decision, finding.name)
        if finding.violates and finding.violates not in variant.violates:
            raise FindingError(
                f"finding {finding.name}: {finding.schedule} violates {', '.join(variant.violates) or 'nothing'}, "
                f"not {finding.violates}"
            )
    return tuple(
        msgspec.structs.replace(finding, release=with_releases(finding.release, finding.name)) for finding in table
    )


def _check_decision(decision: Decision, finding: str) -> None:
    answers = DECISIONS.get(decision.name, ())
    for answer in (decision.answer, decision.safe):
        if answer not in answers:
            allowed = ", ".join(answers) or "no answers, because it is no decision"
            raise FindingError(f"finding {finding}: {answer!r} is no answer to {decision.name}; it has {allowed}")


def find_finding(name: str) -> Finding:
    """Return the finding of that name.

    Raises:
        FindingError: there is none.
    """
    for finding in load_findings():
        if finding.name == name:
            return finding
    names = ", ".join(finding.name for finding in load_findings())
    raise FindingError(f"no finding {name!r}; there are {names}")
