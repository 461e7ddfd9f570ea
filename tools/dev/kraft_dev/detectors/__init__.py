"""Detectors: each check detects a broken rule; and the fields of a trace, for the tests that alter them."""
