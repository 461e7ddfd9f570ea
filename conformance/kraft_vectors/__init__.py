"""The conformance vectors: the format, the data, and the scripts that make them.

A vector is a file of `data`: the state of a replica, events at this replica, and the expected outcome with the allowed
alternatives (`format`; `partitions.format` for KIP-455).  `manifest` lists the vectors, `catalogue` reads them.

A script of `scripts`, or a scenario of `kraft_simulation`, drives a cluster; `staging` and `recording` extract the
steps of a replica from the run.  TLC must accept the run before a vector is written (`acceptance`).
`python -m kraft_vectors.generate` writes all vectors; the same sources give the same bytes.  `transcript` renders each
vector as text for review.

`kraft_conformance` runs vectors against an adapter.
This package imports `kraft_traces` and the packages that it imports.
"""
