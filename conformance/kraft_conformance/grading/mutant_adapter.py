"""A broken reference behind kraft-adapter/1: `python -m kraft_conformance.grading.mutant_adapter`.

It is the reference's own adapter in a process that imports an edited copy of `kraft_reference`, or leaves rules out.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

NOT_THE_MUTANT = "kraft_reference does not come from the edited copy"
"""What it says on standard error before it gives up: what it would show is the unbroken reference."""


def main() -> None:
    """Serve, with some rules left out."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--copy", type=Path, required=True, help="the folder with the edited copy")
    parser.add_argument("--switched-off", action="append", default=[])
    given = parser.parse_args()
    off = frozenset(given.switched_off)
    # Late, because a mutant may fail at this.
    from kraft_conformance.adapters import partitions, reference
    from kraft_conformance.protocol.cluster import Cluster, configuration_from
    from kraft_conformance.protocol.partitions import PartitionCluster, partition_configuration_from
    from kraft_reference.configuration import Configuration
    from kraft_reference.partitions.configuration import PartitionConfiguration

    origin = sys.modules["kraft_reference"].__file__
    if origin is None or not Path(origin).is_relative_to(given.copy):
        sys.exit(NOT_THE_MUTANT)

    def broken(cluster: Cluster) -> Configuration:
        return replace(configuration_from(cluster), switched_off=off)

    def broken_partitions(cluster: PartitionCluster) -> PartitionConfiguration:
        return replace(partition_configuration_from(cluster), switched_off=off)

    # A cluster of the protocol has all rules in force, so they are left out behind it.
    setattr(reference, "configuration_from", broken)  # noqa: B010 - the name is imported there, not exported
    setattr(partitions, "partition_configuration_from", broken_partitions)  # noqa: B010 - likewise
    reference.serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
