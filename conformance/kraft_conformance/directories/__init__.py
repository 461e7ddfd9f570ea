"""Cluster directories: what `kraft-spec storage`, `quorum` and `features` read and write.

A cluster directory holds a metadata directory for each node, as formatting leaves it, and the history of the simulated
quorum as one trace (`quorum.jsonl`), which is replayed to get the state back.
"""
