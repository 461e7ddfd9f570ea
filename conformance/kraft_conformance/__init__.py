"""The conformance tests: the adapter protocol, the runner of vectors, random runs, reports, templates.

How is an implementation asked?
    Through an adapter, a process that speaks kraft-adapter/1 on its pipes (`protocol`); `templates` has some to begin
    with.

What is a random run?
    The simulated cluster with adapters as its replicas: each step is compared with the reference, and TLC checks the
    trace (`random_runs`).

It imports `kraft_vectors` and what that imports.
"""
