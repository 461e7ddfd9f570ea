"""Citations of rules, and a check that every rule is cited where required.

A citation is the whole id in a comment, a docstring or a string, preferably on a line of its own kind:

    Rules: vote.log-check, vote.once-per-epoch.

Every dotted word in the list after `Rules:` (which continues on the next line after a comma) is read as an id, and an
unknown one is reported. In running text only a word with a hyphen can be a misspelt id, see `RuleIds.is_misspelt`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from kraft_spec.rules.prose import READERS, Line
from kraft_spec.rules.registry import Registry
from kraft_spec.rules.rule import Rule
from kraft_spec.rules.rule_ids import RuleIds, dotted_words
from kraft_spec.rules.scope import LAYERS, OTHER_LAYERS, Exemption, Scope, load_scope
from kraft_spec.rules.sources import Source, ending_of, package_sources
from kraft_spec.rules.vocabulary import LOOK_ALIKES

_RULES_LABEL = re.compile(r"\bRules?:\**(?=\s|$)")
_LISTED = re.compile(r"\s*(?:and\s+)?([A-Za-z][\w-]*(?:\.[\w-]+)+)(?:\s*\([^)]*\))?\s*([,;]?)")


@dataclass(frozen=True, slots=True, order=True)
class Citation:
    """A place that cites a rule.

    Attributes:
        path: the file, with forward slashes.
        line: from 1.
        rule_id: the id as written there.
        layer: the layer of the file, see `Source`.
    """

    path: str
    line: int
    rule_id: str
    layer: str

    def __str__(self) -> str:
        """Return `path:line: id`."""
        return f"{self.path}:{self.line}: {self.rule_id}"


@dataclass(frozen=True, slots=True)
class StaleExemption:
    """A rule that a layer cites although scope.toml exempts it."""

    exemption: Exemption
    citation: Citation

    def __str__(self) -> str:
        """Return the citation and the outdated entry."""
        advice = "list it under `without` of" if self.exemption.rules.endswith(".*") else "remove"
        return f"{self.citation}: is named in the {self.citation.layer}, {advice} {self.exemption.rules}"


@dataclass(frozen=True, slots=True)
class CitationReport:
    """Findings of `check_citations`.

    Attributes:
        citations: all citations of existing rules, in order of path, line and id.
        unknown: citations of ids that do not exist.
        suggestions: similar existing ids for each unknown id, best first.
        missing_in_reference: ids of rules in scope that the reference does not cite.
        missing_in_model: ids of rules in scope that the model does not cite.
        stale: exemptions of rules that are cited, one for each rule and layer.
        missing_elsewhere: (id, layer) of rules that the layer assigned by scope.toml does not cite.
        begun: citations in the reference or the model of a rule that scope.toml puts outside.
        replaced: citations, outside tests and docs, of a superseded or retired rule.
    """

    citations: tuple[Citation, ...]
    unknown: tuple[Citation, ...]
    suggestions: dict[str, tuple[str, ...]]
    missing_in_reference: tuple[str, ...]
    missing_in_model: tuple[str, ...]
    stale: tuple[StaleExemption, ...]
    missing_elsewhere: tuple[tuple[str, str], ...] = ()
    begun: tuple[Citation, ...] = ()
    replaced: tuple[tuple[Citation, Rule], ...] = ()

    def problems(self) -> tuple[str, ...]:
        """Return all problems, one per line."""
        lines = []
        for citation in self.unknown:
            near = self.suggestions[citation.rule_id]
            hint = f", did you mean {' or '.join(near)}?" if near else ""
            lines.append(f"{citation}: no rule has this id{hint}")
        for layer, missing in (("reference", self.missing_in_reference), ("model", self.missing_in_model)):
            lines.extend(f"{rule_id}: not named in the {layer}" for rule_id in missing)
        lines.extend(f"{rule_id}: not named in the layer {layer}" for rule_id, layer in self.missing_elsewhere)
        lines.extend(str(stale) for stale in self.stale)
        lines.extend(f"{place}: is named in the {place.layer}, so it is not outside" for place in self.begun)
        for place, rule in self.replaced:
            successors = f", name {' or '.join(rule.by)}" if rule.by else ""
            lines.append(f"{place}: is {rule.status}{successors}")
        return tuple(lines)


def find_citations(source: Source, ids: RuleIds, unread: Iterable[str] = (), about: str = "") -> Iterator[Citation]:
    """Yield each citation in a source, including misspelt ones.

    Args:
        source: the folder or file to read.
        ids: the existing ids.
        unread: paths of files to skip.
        about: skip files without this text.

    Raises:
        SyntaxError: a Python file of the source cannot be parsed.
    """
    skipped = frozenset(unread)
    for path, file in source.files():
        if path in skipped:
            continue
        text = file.read_text(encoding="utf-8")
        if about not in text:
            continue
        citations = dict.fromkeys(_cited_ids(READERS[ending_of(path)](text, path), ids))
        for number, rule_id in citations:
            yield Citation(path, number, rule_id, source.layer)


def citations_of(rule_id: str, registry: Registry, sources: Sequence[Source] | None = None) -> tuple[Citation, ...]:
    """Return the citations of a rule, in order of path and line, as `check_citations` but reading few files.

    Args:
        rule_id: the rule.
        registry: the rules.
        sources: sources to read; by default the installed packages.
    """
    read_from = package_sources() if sources is None else sources
    citations = [citation for source in read_from for citation in find_citations(source, registry.ids, about=rule_id)]
    return tuple(sorted(citation for citation in citations if citation.rule_id == rule_id))


def _cited_ids(lines: Iterable[Line], ids: RuleIds) -> Iterator[tuple[int, str]]:
    """Yield (line number, id) for each id, existing or misspelt, that the lines cite."""
    continued_at = 0
    for line in lines:
        text = line.text.replace("`", " ")
        label = _RULES_LABEL.search(text)
        if label is not None:
            position = label.end()
        elif line.number == continued_at:
            position = 0
        else:
            position = len(text)
        is_continued = label is not None and not text[position:].strip()
        while (listed := _LISTED.match(text, position)) is not None:
            yield line.number, listed.group(1)
            position = listed.end()
            is_continued = bool(listed.group(2)) and not text[position:].strip()
        continued_at = line.number + 1 if is_continued else 0
        for word in dotted_words(text):
            if word in ids.known or (ids.is_misspelt(word) and word not in LOOK_ALIKES):
                yield line.number, word


def check_citations(
    registry: Registry,
    sources: Sequence[Source] | None = None,
    scope: Scope | None = None,
    other_names: Collection[str] = (),
) -> CitationReport:
    """Compare the ids that the sources cite with the registry and the scope.

    Args:
        registry: the rules.
        sources: sources to read; by default the installed packages. `checkout_sources` adds tests and docs.
        scope: required citations; by default the package's scope.toml.
        other_names: names that resemble rule ids, such as ids of vectors.
    """
    scope = load_scope() if scope is None else scope
    citations: list[Citation] = []
    unknown: list[Citation] = []
    read_from = package_sources() if sources is None else sources
    # A dependent package may not be installed; do not report its rules as missing.
    read = {source.layer for source in read_from}
    for source in read_from:
        for citation in find_citations(source, registry.ids, scope.unread):
            if citation.rule_id in registry:
                citations.append(citation)
            elif citation.rule_id not in other_names:
                unknown.append(citation)
    citations.sort()
    unknown.sort()
    named: dict[str, dict[str, Citation]] = {layer: {} for layer in (*LAYERS, *OTHER_LAYERS)}
    for citation in citations:
        named.setdefault(citation.layer, {}).setdefault(citation.rule_id, citation)
    missing = {
        layer: tuple(each for each in scope.required(registry, layer) if each not in named[layer]) for layer in LAYERS
    }
    stale = [
        StaleExemption(exemption, named[layer][rule_id])
        for layer in LAYERS
        for rule_id, exemption in scope.exempted(layer).items()
        if rule_id in named[layer]
    ]
    return CitationReport(
        citations=tuple(citations),
        unknown=tuple(unknown),
        suggestions={each.rule_id: registry.ids.near(each.rule_id) for each in unknown},
        missing_in_reference=missing["reference"],
        missing_in_model=missing["model"],
        stale=tuple(stale),
        missing_elsewhere=tuple(
            (rule_id, layer)
            for rule_id, layer in scope.instead.items()
            if layer in read and rule_id not in named[layer]
        ),
        begun=tuple(named[layer][rule_id] for rule_id in scope.outside for layer in LAYERS if rule_id in named[layer]),
        replaced=tuple(
            (citation, registry[citation.rule_id])
            for citation in citations
            if citation.layer not in ("tests", "docs") and not registry[citation.rule_id].is_active
        ),
    )
