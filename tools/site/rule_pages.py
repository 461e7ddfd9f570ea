"""A page for each rule."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from tools.site.facts import RuleFacts
from tools.site.markup import code_block, counted, folded, open_point, prose, sentence
from tools.site.mutant_section import mutant_section
from tools.site.pieces import Piece
from tools.site.rule_head import rule_foot, rule_head
from tools.site.slices import slice_lines

from kraft_dev.load_bearing.recorded import recorded_counterexample
from kraft_dev.markdown import codes, table
from kraft_mutants import Covered, Exhaustive, Mutant, Schedule
from kraft_mutants.load_bearing import Row
from kraft_spec.counterexamples import Step
from kraft_spec.rules import PROPERTIES, Registry, Rule

FOLDER = "rules"
"""Where the pages are: `rules/<rule id>.html`, for ever."""

OPEN_PIECES = 3
"""So many pieces of source are shown at once, the others behind a summary."""

_TO_ROOT = "../.."
"""From a page's folder to the repository, for the files that it includes."""


def linked_names(registry: Registry) -> Collection[str]:
    """What becomes a link in the texts of the catalogue."""
    return frozenset({*registry.by_id, *PROPERTIES})


def rule_page(facts: RuleFacts, registry: Registry, release: str) -> str:
    """The page of one rule, as Markdown.

    Of a rule that does not hold any more only those sections are there that say something.

    Args:
        facts: of the rule.
        registry: all rules.
        release: the version of the specification, for the line to cite it by.
    """
    rule = facts.rule
    names = linked_names(registry)
    sections = (
        (rule.open, _open(rule, names)),
        (rule.kafka, ["## Apache Kafka", "", prose(rule.kafka or "Not known to differ.", names), ""]),
        (rule.example, _example(rule)),
        (facts.counterexamples or facts.slices, _breaks(facts, names)),
        (facts.implementation, _code("Python", "python", facts.implementation, facts.implementation_reason)),
        (facts.model, _code("TLA+", "tla", facts.model, facts.model_reason)),
        (facts.theorems or facts.theory_mutants, _proofs(facts, names)),
        (facts.scenarios, _scenarios(facts)),
        (facts.vectors, _vectors(facts)),
        (facts.mutants, mutant_section(facts.mutants)),
    )
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        *rule_head(facts, registry, release),
        "## Source",
        "",
        *(f"- {prose(source)}" for source in rule.source),
        "",
        *(line for says_something, section in sections if says_something or rule.is_active for line in section),
        *_elsewhere(facts),
        *rule_foot(rule, registry),
    ]
    return "\n".join(lines) + "\n"


def _open(rule: Rule, names: Collection[str]) -> list[str]:
    return ["## What the text leaves open", "", *open_point(rule.open or "Nothing that is known.", names)]


def _example(rule: Rule) -> list[str]:
    lines = ["## When it decides", ""]
    if not rule.example:
        return [*lines, "No example is given.", ""]
    if rule.catalogue == "election":
        lines += ["A schedule, in the [notation of the catalogue](../rules.md#the-notation-of-the-examples).", ""]
    return [*lines, ":::{container} schedule", *code_block(rule.example), ":::", ""]


def _breaks(facts: RuleFacts, names: Collection[str]) -> list[str]:
    """What goes wrong without the rule: as the catalogue says, and as was found."""
    rule = facts.rule
    lines = ["## Without it", ""]
    if rule.breaks_text:
        lines += [f"The catalogue expects violated: {sentence(prose(rule.breaks_text, names))}", ""]
    for row in facts.counterexamples:
        lines += [*_counterexample(row), ""]
    for check in facts.slices:
        lines += [*slice_lines(check), ""]
    if not facts.counterexamples and not facts.slices:
        why = "" if rule.safety else " The catalogue has it as no safety rule."
        lines += [f"No counterexample is looked for in the model.{why}", ""]
    return lines


def _counterexample(row: Row) -> list[str]:
    mutant = row.mutant
    if mutant is None:
        return [f"- **not modelled**: {prose(row.reason)}"]
    about = "" if len(mutant.rules) == 1 else f" Broken with it: {codes(mutant.rules)}."
    head = f"- **{row.verdict}** (`{mutant.name}`): {sentence(prose(mutant.bug))}{about}"
    return [head, f"  {_evidence(mutant)}", *_steps(mutant)]


def _steps(mutant: Mutant) -> list[str]:
    """What TLC found without the rule, step by step, behind a summary; nothing where no search is recorded."""
    if not isinstance(mutant.evidence, Exhaustive):
        return []
    found = recorded_counterexample(mutant.name)
    inner = [f"{number}. {_step(step)}" for number, step in enumerate(found.steps, 1)]
    inner += ["", f"Violated: `{found.property}`."]
    summary = f"The counterexample, {counted(len(found.steps), 'state')}"
    return [f"  {line}".rstrip() for line in folded(summary, inner)]


def _step(step: Step) -> str:
    """A step on one line: the action, what it was about, what it changed."""
    about = f" ({prose(step.subject)})" if step.subject else ""
    return f"`{step.action}`{about}: {sentence(prose('; '.join(step.changes)))}"


