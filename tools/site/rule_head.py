"""The head of a rule's page, what a reader wants who followed a link to it, and the foot that leads on."""

from collections.abc import Collection

from tools.site.facts import RuleFacts
from tools.site.markup import prose, sentence

from kraft_dev.markdown import codes
from kraft_spec.rules import Registry, Rule


def rule_head(facts: RuleFacts, registry: Registry, release: str) -> list[str]:
    """The id with the title, level and status, the statement, how to cite it, and what there is about it.

    The id is code within the heading, so that a style can set it apart, and search finds the words of the title too.

    Args:
        facts: of the rule.
        registry: all rules.
        release: the version of the specification.
    """
    rule = facts.rule
    names = frozenset(registry.by_id)
    return [
        f"# `{rule.id}` {prose(rule.title)}",
        "",
        _marks(rule, registry),
        "",
        *_warning(facts, names),
        ":::{container} statement",
        prose(rule.statement, names),
        ":::",
        "",
        *_citation(rule, release),
        "",
        *(_at_a_glance(facts) if rule.is_active else []),
    ]


def _marks(rule: Rule, registry: Registry) -> str:
    """Level, safety and status, in words, and the place among the rules of its group."""
    in_group = [one.id for one in registry.group(rule.group)]
    marks = [
        f"**{rule.level}**" if rule.is_active else f"{rule.level}, **{rule.status}**",
        "a *safety* rule" if rule.safety else "no safety rule",
        f"group [{rule.group}](index.md#{rule.group}), {in_group.index(rule.id) + 1} of {len(in_group)}",
    ]
    if rule.states:
        marks.append("concerns " + ", ".join(rule.states))
    return " · ".join(marks)


def _warning(facts: RuleFacts, names: Collection[str]) -> list[str]:
    """That a rule does not hold any more, is turned down, or is outside this specification."""
    rule = facts.rule
    if not rule.is_active:
        successors = codes(rule.by)
        taken = f": {successors} took its place" if successors else ""
        head = "This rule does not hold any more"
        said = f"It is {rule.status}{taken}. It keeps its id and this page, and nothing is asked of it."
    elif facts.turned_down:
        head = "Turned down: the text has it so, this specification does not"
        said = f"{sentence(prose(facts.turned_down[:1].upper() + facts.turned_down[1:], names))} "
        said += "The rule keeps its id and this page, so that the text can be held against what holds here."
    elif facts.outside:
        head = "Outside this specification: nothing here implements it"
        said = f"{sentence(prose(facts.outside, names))} The rule is listed because the KIP has it."
    else:
        return []
    return [f":::{{admonition}} {head}", ":class: warning", "", said, ":::", ""]


def _citation(rule: Rule, release: str) -> list[str]:
    """One line to copy, and the page's own address; a script puts buttons beside them."""
    return [
        ":::{container} cite",
        f"Cite as <q>kraft-spec {release}, rule {rule.id}</q> "
        f"([how](../rules.md#how-to-cite)). Permanent address: [rules/{rule.id}.html]({rule.id}.md).",
        ":::",
    ]


def _at_a_glance(facts: RuleFacts) -> list[str]:
    """What there is about the rule, with links into the page."""
    shown = (
        _glance("Python", len(facts.implementation), "python", facts.implementation_reason),
        _glance("TLA+", len(facts.model), "tla", facts.model_reason),
        _glance("proofs", len(facts.theorems) + len(facts.theory_mutants), "proofs"),
        _glance("scenarios", len(facts.scenarios), "scenarios"),
        _glance("vectors", len(facts.vectors), "vectors", facts.vector_reason),
        _glance("mutants", len(facts.mutants), "mutants"),
        _glance("counterexamples", facts.found, "without-it"),
    )
    return [":::{container} glance", *(f"- {each}" for each in shown), ":::", ""]


def _glance(what: str, number: int, anchor: str, reason: str = "") -> str:
    if number:
        return f"{what} [{number}](#{anchor})"
    return f"{what} [none, with a reason](#{anchor})" if reason else f"{what} none"


def rule_foot(rule: Rule, registry: Registry) -> list[str]:
    """The rules before and after it in its group, and the table of all."""
    ids = [one.id for one in registry.group(rule.group)]
    position = ids.index(rule.id)
    links = []
    if position > 0:
        links.append(f"← [{ids[position - 1]}]({ids[position - 1]}.md)")
    links += [f"[group {rule.group}](index.md#{rule.group})", "[all rules](index.md)"]
    if position + 1 < len(ids):
        links.append(f"[{ids[position + 1]}]({ids[position + 1]}.md) →")
    return ["---", "", " · ".join(links)]
