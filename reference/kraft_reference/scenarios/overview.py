"""The table of all scenarios and variants in docs/scenarios.md."""

from kraft_reference.scenarios import SCENARIOS


def table() -> str:
    """A Markdown table with one line for each variant."""
    lines = ["| # | scenario | variant | what happens | violates |", "|---|---|---|---|---|"]
    for scenario in SCENARIOS:
        for position, variant in enumerate(scenario.variants):
            head = f"| {scenario.number} | `{scenario.name}`" if position == 0 else "| |"
            lines.append(f"{head} | `{variant.name}` | {variant.outcome} | {', '.join(variant.violates)} |")
    return "\n".join(lines) + "\n"
