"""Detectors: each check detects a broken rule."""
