"""Facts about each rule, gathered from all packages."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import to_builtins
from tools.site.names import ALL_SCENARIOS
from tools.site.pieces import Piece, pieces
from tools.site.slices import slices_without

from kraft_mutants import Catalogue as MutantCatalogue
from kraft_mutants import Exhaustive, load_catalogue
from kraft_mutants.evidence import Row, rows_about
from kraft_proofs.induction.mutants import MUTANTS as THEORY_MUTANTS
from kraft_proofs.theorems import theorems
from kraft_spec.models import ModelCheck
from kraft_spec.rules import Registry, Rule, load_registry
from kraft_spec.rules.citations import Citation, CitationReport, check_citations
from kraft_spec.rules.scope import Layer, Scope, load_scope
from kraft_spec.rules.sources import checkout_sources
from kraft_vectors.catalogue import Catalogue as VectorCatalogue
from kraft_vectors.manifest import ManifestEntry
from kraft_vectors.rule_coverage import rule_coverage

_TEST_BENCH = ("/scenarios/", "/cluster/")
"""Drivers of the reference, which are not part of it."""

_TURNED_DOWN = "Turned down: "
"""Prefix of a reason in scope.toml that states what holds in place of a rule."""


@dataclass(frozen=True, slots=True)
class TitledVector:
    """A vector of the manifest, with its title."""

    entry: ManifestEntry
    title: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Number of items of a kind for a rule, and the reason if there is none."""

    number: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Violation in the model without a rule, or the reason why there is none.

    Attributes:
        mutant: the mutant that breaks the rule; empty if the model does not have it.
        verdict: One of `kraft_mutants.evidence.VERDICTS`.
        reason: Reason why it is not modelled, or what covers it.
        explanation: Evidence for the verdict, and its reason.
    """

    mutant: str
    verdict: str
    reason: str
    explanation: str


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """Facts about a rule; scenarios, mutants, model checks and theorems by name.

    Attributes:
        rule: The rule.
        implementation: Python that names it: the reference, or the layer assigned in scope.toml.
        model: TLA+ that names it, without the modules with bounds (MC*).
        implementation_reason: Reason why no implementation need name it; empty if one must.
        model_reason: Reason why the model need not name it; empty if it must.
        elsewhere: Other places that name it, apart from pages.
        scenarios: Scenarios that it decides.
        vectors: Vectors about it; those made for a rule before those of a scenario.
        vector_reason: Reason why there is no vector; empty if there is one, or no reason is stated.
        mutants: Mutants that break it.
        counterexamples: Violations of the broken model, or the reason why there are none.
        slices: Model checks that omit it and must report a violation, without those that a counterexample is
            found in anyway.
        theorems: Theorems that the rule rests on.
        theory_mutants: Mutants of the inductive proof that are about it.
        outside: Reason why nothing here implements it; empty if it is in scope.
    """

    rule: Rule
    implementation: tuple[Piece, ...] = ()
    model: tuple[Piece, ...] = ()
    implementation_reason: str = ""
    model_reason: str = ""
    elsewhere: tuple[Citation, ...] = ()
    scenarios: tuple[str, ...] = ()
    vectors: tuple[TitledVector, ...] = ()
    vector_reason: str = ""
    mutants: tuple[str, ...] = ()
    counterexamples: tuple[Counterexample, ...] = ()
    slices: tuple[str, ...] = ()
    theorems: tuple[str, ...] = ()
    theory_mutants: tuple[str, ...] = ()
    outside: str = ""

    @property
    def turned_down(self) -> str:
        """Reason why the specification departs from the text that the rule repeats; empty if it follows it."""
        _, mark, why = self.model_reason.partition(_TURNED_DOWN)
        return why if mark else ""

    @property
    def evidence(self) -> dict[str, Evidence]:
        """Amounts of evidence by kind; counterexamples count rows with one and model checks."""
        shown_rows = [row for row in self.counterexamples if row.verdict in ("alone", "together")]
        # Verdicts on a safety rule that breaks nothing on its own, or cannot be broken.
        why = next((row.explanation for row in self.counterexamples), "")
        return {
            "python": Evidence(len(self.implementation), self.implementation_reason),
            "tla": Evidence(len(self.model), self.model_reason),
            "proofs": Evidence(len(self.theorems) + len(self.theory_mutants)),
            "scenarios": Evidence(len(self.scenarios)),
            "vectors": Evidence(len(self.vectors), self.vector_reason),
            "mutants": Evidence(len(self.mutants)),
            "counterexamples": Evidence(len(self.slices) + len(shown_rows), why),
        }

    def as_data(self) -> dict[str, Any]:
        """All facts as JSON values."""
        facts: dict[str, Any] = to_builtins(self)
        derived = {"group": self.rule.group, "turned_down": self.turned_down, "evidence": to_builtins(self.evidence)}
        return {**facts.pop("rule"), **facts, **derived}


@dataclass(frozen=True, slots=True)
class Material:
    """Sources of the facts; tests can replace each part.

    Attributes:
        registry: The rules.
        scope: Exemptions from naming a rule, by layer.
        report: Citations of each rule, from `checkout_sources`.
        repository: The checkout, for the source around the citations.
        manifest: The vectors.
        titles: Title of each vector, by its id.
        mutants: The catalogue.
    """

    registry: Registry
    scope: Scope
    report: CitationReport
    repository: Path
    manifest: tuple[ManifestEntry, ...]
    titles: Mapping[str, str]
    mutants: MutantCatalogue

    @classmethod
    def of(cls, repository: Path) -> "Material":
        """Return the contents of the packages, and the citations in a checkout."""
        registry, catalogue = load_registry(), VectorCatalogue()
        report = check_citations(registry, checkout_sources(repository))
        titles = {vector_id: catalogue.vector(vector_id).title for vector_id in catalogue}
        return cls(registry, load_scope(), report, repository, catalogue.manifest.vectors, titles, load_catalogue())


def gather(material: Material) -> Mapping[str, RuleFacts]:
    """Return the facts about every rule, in the order of the registry."""
    places: dict[str, list[Citation]] = {}
    for citation in material.report.citations:
        places.setdefault(citation.rule_id, []).append(citation)
    vectors = {coverage.rule.id: coverage for coverage in rule_coverage(material.manifest)}
    by_id = {entry.id: TitledVector(entry, material.titles[entry.id]) for entry in material.manifest}
    slices = slices_without(material.registry.by_id)
    texts: dict[str, str] = {}
    facts: dict[str, RuleFacts] = {}
    for rule in material.registry:
        named = places.get(rule.id, ())
        implementing = [place for place in named if _implements(place, rule, material.scope)]
        modelling = [place for place in named if _models(place)]
        covered = vectors.get(rule.id)
        rows = _rows(rule, material.mutants)
        facts[rule.id] = RuleFacts(
            rule=rule,
            implementation=tuple(sorted(_pieces(implementing, material.repository, texts), key=_rank)),
            model=tuple(_pieces(modelling, material.repository, texts)),
            implementation_reason=_reason(rule, "reference", material.scope),
            model_reason=_reason(rule, "model", material.scope),
            elsewhere=tuple(
                place
                for place in named
                if place not in implementing and place not in modelling and place.layer != "docs"
            ),
            scenarios=tuple(scenario.name for scenario in ALL_SCENARIOS if rule.id in scenario.rules),
            vectors=tuple(sorted((by_id[each] for each in covered.vectors), key=_is_of_scenario)) if covered else (),
            vector_reason=covered.reason if covered else "",
            mutants=tuple(mutant.name for mutant in material.mutants.mutants if rule.id in mutant.rules),
            counterexamples=tuple(
                Counterexample(row.mutant.name if row.mutant else "", row.verdict, row.reason, row.explanation)
                for row in rows
            ),
            slices=_not_searched_by(rows, slices.get(rule.id, ())),
            theorems=tuple(theorem.slug for theorem in theorems() if rule.id in theorem.rules),
            theory_mutants=tuple(mutant.name for mutant in THEORY_MUTANTS if rule.id in mutant.rules),
            outside=material.scope.outside.get(rule.id, ""),
        )
    return facts


def _is_of_scenario(vector: TitledVector) -> bool:
    return vector.entry.id.startswith("scenario.")


def _implements(place: Citation, rule: Rule, scope: Scope) -> bool:
    """True if a citation is in the rule's implementation."""
    layer = scope.instead.get(rule.id, "reference")
    return place.layer == layer and place.path.endswith(".py") and not any(part in place.path for part in _TEST_BENCH)


