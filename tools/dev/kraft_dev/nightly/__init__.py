"""Nightly long forms of all checks: their results, and the differences to the night before."""
