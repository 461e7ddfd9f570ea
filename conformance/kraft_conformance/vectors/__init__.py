"""kraft-vector/1: a state of one replica, what happens to it there, and what it must do.

`format` has the types, `manifest` lists the vectors of this package, `catalogue` reads them; docs/conformance.md says
what the fields mean, and how they are made.
"""
