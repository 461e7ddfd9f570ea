"""Mutants of the reference and the model, and each tool's result for them; described in docs/checks.md."""
