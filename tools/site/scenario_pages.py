"""A page for each named scenario, with the place for its diagrams."""

from collections.abc import Callable, Iterable, Sequence

from tools.site.markup import figure, prose, sentence
from tools.site.names import ALL_SCENARIOS, AnyScenario
from tools.site.rule_pages import linked_names

from kraft_dev.markdown import codes, table
from kraft_spec.rules import Registry

FOLDER = "scenarios"
"""Where the pages are: `scenarios/<name>.html`, for ever."""

READING = (
    "A column is a replica, and time runs downwards; the small number on the left is that of the event.",
    "A disc with the number of the replica is an event; one with a broken rim was refused, with the reason beside it.",
    "An arrow is a message, from the event that sent it to the one that took it.",
    "A short line with a cross is a message that was lost, a broken one with dots behind its words one that was still "
    "on its way at the end.",
    "The thick line is a leader's, the dotted one that of a process which does not run; a rounded box names the role, "
    "the epoch and the leader where one of them becomes another; HW is the high watermark.",
    "A frame of dots stands for events of replication that change no role, no epoch and no voters set, eight of them "
    "or more; only what it says of them is left of them.",
    "A broken frame with ≠ stands before the first event that comes out otherwise because a rule is switched off.",
    "A thick frame with ✗ stands after the event that violates a property, or at the end where the property asks for "
    "something that never comes.",
    "The tables of partitions have a line for each event: R are the replicas, I those in sync, AR and RR the ones "
    "being added and removed.",
)
"""What the marks in the pictures mean, as Markdown."""

DiagramOf = Callable[[AnyScenario, str], str]
"""From a scenario and the name of a variant to the HTML of its picture."""


def scenario_page(scenario: AnyScenario, registry: Registry, diagram_of: DiagramOf) -> str:
    """The page of one scenario, as Markdown."""
    names = linked_names(registry)
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        f"# {scenario.number}. {scenario.name}",
        "",
        f"**{prose(scenario.title)}**",
        "",
        f"From: {sentence(prose(scenario.source))}",
        "",
        "## The rules that decide it",
        "",
        *(f"- `{rule}`: {prose(registry[rule].title)}" for rule in scenario.rules),
        "",
        "## Variants",
        "",
        "The pictures are [drawn from the runs](index.md#how-to-read-the-pictures).",
        "",
    ]
    for variant in scenario.variants:
        lines += [
            f"### {variant.name}",
            "",
            sentence(prose(variant.outcome[:1].upper() + variant.outcome[1:], names)),
            "",
            f"Rules switched off: {codes(sorted(variant.mutants)) or 'none'}.",
            f"Violated: {codes(variant.violates) or 'nothing'}.",
            "",
            "```console",
            f"$ kraft-spec scenario {scenario.name} --variant {variant.name}",
            "```",
            "",
        ]
        diagram = diagram_of(scenario, variant.name)
        if variant is scenario.variants[0]:
            # What is tall stands behind a summary, which is open where a page begins.
            diagram = diagram.replace("<details>", "<details open>")
        lines += figure(diagram)
    lines += ["---", "", "[all scenarios](index.md)"]
    return "\n".join(lines) + "\n"


def scenario_index(scenarios: Sequence[AnyScenario]) -> str:
    """The page that lists them."""
    rows = [
        (
            str(one.number),
            f"[{one.name}]({one.name}.md)",
            prose(one.title),
            str(len(one.variants)),
            codes(sorted({name for variant in one.variants for name in variant.violates})),
        )
        for one in scenarios
    ]
    lines = [
        "# Every scenario",
        "",
        "Generated from the scenarios of the reference; [Scenarios](../scenarios.md) says how they are made and read.",
        "",
        *table(("#", "scenario", "about", "variants", "some variant violates"), rows),
        "",
        "## How to read the pictures",
        "",
        "Each is drawn from what the reference did when the site was built, and nobody touched it up.",
        "",
        *(f"- {line}" for line in READING),
    ]
    return "\n".join(lines) + "\n"


def scenario_pages(registry: Registry, diagram_of: DiagramOf) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for the index and every scenario."""
    yield f"{FOLDER}/index.md", scenario_index(ALL_SCENARIOS)
    for scenario in ALL_SCENARIOS:
        yield f"{FOLDER}/{scenario.name}.md", scenario_page(scenario, registry, diagram_of)
