"""The reference without some rules, to see a failure: `python -m kraft_conformance.adapters.without_rules RULE`."""

import sys

from kraft_conformance.adapters.reference import ReferenceAdapter, serve
from kraft_spec.experiments import switchable_partition_rules, switchable_rules
from kraft_spec.experiments.replicas import controllers_without, replicas_without


def main() -> None:
    """Serve without the rules that the command line names."""
    known = (*switchable_rules(), *switchable_partition_rules())
    if not sys.argv[1:] or (unknown := [rule for rule in sys.argv[1:] if rule not in known]):
        said = f"no such rule: {', '.join(unknown)}" if sys.argv[1:] else "no rule"
        sys.exit(f"{said}, expected some of {', '.join(known)}")
    left_out = frozenset(sys.argv[1:])
    make_replica = replicas_without(left_out.intersection(switchable_rules()))
    controllers = controllers_without(left_out.intersection(switchable_partition_rules()))
    adapter = ReferenceAdapter(make_replica=make_replica, controllers=controllers)
    serve(adapter.answer, sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
