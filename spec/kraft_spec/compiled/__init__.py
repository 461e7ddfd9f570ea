"""The compiled model: TLA+ operators and actions as Java over TLC's own values.

The modules and their configuration stay the only source: SANY parses them, and `compiler` generates one class from its
tree.
Compiled operators return TLC's own values, so states and fingerprints are interchangeable with TLC's.
"""