def _models(place: Citation) -> bool:
    """True if a citation is in the model's statement of the rule."""
    return place.layer == "model" and place.path.endswith(".tla") and not Path(place.path).name.startswith("MC")


def _reason(rule: Rule, layer: Layer, scope: Scope) -> str:
    """Return why the reference or the model need not name a rule; empty if it must."""
    if rule.id in scope.outside:
        return scope.outside[rule.id]
    if layer == "model" and rule.id in scope.instead:
        return scope.instead_reasons[rule.id]
    exempted = scope.exempted(layer).get(rule.id)
    return "" if exempted is None else exempted.reason


def _rows(rule: Rule, catalogue: MutantCatalogue) -> tuple[Row, ...]:
    """Return the rows about a rule, including the one that says why the model cannot break it."""
    reasons = [Row(rule.id, None, gap.reason) for gap in catalogue.not_modelled if gap.rule == rule.id]
    return (*rows_about(rule.id, catalogue), *reasons)


def _not_searched_by(rows: Iterable[Row], slices: Iterable[ModelCheck]) -> tuple[str, ...]:
    """Return the model checks in which no row has its counterexample, so that none is shown twice.

    A search from a different start does not count.
    """
    evidence = [row.mutant.evidence for row in rows if row.mutant is not None]
    searched = {each.check for each in evidence if isinstance(each, Exhaustive) and not each.initial}
    return tuple(check.name for check in slices if check.name not in searched)


def _pieces(places: Iterable[Citation], repository: Path, texts: dict[str, str]) -> Sequence[Piece]:
    """Return the pieces of source around the citations, file by file."""
    by_path: dict[str, list[int]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place.line)
    all_pieces: list[Piece] = []
    for path, lines in by_path.items():
        if path not in texts:
            texts[path] = (repository / path).read_text(encoding="utf-8")
        all_pieces.extend(pieces(path, texts[path], lines))
    return all_pieces


def _rank(piece: Piece) -> tuple[bool, bool, str, int]:
    """Return a sort key: definitions, then constants, then unnamed pieces."""
    return (not piece.name, piece.name.isupper(), piece.path, piece.first)
