"""The reference without some rules, to see a failure: `python -m kraft_conformance.adapters.without_rules RULE`."""

import sys
from collections.abc import Iterable
from dataclasses import replace

from kraft_conformance.adapters import partitions, reference
from kraft_conformance.protocol.cluster import Cluster, configuration_from
from kraft_conformance.protocol.partitions import PartitionCluster, partition_configuration_from
from kraft_reference.configuration import Configuration
from kraft_reference.partitions.configuration import PartitionConfiguration
from kraft_spec.action_rules import switchable_rules


def leave_out(rules: Iterable[str]) -> None:
    """Let the reference's adapter of this process leave these rules out: a cluster of the protocol has all in force."""
    off = frozenset(rules)

    def without(cluster: Cluster) -> Configuration:
        return replace(configuration_from(cluster), switched_off=off)

    def partitions_without(cluster: PartitionCluster) -> PartitionConfiguration:
        return replace(partition_configuration_from(cluster), switched_off=off)

    setattr(reference, "configuration_from", without)  # noqa: B010 - the name is imported there, not exported
    setattr(partitions, "partition_configuration_from", partitions_without)  # noqa: B010 - likewise


def main() -> None:
    """Serve without the rules that the command line names."""
    known = switchable_rules()
    if not sys.argv[1:] or (unknown := [rule for rule in sys.argv[1:] if rule not in known]):
        said = f"no such rule: {', '.join(unknown)}" if sys.argv[1:] else "no rule"
        sys.exit(f"{said}, expected some of {', '.join(known)}")
    leave_out(sys.argv[1:])
    reference.serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
