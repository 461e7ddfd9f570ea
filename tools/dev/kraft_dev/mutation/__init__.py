"""Mutants attacked: which tool of the suite kills which broken reference, and the evidence for each rule."""
