"""The simulated cluster: replicas, network, disks and faults in virtual time, driven by one seeded generator.

What is a run?
    A workload (`workload`) names how often clients, operators and faults act; a seed decides everything else.
    The same seed gives the same occurrences, whatever the Python version.

What is checked?
    `invariants` checks safety after each event, `liveness` checks progress once the faults stop.
    `shrink` cuts a failing schedule down to the moves that it takes.

What is a scenario?
    A script over `scenarios.director` that plays a schedule of a KIP step by step; those of KIP-455 are in
    `kraft_partitions`.

Can other software play a replica?
    Yes: a `World` is given a function that makes its replicas.

It imports `kraft_reference` and the standard library.
"""
