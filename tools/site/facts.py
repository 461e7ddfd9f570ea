"""Everything that is known about a rule, from all the packages."""

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
"""What drives the reference and is no part of it."""

_TURNED_DOWN = "Turned down: "
"""How a reason begins in scope.toml that says what holds in place of a rule."""


@dataclass(frozen=True, slots=True)
class TitledVector:
    """A vector as the manifest has it, and what it is about."""

    entry: ManifestEntry
    title: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much of a kind there is about a rule, and why there is none."""

    number: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """What the model violates without a rule, or why it cannot.

    Attributes:
        mutant: the mutant that breaks the rule; empty if the model does not have it.
        verdict: one of `kraft_mutants.evidence.VERDICTS`.
        reason: why it is not modelled, or what covers it.
        explanation: how the verdict is known, and why.
    """

    mutant: str
    verdict: str
    reason: str
    explanation: str


@dataclass(frozen=True, slots=True)
class RuleFacts:
    """A rule and what there is about it; scenarios, mutants, slices and theorems by name.

    Attributes:
        rule: the rule.
        implementation: the Python that names it: the reference, or the layer that scope.toml puts it in.
        model: the TLA+ that names it, the modules with bounds (MC*) left out.
        implementation_reason: why no implementation need name it; empty if one must.
        model_reason: the same for the model.
        elsewhere: all other places that name it, pages apart.
        scenarios: those that it decides.
        vectors: those that are about it; those that were made for a rule before those of a scenario.
        vector_reason: why there is none; empty where there is one, or nothing is said.
        mutants: those that break it.
        counterexamples: what the broken model violates, or why it cannot.
        slices: those of the model that leave it out and must be found violated, without those that a counterexample is
            found in anyway.
        theorems: those that the rule rests on.
        theory_mutants: mutants of the inductive proof that are about it.
        outside: why nothing here implements it; empty if it is in scope.
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
        """Why the specification does otherwise than the text that the rule repeats; empty if it follows it."""
        _, mark, why = self.model_reason.partition(_TURNED_DOWN)
        return why if mark else ""

    @property
    def evidence(self) -> dict[str, Evidence]:
        """How much there is of each kind; of counterexamples, rows with one and slices."""
        found = [row for row in self.counterexamples if row.verdict in ("alone", "together")]
        # What is said of a safety rule that breaks nothing on its own, or cannot be broken.
        why = next((row.explanation for row in self.counterexamples), "")
        return {
            "python": Evidence(len(self.implementation), self.implementation_reason),
            "tla": Evidence(len(self.model), self.model_reason),
            "proofs": Evidence(len(self.theorems) + len(self.theory_mutants)),
            "scenarios": Evidence(len(self.scenarios)),
            "vectors": Evidence(len(self.vectors), self.vector_reason),
            "mutants": Evidence(len(self.mutants)),
            "counterexamples": Evidence(len(self.slices) + len(found), why),
        }

    def as_data(self) -> dict[str, Any]:
        """All that is known, as values that JSON has."""
        facts: dict[str, Any] = to_builtins(self)
        derived = {"group": self.rule.group, "turned_down": self.turned_down, "evidence": to_builtins(self.evidence)}
        return {**facts.pop("rule"), **facts, **derived}


@dataclass(frozen=True, slots=True)
class Material:
    """What the facts are gathered from; each part can be replaced by a test.

    Attributes:
        registry: the rules.
        scope: what need not be named where.
        report: where each is named, by `checkout_sources`.
        repository: the checkout, for the texts around the places.
        manifest: the vectors.
        titles: what each vector is about, by its id.
        mutants: the catalogue.
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
        """What the packages have, and where a checkout names it."""
        registry, catalogue = load_registry(), VectorCatalogue()
        report = check_citations(registry, checkout_sources(repository))
        titles = {vector_id: catalogue.vector(vector_id).title for vector_id in catalogue}
        return cls(registry, load_scope(), report, repository, catalogue.manifest.vectors, titles, load_catalogue())


def gather(material: Material) -> Mapping[str, RuleFacts]:
    """The facts about every rule, in the order of the registry."""
    places: dict[str, list[Citation]] = {}
    for citation in material.report.citations:
        places.setdefault(citation.rule_id, []).append(citation)
    vectors = {one.rule.id: one for one in rule_coverage(material.manifest)}
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
            scenarios=tuple(one.name for one in ALL_SCENARIOS if rule.id in one.rules),
            vectors=tuple(sorted((by_id[each] for each in covered.vectors), key=_is_of_scenario)) if covered else (),
            vector_reason=covered.reason if covered else "",
            mutants=tuple(mutant.name for mutant in material.mutants.mutants if rule.id in mutant.rules),
            counterexamples=tuple(
                Counterexample(row.mutant.name if row.mutant else "", row.verdict, row.reason, row.explanation)
                for row in rows
            ),
            slices=_not_searched_by(rows, slices.get(rule.id, ())),
            theorems=tuple(one.slug for one in theorems() if rule.id in one.rules),
            theory_mutants=tuple(one.name for one in THEORY_MUTANTS if rule.id in one.rules),
            outside=material.scope.outside.get(rule.id, ""),
        )
    return facts


def _is_of_scenario(vector: TitledVector) -> bool:
    return vector.entry.id.startswith("scenario.")


def _implements(place: Citation, rule: Rule, scope: Scope) -> bool:
    """Whether a place is where the rule is implemented."""
    layer = scope.instead.get(rule.id, "reference")
    return place.layer == layer and place.path.endswith(".py") and not any(part in place.path for part in _TEST_BENCH)


def _models(place: Citation) -> bool:
    """Whether a place is where the model states the rule."""
    return place.layer == "model" and place.path.endswith(".tla") and not Path(place.path).name.startswith("MC")


def _reason(rule: Rule, layer: Layer, scope: Scope) -> str:
    """Why the reference or the model need not name a rule; empty if it must."""
    if rule.id in scope.outside:
        return scope.outside[rule.id]
    if layer == "model" and rule.id in scope.instead:
        return scope.instead_reasons[rule.id]
    exempted = scope.exempted(layer).get(rule.id)
    return "" if exempted is None else exempted.reason


def _rows(rule: Rule, catalogue: MutantCatalogue) -> tuple[Row, ...]:
    """The rows about a rule, also the one that says why the model cannot break it."""
    reasons = [Row(rule.id, None, gap.reason) for gap in catalogue.not_modelled if gap.rule == rule.id]
    return (*rows_about(rule.id, catalogue), *reasons)


def _not_searched_by(rows: Iterable[Row], slices: Iterable[ModelCheck]) -> tuple[str, ...]:
    """The slices in which none of the rows has its counterexample: what is shown there is not shown twice.

    A search from a start of its own is another one.
    """
    evidence = [row.mutant.evidence for row in rows if row.mutant is not None]
    searched = {each.check for each in evidence if isinstance(each, Exhaustive) and not each.initial}
    return tuple(one.name for one in slices if one.name not in searched)


def _pieces(places: Iterable[Citation], repository: Path, texts: dict[str, str]) -> Sequence[Piece]:
    """The pieces of source around places, file by file."""
    by_path: dict[str, list[int]] = {}
    for place in places:
        by_path.setdefault(place.path, []).append(place.line)
    found: list[Piece] = []
    for path, lines in by_path.items():
        if path not in texts:
            texts[path] = (repository / path).read_text(encoding="utf-8")
        found.extend(pieces(path, texts[path], lines))
    return found


def _rank(piece: Piece) -> tuple[bool, bool, str, int]:
    """Definitions before constants before what has no name."""
    return (not piece.name, piece.name.isupper(), piece.path, piece.first)
