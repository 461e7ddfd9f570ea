"""A run as values: of what, with which vectors, and what came of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.metadata import version
from typing import Literal, NamedTuple

from msgspec import Struct

from kraft_conformance.protocol.features import Feature, Level, Subject
from kraft_conformance.protocol.messages import HelloReply, Software
from kraft_conformance.runner.outcome import FAILING, Outcome, Status
from kraft_conformance.runner.reports import counts, repetition
from kraft_conformance.vectors.catalogue import Catalogue
from kraft_conformance.vectors.manifest import MANIFEST, vector_folder
from kraft_conformance.vectors.profiles import EXPERIMENTAL, summary_of
from kraft_traces.lines import KipLevel
from kraft_traces.values import Count, KraftVersion

SCHEMA: Literal["kraft-conformance-results/1"] = "kraft-conformance-results/1"


class Suite(Struct, frozen=True, forbid_unknown_fields=True):
    """Which vectors there were."""

    schema: str
    vectors: Count
    """How many, whether they were run or not."""
    manifest_sha256: str
    """Of the manifest, which has the SHA-256 of each vector."""
    version: str = ""
    """What may differ between two is said in docs/citing.md; empty for vectors that are not the package's."""

    def __str__(self) -> str:
        return f"suite {self.version}" if self.version else "an unnamed suite"


class About(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="kind", tag="run"):
    """What was run: the first line of a result."""

    schema: Literal["kraft-conformance-results/1"]
    runner: Software
    suite: Suite
    adapter: str
    """Its command line."""
    asked_profile: str | None
    """What `--profile` said."""
    asked_vectors: str | None
    """The folder that `--vectors` named."""
    asked_timeout_s: float | None
    """What `--timeout` said, if not what it is without."""
    profile: str
    """The one that counted: what was asked for, or what the adapter named."""
    experimental: bool
    """Whether that profile says how somebody read a source, not what is required."""
    note: str
    """What a reader should know of an experimental profile; empty for others."""
    implementation: Software
    kip_levels: dict[str, KipLevel]
    kraft_versions: tuple[KraftVersion, ...]
    observability: Level
    state_injection: bool | Literal["constructed"]
    unsupported: tuple[Feature, ...]
    unobserved: tuple[str, ...]
    subjects: tuple[Subject, ...]


@dataclass(frozen=True)
class Results:
    """A whole run."""

    about: About
    outcomes: tuple[Outcome, ...]
    """In the order in which the vectors stand in the suite, or were asked for."""

    @cached_property
    def by_id(self) -> dict[str, Outcome]:
        """The outcomes by the ids of their vectors."""
        return {outcome.id: outcome for outcome in self.outcomes}

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many vectors have each status, those that none has left out."""
        return counts(self.outcomes)

    def of_status(self, *statuses: Status) -> tuple[Outcome, ...]:
        """The outcomes with one of these statuses."""
        return tuple([outcome for outcome in self.outcomes if outcome.status in statuses])

    def repetition(self, outcome: Outcome) -> str:
        """The one command that runs a vector again."""
        about = self.about
        return repetition(about.adapter, outcome.id, about.asked_profile, about.asked_vectors, about.asked_timeout_s)


class Reason(NamedTuple):
    """Why some vectors neither pass nor fail."""

    status: Status
    reason: str
    ids: tuple[str, ...]


def reasons(results: Results) -> tuple[Reason, ...]:
    """Each reason once: by status, the most frequent first."""
    found: dict[tuple[Status, str], list[str]] = {}
    for outcome in results.outcomes:
        if outcome.status not in (*FAILING, Status.PASS):
            found.setdefault((outcome.status, outcome.reason), []).append(outcome.id)
    order = list(Status)
    listed = [Reason(status, reason, tuple(ids)) for (status, reason), ids in found.items()]
    return tuple(sorted(listed, key=lambda one: (order.index(one.status), -len(one.ids), one.reason)))


def suite_of(catalogue: Catalogue) -> Suite:
    """What tells these vectors from others.

    Raises:
        VectorFileError: the manifest cannot be read.
    """
    manifest = catalogue.manifest
    digest = sha256((catalogue.folder / MANIFEST).read_bytes()).hexdigest()
    own = catalogue.folder == vector_folder()
    return Suite(manifest.schema, len(manifest.vectors), digest, suite_version() if own else "")


def suite_version() -> str:
    """That of the package's vectors: the first two numbers of the package's own."""
    return ".".join(version("kraft-spec").split(".")[:2])


def results_of(
    hello: HelloReply,
    command: str,
    asked_profile: str | None,
    catalogue: Catalogue,
    outcomes: Sequence[Outcome],
    timeout_s: float | None = None,
) -> Results:
    """The results of a run of this command with these vectors."""
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
    return Results(about, tuple(outcomes))


def other_suite(about: About, catalogue: Catalogue) -> str:
    """That a result is of other vectors than these, in words; empty if it is of these."""
    here = suite_of(catalogue)
    if about.suite == here:
        return ""
    return (
        f"This result is of other vectors: {about.suite}, {about.suite.vectors} vectors, "
        f"manifest {about.suite.manifest_sha256[:12]}; here is {here}, {here.vectors} vectors, "
        f"manifest {here.manifest_sha256[:12]}. "
        "Titles, rules and steps are those of the vectors here."
    )
