"""Mutants of the reference and the model, and what each tool says of them; docs/checks.md says how."""