def _evidence(mutant: Mutant) -> str:
    """How the counterexample is found, in a sentence or two of Markdown."""
    match mutant.evidence:
        case Exhaustive(check=check, property=violated, states=states):
            found = f"TLC, searching the slice `{check}`, finds `{violated}` violated after {states} states."
        case Schedule(scenario=name, property=violated) if name:
            found = f"TLC, held to the scenario {_scenario_link(name)}, finds `{violated}` violated."
        case Schedule(workload=workload, property=violated):
            found = f"TLC, held to a run of the workload `{workload}`, finds `{violated}` violated."
        case Covered(rules=rules, reason=reason, checks=checks):
            why = f"because of {codes(rules)}: {sentence(prose(reason))}"
            return f"No counterexample, {why} Searched to the end: {codes(checks)}."
        case _:
            return ""
    return f"{found} Again: `python -m kraft_dev load-bearing {mutant.rules[0]}`."


def _scenario_link(name: str) -> str:
    scenario, _, variant = name.partition("/")
    return f"[{name}](../scenarios/{scenario}.md#{variant})" if variant else f"[{name}](../scenarios/{scenario}.md)"


def _code(title: str, language: str, shown: Sequence[Piece], reason: str) -> list[str]:
    """The pieces of source that name the rule."""
    lines = [f"## {title}", ""]
    if not shown:
        return [*lines, f"None: {sentence(prose(reason or 'none is asked below MUST'))}", ""]
    for piece in shown[:OPEN_PIECES]:
        lines += included(piece, language)
    if later := shown[OPEN_PIECES:]:
        inner = [line for piece in later for line in included(piece, language)]
        lines += folded(f"{counted(len(later), 'more place')} in {title}", inner)
    return lines


def included(piece: Piece, language: str) -> list[str]:
    """A directive that includes the lines of a piece from its file, with name, file and lines as a caption."""
    where = f"{piece.path}, lines {piece.first} to {piece.last}"
    title = where
    if language == "tla":
        module = piece.path.rpartition("/")[2].removesuffix(".tla")
        anchor = f"#{piece.name.lower()}" if piece.name else ""
        title = f"[{piece.name or module}](../model/{module}.md{anchor}) in {where}"
    elif piece.name:
        title = f"`{piece.name}` in {where}"
    emphasized = ",".join(str(line - piece.first + 1) for line in piece.cited)
    return [
        f"```{{literalinclude}} {_TO_ROOT}/{piece.path}",
        f":language: {language}",
        f":lines: {piece.first}-{piece.last}",
        *([f":emphasize-lines: {emphasized}"] if piece.last - piece.first > 5 else []),
        f":caption: {title}",
        "```",
        "",
    ]


def _proofs(facts: RuleFacts, names: Collection[str]) -> list[str]:
    lines = ["## Proofs", ""]
    if facts.theorems:
        lines += ["Proved by Z3 for voters sets of every size ([theorems](../results/theorems.md)):", ""]
        lines += [f"- `{one.slug}`: {sentence(prose(one.statement, names))}" for one in facts.theorems]
        lines.append("")
    if facts.theory_mutants:
        lines += ["With the rule broken, the [inductive proof](../results/induction.md) does not go through:", ""]
        lines += [
            f"- `{one.name}`: {sentence(prose(one.sentence))} Not proved then: `{one.fails}`."
            for one in facts.theory_mutants
        ]
        lines.append("")
    if len(lines) == 2:
        lines += ["No theorem is named as resting on this rule.", ""]
    return lines


def _scenarios(facts: RuleFacts) -> list[str]:
    lines = ["## Scenarios", ""]
    for scenario in facts.scenarios:
        without = [one.name for one in scenario.variants if facts.rule.id in one.mutants]
        shown = ", ".join(f"[{name}](../scenarios/{scenario.name}.md#{name})" for name in without)
        switched_off = f" Without the rule: {shown}." if shown else ""
        lines.append(
            f"- [{scenario.number}. {scenario.name}](../scenarios/{scenario.name}.md): "
            f"{sentence(prose(scenario.title))}{switched_off}"
        )
    return [*lines, ""] if facts.scenarios else [*lines, "No named scenario is decided by it.", ""]


def _vectors(facts: RuleFacts) -> list[str]:
    lines = ["## Vectors", ""]
    if not facts.vectors:
        return [*lines, f"None: {sentence(prose(facts.vector_reason or 'none is asked below MUST'))}", ""]
    # Those that were made for a rule before those that were cut out of a scenario.
    shown = sorted(facts.vectors, key=lambda one: one.entry.id.startswith("scenario."))
    rows = [(f"<code>{one.entry.id}</code>", prose(one.title), one.entry.level, str(one.entry.steps)) for one in shown]
    lines += table(("vector", "about", "level", "steps"), rows)
    return [*lines, "", f"One of them in words: `kraft-spec conformance explain {shown[0].entry.id}`.", ""]


def _elsewhere(facts: RuleFacts) -> list[str]:
    """The other files that name it: tests, proofs, scenarios."""
    if not facts.elsewhere:
        return []
    by_path: dict[str, list[int]] = {}
    for place in facts.elsewhere:
        by_path.setdefault(place.path, []).append(place.line)
    lines = [
        f"- `{path}`, {'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, sorted(set(numbers))))}"
        for path, numbers in by_path.items()
    ]
    return ["## Named elsewhere", "", *lines, ""]


def rule_pages(facts: Mapping[str, RuleFacts], registry: Registry, release: str) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for every rule."""
    for rule in registry:
        yield f"{FOLDER}/{rule.id}.md", rule_page(facts[rule.id], registry, release)
