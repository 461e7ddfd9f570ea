"""The conformance suite: vectors, the adapter protocol, the runner and random runs.

What is a vector?
    A state, one or more events, and what must come of them, with what the rules leave open (`vectors`).

How is an implementation asked?
    Through an adapter, a process that speaks kraft-adapter/1 on its pipes (`protocol`); `templates` has some to begin
    with.

What is a random run?
    The simulated cluster with adapters as its replicas: each step is compared with the reference, and TLC checks the
    trace (`random_runs`).

It imports `kraft_traces` and what that imports.
"""
