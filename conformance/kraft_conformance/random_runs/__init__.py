"""Random runs: whole clusters of adapters under the simulator's workloads and faults.

`seats` are the programs that a replica can be, `driven` is a replica behind an adapter, `shown` converts observations
to states and effects of the reference, `abilities` restricts a workload to the features of the adapters, `table` has
the adapters of a cluster, `running` makes a run, `model` checks its trace with TLC, `judging` decides the verdict,
`shrinking` and `saving` turn a failure into a short run and a vector, `campaign` makes many runs.
"""
