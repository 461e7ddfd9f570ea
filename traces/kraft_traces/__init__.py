"""The format kraft-trace/1, and the checker that holds a trace against the TLA+ model.

What is a trace?
    A header, one line for each event with its outcome, perhaps checkpoints, and an end line (docs/trace-format.md).

How is a line judged?
    The model is asked for the successors of its state under the event of the line (`check`).
    A line that leaves fields out may have several; where none agrees, the verdict names the rules.

What if software may do otherwise?
    `latitude` has the alternatives that the rules leave open.

What if nobody wrote a trace?
    `inference` finds the events that explain messages captured on the network.

It imports `kraft_spec` and what that imports.
"""
