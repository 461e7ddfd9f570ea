"""Results of a run, as values: implementation, suite, outcomes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import ClassVar, Literal

from msgspec import Struct

from kraft_conformance.protocol.messages import HelloReply, Software
from kraft_conformance.runner.outcome import Outcome, Status
from kraft_conformance.runner.output.run import Run
from kraft_conformance.runner.output.wording import clip
from kraft_conformance.runner.reports import repetition
from kraft_traces.lines import KipLevel
from kraft_traces.values import Count, KraftVersion
from kraft_vectors.catalogue import AnyVector, Catalogue
from kraft_vectors.features import Feature, Level, Subject
from kraft_vectors.manifest import MANIFEST, vector_folder
from kraft_vectors.profiles import EXPERIMENTAL, shown_profile, summary_of
from kraft_vectors.rule_coverage import RuleCoverage, rule_coverage

SCHEMA: Literal["kraft-conformance-results/1"] = "kraft-conformance-results/1"


class Suite(Struct, frozen=True, forbid_unknown_fields=True):
    """Identity of a set of vectors."""

    schema: str
    vectors: Count
    """Number of vectors, run or not."""
    manifest_sha256: str
    """SHA-256 of the manifest, which has the SHA-256 of each vector."""
    version: str = ""
    """Version as explained in docs/rules.md; empty for vectors from elsewhere than the package."""

    def __str__(self) -> str:
        return f"suite {self.version}" if self.version else "an unnamed suite"


class About(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="run"):
    """Head of a result, its first line."""

    schema: Literal["kraft-conformance-results/1"]
    runner: Software
    suite: Suite
    adapter: str
    """Command line of the adapter."""
    asked_profile: str | None
    """Value of `--profile`."""
    asked_vectors: str | None
    """Value of `--vectors`."""
    asked_timeout_s: float | None
    """Value of `--timeout`, if not the default."""
    profile: str
    """Profile of the run: from `--profile` or from the adapter's hello."""
    experimental: bool
    """True if the profile describes an implementation's source code, not requirements."""
    note: str
    """Remark about an experimental profile; empty for others."""
    implementation: Software
    kip_levels: dict[str, KipLevel]
    kraft_versions: tuple[KraftVersion, ...]
    observability: Level
    state_injection: bool | Literal["constructed"]
    unsupported: tuple[Feature, ...]
    unobserved: tuple[str, ...]
    subjects: tuple[Subject, ...]


@dataclass(frozen=True)
class Results(Run):
    """Results of vectors on an adapter."""

    noun: ClassVar[Literal["vector"]] = "vector"
    program: ClassVar[str] = "kraft-spec conformance"
    group: ClassVar[str] = "kraft-spec"
    statuses: ClassVar[tuple[Status, ...]] = tuple([status for status in Status if status is not Status.INCONCLUSIVE])

    about: About
    outcomes: tuple[Outcome, ...]
    """Outcomes in the order of the suite, or of the selection."""
    catalogue: Catalogue = field(compare=False)
    """Installed vectors, which may differ from those that were run."""

    @property
    def command(self) -> str:
        """Command line of the adapter."""
        return self.about.adapter

    @property
    def facts(self) -> Mapping[str, str]:
        """Profile, observability and suite."""
        about = self.about
        return {
            "profile": about.profile,
            **({"note": about.note} if about.note else {}),
            "observability": about.observability,
            "suite": about.suite.version,
            "manifest": about.suite.manifest_sha256,
        }

    @property
    def remarks(self) -> tuple[str, ...]:
        """Implementation, suite, and a note if other vectors are installed."""
        about, suite = self.about, self.about.suite
        conditions = f"profile {clip(shown_profile(about.profile))}, observability {about.observability}"
        vectors = f"{suite}, {suite.vectors} vectors, manifest {suite.manifest_sha256}"
        return tuple(
            filter(None, (f"{clip(self.implementation)}, {conditions}", vectors, about.note, self.other_suite))
        )

    @cached_property
    def coverage(self) -> tuple[RuleCoverage, ...]:
        """Every active rule with its vectors of the profile, or the reason why there is none."""
        profile = self.about.profile
        of_profile = {name for name in self.catalogue if profile in self.catalogue.vector(name).requires.profiles}
        rows = []
        for covered in rule_coverage(self.catalogue.manifest.vectors):
            vectors = tuple([name for name in covered.vectors if name in of_profile])
            reason = f"none under the profile {profile}" if covered.vectors and not vectors else covered.reason
            rows.append(RuleCoverage(covered.rule, vectors, reason))
        return tuple(rows)

    @cached_property
    def other_suite(self) -> str:
        """Note if the results are of other vectors than the installed ones; else empty."""
        here, of = suite_of(self.catalogue), self.about.suite
        if of == here:
            return ""
        return (
            f"This result is of other vectors: {of}, {of.vectors} vectors, "
            f"manifest {of.manifest_sha256[:12]}; installed is {here}, {here.vectors} vectors, "
            f"manifest {here.manifest_sha256[:12]}. "
            "Titles, rules and steps are those of the installed vectors."
        )

    def asked(self, asked_id: str) -> AnyVector:
        """Return the vector of an outcome."""
        return self.catalogue.vector(asked_id)

    def repetition(self, outcome: Outcome) -> str:
        """Return the command that runs a vector again."""
        about = self.about
        return repetition(about.adapter, outcome.id, about.asked_profile, about.asked_vectors, about.asked_timeout_s)


def suite_of(catalogue: Catalogue) -> Suite:
    """Return the identity of a catalogue.

    Raises:
        VectorFileError: the manifest cannot be read.
    """
    manifest = catalogue.manifest
    digest = sha256((catalogue.folder / MANIFEST).read_bytes()).hexdigest()
    own = catalogue.folder == vector_folder()
    return Suite(manifest.schema, len(manifest.vectors), digest, suite_version() if own else "")


def suite_version() -> str:
    """Return the version of the package's vectors: the first two numbers of the package version."""
    return ".".join(version("kraft-spec").split(".")[:2])


def results_of(
    hello: HelloReply,
    command: str,
    asked_profile: str | None,
    catalogue: Catalogue,
    outcomes: Sequence[Outcome],
    timeout_s: float | None = None,
) -> Results:
    """Return the results of a run of this command with these vectors."""
    profile = asked_profile or hello.profile
    about = About(
        schema=SCHEMA,
        runner=Software("kraft-spec", version("kraft-spec")),
        suite=suite_of(catalogue),
        adapter=command,
        asked_profile=asked_profile,
        asked_timeout_s=timeout_s,
        asked_vectors=None if catalogue.folder == vector_folder() else str(catalogue.folder),
        profile=profile,
        experimental=profile in EXPERIMENTAL,
        note=summary_of(profile),
        implementation=hello.implementation,
        kip_levels=hello.kip_levels,
        kraft_versions=hello.kraft_versions,
        observability=hello.observability,
        state_injection=hello.state_injection,
        unsupported=hello.unsupported,
        unobserved=hello.unobserved,
        subjects=hello.subjects,
    )
    return Results(about, tuple(outcomes), catalogue)
