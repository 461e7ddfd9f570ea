"""Detectors: which broken rule each check detects, so that no check is there for nothing."""
