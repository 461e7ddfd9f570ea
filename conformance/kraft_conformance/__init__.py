"""The conformance tests: the adapter protocol, the runner of vectors, random runs, reports, templates.

An implementation is tested through an adapter, a process that speaks kraft-adapter/1 on its pipes (`protocol`);
`templates` has adapters to start from.
A random run is a simulated cluster whose replicas are adapters: each step is compared with the reference, and TLC
checks the trace (`random_runs`).

This package imports `kraft_vectors` and the packages that it imports.
"""
