"""Writer, reader and checker of traces of partition reassignment, kraft-partition-trace/1.

A trace has a header, then one line for each event with its outcome and the state after.
Every field is required, so a line has exactly one successor in the model.
TLC keeps one specification per process, so these traces are checked in another process than those of the quorum.
"""
