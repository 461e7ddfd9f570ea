"""Diagrams of the site, each generated from its source: the role table, recorded runs, proofs.

Every generator is a function from data to the text of an SVG element.
"""

from tools.site.diagrams.partition_tables import table_of
from tools.site.diagrams.rows import rows_of
from tools.site.diagrams.sequences import figure_of
from tools.site.names import ALL_SCENARIOS

from kraft_mutants.playing import play, play_partitions
from kraft_partitions.scenarios import PartitionScenario


def diagram_of(name: str, variant: str) -> str:
    """Return the HTML of a variant of a scenario: a sequence diagram, or for partitions a table."""
    scenario = next(candidate for candidate in ALL_SCENARIOS if candidate.name == name)
    if isinstance(scenario, PartitionScenario):
        return table_of(play_partitions(scenario, scenario.variant(variant)))
    return figure_of(rows_of(play(scenario, scenario.variant(variant))))
