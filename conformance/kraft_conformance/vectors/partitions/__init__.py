"""kraft-partition-vector/1: a state of the controllers of partitions, what happens to them, and what they must do.

`format` has the types, `staging` and `recording` make a vector out of a script, `deciding` says which rules its steps
turn on, `scripts` has the short ones, `making` puts them together with the worked scenarios.
"""
