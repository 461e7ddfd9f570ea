"""A page for each named scenario, with the place for its diagrams."""

from collections.abc import Callable, Iterable, Sequence

from tools.site.markup import prose, sentence, table
from tools.site.names import ALL_SCENARIOS, AnyScenario, scenario_label, scenario_source
from tools.site.rule_pages import linked_names

from kraft_spec.rules import Registry

FOLDER = "scenarios"
"""Where the pages are: `scenarios/<name>.html`, for ever."""

DiagramOf = Callable[[str], str | None]
"""From `scenario/variant` to an SVG element, or None if there is no picture of it."""


def no_diagram(name: str) -> str | None:
    """Stand in where nothing draws."""
    return None


def scenario_page(scenario: AnyScenario, registry: Registry, diagram_of: DiagramOf) -> str:
    """The page of one scenario, as Markdown."""
    names = linked_names(registry)
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        f"# {scenario_label(scenario)}. {scenario.name}",
        "",
        f"**{prose(scenario.title)}**",
        "",
        f"From: {sentence(prose(scenario_source(scenario)))}",
        "",
        "## The rules that decide it",
        "",
        *(f"- `{rule}`: {prose(registry[rule].title)}" for rule in scenario.rules),
        "",
        "## Variants",
        "",
    ]
    for variant in scenario.variants:
        off = sorted(variant.configuration.switched_off)
        lines += [
            f"### {variant.name}",
            "",
            sentence(prose(variant.outcome, names)),
            "",
            "Rules switched off: " + (", ".join(f"`{rule}`" for rule in off) or "none") + ".",
            "Violated: " + (", ".join(f"`{one}`" for one in variant.violates) or "nothing") + ".",
            "",
            "```console",
            f"$ kraft-spec scenario {scenario.name} --variant {variant.name}",
            "```",
            "",
        ]
        if (diagram := diagram_of(f"{scenario.name}/{variant.name}")) is not None:
            lines += figure(diagram)
    lines += ["---", "", "[all scenarios](index.md)"]
    return "\n".join(lines) + "\n"


def figure(svg: str) -> list[str]:
    """An SVG element as a block of HTML, which a line without text would end."""
    element = "\n".join(line for line in svg.splitlines() if line.strip())
    return ["```{raw} html", '<figure class="diagram">', element, "</figure>", "```", ""]


def scenario_index(scenarios: Sequence[AnyScenario]) -> str:
    """The page that lists them."""
    rows = [
        (
            scenario_label(one),
            f"[{one.name}]({one.name}.md)",
            prose(one.title),
            str(len(one.variants)),
            ", ".join(sorted({f"`{name}`" for variant in one.variants for name in variant.violates})),
        )
        for one in scenarios
    ]
    lines = [
        "# Every scenario",
        "",
        "Generated from the scenarios of the reference; [Scenarios](../scenarios.md) says how they are made and read.",
        "",
        *table(("#", "scenario", "about", "variants", "some variant violates"), rows),
    ]
    return "\n".join(lines) + "\n"


def scenario_pages(registry: Registry, diagram_of: DiagramOf = no_diagram) -> Iterable[tuple[str, str]]:
    """Yield (path below docs, Markdown) for the index and every scenario."""
    yield f"{FOLDER}/index.md", scenario_index(ALL_SCENARIOS)
    for scenario in ALL_SCENARIOS:
        yield f"{FOLDER}/{scenario.name}.md", scenario_page(scenario, registry, diagram_of)
