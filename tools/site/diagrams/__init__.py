"""The pictures of the site, each drawn from what it shows: the role table, recorded runs, proofs.

Every generator is a function from data to the text of an SVG element.
"""

from tools.site.diagrams.partition_tables import table_of
from tools.site.diagrams.rows import rows_of
from tools.site.diagrams.sequences import figure_of
from tools.site.names import ALL_SCENARIOS

from kraft_reference.partitions.scenarios import PartitionScenario
from kraft_spec.experiments.playing import play, play_partitions


def diagram_of(name: str) -> str | None:
    """The HTML of what shows a variant of a scenario: a sequence diagram, or for partitions a table.

    Args:
        name: `scenario/variant`.

    Returns:
        None if there is no such scenario.

    Raises:
        KeyError: the scenario has no such variant.
    """
    of, _, variant = name.partition("/")
    for one in ALL_SCENARIOS:
        if one.name != of:
            continue
        if isinstance(one, PartitionScenario):
            return table_of(play_partitions(one, one.variant(variant)))
        return figure_of(rows_of(play(one, one.variant(variant))))
    return None
