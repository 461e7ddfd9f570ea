"""kraft-partition-vector/1: a state of the partition controllers, events, and the expected outcome.

`format` has the types and `shown` their values.
`staging` and `recording` make a vector from a script, `deciding` finds the rules that decide its steps, `scripts` has
the scripts, and `making` combines them with the scenarios of KIP-455.
"""
