"""The simulated cluster: replicas, network, disks and faults in virtual time, driven by one seeded generator.

A workload (`workload`) sets how often clients, operators and faults act; a seed decides everything else.  The same seed
gives the same occurrences in every Python version.

`invariants` checks safety after each event, `liveness` checks progress after the faults stop.  `shrink` reduces a
failing schedule to the moves that it needs.

A scenario is a script for `scenarios.director` that follows a schedule of a KIP step by step; the scenarios of KIP-455
are in `kraft_partitions`.

A `World` takes the function that makes its replicas, so that other software can be a replica.

This package imports `kraft_reference` and the standard library.
"""
