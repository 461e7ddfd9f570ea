"""Traces of partition reassignment, kraft-partition-trace/1: written, read, and checked against the model.

JSON lines: a header, then one line for each event with what came of it and the state after.
Every field is always there, so that a line leaves the model exactly one successor.
TLC keeps one specification in a process, so these traces are checked in another process than those of the quorum.
"""
