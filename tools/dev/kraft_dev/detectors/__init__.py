"""Detectors: each check detects a broken rule, and something notices when a field of a trace is altered."""
