"""The KRaft state machine of one replica: standard library only, no I/O, no clock, no randomness.

What goes in, what comes out?
    `replica.handle` takes a state, a configuration, an event (a timer, a message, a request, a crash, a restart) and
    random values, which the driver draws.
    It returns the next state with messages and timers, or the reason why nothing happens.

In which order do effects happen?
    `replica.step` puts writes and syncs before the messages that depend on them.
    A driver may let the replica die after any prefix of the effects.

Who owns time, network and disk?
    The driver: `kraft_simulation`, a node of `kraft_kafka`, or an adapter.

Where to begin?
    `elections`: `after_election_timeout`, `after_vote_request` and `after_vote_response` are Pre-Vote and Vote.
    The docstring of `replica` says which module has which rules; `roles` has every change of role.

This package imports no other package of this project.
"""
