"""The trace format kraft-trace/1, and the checker of a trace against the TLA+ model.

- A trace has a header, one line for each event with its outcome, optional checkpoints, and an end line
  (docs/trace-format.md).
- `check` computes the model's successors under the event of each line.  If none agrees with the line, the verdict names
  the rules that explain the difference.
- `alternatives` declares the alternatives that the rules allow.
- `inference` finds the events that explain messages captured on the network, without a trace.

It imports `kraft_spec` and what that imports.
"""
