"""Adapters: an implementation behind the protocol."""
