"""Cluster directories: what `kraft-spec admin storage`, `quorum`, `features`, `topics` and `reassign` use.

A cluster directory holds a metadata directory for each node, as formatting leaves it, the history of the simulated
quorum as one trace (`quorum.jsonl`), and that of the partitions of topics as another (`partitions.jsonl`): each is
replayed to get the state back.
"""
