"""The model compiled: TLA+ operators and actions as Java over TLC's own values.

The modules and their configuration stay the only source: SANY parses them, `compiler` walks its tree and writes one
class, and nothing of a protocol is written here by hand.
What a compiled operator gives is TLC's own value, so that states and fingerprints are exchangeable with TLC's.
"""
