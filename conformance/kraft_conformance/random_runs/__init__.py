"""Random runs: whole clusters of adapters under the simulator's workloads and faults.

`seats` says who plays a replica, `driven` is a replica behind an adapter, `shown` puts what it shows into the
reference's form, `abilities` restricts a workload to what the adapters have, `table` keeps the adapters of one cluster,
`running` makes one run, `model` holds its trace to TLC, `judging` says what it comes to, `shrinking` and `saving` make
something short of a failure, `campaign` makes many runs.
"""
