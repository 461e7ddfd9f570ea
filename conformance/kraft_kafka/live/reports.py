"""Results of a live run, for every output format of the runner."""

import shlex
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from typing import ClassVar, Literal

from msgspec import Struct

from kraft_conformance.protocol.messages import Software
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.output.results import suite_version
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import clip
from kraft_kafka.live.cases import Case
from kraft_kafka.live.cases.catalogue import cases
from kraft_kafka.live.running import ROUND
from kraft_spec.rules import load_registry
from kraft_traces.values import Count
from kraft_vectors.rule_coverage import RuleCoverage

SCHEMA: Literal["kraft-live-results/1"] = "kraft-live-results/1"


class About(Struct, frozen=True, kw_only=True, tag_field="kind", tag="run"):
    """Description of the run: the first line of a result."""

    schema: Literal["kraft-live-results/1"]
    runner: Software
    suite: str
    """Version of the suite."""
    cases: Count
    """Number of cases, whether they were run or not."""
    implementation: Software
    words: tuple[str, ...]
    """The command line, without the options that select cases and formats."""
    starts: str
    """Command that starts the implementation, or its address."""


@dataclass(frozen=True)
class LiveResults(Run):
    """Results of cases on a process."""

    noun: ClassVar[Literal["case"]] = "case"
    program: ClassVar[str] = "kraft-spec live"
    group: ClassVar[str] = "kraft-spec.live"
    statuses: ClassVar[tuple[Status, ...]] = (
        Status.PASS,
        Status.FAIL,
        Status.INCONCLUSIVE,
        Status.UNOBSERVED,
        Status.EXPECTED_FAILURE,
    )

    about: About
    outcomes: tuple[Outcome, ...]

    @property
    def command(self) -> str:
        """Command that starts the implementation, or its address."""
        return self.about.starts

    @property
    def facts(self) -> Mapping[str, str]:
        return {"suite": self.about.suite}

    @property
    def remarks(self) -> tuple[str, ...]:
        return (clip(self.implementation), f"suite {self.about.suite}, {self.about.cases} cases")

    @cached_property
    def coverage(self) -> tuple[RuleCoverage, ...]:
        """Rules that cases judge, each with the ids of its cases in every round."""
        of_rule: dict[str, list[str]] = {}
        for name in dict.fromkeys([*cases(), *self.by_id]):
            for rule in self.asked(name).rules:
                of_rule.setdefault(rule, []).append(name)
        return tuple(
            [RuleCoverage(rule, tuple(of_rule[rule.id]), "") for rule in load_registry() if rule.id in of_rule]
        )

    @property
    def judged(self) -> frozenset[str]:
        """Rules of the cases that pass or fail."""
        return frozenset(rule for it in self.of_status(Status.PASS, Status.FAIL) for rule in self.asked(it.id).rules)

    def with_outcome(self, outcome: Outcome) -> "LiveResults":
        """Return these results and another outcome."""
        return replace(self, outcomes=(*self.outcomes, outcome))

    def asked(self, asked_id: str) -> Case:
        """Return the case of an outcome."""
        return cases()[asked_id.partition(ROUND)[0]]

    def repetition(self, outcome: Outcome) -> str:
        """Return the command that repeats a case."""
        return shlex.join([*self.about.words, "-k", self.asked(outcome.id).id])


def results_of(words: tuple[str, ...], starts: str, implementation: Software) -> LiveResults:
    """Return empty results for this command line."""
    about = About(
        schema=SCHEMA,
        runner=Software("kraft-spec", version("kraft-spec")),
        suite=suite_version(),
        cases=len(cases()),
        implementation=implementation,
        words=words,
        starts=starts,
    )
    return LiveResults(about, ())


def listed(case: Case) -> list[str]:
    """Return a case in lines of at most 80 columns: its id, title and rules."""
    wide = textwrap.TextWrapper(80, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    return [case.id, *wide.wrap(case.title), *wide.wrap(", ".join(case.rules))]
