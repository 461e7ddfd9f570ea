"""The vectors of partition reassignment.

`staging` and `recording` make a vector out of a script, `deciding` says which rules its steps turn on, `scripts` has
the short ones, `making` puts them together with the worked scenarios.
"""
