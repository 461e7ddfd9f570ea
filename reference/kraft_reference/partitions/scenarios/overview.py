"""The table of the scenarios of partitions in docs/scenarios.md."""

from kraft_reference.partitions.scenarios import PARTITION_SCENARIOS


def table() -> str:
    """A Markdown table with one line for each variant."""
    lines = ["| # | scenario | variant | what happens | violates |", "|---|---|---|---|---|"]
    for scenario in PARTITION_SCENARIOS:
        for position, variant in enumerate(scenario.variants):
            head = f"| {scenario.label.upper()} | `{scenario.name}`" if position == 0 else "| |"
            lines.append(f"{head} | `{variant.name}` | {variant.outcome} | {', '.join(variant.violates)} |")
    return "\n".join(lines) + "\n"
