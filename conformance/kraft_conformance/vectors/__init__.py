"""kraft-vector/1: a state of one replica, what happens to it there, and what it must do.

`format` has the types, `catalogue` reads the vectors of this package, `generate` makes them anew; docs/conformance.md
says what the fields mean.
"""
