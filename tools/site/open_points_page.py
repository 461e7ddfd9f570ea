"""What the KIPs do not say: the open point of every rule, with how it was decided."""

from tools.site.markup import counted, open_point, prose
from tools.site.rule_pages import linked_names

from kraft_dev.markdown import codes
from kraft_spec.rules import Registry, Rule

PAGE = "rules/open-points.md"

UNSETTLED = "Not settled"
"""What the catalogue says of a point for which no text and no decision has an answer."""


def open_points_page(registry: Registry) -> str:
    """Every rule with an open point, by group: what the text leaves open, and the resolution."""
    having = [rule for rule in registry if rule.open]
    unsettled = codes(rule.id for rule in having if UNSETTLED in rule.open)
    lines = [
        "# What the KIPs do not say",
        "",
        f"{len(having)} of {len(registry)} rules say something that the texts leave open, contradict, or take for "
        "granted.",
        "Under *Resolution* stands how it was decided; "
        "where none stands, the statement on the rule's page is the reading.",
        f"Not settled, and kept as the texts have it: {unsettled}.",
        "What was decided across rules, and what was tried and turned down, is in [Decisions](../decisions.md); "
        "where rules contradicted each other, in "
        "[Rules](../rules.md#contradictions-between-rules-and-how-they-are-settled).",
        "",
    ]
    for group in registry.groups:
        in_group = [rule for rule in having if rule.group == group]
        if in_group:
            lines += [f"## {group}", "", f"{counted(len(in_group), 'open point')}.", ""]
            for rule in in_group:
                lines += _point(rule, registry)
    return "\n".join(lines) + "\n"


def _point(rule: Rule, registry: Registry) -> list[str]:
    names = linked_names(registry)
    lines = [f"`{rule.id}`", f": *{prose(rule.title)}*", ""]
    lines += [f"  {line}" if line else "" for line in open_point(rule.open, names)]
    return lines
