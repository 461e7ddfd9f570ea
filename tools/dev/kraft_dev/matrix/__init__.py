"""The matrix of mutants and detectors: broken references, and which tool notices which; docs/checks.md says how."""
