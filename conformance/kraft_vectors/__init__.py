"""The conformance vectors: the format, the data, and the scripts that make them.

What is a vector?
    A file of `data`: the state of one replica, the events that happen there, and what the replica must do, with the
    alternatives that the rules allow (`format`; `partitions.format` for KIP-455).
    `manifest` lists the vectors, `catalogue` reads them.

Where does a vector come from?
    A script of `scripts`, or a scenario of `kraft_simulation`, drives a real run; `staging` and `recording` take the
    replica's steps out of the run.
    TLC must accept the run before a vector is written (`acceptance`).
    `python -m kraft_vectors.generate` writes them all; the same sources give the same bytes.
    `transcript` makes the text beside each from its JSON: a reviewer reads that.

Who runs a vector?
    `kraft_conformance`, against an adapter.

Data flows from a script to a run, a recorded step, a vector and the manifest.
It imports `kraft_traces` and what that imports.
"""
