"""Adapters of the reference."""
